//! The door for clients that come over HTTP: who may come in, and what each request is.

mod clients;
mod respond;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCEPT, ALLOW, AUTHORIZATION, CONTENT_TYPE, HOST, ORIGIN, WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt;
use breakfall::GuardBuilder;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::net::TcpListener;

use clients::{Client, Clients};
use respond::{Ending, respond, standing};

use crate::era::{self, Era, LEGACY};
use crate::error::Error;
use crate::headers::{self, LAST_EVENT, SESSION, VERSION};
use crate::message::{Message, messages};
use crate::origin::Origin;
use crate::servers::Servers;
use crate::stream::Stream;
use crate::watchdog::Watchdog;

/// Where messages go to.
const PATH: &str = "/mcp";

/// The largest body that is taken.
const LARGEST: usize = 16 << 20;

/// How long a body may take to come.
const COMING: Duration = Duration::from_secs(30);

/// Serves clients that come over HTTP.
pub struct Front {
    listener: TcpListener,
    address: SocketAddr,
    door: Arc<Door>,
}

/// What every client gets for itself, and who may come.
struct Door {
    clients: Clients,
    /// What a client must show.
    token: Option<String>,
    /// Whether only this machine can reach us.
    is_local: bool,
    streams: AtomicU64,
}

impl Front {
    /// Listens on an address. One that others can reach needs a token that they must show.
    pub async fn listen(
        address: SocketAddr,
        token: Option<String>,
        servers: Servers,
        guard: impl Fn() -> GuardBuilder + Send + Sync + 'static,
        watchdog: Option<Arc<Watchdog>>,
    ) -> Result<Self, Error> {
        let is_local = address.ip().is_loopback();
        if !is_local && token.is_none() {
            return Err(Error::Open { address });
        }
        let failed = |source| Error::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let clients = Clients::new(servers, Box::new(guard), watchdog);
        let door = Door { clients, token, is_local, streams: AtomicU64::new(1) };
        Ok(Self { listener, address, door: Arc::new(door) })
    }

    /// The address for clients.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Serves until told to stop, then ends every server.
    pub async fn serve(self, until: impl Future<Output = ()>) -> Result<(), Error> {
        let Self { listener, door, address } = self;
        let router = Router::new()
            .route(PATH, axum::routing::any(asked))
            .fallback(|| async { refusal(StatusCode::NOT_FOUND, -32600, "messages go to `/mcp`") })
            .with_state(Arc::clone(&door));
        let listener = listener.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        let served = tokio::select! {
            served = async { axum::serve(listener, router).await } => served,
            () = door.clients.expire() => Ok(()),
            () = until => Ok(()),
        };
        door.clients.end().await;
        served.map_err(|source| Error::Listen { address, source })
    }
}

/// A refusal in the words of the protocol, to a request that may have had no id.
fn refusal(status: StatusCode, code: i64, words: &str) -> Response {
    let body = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": words } });
    as_json(status, body.to_string())
}

fn refused_request(status: StatusCode, id: &RawValue, code: i64, words: &str) -> Response {
    let answer = crate::message::error(code, words);
    as_json(status, crate::message::answer(id, &answer))
}

fn as_json(status: StatusCode, body: String) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], body).into_response()
}

async fn asked(State(door): State<Arc<Door>>, request: Request) -> Response {
    if let Some(refusal) = door.keeps_out(request.headers()) {
        return refusal;
    }
    match *request.method() {
        Method::POST => door.post(request).await,
        Method::GET => door.get(request.headers()),
        Method::DELETE => door.delete(request.headers()).await,
        _ => not_allowed(),
    }
}

fn not_allowed() -> Response {
    let words = "this method is not accepted; messages are sent with POST";
    let mut refused = refusal(StatusCode::METHOD_NOT_ALLOWED, -32600, words);
    refused.headers_mut().insert(ALLOW, axum::http::HeaderValue::from_static("GET, POST, DELETE"));
    refused
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The host of `host:port` or of `scheme://host:port`.
fn host(authority: &str) -> &str {
    let authority = authority.split_once("://").map_or(authority, |(_, rest)| rest);
    if authority.starts_with('[') {
        return authority.split_inclusive(']').next().unwrap_or_default();
    }
    authority.split(':').next().unwrap_or_default()
}

fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let Some(accepted) = text(headers, &ACCEPT) else { return true };
    let group = kind.split('/').next().unwrap_or_default();
    accepted.split(',').map(|one| one.split(';').next().unwrap_or_default().trim()).any(|one| {
        one == kind || one == "*/*" || one.strip_suffix("/*").is_some_and(|of| of == group)
    })
}

