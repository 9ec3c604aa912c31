//! One client: its requests are routed, its calls are guarded, and everything else passes as it is.

mod asking;
mod forward;
mod greeting;
mod learning;
mod life;
mod prefixes;
mod several;

use std::collections::{BTreeMap, HashMap};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use asking::Asked;
use breakfall::{FailureKind, Guard, ToolSpec, UnknownTool};
use futures_util::FutureExt;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::era::Era;
use crate::fields::{Fields, raw};
use crate::long::Long;
use crate::message::{Answer, Message, answer, notification};
use crate::numbers::Numbered;
use crate::origin::Origin;
use crate::out::Out;
use crate::patience;
use crate::tools::{self, Called, Errors};
use crate::upstream::{Event, Events, Sent, Upstream, locked, of_subscription};

/// How long a client that comes waits for its only server, and its first list for all of them: many
/// are fetched before they start, and many clients ask once. They give up after 30 s.
const GREETING: Duration = Duration::from_secs(20);

/// How long the first list of an only server waits for it: there is nothing else to tell. Clients
/// give up after a minute.
const FIRST: Duration = Duration::from_secs(45);

/// How long anything else waits for servers that are not there.
const LISTING: Duration = Duration::from_secs(5);

/// One client and its servers.
pub struct Session {
    guard: Guard,
    /// The run that its calls belong to, unless they say otherwise.
    run: Arc<str>,
    /// Tools that belong to no server.
    own: Vec<ToolSpec>,
    /// How the client speaks, once it does.
    era: Mutex<Option<Era>>,
    /// The revision that the client was told when it said hello.
    revision: Mutex<Option<String>>,
    /// Subscriptions of the client.
    listening: Mutex<Vec<Weak<Origin>>>,
    upstreams: Vec<Arc<Upstream>>,
    /// Whether a tool that does not exist is answered as the protocol's letter has it.
    unknown_tool: UnknownTool,
    events: Events,
    out: Out,
    /// Requests of the client that are under way, by numbers of ours.
    running: Mutex<Numbered<Running>>,
    /// Requests of servers that the client has not answered, by our numbers.
    asked: Mutex<BTreeMap<u64, Asked>>,
    /// What is wrong with the tools of servers that are used all the same.
    remarks: Mutex<HashMap<String, Vec<String>>>,
    /// When servers were last asked for tools that nobody knows, by name.
    asked_for: Mutex<HashMap<String, Instant>>,
    began: Instant,
    /// Whether the client was told which tools there are.
    has_listed: AtomicBool,
    counter: AtomicU64,
}

/// A request of the client that is under way.
struct Running {
    origin: Arc<Origin>,
    stop: oneshot::Sender<()>,
    /// It is answered when the client has enough of it.
    listens: bool,
}

/// Whose tool has this name.
fn owner<'u>(all: &'u [Arc<Upstream>], name: &str) -> Option<&'u Arc<Upstream>> {
    all.iter().find(|upstream| name.starts_with(&upstream.prefix))
}

impl Session {
    /// Whether a tool's name begins with its server's prefix.
    fn is_prefixed(&self) -> bool {
        self.upstreams.len() > 1
    }

    /// The server whose prefix a name begins with.
    fn owner(&self, name: &str) -> Option<&Arc<Upstream>> {
        owner(&self.upstreams, name)
    }

    fn upstream(&self, key: &str) -> Option<&Arc<Upstream>> {
        self.upstreams.iter().find(|upstream| upstream.key == key)
    }

    /// Sends a message to the client, where what belongs to the same request goes.
    async fn send(&self, line: String, about: Option<&Origin>) {
        match about.and_then(|origin| origin.stream.as_ref()) {
            Some(stream) => stream.push(line),
            None => {
                self.out.send(line).await;
            }
        }
    }

    fn number(&self) -> u64 {
        self.counter.fetch_add(1, Ordering::Relaxed)
    }

