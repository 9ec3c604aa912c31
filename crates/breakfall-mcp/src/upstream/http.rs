//! A server at an address: each message is an exchange of its own, and answers may come as events.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use serde_json::value::RawValue;
use tokio::task::AbortHandle;

use super::connection::{Connection, Lost};
use super::{Upstream, keep};
use crate::era::{Era, MODERN};
use crate::events::Decoder;
use crate::fields::Fields;
use crate::headers;
use crate::message::{Answer, messages};
use crate::origin::{Origin, Refusal};
use crate::servers::Address;

/// How long a connection may take.
const CONNECTING: Duration = Duration::from_secs(10);

/// The longest answer that is taken.
const LONGEST: usize = 16 << 20;

/// How much of a refusal is read.
const REFUSAL: usize = 64 << 10;

/// How long a stream that ended is left alone where the server does not say, and how often it is
/// taken up in vain.
const RESUMING: Duration = Duration::from_millis(500);
const RESUMED: u32 = 5;

/// The longest that a server may tell us to stay away from a stream.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// How long a farewell may take.
const FAREWELL: Duration = Duration::from_secs(1);

/// How long a stream whose answer is there has to end.
const ENDING: Duration = Duration::from_secs(1);

const EVENTS: &str = "text/event-stream";

/// The way to a server at an address.
pub(super) struct Http {
    client: Client,
    url: Url,
    is_modern: AtomicBool,
    session: OnceLock<HeaderValue>,
    version: OnceLock<HeaderValue>,
}

