//! One life of a server: requests go out under our numbers, answers come back under them.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use axum::http::HeaderMap;
use breakfall::BoxFuture;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::process::ChildStdin;
use tokio::sync::{oneshot, watch};
use tokio::task::AbortHandle;

use super::http::Http;
use super::{Upstream, locked};
use crate::fields::{Fields, raw};
use crate::message::{Answer, notification, request};
use crate::numbers::Numbered;
use crate::origin::{Origin, Refusal};
use crate::out::Written;
use crate::record::{Recording, Way};
use crate::stream::Stream;

/// How long it is waited for a message to arrive.
const ARRIVING: Duration = Duration::from_secs(2);

/// How often it is looked whether a message is still under way.
const LOOKING: Duration = Duration::from_millis(10);

/// How much of what a server says to a refusal is told to the developer.
const TOLD: usize = 500;

/// Between how a program ended and what it wrote.
pub(super) const WROTE: &str = "; it wrote:\n";

/// Why there is no answer.
#[derive(Clone, Debug)]
pub(crate) enum Lost {
    /// The request never reached the server.
    NotSent(String),
    /// The server has forgotten the session, and did nothing.
    Stale(String),
    /// The server stopped before it answered.
    Gone(String),
    /// An HTTP server refused the request.
    Refused(Refusal),
    /// The server does not speak as the client does; what it said to that.
    Foreign(Box<RawValue>),
    /// The server refused the client's hello, and what it said to that.
    Unwelcome(Box<RawValue>),
    /// The answer is longer than any may be.
    TooLong,
    /// The answer is none that can be read; what it says.
    Unreadable(String),
}

impl Lost {
    /// What came is no answer: the beginning of what it says tells why.
    pub(super) fn unreadable(line: &str) -> Self {
        let said = match serde_json::from_str::<Fields>(line) {
            Ok(mut fields) => {
                fields.remove("jsonrpc");
                fields.remove("id");
                fields.raw().get().to_owned()
            }
            Err(_) => line.to_owned(),
        };
        Self::Unreadable(said[..said.floor_char_boundary(TOLD)].to_owned())
    }

    /// What is known of it, for the developer.
    pub(crate) fn why(&self) -> String {
        match self {
            Self::NotSent(why) | Self::Stale(why) | Self::Gone(why) => why.clone(),
            Self::Refused(refusal) => {
                let words = &refusal.words[..refusal.words.floor_char_boundary(TOLD)];
                format!("it answered with HTTP status {}: {words}", refusal.status)
            }
            Self::Foreign(said) => format!("it does not speak this revision: {said}"),
            Self::Unwelcome(said) => format!("it refused to start: {said}"),
            Self::TooLong => "its answer is too long".to_owned(),
            Self::Unreadable(said) => format!("its answer cannot be read: {said}"),
        }
    }

    /// The same in a line. What a program wrote last is why it ended, and its last error above all:
    /// some say behind it what they are, or how they are used.
    pub(crate) fn in_a_line(&self) -> String {
        let why = self.why();
        let (what, wrote) = why.split_once(WROTE).unwrap_or((&why, ""));
        let what = what.trim_start().lines().next().unwrap_or_default();
        let lines = || wrote.lines().map(str::trim);
        match lines().rfind(|line| is_an_error(line)).or_else(|| lines().rfind(|it| !it.is_empty()))
        {
            Some(end) => format!("{what}; it wrote: {end}"),
            None => what.to_owned(),
        }
    }
}

/// Whether a line begins as programs begin an error.
fn is_an_error(line: &str) -> bool {
    let Some((name, _)) = line.split_once(':') else { return false };
    let is_said = |word: &&str| name.eq_ignore_ascii_case(word);
    let is_named = ["Error", "Exception"].iter().any(|end| name.ends_with(end));
    is_named && !name.contains(char::is_whitespace)
        || ["error", "fatal", "panic"].iter().any(is_said)
}

/// Who waits for an answer.
struct Waiting {
    sender: oneshot::Sender<Result<Answer, Lost>>,
    origin: Option<Arc<Origin>>,
    /// The exchange that brings the answer, where each request has one of its own.
    exchange: Option<AbortHandle>,
    /// It asks for nothing to be done but to be told of changes.
    listens: bool,
}

/// Whose requests a server is working on.
pub(super) enum Busy {
    ForNobody,
    /// One client's, and its newest request.
    For(Arc<Origin>),
    /// Several clients': what the server says without telling why may belong to any of them.
    ForSeveral,
}

