//! What belongs to a request becomes the response to it: one message, or a stream of events.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde_json::value::RawValue;

use super::clients::Client;
use super::{as_json, not_allowed};
use crate::era::Era;
use crate::events::{ALIVE, encoded, priming};
use crate::fields::Fields;
use crate::headers::{EVENTS, accepts};
use crate::message::Message;
use crate::origin::{Origin, Refusal};
use crate::session::Session;
use crate::stream::{Next, Reader, Stream};

/// How long it is waited for a message that may be the only one.
const ALONE: Duration = Duration::from_secs(3);

/// An answer that is longer goes alone where it can: clients bound how long an event may be.
const LARGE: usize = 512 << 10;

/// How often a stream in which nothing happens says that it is alive.
const QUIET: Duration = Duration::from_secs(15);

/// When a client should come back for a stream that it lost.
const RETRY: Duration = Duration::from_millis(500);

/// What the end of a response means.
pub(super) enum Ending {
    None,
    /// A response that ends before the answer stops the request.
    Stops {
        session: Arc<Session>,
        number: u64,
    },
    /// The client may come back for the rest.
    Leaves(#[expect(dead_code, reason = "held until it is dropped")] Connected),
}

impl Drop for Ending {
    fn drop(&mut self) {
        if let Self::Stops { session, number } = self {
            session.stop(*number);
        }
    }
}

/// The response to a request: a single message where its answer is all that comes, a stream
/// otherwise. A client that can take a stream up again gets one after a while in any case: it may
/// lose its connection, and not the answer.
pub(super) async fn respond(
    origin: &Origin,
    stream: &Arc<Stream>,
    ending: Ending,
    opens_after: Option<Duration>,
) -> Response {
    let takes_events = accepts(&origin.headers, EVENTS);
    let takes_one = accepts(&origin.headers, "application/json");
    let is_priming = opens_after.is_some() && takes_events;
    let reader = stream.reader(0);
    let mut reader = if is_priming { reader } else { reader.staying() };
    let first = if takes_events {
        let patience = opens_after.unwrap_or(ALONE);
        tokio::select! {
            biased;
            next = reader.next() => Some(next),
            () = stream.spoken_of(), if is_priming => None,
            () = tokio::time::sleep(patience) => None,
        }
    } else {
        Some(last(&mut reader).await)
    };
    if let Some(refusal) = origin.refusal().filter(|it| matches!(it.status, 401 | 403))
        && let Some(Next::Message { is_last: true, .. }) = &first
    {
        return relayed(&refusal);
    }
    match first {
        Some(Next::Message { text, is_last: true, .. })
            if (!is_priming || text.len() > LARGE)
                && takes_one
                && (!takes_events
                    || !stream.is_streamed()
                    || origin.era == Era::Modern && is_error(&text)) =>
        {
            as_json(status(origin, &text), text.to_string())
        }
        // Cancelled: there is nothing to say, and nobody who listens.
        Some(Next::End) => StatusCode::ACCEPTED.into_response(),
        first => {
            let number = stream.number;
            let opening = is_priming.then(|| priming(&format!("{number}-0"), RETRY));
            let number = is_priming.then_some(number);
            events(Reading { reader, number, _ending: ending, opening, first, of: None })
        }
    }
}

/// The answer itself, for a client that takes nothing else.
async fn last(reader: &mut Reader) -> Next {
    loop {
        match reader.next().await {
            Next::Message { is_last: false, .. } => {}
            next => return next,
        }
    }
}

/// What belongs to no request, or what a client missed of one.
pub(super) fn standing(client: &Arc<Client>, last: Option<&str>) -> Response {
    let place = last.and_then(|last| last.split_once('-'));
    let place = place.and_then(|(stream, at)| Some((stream.parse().ok()?, at.parse().ok()?)));
    let ending = Ending::Leaves(Connected::new(client));
    if let Some((number, at)) = place.filter(|(number, _)| *number > 0) {
        let Some(stream) = client.stream(number).filter(|stream| !stream.is_over(at)) else {
            // An empty stream would bring the client back, for ever: as it does after a call that
            // it cancelled.
            return not_allowed("nothing more comes on this stream");
        };
        let (reader, number) = (stream.reader(at), Some(number));
        let (opening, first, of) = (None, None, None);
        return events(Reading { reader, number, _ending: ending, opening, first, of });
    }
    // A message goes to one connection only: the newest.
    client.standing.pause();
    let at = match place {
        Some((0, at)) => at,
        _ => client.heard.load(Ordering::Relaxed),
    };
    let reader = client.standing.reader(at);
    let number = client.is_resumable().then_some(0);
    let (opening, first) = (Some(ALIVE.to_owned()), None);
    let of = Some(Arc::clone(client));
    events(Reading { reader, number, _ending: ending, opening, first, of })
}

/// A connection of a client's: as long as it has one it is there.
pub(super) struct Connected(Arc<Client>);

impl Connected {
    pub(super) fn new(client: &Arc<Client>) -> Self {
        client.connections.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(client))
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.is_seen();
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How far a stream was read.
struct Reading {
    reader: Reader,
    /// The number of the stream, where it can be taken up again.
    number: Option<u64>,
    _ending: Ending,
    opening: Option<String>,
    first: Option<Next>,
    /// The client, where this is what belongs to no request.
    of: Option<Arc<Client>>,
}

fn events(reading: Reading) -> Response {
    let body = stream::unfold(Some(reading), |reading| async {
        let mut reading = reading?;
        let opening = reading.opening.take();
        let next = match (reading.first.take(), &opening) {
            (Some(first), _) => Some(first),
            (None, Some(_)) => None,
            (None, None) => tokio::time::timeout(QUIET, reading.reader.next()).await.ok(),
        };
        let opening = opening.unwrap_or_default();
        match next {
            None if !opening.is_empty() => {
                Some((Ok::<_, std::convert::Infallible>(opening), Some(reading)))
            }
            None => Some((Ok(ALIVE.to_owned()), Some(reading))),
            Some(Next::Message { number, text, is_last }) => {
                let id = reading.number.map(|stream| format!("{stream}-{number}"));
                if let Some(client) = &reading.of {
                    client.heard.fetch_max(number, Ordering::Relaxed);
                }
                let event = encoded(id.as_deref(), &text);
                Some((Ok(opening + &event), (!is_last).then_some(reading)))
            }
            Some(Next::Pause | Next::End) if !opening.is_empty() => Some((Ok(opening), None)),
            Some(Next::Pause | Next::End) => None,
        }
    });
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(EVENTS)),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform")),
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (StatusCode::OK, headers, Body::from_stream(body)).into_response()
}

/// What a single server behind us said to who may not come in.
fn relayed(refusal: &Refusal) -> Response {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::FORBIDDEN);
    let body = breakfall::Redactor::default().redact(&refusal.words).into_owned();
    let mut response = (status, body).into_response();
    if let Some(challenge) = refusal.challenge.as_ref().and_then(|it| it.parse().ok()) {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response
}

fn error_of(line: &str) -> Option<Box<RawValue>> {
    match Message::parse(line)? {
        Message::Answer { answer: crate::message::Answer::Error(error), .. } => Some(error),
        _ => None,
    }
}

/// Whether an answer is an error. Ours are written with the id first.
fn is_error(line: &str) -> bool {
    !line.contains(r#","result":"#) || error_of(line).is_some()
}

/// The status of an answer, where its era has one for it.
fn status(origin: &Origin, line: &str) -> StatusCode {
    if origin.era == Era::Legacy || !is_error(line) {
        return StatusCode::OK;
    }
    if let Some(refusal) = origin.refusal().filter(|refusal| refusal.status >= 400) {
        return StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::OK);
    }
    let error = error_of(line);
    let code = Fields::of(error.as_deref()).get("code").and_then(|code| code.get().parse().ok());
    match code {
        Some(-32601) => StatusCode::NOT_FOUND,
        Some(-32022..=-32020) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}