/// One client for each address, so that connections are used again.
pub(super) fn client(address: &Address) -> Result<(Client, Url), String> {
    let url: Url =
        address.url.parse().map_err(|error| format!("its address is unusable: {error}"))?;
    let mut headers = HeaderMap::new();
    for (name, value) in &address.headers {
        let unusable = || format!("its header `{name}` is unusable");
        let name = HeaderName::try_from(name.as_str()).map_err(|_| unusable())?;
        let mut value = HeaderValue::try_from(value.as_str()).map_err(|_| unusable())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    // Another place must never be told what was meant for this one.
    let here = url.clone();
    let stay = Policy::custom(move |attempt| {
        if attempt.previous().len() > 5 || attempt.url().origin() != here.origin() {
            attempt.stop()
        } else {
            attempt.follow()
        }
    });
    // The one that the program has, or ours where it has none.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut client =
        Client::builder().connect_timeout(CONNECTING).default_headers(headers).redirect(stay);
    if url.scheme() == "http" {
        // Nothing is to be verified: a machine without certificates will do.
        client = client.tls_certs_only([]);
    }
    if headers::is_here(url.host_str().unwrap_or_default()) {
        client = client.no_proxy();
    }
    let client =
        client.build().map_err(|error| format!("no connection can be made: {}", told(error)))?;
    Ok((client, url))
}

impl Http {
    pub(super) fn new(client: Client, url: Url) -> Self {
        Self {
            client,
            url,
            is_modern: AtomicBool::new(false),
            session: OnceLock::new(),
            version: OnceLock::new(),
        }
    }

    /// From now on messages are of this era.
    pub(super) fn speaks(&self, era: Era) {
        self.is_modern.store(era == Era::Modern, Ordering::Relaxed);
    }

    fn is_modern(&self) -> bool {
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
        let request = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream");
        self.with_session(request).body(line)
    }

    fn get(&self, last: Option<&str>) -> RequestBuilder {
        let request = self.client.get(self.url.clone()).header(ACCEPT, EVENTS);
        let request = self.with_session(request);
        match last.and_then(|last| HeaderValue::try_from(last).ok()) {
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
        let lost = match self.post(line).headers(headers).send().await {
            Ok(response) => self.took(upstream, connection, response, asked).await,
            Err(error) if error.is_connect() => Some(Lost::NotSent(told(error))),
            Err(error) => Some(Lost::Gone(told(error))),
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
            connection.is_gone(why);
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
        if is_events(&response) {
            if let Some(stream) = asked
                .and_then(|number| connection.origin(number))
                .and_then(|origin| origin.stream.clone())
            {
                stream.is_spoken_of_in_a_stream();
            }
            return self.events(upstream, connection, response, asked).await;
        }
        let body = match body(response, LONGEST).await {
            Ok(body) => body,
            Err(lost) => return Some(lost),
        };
        if !body.trim().is_empty() {
            for message in messages(&one_line(body)) {
                keep::heard(upstream, connection, message, asked).await;
            }
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
        let challenge = header(WWW_AUTHENTICATE).map(str::to_owned);
        let wait = header(reqwest::header::RETRY_AFTER)
            .and_then(|value| value.parse().ok())
            .map(Duration::from_secs);
        let words = body(response, REFUSAL).await.unwrap_or_default();
        let fields = serde_json::from_str(&words).unwrap_or_default();
        let fields: &Fields = &fields;
        let error = fields.get("error").filter(|error| error.get().starts_with('{'));
        if self.session.get().is_some() && is_stale(status, &words) {
            return Some(Lost::Stale("its server has forgotten the session".to_owned()));
        }
        let refusal = Refusal { status: status.as_u16(), challenge, wait, words };
        match error {
            Some(error) if !matches!(status.as_u16(), 401 | 403 | 429) => {
                if let Some(origin) = asked.and_then(|number| connection.origin(number)) {
                    let _ = origin.refusal.set(refusal.clone());
                }
                connection.answered(asked?, Ok(Answer::Error(error.to_owned())));
                None
            }
            _ => {
                if let Some(origin) = asked.and_then(|number| connection.origin(number)) {
                    let _ = origin.refusal.set(refusal.clone());
                }
                Some(Lost::Refused(refusal))
            }
        }
    }

    /// Takes events until what was asked is answered; a stream that ends before is taken up again.
    async fn events(
        &self,
        upstream: &Arc<Upstream>,
        connection: &Arc<Connection>,
        mut response: Response,
        asked: Option<u64>,
    ) -> Option<Lost> {
        let mut place = Place::default();
        loop {
            let broke = self.read(upstream, connection, response, asked, &mut place).await;
            if asked.is_some_and(|number| !connection.is_awaited(number)) {
                return None;
            }
            let lost = || Some(Lost::Gone("its stream ended before the answer".to_owned()));
            if self.is_modern() || place.last.is_none() {
                return lost();
            }
            if let Some(stream) = asked
                .and_then(|number| connection.origin(number))
                .and_then(|origin| origin.stream.clone())
            {
                stream.pause();
            }
            response = match self.resumed(&place, broke).await {
                Ok(response) => response,
                Err(why) => {
                    if let Some(why) = why {
                        // Before the others hear it: this one may have taken effect.
                        if let Some(number) = asked {
                            connection.answered(number, Err(Lost::Gone(why.clone())));
                        }
                        connection.is_gone(why);
                    }
                    return lost();
                }
            };
        }
    }

    /// Takes the events of one connection; true where it broke rather than ended.
    async fn read(
        &self,
        upstream: &Arc<Upstream>,
        connection: &Arc<Connection>,
        mut response: Response,
        asked: Option<u64>,
        place: &mut Place,
    ) -> bool {
        let mut decoder = Decoder::default();
        loop {
            let bytes = match response.chunk().await {
                Ok(Some(bytes)) => bytes,
                Ok(None) => return false,
                Err(_) => return true,
            };
            for event in decoder.push(&bytes) {
                place.last = event.id.or(place.last.take());
                place.retry = event.retry.or(place.retry);
                if event.data.is_empty() {
                    continue;
                }
                if event.is_too_long {
                    keep::too_long(upstream, connection, &event.data);
                    continue;
                }
                for message in messages(&one_line(event.data)) {
                    keep::heard(upstream, connection, message, asked).await;
                }
            }
            if asked.is_some_and(|number| !connection.is_awaited(number)) {
                // A connection that is left before its stream ends cannot be used again.
                let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
                let _ = tokio::time::timeout(ENDING, rest).await;
                return false;
            }
        }
    }

    /// Takes a stream up again where it ended; an error with words is a server that is gone.
    async fn resumed(&self, place: &Place, broke: bool) -> Result<Response, Option<String>> {
        let wait = place.retry.unwrap_or(RESUMING).min(LONGEST_WAIT);
        for attempt in 0..RESUMED {
            // One that broke is not coming back by itself: whether the server is there is seen at once.
            if attempt > 0 || !broke {
                tokio::time::sleep(wait).await;
            }
            match self.get(place.last.as_deref()).send().await {
                Ok(response) if response.status().is_success() && is_events(&response) => {
                    return Ok(response);
                }
                Ok(response) => {
                    let status = response.status();
                    let words = body(response, REFUSAL).await.unwrap_or_default();
                    if self.session.get().is_some() && is_stale(status, &words) {
                        return Err(Some("its server has forgotten the session".to_owned()));
                    }
                    return Err(None);
                }
                Err(error) if error.is_connect() => return Err(Some(told(error))),
                Err(_) => {}
            }
        }
        Err(None)
    }

    /// Hears what the server says by itself, as long as it does.
    pub(super) async fn listen(&self, upstream: &Arc<Upstream>, connection: &Arc<Connection>) {
        let mut place = Place::default();
        let mut failures = 0;
        while failures < RESUMED {
            match self.get(place.last.as_deref()).send().await {
                Ok(response) if response.status().is_success() && is_events(&response) => {
                    failures = 0;
                    let broke = self.read(upstream, connection, response, None, &mut place).await;
                    if broke {
                        continue;
                    }
                }
                Ok(response) => {
                    let status = response.status();
                    let words = body(response, REFUSAL).await.unwrap_or_default();
                    if self.session.get().is_some() && is_stale(status, &words) {
                        connection.is_gone("its server has forgotten the session".to_owned());
                    }
                    // Most often it has no such stream.
                    return;
                }
                Err(error) if error.is_connect() => {
                    connection.is_gone(told(error));
                    return;
                }
                Err(_) => failures += 1,
            }
            tokio::time::sleep(place.retry.unwrap_or(RESUMING).min(LONGEST_WAIT)).await;
        }
    }

    /// Nobody waits for a request any more.
    pub(super) fn stopped(&self, line: String, exchange: Option<AbortHandle>) {
        let Some(exchange) = exchange else { return };
        if self.is_modern() {
            exchange.abort();
            return;
        }
        let cancel = self.post(line);
        tokio::spawn(async move {
            let _ = cancel.send().await;
            exchange.abort();
        });
    }

    /// Ends the session.
    pub(super) async fn farewell(&self) {
        if self.session.get().is_some() {
            let request = self.with_session(self.client.delete(self.url.clone()));
            let _ = tokio::time::timeout(FAREWELL, request.send()).await;
        }
    }
}

/// Where a stream can be taken up again.
#[derive(Default)]
struct Place {
    last: Option<String>,
    retry: Option<Duration>,
}

/// Whether a refusal tells that the session is not known. Servers should say 404; real ones say 400
/// and that there is no such session.
fn is_stale(status: StatusCode, words: &str) -> bool {
    status == StatusCode::NOT_FOUND
        || status == StatusCode::BAD_REQUEST && words.to_ascii_lowercase().contains("session")
}

fn is_events(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with(EVENTS))
}

async fn body(mut response: Response, longest: usize) -> Result<String, Lost> {
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
fn one_line(mut text: String) -> String {
    if text.contains(['\n', '\r']) {
        text = text.replace(['\n', '\r'], " ");
    }
    text
}

/// What went wrong, without the address: it may hold a secret.
fn told(error: reqwest::Error) -> String {
    keep::with_causes(&error.without_url())
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
        assert!(!is_stale(StatusCode::UNAUTHORIZED, "session expired"));
    }

    #[test]
    fn an_address_that_cannot_be_used_is_told_without_it() {
        let address = |url: &str, name: &str| Address {
            url: url.to_owned(),
            headers: [(name.to_owned(), "hunter2\n".to_owned())].into(),
        };
        let unusable = client(&address("http://[", "X")).unwrap_err();
        assert!(unusable.starts_with("its address is unusable"), "{unusable}");
        let unusable = client(&address("http://localhost", "X")).unwrap_err();
        assert_eq!(unusable, "its header `X` is unusable");
    }
}
