//! Answers that come as events, and streams that end before them and are taken up again.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Response;
use tokio::time::Instant;

use super::address::told;
use super::connection::{Connection, Lost};
use super::http::{Http, REFUSAL, body, is_events, one_line};
use super::{Upstream, heard};
use crate::events::Decoder;

/// How long a stream that ended is left alone where the server does not say, and how often it is
/// taken up in vain.
const RESUMING: Duration = Duration::from_millis(500);
const RESUMED: u32 = 5;

/// The shortest and the longest that a server may tell us to stay away from a stream.
const SHORTEST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// How long a stream whose answer is there has to end.
const ENDING: Duration = Duration::from_secs(1);

/// A stream that broke sooner was none.
const LIVED: Duration = Duration::from_secs(1);

/// The longest id of an event that is said again.
const LONGEST_ID: usize = 1024;

/// Where a stream can be taken up again.
#[derive(Default)]
pub(super) struct Place {
    last: Option<String>,
    retry: Option<Duration>,
}

impl Place {
    /// How long to stay away.
    fn wait(&self) -> Duration {
        self.retry.unwrap_or(RESUMING).clamp(SHORTEST_WAIT, LONGEST_WAIT)
    }
}

impl Http {
    /// Takes events until what was asked is answered; a stream that ends before is taken up again.
    pub(super) async fn events(
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
            if let Some(stream) = connection.stream(asked) {
                stream.pause();
            }
            response = match self.resumed(&place, broke).await {
                Ok(response) => response,
                Err(why) => {
                    let Some(why) = why else { return lost() };
                    connection.is_retired(why.clone());
                    return Some(Lost::Gone(why));
                }
            };
        }
    }

    /// Takes the events of one connection; true where it broke rather than ended.
    pub(super) async fn read(
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
                let id = event.id.filter(|id| id.len() <= LONGEST_ID);
                place.last = id.or(place.last.take());
                place.retry = event.retry.or(place.retry);
                if let Some(long) = event.long {
                    heard::too_long(upstream, connection, &long, asked).await;
                    continue;
                }
                if event.data.is_empty() {
                    continue;
                }
                if event.is_endpoint {
                    self.tells_mailbox(&event.data);
                    continue;
                }
                let data = self.to.without_secrets(one_line(event.data));
                heard::said(upstream, connection, &data, asked).await;
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
        let wait = place.wait();
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
                    return Err(self.forgotten(status, &words));
                }
                Err(error) if error.is_connect() => return Err(Some(told(error))),
                Err(_) => {}
            }
        }
        Err(None)
    }

    /// Hears what the server says by itself, as long as it does.
    pub(super) async fn listen(&self, upstream: &Arc<Upstream>, connection: &Arc<Connection>) {
        if self.mailbox.initialized() {
            // It is heard already.
            return;
        }
        let mut place = Place::default();
        let mut failures = 0;
        while failures < RESUMED {
            match self.get(place.last.as_deref()).send().await {
                Ok(response) if response.status().is_success() && is_events(&response) => {
                    let began = Instant::now();
                    let broke = self.read(upstream, connection, response, None, &mut place).await;
                    let has_lived = began.elapsed() > LIVED;
                    failures = if broke && !has_lived { failures + 1 } else { 0 };
                    // Whether the server is still there is seen at once.
                    if broke && has_lived {
                        continue;
                    }
                }
                Ok(response) => {
                    let status = response.status();
                    let words = body(response, REFUSAL).await.unwrap_or_default();
                    if let Some(why) = self.forgotten(status, &words) {
                        connection.is_retired(why);
                    }
                    // Most often it has no such stream.
                    return;
                }
                Err(error) if error.is_connect() => {
                    connection.is_retired(told(error));
                    return;
                }
                Err(_) => failures += 1,
            }
            tokio::time::sleep(place.wait() * (1 << failures)).await;
        }
    }
}