impl Door {
    /// Why a request does not come in, if it does not. A page that a browser shows must not reach a
    /// server of its user's, under whatever name it calls this machine.
    fn keeps_out(&self, headers: &HeaderMap) -> Option<Response> {
        let named = text(headers, &HOST).unwrap_or_default();
        if self.is_local && !headers::is_here(host(named)) {
            let words = "the `Host` of a request must be this machine";
            return Some(refusal(StatusCode::FORBIDDEN, -32600, words));
        }
        if let Some(origin) = headers.get(ORIGIN) {
            let from = origin.to_str().unwrap_or_default();
            let is_same = from.split_once("://").is_some_and(|(_, from)| from == named);
            let is_ours = is_same || self.is_local && headers::is_here(host(from));
            if !is_ours {
                let words = "requests of other sites are not accepted";
                return Some(refusal(StatusCode::FORBIDDEN, -32600, words));
            }
        }
        let Some(token) = &self.token else { return None };
        let shown = text(headers, &AUTHORIZATION).and_then(|shown| shown.strip_prefix("Bearer "));
        if shown.is_some_and(|shown| is_same(shown.as_bytes(), token.as_bytes())) {
            return None;
        }
        let words = "this guard wants its token: `Authorization: Bearer …`";
        let mut refused = refusal(StatusCode::UNAUTHORIZED, -32600, words);
        let bearer = axum::http::HeaderValue::from_static("Bearer");
        refused.headers_mut().insert(WWW_AUTHENTICATE, bearer);
        Some(refused)
    }

    async fn post(self: Arc<Self>, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let headers = parts.headers;
        let kind = text(&headers, &CONTENT_TYPE).unwrap_or_default();
        if !kind.starts_with("application/json") {
            let words = "the `Content-Type` of a message is `application/json`";
            return refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, -32600, words);
        }
        if !accepts(&headers, "application/json") && !accepts(&headers, "text/event-stream") {
            let words = "accept `application/json` and `text/event-stream`";
            return refusal(StatusCode::NOT_ACCEPTABLE, -32600, words);
        }
        let body = match whole(body).await {
            Ok(body) => body,
            Err((status, code, words)) => return refusal(status, code, words),
        };
        let message = match <[_; 1]>::try_from(messages(&body)) {
            Ok([Some(message)]) => message,
            Ok([None]) => {
                return refusal(StatusCode::BAD_REQUEST, -32700, "this body is no message");
            }
            Err(_) => {
                return refusal(StatusCode::BAD_REQUEST, -32600, "a body is one message, no batch");
            }
        };
        let version = text(&headers, &VERSION).map(str::trim);
        let is_legacy = version.is_none_or(|version| LEGACY.contains(&version));
        match message {
            Message::Request { id, method, params }
                if !is_legacy || Era::of(params.as_deref()) == Era::Modern =>
            {
                self.modern(headers, id, method, params).await
            }
            Message::Request { id, method, params } if method == "initialize" => {
                self.initialize(headers, id, method, params).await
            }
            message => {
                let client = match self.client(&headers) {
                    Ok(client) => client,
                    Err(refused) => return *refused,
                };
                self.of_client(client, headers, message).await
            }
        }
    }

    /// The client of a request, by its session.
    fn client(&self, headers: &HeaderMap) -> Result<Arc<Client>, Box<Response>> {
        let Some(session) = text(headers, &SESSION) else {
            let words = "say `initialize` first, then name the session in `Mcp-Session-Id`";
            return Err(Box::new(refusal(StatusCode::BAD_REQUEST, -32600, words)));
        };
        self.clients.get(session).ok_or_else(|| {
            let words = "there is no such session; say `initialize` again";
            Box::new(refusal(StatusCode::NOT_FOUND, -32600, words))
        })
    }

    /// A request that says everything itself.
    async fn modern(
        &self,
        headers: HeaderMap,
        id: Box<RawValue>,
        method: String,
        params: Option<Box<RawValue>>,
    ) -> Response {
        if !era::is_whole(params.as_deref()) {
            let words = "`params._meta` must name `io.modelcontextprotocol/protocolVersion` and \
                `io.modelcontextprotocol/clientCapabilities`";
            return refused_request(StatusCode::BAD_REQUEST, &id, -32602, words);
        }
        let client = match self.clients.shared() {
            Ok(client) => client,
            Err(error) => return failed(&id, &error),
        };
        let session = &client.session;
        let parameters = session.parameters(&method, params.as_deref());
        if let Some(why) = headers::mismatch(&headers, &method, params.as_deref(), &parameters) {
            return refused_request(StatusCode::BAD_REQUEST, &id, headers::MISMATCH, &why);
        }
        let stream = self.stream();
        let origin = Origin::new(id, Era::Modern).streamed(Arc::clone(&stream), headers);
        let origin = Arc::new(origin);
        let number = session.asked(Arc::clone(&origin), method, params);
        // Who closes the connection does not want the answer any more.
        let ending = Ending::Stops { session: Arc::clone(session), number };
        respond(&origin, &stream, ending, false).await
    }

    /// A client says hello.
    async fn initialize(
        &self,
        headers: HeaderMap,
        id: Box<RawValue>,
        method: String,
        params: Option<Box<RawValue>>,
    ) -> Response {
        let (name, client) = match self.clients.open() {
            Ok(opened) => opened,
            Err(error) => return failed(&id, &error),
        };
        let stream = self.stream();
        let origin = Origin::new(id, Era::Legacy).streamed(Arc::clone(&stream), headers);
        let origin = Arc::new(origin);
        client.session.asked(Arc::clone(&origin), method, params);
        let mut response = respond(&origin, &stream, Ending::None, false).await;
        if response.status().is_success() {
            if let Ok(name) = name.parse() {
                response.headers_mut().insert(SESSION, name);
            }
        } else {
            self.clients.close(&name).await;
        }
        response
    }

    /// What a client says within its session.
    async fn of_client(
        &self,
        client: Arc<Client>,
        headers: HeaderMap,
        message: Message,
    ) -> Response {
        client.is_seen();
        match message {
            Message::Request { id, method, params } => {
                let stream = client.keep(self.stream());
                let is_priming = client.is_resumable();
                let origin = Origin::new(id, Era::Legacy).streamed(Arc::clone(&stream), headers);
                let origin = Arc::new(origin);
                client.session.asked(Arc::clone(&origin), method, params);
                let ending = Ending::Forgets { client: Arc::clone(&client), stream: stream.number };
                respond(&origin, &stream, ending, is_priming).await
            }
            Message::Notification { method, params } => {
                client.session.told(&method, params).await;
                StatusCode::ACCEPTED.into_response()
            }
            Message::Answer { id, answer } => {
                client.session.answered(&id, &answer).await;
                StatusCode::ACCEPTED.into_response()
            }
        }
    }

    /// What the server says by itself, or what a client missed.
    fn get(&self, headers: &HeaderMap) -> Response {
        if text(headers, &VERSION).is_some_and(|version| !LEGACY.contains(&version.trim())) {
            return not_allowed();
        }
        if !accepts(headers, "text/event-stream") {
            let words = "accept `text/event-stream`";
            return refusal(StatusCode::NOT_ACCEPTABLE, -32600, words);
        }
        match self.client(headers) {
            Ok(client) => {
                client.is_seen();
                standing(&client, text(headers, &LAST_EVENT))
            }
            Err(refused) => *refused,
        }
    }

    async fn delete(&self, headers: &HeaderMap) -> Response {
        match self.client(headers) {
            Ok(_) => {
                self.clients.close(text(headers, &SESSION).unwrap_or_default()).await;
                StatusCode::OK.into_response()
            }
            Err(refused) => *refused,
        }
    }

    fn stream(&self) -> Arc<Stream> {
        Arc::new(Stream::new(self.streams.fetch_add(1, Ordering::Relaxed)))
    }
}

