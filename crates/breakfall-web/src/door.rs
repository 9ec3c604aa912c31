//! Who may come in: a browser that calls this machine by its name, from a page of ours, with the
//! token. Everything that leaves says what a browser may do with it.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, LOCATION, ORIGIN, REFERRER_POLICY,
    SET_COOKIE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use breakfall_http::{bearer, host, is_here, is_same, text};

use crate::asked::{decoded, pairs};
use crate::routes::Site;
use crate::screens::notice;
use crate::token::Token;

/// The header in which a script of ours says that it is one.
pub(crate) const CSRF: HeaderName = HeaderName::from_static("x-breakfall-csrf");

/// What a browser may load and do: what is ours.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; \
    frame-ancestors 'none'";

/// Who may come in.
pub(crate) struct Door {
    port: u16,
    ip: IpAddr,
    names: Vec<String>,
    token: Token,
    session: String,
    csrf: String,
    cookie: String,
    is_encrypted: bool,
}

/// How a request showed that it may come in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// By the cookie, which a browser sends by itself: an action must show more.
    Cookie,
    /// By the token itself, which no browser sends by itself.
    Token,
}

impl Door {
    pub(crate) fn new(
        address: SocketAddr,
        is_encrypted: bool,
        names: Vec<String>,
        token: Token,
    ) -> Self {
        // Cookies know no ports: two pages of one machine must not take each other's.
        let prefix = if is_encrypted { "__Host-" } else { "" };
        Self {
            port: address.port(),
            ip: address.ip(),
            names,
            session: token.session(),
            csrf: token.csrf(),
            token,
            cookie: format!("{prefix}breakfall-{}", address.port()),
            is_encrypted,
        }
    }

    /// What the forms of our pages carry.
    pub(crate) fn csrf(&self) -> &str {
        &self.csrf
    }

    /// Whether an action comes from a page of ours.
    pub(crate) fn is_from_us(&self, shown: &str) -> bool {
        is_same(shown.as_bytes(), self.csrf.as_bytes())
    }

    pub(crate) fn opens(&self, token: &str) -> bool {
        self.token.is(token)
    }

    /// Whether we are called by a name that nobody else can point at us: an address, or a name
    /// that the user gave.
    fn is_ours(&self, authority: &str) -> bool {
        let name = host(authority);
        if authority.contains('/') {
            return false;
        }
        if self.names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return true;
        }
        let standard = if self.is_encrypted { 443 } else { 80 };
        let port = match authority[name.len()..].strip_prefix(':') {
            Some(port) => port.parse() == Ok(self.port),
            None => authority.len() == name.len() && self.port == standard,
        };
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        let is_address = bare.parse::<IpAddr>().is_ok_and(|ip| match self.ip {
            ours if ours.is_unspecified() => true,
            ours => ours == ip,
        });
        port && (is_here(name) || is_address)
    }

    /// Why a request does not come in, whoever sends it.
    fn keeps_out(&self, headers: &HeaderMap) -> Option<Response> {
        let named = text(headers, &HOST).unwrap_or_default();
        if headers.get_all(HOST).iter().count() != 1 || !self.is_ours(named) {
            let words = "The page is not known by this name. Open it by the link that was printed.";
            return Some(notice::refusal(StatusCode::MISDIRECTED_REQUEST, words));
        }
        for origin in headers.get_all(ORIGIN) {
            let from = origin.to_str().unwrap_or_default();
            let from = from.strip_prefix("https://").or_else(|| from.strip_prefix("http://"));
            if from.is_none_or(|from| !from.eq_ignore_ascii_case(named)) {
                let words = "Requests of other sites are not accepted.";
                return Some(notice::refusal(StatusCode::FORBIDDEN, words));
            }
        }
        None
    }

    fn key(&self, headers: &HeaderMap) -> Option<Key> {
        if bearer(headers).is_some_and(|shown| self.token.is(shown)) {
            return Some(Key::Token);
        }
        let cookies = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut cookies = cookies.flat_map(|line| line.split(';'));
        let is_shown = cookies.any(|cookie| {
            cookie.trim().split_once('=').is_some_and(|(name, value)| {
                name == self.cookie && is_same(value.as_bytes(), self.session.as_bytes())
            })
        });
        is_shown.then_some(Key::Cookie)
    }

    /// Lets a browser in: it gets the cookie and goes on without the token in its address.
    pub(crate) fn let_in(&self, to: &str) -> Response {
        let secure = if self.is_encrypted { "; Secure" } else { "" };
        let (name, value) = (&self.cookie, &self.session);
        let cookie = format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/{secure}");
        let headers = [(SET_COOKIE, cookie), (LOCATION, to.to_owned())];
        (StatusCode::SEE_OTHER, headers).into_response()
    }
}

