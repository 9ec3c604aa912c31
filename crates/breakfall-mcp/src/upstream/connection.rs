//! One incarnation of a server: requests go out under our numbers, answers come back under them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use serde_json::json;
use serde_json::value::RawValue;
use tokio::process::ChildStdin;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use super::locked;
use crate::fields::raw;
use crate::lines::write;
use crate::message::{Answer, notification, request};

/// Why there is no answer.
#[derive(Clone, Debug)]
pub(crate) enum Lost {
    /// The request never reached the server.
    NotSent(String),
    /// The server stopped before it answered.
    Gone(String),
    /// The answer is longer than any may be.
    TooLong,
}

/// Who waits for an answer.
type Waiter = oneshot::Sender<Result<Answer, Lost>>;

/// One incarnation of a server.
pub(crate) struct Connection {
    /// Which incarnation.
    pub(crate) number: u64,
    out: mpsc::Sender<String>,
    writing: AbortHandle,
    /// Who waits for which answer; `None` when the server is gone.
    waiting: Mutex<Option<HashMap<u64, Waiter>>>,
    /// Why it is gone.
    fate: OnceLock<String>,
    /// What the server answered when it was greeted.
    pub(crate) greeting: OnceLock<Box<RawValue>>,
}

impl Connection {
    pub(super) fn new(stdin: ChildStdin) -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        let (out, lines) = mpsc::channel(256);
        let writing = tokio::spawn(write(stdin, lines)).abort_handle();
        Self {
            writing,
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            out,
            waiting: Mutex::new(Some(HashMap::new())),
            fate: OnceLock::new(),
            greeting: OnceLock::new(),
        }
    }

    /// Sends a line; false where the server hears nothing any more.
    pub(crate) async fn send(&self, line: String) -> bool {
        self.out.send(line).await.is_ok()
    }

    pub(crate) async fn request(
        &self,
        number: u64,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<Answer, Lost> {
        let (sender, receiver) = oneshot::channel();
        match locked(&self.waiting).as_mut() {
            Some(waiting) => waiting.insert(number, sender),
            None => return Err(Lost::NotSent(self.fate())),
        };
        let asked = Asked { connection: self, number };
        if !self.send(request(&number.to_string(), method, params)).await {
            return Err(Lost::NotSent(self.fate()));
        }
        let answer = receiver.await;
        drop(asked);
        answer.unwrap_or_else(|_| Err(Lost::Gone(self.fate())))
    }

    /// An answer came; false where nobody waits for it.
    pub(super) fn answered(&self, id: &str, answer: Result<Answer, Lost>) -> bool {
        let Ok(number) = id.parse() else { return false };
        let waiting = locked(&self.waiting).as_mut().and_then(|waiting| waiting.remove(&number));
        waiting.is_some_and(|sender| sender.send(answer).is_ok())
    }

    /// The server is gone: everybody who waits hears it now.
    pub(super) fn is_gone(&self, why: String) {
        let _ = self.fate.set(why);
        locked(&self.waiting).take();
    }

    /// Closes the server's input: most end by themselves then.
    pub(super) fn shut(&self) {
        self.writing.abort();
    }

    fn fate(&self) -> String {
        self.fate.get().cloned().unwrap_or_else(|| "its server stopped".to_owned())
    }
}

/// A request that is not answered yet: dropped, the server is told to stop.
struct Asked<'c> {
    connection: &'c Connection,
    number: u64,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        let mut waiting = locked(&self.connection.waiting);
        let was_waiting =
            waiting.as_mut().is_some_and(|waiting| waiting.remove(&self.number).is_some());
        if was_waiting {
            let params =
                raw(&json!({ "requestId": self.number, "reason": "nobody waits any more" }));
            // A server that does not read is not worth waiting for.
            let _ = self
                .connection
                .out
                .try_send(notification("notifications/cancelled", Some(&params)));
        }
    }
}
