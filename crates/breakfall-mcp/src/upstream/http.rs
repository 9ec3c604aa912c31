//! A server at an address: each message is an exchange of its own, and answers may come as events.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::header::{
    ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use serde_json::value::RawValue;
use tokio::sync::SetOnce;
use tokio::task::AbortHandle;

use super::address::{To, told};
use super::connection::{Connection, Lost};
use super::{Upstream, heard};
use crate::era::{Era, MODERN};
use crate::fields::Fields;
use crate::headers::{self, EVENTS};
use crate::message::{Answer, LONGEST};
use crate::origin::{Origin, Refusal};
use crate::record::Way;

/// How long what nobody waits for may take.
const TELLING: Duration = Duration::from_secs(30);

/// How much of a refusal is read.
pub(super) const REFUSAL: usize = 64 << 10;

/// How long a farewell may take.
const FAREWELL: Duration = Duration::from_secs(1);

/// The way to a server at an address.
pub(super) struct Http {
    pub(super) to: To,
    is_modern: AtomicBool,
    pub(super) session: OnceLock<HeaderValue>,
    version: OnceLock<HeaderValue>,
    /// Where messages go to a server that answers on one stream.
    pub(super) mailbox: SetOnce<Url>,
}

impl Http {
    pub(super) fn new(to: To) -> Self {
        Self {
            to,
            is_modern: AtomicBool::new(false),
            session: OnceLock::new(),
            version: OnceLock::new(),
            mailbox: SetOnce::new(),
        }
    }

    /// From now on messages are of this era.
    pub(super) fn speaks(&self, era: Era) {
        self.is_modern.store(era == Era::Modern, Ordering::Relaxed);
    }

    pub(super) fn is_modern(&self) -> bool {
        self.is_modern.load(Ordering::Relaxed)
    }

    /// The revision on which a handshake agreed.
    pub(super) fn agreed(&self, greeting: &RawValue) {
        let version = Fields::of(Some(greeting)).text("protocolVersion");
        if let Some(version) = version.and_then(|version| HeaderValue::try_from(version).ok()) {
            let _ = self.version.set(version);
        }
    }

    /// The headers of a request of ours.
    pub(super) fn headers(
        &self,
        upstream: &Upstream,
        method: &str,
        params: Option<&RawValue>,
        origin: Option<&Origin>,
    ) -> HeaderMap {
        if self.is_modern() {
            headers::of(upstream, method, params, origin)
        } else {
            HeaderMap::new()
        }
    }

    fn with_session(&self, request: RequestBuilder) -> RequestBuilder {
        if self.is_modern() {
            return request.header(headers::VERSION, MODERN);
        }
        let request = match self.session.get() {
            Some(session) => request.header(headers::SESSION, session),
            None => request,
        };
        match self.version.get() {
            Some(version) => request.header(headers::VERSION, version),
            None => request,
        }
    }

    fn post(&self, line: String) -> RequestBuilder {
        let request = match self.mailbox.get() {
            Some(mailbox) => self.to.request_at(Method::POST, mailbox),
            None => self.to.request(Method::POST),
        };
        let request = request
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream");
        self.with_session(request).body(line)
    }

    pub(super) fn get(&self, last: Option<&str>) -> RequestBuilder {
        let request = self.to.request(Method::GET).header(ACCEPT, EVENTS);
        let request = self.with_session(request);
        match last.and_then(|last| HeaderValue::from_bytes(last.as_bytes()).ok()) {
            Some(last) => request.header(headers::LAST_EVENT, last),
            None => request,
        }
    }

    /// Sends a message and takes what comes back.
    pub(super) async fn exchange(
        &self,
        upstream: &Arc<Upstream>,
        connection: &Arc<Connection>,
        (line, headers): (String, HeaderMap),
        asked: Option<u64>,
    ) {
        let exchanged = async {
            match self.post(line).headers(headers).send().await {
                Ok(response) => self.took(upstream, connection, response, asked).await,
                Err(error) if error.is_connect() => Some(Lost::NotSent(told(error))),
                Err(error) => Some(Lost::Gone(told(error))),
            }
        };
        let lost = match asked {
            // Who waits for it decides how long.
            Some(_) => exchanged.await,
            None => tokio::time::timeout(TELLING, exchanged).await.unwrap_or_default(),
        };
        let over = match &lost {
            Some(Lost::NotSent(why) | Lost::Stale(why)) => Some(why.clone()),
            _ => None,
        };
        if let (Some(lost), Some(number)) = (lost, asked) {
            connection.answered(number, Err(lost));
        }
        // Who comes next waits until the server is greeted anew.
        if let Some(why) = over {
            connection.is_retired(why);
        }
    }

