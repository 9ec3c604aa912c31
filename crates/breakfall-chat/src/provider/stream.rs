//! The body of a response becomes events within bounds. What it is shows in its first byte: servers
//! say one thing in their headers and send another.

use std::io::Cursor;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{Stream, StreamExt, stream};
use serde_json::Value;
use sse_stream::{Sse, SseByteStream};

use super::Bounds;
use super::halves::{Characters, Halves};
use super::lines::Lines;
use crate::error::{ModelError, ModelErrorKind};

/// A piece of a body.
pub(super) enum Read {
    /// An event of a stream.
    Event(Value),
    /// An event that is called an error.
    Error(Value),
    /// An answer in one piece.
    Whole(Value),
    /// The stream said that this was all.
    Done,
}

/// What some write before a text.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// Why no more comes.
#[derive(Clone, Debug, thiserror::Error)]
enum Broken {
    #[error("nothing came for {} s", .0.as_secs_f64())]
    Silent(Duration),
    #[error("{0}")]
    Lost(String),
    #[error("more than {0} bytes came")]
    TooLarge(usize),
}

type Bytes = Cursor<Vec<u8>>;
type Pieces = Pin<Box<dyn Stream<Item = Result<Bytes, Broken>> + Send>>;

/// The body of a response.
pub(super) struct Body {
    form: Form,
    /// Whether the end of the body is told, so that a lost connection is no end.
    delimited: bool,
    /// Bytes since the last event.
    pending: Arc<AtomicUsize>,
    events: usize,
    halves: Halves,
}

enum Form {
    Events(Pin<Box<SseByteStream<Pieces>>>),
    Whole(Option<Vec<u8>>),
}

impl Body {
    pub(super) async fn new(
        response: reqwest::Response,
        bounds: Bounds,
    ) -> Result<Self, ModelError> {
        let delimited = response.content_length().is_some()
            || response
                .headers()
                .get("transfer-encoding")
                .is_some_and(|how| how.as_bytes().eq_ignore_ascii_case(b"chunked"));
        if let Some(how) = response.headers().get("content-encoding")
            && how != "identity"
        {
            let how = how.to_str().unwrap_or_default();
            return Err(malformed(&format!("it is compressed (`{how}`), which was not asked for")));
        }
        let pending = Arc::new(AtomicUsize::new(0));
        let mut pieces = bounded(response, bounds, Arc::clone(&pending));
        let mut first: Vec<u8> = Vec::new();
        let begins = loop {
            // A mark of the order of bytes is no beginning.
            match first.iter().find(|byte| !byte.is_ascii_whitespace() && !MARK.contains(byte)) {
                Some(byte) => break Some(*byte),
                None => match pieces.next().await {
                    Some(piece) => {
                        first.extend(piece.map_err(|error| broken(&error))?.into_inner());
                    }
                    None => break None,
                },
            }
        };
        let form = match begins {
            None => return Err(malformed("the body is empty")),
            Some(b'<') => return Err(malformed("it answered with a page, not with an answer")),
            Some(b'{' | b'[') => {
                while let Some(piece) = pieces.next().await {
                    first.extend(piece.map_err(|error| broken(&error))?.into_inner());
                }
                Form::Whole(Some(first))
            }
            Some(_) => {
                let first = stream::iter([Ok(Cursor::new(first))]);
                // An event whose last line has no end is one, if it is whole.
                let last = stream::iter([Ok(Cursor::new(b"\n\n".to_vec()))]);
                let pieces = whole(Box::pin(first.chain(pieces).chain(last)));
                Form::Events(Box::pin(SseByteStream::new(pieces)))
            }
        };
        Ok(Self { form, delimited, pending, events: 0, halves: Halves::default() })
    }

    /// The next piece; none at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Read>, ModelError> {
        match &mut self.form {
            Form::Whole(body) => {
                let Some(body) = body.take() else { return Ok(None) };
                let body = String::from_utf8_lossy(&body);
                let value = read(body.trim_start_matches('\u{feff}'), &mut self.halves)
                    .map_err(|error| malformed(&format!("the body is no JSON: {error}")))?;
                self.events += 1;
                Ok(Some(Read::Whole(value)))
            }
            Form::Events(events) => loop {
                let event = match events.next().await {
                    None => return Ok(None),
                    Some(Ok(event)) => event,
                    Some(Err(sse_stream::Error::Body(error))) => {
                        return Err(match error.downcast::<Broken>() {
                            Ok(error) => broken(&error),
                            Err(error) => malformed(&error.to_string()),
                        });
                    }
                    Some(Err(error)) => return Err(malformed(&error.to_string())),
                };
                self.pending.store(0, Ordering::Relaxed);
                if let Some(read) = told(&event, &mut self.halves)? {
                    self.events += usize::from(!matches!(read, Read::Done));
                    return Ok(Some(read));
                }
            },
        }
    }

    pub(super) fn is_delimited(&self) -> bool {
        self.delimited
    }

    /// Whether nothing came.
    pub(super) fn is_blank(&self) -> bool {
        self.events == 0
    }
}

