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
use super::{accepts, as_json};
use crate::era::Era;
use crate::events::{ALIVE, encoded, priming};
use crate::fields::Fields;
use crate::message::Message;
use crate::origin::Origin;
use crate::session::Session;
use crate::stream::{Next, Reader, Stream};

/// How long it is waited for a message that may be the only one, and where a stream is opened in any
/// case.
const ALONE: Duration = Duration::from_secs(3);
const AT_ONCE: Duration = Duration::from_millis(20);

/// How often a stream in which nothing happens says that it is alive.
const QUIET: Duration = Duration::from_secs(15);

/// When a client should come back for a stream that it lost.
const RETRY: Duration = Duration::from_millis(500);

const EVENTS: &str = "text/event-stream";

/// What the end of a response means.
pub(super) enum Ending {
    None,
    /// A response that ends before the answer stops the request.
    Stops {
        session: Arc<Session>,
        number: u64,
    },
    /// A response that was read to its end is not asked for again.
    Forgets {
        client: Arc<Client>,
        stream: u64,
    },
}

impl Drop for Ending {
    fn drop(&mut self) {
        if let Self::Stops { session, number } = self {
            session.stop(*number);
        }
    }
}

impl Ending {
    fn is_reached(&self) {
        if let Self::Forgets { client, stream } = self {
            client.forget(*stream);
        }
    }
}

/// The response to a request: a single message where its answer is all that comes, a stream
/// otherwise. A client that can take a stream up again gets one in any case: it may lose its
/// connection, and not the answer.
pub(super) async fn respond(
    origin: &Origin,
    stream: &Arc<Stream>,
    ending: Ending,
    is_priming: bool,
) -> Response {
    let mut reader = stream.reader(0);
    let takes_events = accepts(&origin.headers, EVENTS);
    let is_priming = is_priming && takes_events;
    let first = if takes_events {
        let patience = if is_priming { AT_ONCE } else { ALONE };
        tokio::time::timeout(patience, reader.next()).await.ok()
    } else {
        Some(last(&mut reader).await)
    };
    let is_refused = |status: u16| matches!(status, 401 | 403);
    if let Some(refusal) = origin.refusal.get().filter(|refusal| is_refused(refusal.status))
        && let Some(Next::Message { is_last: true, .. }) = &first
    {
        ending.is_reached();
        return relayed(refusal.status, refusal.challenge.as_deref(), &refusal.words);
    }
    match first {
        Some(Next::Message { text, is_last: true, .. })
            if !is_priming
                && (!takes_events
                    || !stream.is_streamed()
                    || origin.era == Era::Modern && is_error(&text)) =>
        {
            ending.is_reached();
            as_json(status(origin, &text), text.to_string())
        }
        // Cancelled: there is nothing to say, and nobody who listens.
        Some(Next::End) => {
            ending.is_reached();
            StatusCode::ACCEPTED.into_response()
        }
        first => {
            let number = stream.number;
            let opening = is_priming.then(|| priming(&format!("{number}-0"), RETRY));
            let number = is_priming.then_some(number);
            events(Reading { reader, number, ending, opening, first, heard: None })
        }
    }
}

/// The answer itself, for a client that takes nothing else.
async fn last(reader: &mut Reader) -> Next {
    loop {
        match reader.next().await {
            Next::Message { is_last: false, .. } | Next::Pause => {}
            next => return next,
        }
    }
}

/// What belongs to no request, or what a client missed of one.
pub(super) fn standing(client: &Arc<Client>, last: Option<&str>) -> Response {
    let place = last.and_then(|last| last.split_once('-'));
    let place = place.and_then(|(stream, at)| Some((stream.parse().ok()?, at.parse().ok()?)));
    if let Some((number, at)) = place
        && let Some(stream) = client.stream(number)
    {
        let ending = Ending::Forgets { client: Arc::clone(client), stream: number };
        let reader = stream.reader(at);
        let (number, opening, first, heard) = (Some(number), None, None, None);
        return events(Reading { reader, number, ending, opening, first, heard });
    }
    // A message goes to one connection only: the newest.
    client.standing.pause();
    let at = match place {
        Some((0, at)) => at,
        _ => client.heard.load(Ordering::Relaxed),
    };
    let reader = client.standing.reader(at);
    let number = client.is_resumable().then_some(0);
    let heard = Some(Listening::new(client));
    let (ending, first) = (Ending::None, None);
    let opening = Some(ALIVE.to_owned());
    events(Reading { reader, number, ending, opening, first, heard })
}

/// A connection on which a client listens.
struct Listening(Arc<Client>);

impl Listening {
    fn new(client: &Arc<Client>) -> Self {
        client.listening.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(client))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.listening.fetch_sub(1, Ordering::Relaxed);
        self.0.is_seen();
    }
}

/// How far a stream was read.
struct Reading {
    reader: Reader,
    /// The number of the stream, where it can be taken up again.
    number: Option<u64>,
    ending: Ending,
    opening: Option<String>,
    first: Option<Next>,
    heard: Option<Listening>,
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
                if let Some(listening) = &reading.heard {
                    listening.0.heard.fetch_max(number, Ordering::Relaxed);
                }
                let event = encoded(id.as_deref(), &text);
                if is_last {
                    reading.ending.is_reached();
                }
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
fn relayed(status: u16, challenge: Option<&str>, words: &str) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::FORBIDDEN);
    let body = breakfall::Redactor::default().redact(words).into_owned();
    let mut response = (status, body).into_response();
    if let Some(challenge) = challenge.and_then(|challenge| challenge.parse().ok()) {
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
    if let Some(refusal) = origin.refusal.get() {
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