/// Everything passes here, in and out.
pub(crate) async fn guarded(
    State(site): State<Arc<Site>>,
    mut request: Request,
    next: Next,
) -> Response {
    let mut response = match asked(&site.door, &mut request) {
        Some(answer) => answer,
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    let fixed = HeaderValue::from_static;
    headers.insert(CONTENT_SECURITY_POLICY, fixed(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, fixed("nosniff"));
    headers.insert(X_FRAME_OPTIONS, fixed("DENY"));
    // With `no-referrer` a form that is sent without a script would not say where it is from.
    headers.insert(REFERRER_POLICY, fixed("same-origin"));
    headers.insert(HeaderName::from_static("cross-origin-opener-policy"), fixed("same-origin"));
    headers.insert(HeaderName::from_static("cross-origin-resource-policy"), fixed("same-origin"));
    headers.entry(CACHE_CONTROL).or_insert(fixed("no-store"));
    response
}

/// The answer to who does not get further, or whose token becomes a cookie.
fn asked(door: &Door, request: &mut Request) -> Option<Response> {
    if let Some(refusal) = door.keeps_out(request.headers()) {
        return Some(refusal);
    }
    let (path, method) = (request.uri().path(), request.method());
    let query = request.uri().query().unwrap_or_default();
    let is_reading = *method == Method::GET || *method == Method::HEAD;
    let token = pairs(query).find(|(name, _)| *name == "token").map(|(_, value)| decoded(value));
    match (token, door.key(request.headers())) {
        (Some(token), _) if is_reading => Some(if door.opens(&token) {
            let rest: Vec<&str> =
                query.split('&').filter(|pair| !pair.starts_with("token=")).collect();
            let rest = rest.join("&");
            // Only a path of our own: `//elsewhere` would be another site.
            let path = format!("/{}", path.trim_start_matches(['/', '\\']));
            door.let_in(&if rest.is_empty() { path } else { format!("{path}?{rest}") })
        } else {
            notice::stranger()
        }),
        (_, Some(key)) => {
            request.extensions_mut().insert(key);
            None
        }
        // What the page looks like is no secret, and who stands before the door may knock.
        (_, None) if is_reading && path.starts_with("/assets/") => None,
        (_, None) if *method == Method::POST && path == "/enter" => None,
        (_, None) => Some(notice::stranger()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn door(address: &str, is_encrypted: bool) -> Door {
        let token = Token::random().unwrap();
        Door::new(address.parse().unwrap(), is_encrypted, vec!["page.example.com".into()], token)
    }

    #[test]
    fn a_name_is_ours_only_when_nobody_else_can_give_it() {
        let here = door("127.0.0.1:4000", false);
        for ours in ["127.0.0.1:4000", "localhost:4000", "[::1]:4000", "page.example.com"] {
            assert!(here.is_ours(ours), "{ours}");
        }
        for other in [
            "",
            "localhost",
            "localhost:4001",
            "127.0.0.1",
            "evil.example.com:4000",
            "10.0.0.1:4000",
            "localhost:4000:4000",
            "localhost:",
            "x://page.example.com",
            "[::1]4000",
            "localhost.evil.com:4000",
        ] {
            assert!(!here.is_ours(other), "{other}");
        }
        let anywhere = door("0.0.0.0:443", true);
        for ours in ["10.0.0.1", "10.0.0.1:443", "[fe80::1]", "page.example.com:8443"] {
            assert!(anywhere.is_ours(ours), "{ours}");
        }
        assert!(!anywhere.is_ours("evil.example.com") && !anywhere.is_ours("10.0.0.1:80"));
    }
}