    /// What the client says on the line that it has to us.
    async fn heard(self: &Arc<Self>, message: Result<Message, &str>) {
        match message {
            Err(text) => {
                let refusal = crate::message::error(-32700, "this line is no message");
                self.refused(&Long::of(text), &refusal).await;
            }
            Ok(Message::Request { id, method, params }) => {
                let origin = Origin::new(id, Era::of(params.as_deref()));
                self.asked(Arc::new(origin), method, params);
            }
            Ok(Message::Notification { method, params }) => self.told(&method, params).await,
            Ok(Message::Answer { id, answer }) => self.answered(&id, &answer).await,
        }
    }

    /// The client says what is not taken: whoever waits for an answer has one, as far as it is told
    /// who does.
    async fn refused(self: &Arc<Self>, said: &Long, refusal: &Answer) {
        match said.id() {
            Some(id) if said.is_asking() => self.send(answer(&id, refusal), None).await,
            Some(id) => self.answered(&id, refusal).await,
            None => self.send(answer(&raw(&()), refusal), None).await,
        }
    }

    /// A request of the client: answered on a task of its own, unless it is cancelled. Gives the
    /// number under which it can be.
    pub(crate) fn asked(
        self: &Arc<Self>,
        origin: Arc<Origin>,
        method: String,
        params: Option<Box<RawValue>>,
    ) -> u64 {
        let (stop, stopped) = oneshot::channel();
        let number = self.number();
        let listens = method == "subscriptions/listen";
        let running = Running { origin: Arc::clone(&origin), stop, listens };
        locked(&self.running).insert(number, running);
        if !listens {
            patience::asked();
        }
        let session = Arc::clone(self);
        // Boxed: it has nine kilobytes, and a task moves its future ten times from spawn to end.
        tokio::spawn(Box::pin(async move {
            let answering = session.answer(&origin, &method, params, stopped);
            // Whatever happens in here, the client has its answer.
            let answered = AssertUnwindSafe(answering).catch_unwind().await.unwrap_or_else(|_| {
                Some(crate::message::error(
                    -32603,
                    "the guard failed; the request may have been done",
                ))
            });
            if session.upstreams.len() != 1 {
                origin.is_not_refused();
            }
            // Behind an answer nothing belongs to its request any more.
            session.events.are_heard().await;
            locked(&session.running).remove(&number);
            let line = answered.map(|answered| answer(&origin.id, &answered));
            match (line, &origin.stream) {
                (Some(line), Some(stream)) => stream.answer(line),
                (Some(line), None) => session.send(line, None).await,
                (None, Some(stream)) => stream.end(),
                (None, None) => {}
            }
            if !listens {
                patience::answered();
            }
        }));
        number
    }

    /// Stops a request of the client.
    pub(crate) fn stop(&self, number: u64) {
        if let Some(running) = locked(&self.running).remove(&number) {
            let _ = running.stop.send(());
        }
    }

    /// The answer to a request; none to one that was cancelled.
    async fn answer(
        self: &Arc<Self>,
        origin: &Arc<Origin>,
        method: &str,
        params: Option<Box<RawValue>>,
        stopped: oneshot::Receiver<()>,
    ) -> Option<Answer> {
        // Boxed, as all that is not a call: a call should not have to make room for it.
        if origin.era == Era::Modern
            && let Some(refusal) = Box::pin(self.met(method, params.as_deref())).await
        {
            return Some(refusal);
        }
        if origin.era == Era::Legacy
            && locked(&self.era).is_none()
            && !matches!(method, "initialize" | "ping")
        {
            Box::pin(self.unmet()).await;
        }
        if method == "tools/call" {
            return self.call(origin, params, stopped).await;
        }
        let params = params.as_deref();
        let answering = Box::pin(async {
            match (method, origin.era) {
                ("ping", Era::Legacy) => Answer::Result(raw(&json!({}))),
                ("initialize", Era::Legacy) => self.greeted(origin, params).await,
                ("initialize", Era::Modern) => crate::message::error(-32601, "Method not found"),
                ("server/discover", Era::Modern) if self.is_listing() => self.discovered().await,
                ("subscriptions/listen", Era::Modern) => self.listening(origin, params).await,
                ("tools/list", era) if self.is_listing() => self.listed(era).await,
                ("tools/list", era) => match self.first_listed(origin, method, params).await {
                    // A server that is not there has the tools that it had, or none yet.
                    answer if answer.is_lost() => self.listed(era).await,
                    answer => self.seen(params, answer),
                },
                _ => self.forwarded(origin, method, params).await,
            }
        });
        let answered = tokio::select! {
            answered = answering => answered,
            Ok(()) = stopped => return None,
        };
        Some(match answered {
            Answer::Error(error) => match self.guard.clean_payload(error) {
                // A client takes an error that is nothing for no answer at all.
                nothing if nothing.get() == "null" => {
                    crate::message::error(-32603, "the server's error cannot be shown")
                }
                error => Answer::Error(error),
            },
            result @ Answer::Result(_) => result,
        })
    }