fn failed(id: &RawValue, error: &Error) -> Response {
    refused_request(StatusCode::SERVICE_UNAVAILABLE, id, crate::message::LOST, &error.to_string())
}

/// A body as text, or why it is none.
async fn whole(body: Body) -> Result<String, (StatusCode, i64, &'static str)> {
    let coming = axum::body::to_bytes(body, LARGEST);
    let Ok(bytes) = tokio::time::timeout(COMING, coming).await else {
        return Err((
            StatusCode::REQUEST_TIMEOUT,
            -32600,
            "the body took longer than 30 s to come",
        ));
    };
    let too_large = |_| (StatusCode::PAYLOAD_TOO_LARGE, -32600, "a message has at most 16 MiB");
    let no_text = |_| (StatusCode::BAD_REQUEST, -32700, "this body is not UTF-8");
    String::from_utf8(bytes.map_err(too_large)?.into()).map_err(no_text)
}

/// Whether two secrets are the same, in a time that does not tell where they differ.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_told_from_ports_and_schemes() {
        for (authority, is) in [
            ("localhost:80", "localhost"),
            ("http://127.0.0.1:80", "127.0.0.1"),
            ("[::1]:80", "[::1]"),
            ("evil.example.com", "evil.example.com"),
            ("", ""),
        ] {
            assert_eq!(host(authority), is);
        }
    }

    #[test]
    fn what_is_accepted_is_read_with_its_stars() {
        let of = |value: &'static str| {
            [(ACCEPT, axum::http::HeaderValue::from_static(value))].into_iter().collect()
        };
        let events = "text/event-stream";
        assert!(accepts(&HeaderMap::new(), events));
        for value in ["*/*", "application/json, text/event-stream;q=0.9", "text/*"] {
            assert!(accepts(&of(value), events), "{value}");
        }
        assert!(!accepts(&of("application/json"), events));
    }
}