/// One life of a server.
pub(crate) struct Connection {
    recording: Option<Arc<Recording>>,
    pub(super) wire: Wire,
    /// Who waits for which answer; `None` when the server is gone.
    waiting: Mutex<Option<Numbered<Waiting>>>,
    /// Why it is gone.
    fate: OnceLock<String>,
    is_gone: watch::Sender<bool>,
    /// What the server answered when it was greeted.
    pub(crate) greeting: OnceLock<Box<RawValue>>,
}

/// How messages go out.
pub(super) enum Wire {
    /// All on one line.
    Lines(Written),
    /// Each in an exchange of its own.
    Http(Box<Http>),
}

impl Wire {
    pub(super) fn lines(stdin: ChildStdin) -> Self {
        Self::Lines(Written::to(stdin).0)
    }
}

impl Connection {
    pub(super) fn new(wire: Wire, recording: Option<Arc<Recording>>) -> Self {
        Self {
            recording,
            wire,
            waiting: Mutex::new(Some(Numbered::default())),
            fate: OnceLock::new(),
            is_gone: watch::Sender::new(false),
            greeting: OnceLock::new(),
        }
    }

    /// Sends a message; false where the server hears nothing any more.
    pub(crate) async fn send(self: &Arc<Self>, upstream: &Arc<Upstream>, line: String) -> bool {
        self.record(Way::To, &line);
        match &self.wire {
            Wire::Lines(out) => out.send(line).await,
            Wire::Http(_) => {
                let sent = (line, HeaderMap::new());
                tokio::spawn(Arc::clone(self).exchange(Arc::clone(upstream), sent, None));
                true
            }
        }
    }

    /// Sends a message that is not worth waiting for.
    pub(crate) async fn send_now(self: &Arc<Self>, upstream: &Arc<Upstream>, line: String) {
        match &self.wire {
            Wire::Lines(out) => out.send_now(line),
            Wire::Http(_) => {
                self.send(upstream, line).await;
            }
        }
    }

    /// Sends a message that must have arrived before the next one is sent.
    pub(super) async fn tell(self: &Arc<Self>, upstream: &Arc<Upstream>, line: String) {
        match &self.wire {
            Wire::Lines(_) => {
                self.send(upstream, line).await;
            }
            Wire::Http(_) => {
                self.record(Way::To, &line);
                let sent = (line, HeaderMap::new());
                let exchange = Arc::clone(self).exchange(Arc::clone(upstream), sent, None);
                // One that is answered without end has arrived all the same.
                let _ = tokio::time::timeout(ARRIVING, tokio::spawn(exchange)).await;
            }
        }
    }