    /// A tool is called.
    async fn call(
        self: &Arc<Self>,
        origin: &Arc<Origin>,
        params: Option<Box<RawValue>>,
        stopped: oneshot::Receiver<()>,
    ) -> Option<Answer> {
        let Some(called) = Called::of(params) else {
            return Some(crate::message::error(-32602, "`params.name` must name a tool"));
        };
        let errors = called.errors;
        let mut call = called.call(origin, self.guard.traces());
        call.run = origin.run.clone().or_else(|| Some(Arc::clone(&self.run)));
        if !self.guard.toolbox().knows(&call.tool)
            && let Some(lost) = Box::pin(self.not_there(&call.tool)).await
        {
            let reply = self.guard.refuse(call, tools::failure(lost));
            return Some(tools::answer(&reply, origin.era, errors));
        }
        let was_stopped = AtomicBool::new(false);
        let stop = async {
            // A sender that is dropped is a session that ends: the call does, too.
            let _ = stopped.await;
            was_stopped.store(true, Ordering::Relaxed);
        };
        let reply = self.guard.handle_until(call, stop).await;
        if was_stopped.load(Ordering::Relaxed) {
            return None;
        }
        if !reply.is_error {
            origin.is_not_refused();
        }
        let is_unknown = reply.kind() == Some(FailureKind::UnknownTool);
        let is_protocols = self.unknown_tool == UnknownTool::Protocol || errors == Errors::Protocol;
        if is_unknown && is_protocols {
            return Some(tools::unknown(&reply));
        }
        Some(tools::answer(&reply, origin.era, errors))
    }

    /// What the client tells, and expects no answer to.
    pub(crate) async fn told(&self, method: &str, params: Option<Box<RawValue>>) {
        match method {
            // Each server is told so when it is greeted.
            "notifications/initialized" => {}
            "notifications/cancelled" => {
                let id = Fields::of(params.as_deref());
                let Some(id) = id.get("requestId") else { return };
                let running = {
                    let running = locked(&self.running);
                    let asked = |it: &Running| it.origin.id.get() == id.get();
                    running.iter().find(|(_, it)| asked(it)).map(|(at, _)| *at)
                };
                if let Some(number) = running {
                    self.stop(number);
                }
            }
            _ => {
                for upstream in &self.upstreams {
                    upstream.notify(method, params.as_deref()).await;
                }
            }
        }
    }

    /// What a server does by itself.
    async fn happened(&self, sent: Sent) {
        match sent.event {
            Event::Up(key) => {
                if self.learn(&key) {
                    self.tools_changed().await;
                }
            }
            Event::Tools => self.tools_changed().await,
            Event::Listed(key) => {
                self.learn(&key);
            }
            Event::TakenBack { key, params } => self.taken_back(&key, &params).await,
            Event::Notification { method, params, about } => {
                self.send(notification(&method, params.as_deref()), about.as_deref()).await;
            }
            Event::Request { key, connection, id, method, params, about } => {
                let asked = Asked::new(key, connection, id, about);
                self.questioned(asked, &method, params.as_deref()).await;
            }
            Event::Heard(waiting) => {
                let _ = waiting.send(());
            }
        }
        self.events.one_is_heard();
    }

    async fn tools_changed(&self) {
        const METHOD: &str = "notifications/tools/list_changed";
        if self.era() == Era::Legacy {
            self.send(notification(METHOD, None), None).await;
        }
        for origin in self.listeners() {
            let params = of_subscription(METHOD, None, &origin);
            self.send(notification(METHOD, params.as_deref()), Some(&origin)).await;
        }
    }
}
