//! What is new reaches every browser that looks: one look at the store for all of them.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use breakfall_store::{Error, Marker, Seen};
use futures_util::stream;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Mutex, Semaphore, broadcast};

use crate::screens::notice;
use crate::shelf::Shelf;
use crate::words::now;

/// How many browsers may listen at once.
const LISTENERS: usize = 32;

/// How many events wait for one that is slow; it is told that it missed some.
const WAITING: usize = 16;

/// How many groups are compared, the last seen first.
const COMPARED: u32 = 100;

/// How often a stream in which nothing happens says that it is alive.
const QUIET: Duration = Duration::from_secs(15);

/// What a stream begins with: when to come back, and that all is well.
const HELLO: &str = "retry: 2000\nevent: hello\ndata: {}\n\n";

/// What is new, for everybody.
pub(crate) struct Live {
    shelf: Arc<Shelf>,
    looks: Duration,
    events: broadcast::Sender<Arc<str>>,
    places: Arc<Semaphore>,
    looked: Mutex<Option<Looked>>,
}

/// What the store was like at the last look.
#[derive(Default)]
struct Looked {
    marker: Marker,
    counts: HashMap<String, u64>,
    is_away: bool,
}

impl Live {
    pub(crate) fn new(shelf: Arc<Shelf>, looks: Duration) -> Self {
        Self {
            shelf,
            looks,
            events: broadcast::channel(WAITING).0,
            places: Arc::new(Semaphore::new(LISTENERS)),
            looked: Mutex::new(None),
        }
    }

    /// Looks again and again while somebody listens, for ever.
    pub(crate) async fn watch(&self) {
        loop {
            tokio::time::sleep(self.looks).await;
            if self.events.receiver_count() > 0 {
                self.look().await;
            } else {
                *self.looked.lock().await = None;
            }
        }
    }

    /// Looks once, and tells what is different.
    pub(crate) async fn look(&self) {
        let mut looked = self.looked.lock().await;
        let event = match self.compare(looked.as_ref()).await {
            Ok(None) => return,
            Ok(Some((now, event))) => {
                let event = looked.is_some().then_some(event);
                *looked = Some(now);
                event
            }
            Err(error) => {
                let before = looked.get_or_insert_default();
                if before.is_away {
                    return;
                }
                before.is_away = true;
                tracing::warn!(%error, "The store cannot be read now");
                Some("event: away\ndata: {}\n\n".to_owned())
            }
        };
        if let Some(event) = event {
            // Nobody who listens is no trouble.
            let _ = self.events.send(event.into());
        }
    }

    async fn compare(&self, before: Option<&Looked>) -> Result<Option<(Looked, String)>, Error> {
        let Some(store) = self.shelf.store().await? else {
            return Ok(before.is_none().then(|| (Looked::default(), String::new())));
        };
        let marker = store.marker(now()).await?;
        if before.is_some_and(|before| before.marker == marker && !before.is_away) {
            return Ok(None);
        }
        let seen = store.seen_last(COMPARED).await?;
        let event = before.map_or_else(String::new, |before| changed(&seen, &before.counts));
        let counts = seen.into_iter().map(|seen| (seen.fingerprint, seen.count)).collect();
        Ok(Some((Looked { marker, counts, is_away: false }, event)))
    }

    /// A stream of events, for one browser more.
    pub(crate) async fn listen(&self) -> Response {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            let words = "Too many windows are open on this page. Close some.";
            return notice::refusal(StatusCode::SERVICE_UNAVAILABLE, words);
        };
        // Who listens first sees everything after this look.
        let events = self.events.subscribe();
        self.look().await;
        let body =
            stream::unfold((events, place, Some(HELLO)), |(mut events, place, hello)| async move {
                let text: Arc<str> = match hello {
                    Some(hello) => hello.into(),
                    None => match tokio::time::timeout(QUIET, events.recv()).await {
                        Ok(Ok(event)) => event,
                        Ok(Err(RecvError::Lagged(_))) => changed(&[], &HashMap::new()).into(),
                        Ok(Err(RecvError::Closed)) => return None,
                        Err(_) => ": alive\n\n".into(),
                    },
                };
                Some((Ok::<_, Infallible>(text.to_string()), (events, place, None)))
            });
        let headers = [
            (CONTENT_TYPE, "text/event-stream"),
            (CACHE_CONTROL, "no-store, no-transform"),
            (HeaderName::from_static("x-accel-buffering"), "no"),
        ];
        (StatusCode::OK, headers, Body::from_stream(body)).into_response()
    }
}

/// What changed, as an event on one line: the groups that were seen again, and which are new.
fn changed(seen: &[Seen], before: &HashMap<String, u64>) -> String {
    let groups: Vec<_> = seen
        .iter()
        .filter(|seen| before.get(&seen.fingerprint) != Some(&seen.count))
        // One that came back after long is not among those that are compared, and not new either.
        .map(|seen| {
            let is_known = before.contains_key(&seen.fingerprint) || seen.count > 1;
            json!({
                "fingerprint": seen.fingerprint,
                "tool": seen.tool,
                "kind": seen.kind.replace('_', " "),
                "new": !is_known,
            })
        })
        .take(20)
        .collect();
    format!("event: changed\ndata: {}\n\n", json!({ "groups": groups }))
}