/// The same bytes in whole characters, each line with its name.
fn whole(pieces: Pieces) -> Pieces {
    let mut characters = Characters::default();
    let mut lines = Lines::default();
    let mut take =
        move |bytes: Bytes| Cursor::new(lines.take(&characters.take(bytes.into_inner())));
    Box::pin(pieces.map(move |piece| piece.map(&mut take)))
}

/// The bytes of a body, as long as they come and there are not too many of them.
fn bounded(response: reqwest::Response, bounds: Bounds, pending: Arc<AtomicUsize>) -> Pieces {
    let state = (response, 0_usize, false);
    Box::pin(stream::unfold(state, move |(mut response, taken, ended)| {
        let pending = Arc::clone(&pending);
        async move {
            if ended {
                return None;
            }
            let patience = if taken == 0 { bounds.beginning } else { bounds.silence };
            let piece = match tokio::time::timeout(patience, response.chunk()).await {
                Err(_) => Err(Broken::Silent(patience)),
                Ok(Err(error)) => Err(Broken::Lost(innermost(&error))),
                Ok(Ok(None)) => return None,
                Ok(Ok(Some(bytes))) => Ok(bytes),
            };
            let piece = piece.and_then(|bytes| {
                let event = pending.fetch_add(bytes.len(), Ordering::Relaxed) + bytes.len();
                let most = if event > bounds.event { bounds.event } else { bounds.answer };
                let is_too_large = event > bounds.event || taken + bytes.len() > bounds.answer;
                if is_too_large { Err(Broken::TooLarge(most)) } else { Ok(bytes.to_vec()) }
            });
            let (length, ends) = piece.as_ref().map_or((0, true), |bytes| (bytes.len(), false));
            Some((piece.map(Cursor::new), (response, taken + length, ends)))
        }
    }))
}

/// What an event tells, if anything.
fn told(event: &Sse, halves: &mut Halves) -> Result<Option<Read>, ModelError> {
    let data = event.data.as_deref().unwrap_or_default().trim();
    if data.is_empty() {
        return Ok(None);
    }
    if data == "[DONE]" {
        return Ok(Some(Read::Done));
    }
    let value = read(data, halves);
    if event.event.as_deref() == Some("error") {
        // Some say it in words.
        return Ok(Some(Read::Error(value.unwrap_or_else(|_| data.into()))));
    }
    let value = value.map_err(|error| {
        // Half an event is where a connection ends.
        if error.is_eof() {
            ModelError::new(ModelErrorKind::Lost, "the stream ended within an event")
        } else {
            malformed(&format!("an event is no JSON: {error}"))
        }
    })?;
    Ok(Some(Read::Event(value)))
}

/// Reads JSON, also where a character in it is cut in two.
fn read(json: &str, halves: &mut Halves) -> Result<Value, serde_json::Error> {
    serde_json::from_str(json).or_else(|error| {
        if error.is_eof() { Err(error) } else { serde_json::from_str(&halves.mended(json)) }
    })
}

fn broken(error: &Broken) -> ModelError {
    let kind = match error {
        Broken::Silent(_) => ModelErrorKind::TimedOut,
        Broken::Lost(_) => ModelErrorKind::Lost,
        Broken::TooLarge(_) => ModelErrorKind::TooLarge,
    };
    ModelError::new(kind, error.to_string())
}

fn malformed(detail: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Malformed, detail)
}

/// Nothing came in time.
pub(super) fn silent(silence: Duration) -> ModelError {
    broken(&Broken::Silent(silence))
}

/// A request that got no response.
pub(super) fn unsent(error: &reqwest::Error) -> ModelError {
    let kind = if error.is_builder() {
        // A key or an address that cannot be sent: nobody was asked.
        ModelErrorKind::BadRequest
    } else if error.is_connect() {
        ModelErrorKind::Unreachable
    } else if error.is_timeout() {
        ModelErrorKind::TimedOut
    } else {
        ModelErrorKind::Lost
    };
    ModelError::new(kind, innermost(error))
}

/// What is at the bottom of an error. The address may hold a secret, and stands at its top.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