    async fn took(
        &self,
        upstream: &Arc<Upstream>,
        connection: &Arc<Connection>,
        response: Response,
        asked: Option<u64>,
    ) -> Option<Lost> {
        let status = response.status();
        if !status.is_success() {
            return self.refused(connection, response, asked).await;
        }
        if !self.is_modern()
            && let Some(session) = response.headers().get(headers::SESSION)
        {
            let _ = self.session.set(session.clone());
        }
        if self.mailbox.initialized() {
            // The answer comes on the stream.
            let _ = body(response, REFUSAL).await;
            return None;
        }
        if is_events(&response) {
            if let Some(stream) = connection.stream(asked) {
                stream.is_spoken_of_in_a_stream();
            }
            return self.events(upstream, connection, response, asked).await;
        }
        let body = match body(response, LONGEST).await {
            Ok(body) => body,
            Err(lost) => return Some(lost),
        };
        if !body.trim().is_empty() {
            let body = self.to.without_secrets(one_line(body));
            heard::said(upstream, connection, &body, asked).await;
        }
        Some(Lost::Gone("it sent no answer".to_owned()))
    }

    /// What a refusal means.
    async fn refused(
        &self,
        connection: &Connection,
        response: Response,
        asked: Option<u64>,
    ) -> Option<Lost> {
        let status = response.status();
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        let challenge = header(WWW_AUTHENTICATE).map(|it| self.to.without_secrets(it.to_owned()));
        let wait = header(RETRY_AFTER).and_then(breakfall::retry_after);
        let words = self.to.without_secrets(body(response, REFUSAL).await.unwrap_or_default());
        connection.record(Way::Note, &format!("HTTP status {}: {words}", status.as_u16()));
        let fields = serde_json::from_str(&words).unwrap_or_default();
        let fields: &Fields = &fields;
        let error = fields.get("error").filter(|error| error.get().starts_with('{'));
        if let Some(why) = self.forgotten(status, &words) {
            return Some(Lost::Stale(why));
        }
        let refusal = Refusal { status: status.as_u16(), challenge, wait, words };
        if let Some(origin) = asked.and_then(|number| connection.origin(number)) {
            origin.is_refused(refusal.clone());
        }
        match error {
            Some(error) if !matches!(status.as_u16(), 401 | 403 | 429) => {
                connection.answered(asked?, Ok(Answer::Error(error.to_owned())));
                None
            }
            _ => Some(Lost::Refused(refusal)),
        }
    }

    /// Why the session must begin anew, where a refusal tells that the server does not know it.
    pub(super) fn forgotten(&self, status: StatusCode, words: &str) -> Option<String> {
        let has_session = self.session.get().is_some() || self.mailbox.initialized();
        (has_session && is_stale(status, words))
            .then(|| "its server has forgotten the session".to_owned())
    }

    /// Nobody waits for a request any more.
    pub(super) fn stopped(&self, line: String, exchange: Option<AbortHandle>) {
        let Some(exchange) = exchange else { return };
        let runtime = tokio::runtime::Handle::try_current().ok().filter(|_| !self.is_modern());
        let Some(runtime) = runtime else {
            exchange.abort();
            return;
        };
        let cancel = self.post(line);
        runtime.spawn(async move {
            let _ = tokio::time::timeout(FAREWELL, cancel.send()).await;
            exchange.abort();
        });
    }

    /// Ends the session.
    pub(super) async fn farewell(&self) {
        if self.session.get().is_some() {
            let request = self.with_session(self.to.request(Method::DELETE));
            let _ = tokio::time::timeout(FAREWELL, request.send()).await;
        }
    }
}

/// Whether a refusal tells that the session is not known. Servers should say 404; real ones say 400
/// and that there is no such session.
fn is_stale(status: StatusCode, words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    status == StatusCode::NOT_FOUND
        || status == StatusCode::BAD_REQUEST && FORGOTTEN.iter().any(|known| words.contains(known))
}

/// What servers say in a 400 of a session that they do not know. A tool may speak of sessions, too.
const FORGOTTEN: &[&str] = &[
    "session id",
    "session-id",
    "sessionid",
    "session not found",
    "session expired",
    "session has expired",
    "session does not exist",
    "session is not",
    "invalid session",
    "unknown session",
    "no session",
    "missing session",
    "server not initialized",
];

pub(super) fn is_events(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with(EVENTS))
}

pub(super) async fn body(mut response: Response, longest: usize) -> Result<String, Lost> {
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if bytes.len() + chunk.len() > longest => return Err(Lost::TooLong),
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) => return Err(Lost::Gone(told(error))),
        }
    }
}

/// A message may be written over several lines, which only ever separate what belongs to it.
pub(super) fn one_line(mut text: String) -> String {
    if text.contains(['\n', '\r']) {
        text = text.replace(['\n', '\r'], " ");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forgotten_session_is_known_by_what_servers_really_say() {
        let said =
            r#"{"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}"#;
        assert!(is_stale(StatusCode::BAD_REQUEST, said));
        assert!(is_stale(StatusCode::NOT_FOUND, ""));
        assert!(!is_stale(StatusCode::BAD_REQUEST, "missing field `name`"));
        assert!(!is_stale(StatusCode::BAD_REQUEST, "browser session closed"));
        assert!(!is_stale(StatusCode::UNAUTHORIZED, "session expired"));
    }
}