    /// An exchange with a server at an address. Boxed: what is heard in it may be answered in
    /// another.
    fn exchange(
        self: Arc<Self>,
        upstream: Arc<Upstream>,
        sent: (String, HeaderMap),
        asked: Option<u64>,
    ) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            if let Wire::Http(http) = &self.wire {
                http.exchange(&upstream, &self, sent, asked).await;
            }
        })
    }

    pub(crate) async fn request(
        self: &Arc<Self>,
        upstream: &Arc<Upstream>,
        (method, params): (&str, Option<&RawValue>),
        origin: Option<&Arc<Origin>>,
    ) -> Result<Answer, Lost> {
        let number = upstream.number();
        let (sender, receiver) = oneshot::channel();
        let listens = method == "subscriptions/listen";
        let waiting = Waiting { sender, origin: origin.cloned(), exchange: None, listens };
        match locked(&self.waiting).as_mut() {
            Some(all) => all.insert(number, waiting),
            None => return Err(Lost::NotSent(self.fate())),
        };
        let asked = Asked { connection: self, number };
        let line = request(&number.to_string(), method, params);
        self.record(Way::To, &line);
        match &self.wire {
            Wire::Lines(out) => {
                if !out.send(line).await {
                    return Err(Lost::NotSent(self.fate()));
                }
            }
            Wire::Http(http) => {
                let headers = http.headers(upstream, method, params, origin.map(|it| &**it));
                let exchange =
                    Arc::clone(self).exchange(Arc::clone(upstream), (line, headers), Some(number));
                let exchange = tokio::spawn(exchange);
                if let Some(waiting) =
                    locked(&self.waiting).as_mut().and_then(|all| all.get_mut(&number))
                {
                    waiting.exchange = Some(exchange.abort_handle());
                }
            }
        }
        let answer = receiver.await;
        drop(asked);
        answer.unwrap_or_else(|_| Err(Lost::Gone(self.fate())))
    }

    /// Keeps what passes, where somebody wants it.
    pub(super) fn record(&self, way: Way, line: &str) {
        if let Some(recording) = &self.recording {
            recording.keep(way, line);
        }
    }

    /// An answer came; false where nobody waits for it.
    pub(super) fn answered(&self, number: u64, answer: Result<Answer, Lost>) -> bool {
        let waiting = locked(&self.waiting).as_mut().and_then(|waiting| waiting.remove(&number));
        waiting.is_some_and(|waiting| waiting.sender.send(answer).is_ok())
    }

    /// Whether somebody still waits for an answer.
    pub(super) fn is_awaited(&self, number: u64) -> bool {
        locked(&self.waiting).as_ref().is_some_and(|waiting| waiting.contains_key(&number))
    }

    /// The client's request behind a number of ours.
    pub(super) fn origin(&self, number: u64) -> Option<Arc<Origin>> {
        locked(&self.waiting).as_ref()?.get(&number)?.origin.clone()
    }

    /// The stream of the client's request behind a number of ours.
    pub(super) fn stream(&self, asked: Option<u64>) -> Option<Arc<Stream>> {
        self.origin(asked?)?.stream.clone()
    }

    /// For whom the server works: what it says without telling why most likely belongs to that.
    pub(super) fn busy(&self) -> Busy {
        let waiting = locked(&self.waiting);
        let all = waiting.iter().flatten().filter(|(_, waiting)| !waiting.listens);
        let of_clients = all.filter_map(|(number, it)| Some((number, it.origin.as_ref()?)));
        let mut newest: Option<(u64, &Arc<Origin>)> = None;
        for (number, origin) in of_clients {
            match newest {
                // Clients without a session are told apart by their connections.
                Some((_, other)) if other.run != origin.run => return Busy::ForSeveral,
                Some((newer, _)) if newer > *number => {}
                _ => newest = Some((*number, origin)),
            }
        }
        newest.map_or(Busy::ForNobody, |(_, origin)| Busy::For(Arc::clone(origin)))
    }

    /// The server is gone: everybody who waits hears it now.
    pub(super) fn is_gone(&self, why: String) {
        self.is_retired(why);
        locked(&self.waiting).take();
    }

    /// Nothing new is asked here. What is under way in an exchange of its own goes on: it may work
    /// although its neighbour did not.
    pub(super) fn is_retired(&self, why: String) {
        if self.fate.set(why).is_ok() {
            self.record(Way::Note, &self.fate());
        }
        self.is_gone.send_replace(true);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.fate.get().is_some()
    }

    /// Waits until the server is gone.
    pub(super) async fn over(&self) {
        let _ = self.is_gone.subscribe().wait_for(|gone| *gone).await;
    }

    /// Waits until the server has taken or refused all that it was asked. That is soon: somebody
    /// looks now and then.
    pub(super) async fn has_exchanged(&self) {
        let is_under_way =
            |it: &Waiting| it.exchange.as_ref().is_none_or(|exchange| !exchange.is_finished());
        while locked(&self.waiting).iter().flat_map(Numbered::values).any(is_under_way) {
            tokio::time::sleep(LOOKING).await;
        }
    }

    /// Closes the server's input: most end by themselves then.
    pub(super) fn shut(&self) {
        if let Wire::Lines(out) = &self.wire {
            out.shut();
        }
    }

    pub(super) fn fate(&self) -> String {
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
        let Some(stopped) = waiting.as_mut().and_then(|waiting| waiting.remove(&self.number))
        else {
            return;
        };
        let params = raw(&json!({ "requestId": self.number, "reason": "nobody waits any more" }));
        let line = notification("notifications/cancelled", Some(&params));
        self.connection.record(Way::To, &line);
        match &self.connection.wire {
            // A server that does not read is not worth waiting for.
            Wire::Lines(out) => out.send_now(line),
            Wire::Http(http) => http.stopped(line, stopped.exchange),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_the_error_of_a_program_and_not_what_it_wrote_behind_it() {
        let line =
            |wrote: &str| Lost::Gone(format!("it ended: exit status: 1{WROTE}{wrote}")).in_a_line();
        for (wrote, told) in [
            (
                "Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: no key\n",
                "ValueError: no key",
            ),
            (
                "node:internal/modules:1\n    throw err;\n\nError: Cannot find module 'x'\n    at a (b.js:1)\n\nNode.js v20.20.2\n",
                "Error: Cannot find module 'x'",
            ),
            (
                "Error: it needs --read-write.\nTo use it:\n- Use --db-path md: for the cloud\n",
                "Error: it needs --read-write.",
            ),
            ("error: first\nfatal: not a repository\n", "fatal: not a repository"),
            ("starting\nport 80 is taken\n\n", "port 80 is taken"),
            ("The last Error: was long ago\nbye\n", "bye"),
        ] {
            assert_eq!(line(wrote), format!("it ended: exit status: 1; it wrote: {told}"));
        }
    }
}
