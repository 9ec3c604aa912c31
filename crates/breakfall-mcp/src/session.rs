//! One client: its requests are routed, its calls are guarded, and everything else passes as it is.

mod forward;
mod life;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use breakfall::{Call, Guard, Held, ToolSpec};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use crate::fields::{Fields, raw};
use crate::message::{Answer, Message, answer, notification, request};
use crate::tools::{self, Request};
use crate::upstream::{Event, Hello, Upstream, locked};

/// How long a client that comes waits for its only server.
const GREETING: Duration = Duration::from_secs(10);

/// How long a list waits for servers that are still starting.
const LISTING: Duration = Duration::from_secs(5);

/// The newest revision with sessions.
const LEGACY: &str = "2025-11-25";

/// Between a server's key and a tool's name.
const SEPARATOR: &str = "__";

/// One client and its servers.
pub struct Session {
    guard: Guard,
    /// Tools that belong to no server.
    own: Vec<ToolSpec>,
    upstreams: Vec<Arc<Upstream>>,
    out: mpsc::Sender<String>,
    /// Requests of the client that are under way, by their ids.
    running: Mutex<HashMap<String, oneshot::Sender<()>>>,
    /// Requests of servers that the client has not answered, by our numbers.
    asked: Mutex<HashMap<u64, Asked>>,
    counter: AtomicU64,
}

/// A request of a server to the client.
struct Asked {
    key: String,
    connection: u64,
    id: Box<RawValue>,
    /// The clocks that stand until it is answered.
    _held: Vec<Held>,
}

impl Session {
    /// Whether a tool's name begins with its server's key.
    fn is_prefixed(&self) -> bool {
        self.upstreams.len() > 1
    }

    fn prefix(&self, upstream: &Upstream) -> String {
        if self.is_prefixed() { format!("{}{SEPARATOR}", upstream.key) } else { String::new() }
    }

    fn upstream(&self, key: &str) -> Option<&Arc<Upstream>> {
        self.upstreams.iter().find(|upstream| upstream.key == key)
    }

    async fn send(&self, line: String) {
        let _ = self.out.send(line).await;
    }

    fn number(&self) -> u64 {
        self.counter.fetch_add(1, Ordering::Relaxed)
    }

    /// What the client says.
    async fn heard(self: &Arc<Self>, message: Option<Message>) {
        match message {
            None => {
                let error = json!({ "code": -32700, "message": "this line is no message" });
                self.send(format!(r#"{{"jsonrpc":"2.0","id":null,"error":{error}}}"#)).await;
            }
            Some(Message::Request { id, method, params }) => self.asked(id, method, params),
            Some(Message::Notification { method, params }) => self.told(&method, params).await,
            Some(Message::Answer { id, answer }) => self.answered(&id, &answer).await,
        }
    }

    /// A request of the client: answered on a task of its own, unless it is cancelled.
    fn asked(self: &Arc<Self>, id: Box<RawValue>, method: String, params: Option<Box<RawValue>>) {
        let (stop, stopped) = oneshot::channel();
        locked(&self.running).insert(id.get().to_owned(), stop);
        let session = Arc::clone(self);
        tokio::spawn(async move {
            let answered = session.answer(&id, &method, params.as_deref(), stopped).await;
            locked(&session.running).remove(id.get());
            if let Some(answered) = answered {
                session.send(answer(&id, &answered)).await;
            }
        });
    }

    /// The answer to a request; none to one that was cancelled.
    async fn answer(
        self: &Arc<Self>,
        id: &RawValue,
        method: &str,
        params: Option<&RawValue>,
        stopped: oneshot::Receiver<()>,
    ) -> Option<Answer> {
        if method == "tools/call" {
            return self.call(id, params, stopped).await;
        }
        let answering = async {
            match method {
                "ping" => Answer::Result(raw(&json!({}))),
                "initialize" => self.greeted(params).await,
                "tools/list" if self.is_listing() => self.listed().await,
                "tools/list" => match self.forwarded(method, params).await {
                    // A server that is not there has the tools that it had, or none yet.
                    answer if answer.is_lost() => self.listed().await,
                    answer => answer,
                },
                _ => self.forwarded(method, params).await,
            }
        };
        tokio::select! {
            answered = answering => Some(answered),
            Ok(()) = stopped => None,
        }
    }

    /// A tool is called.
    async fn call(
        self: &Arc<Self>,
        id: &RawValue,
        params: Option<&RawValue>,
        stopped: oneshot::Receiver<()>,
    ) -> Option<Answer> {
        let mut fields = Fields::of(params);
        let Some(tool) = fields.text("name") else {
            return Some(crate::message::error(-32602, "`params.name` must name a tool"));
        };
        let arguments = fields.get("arguments").map_or("{}", RawValue::get).to_owned();
        fields.remove("arguments");
        let call = Call::new(id.get(), &tool, arguments).with(Request(fields));
        if let Some(why) = self.not_there(&tool).await {
            let reply = self.guard.refuse(call, tools::down(why));
            return Some(Answer::Result(tools::result(&reply)));
        }
        let was_stopped = Arc::new(AtomicBool::new(false));
        let stop = {
            let was_stopped = Arc::clone(&was_stopped);
            async move {
                // A sender that is dropped is a session that ends: the call does, too.
                let _ = stopped.await;
                was_stopped.store(true, Ordering::Relaxed);
            }
        };
        let reply = self.guard.handle_until(call, stop).await;
        (!was_stopped.load(Ordering::Relaxed)).then(|| Answer::Result(tools::result(&reply)))
    }

    /// Why the server of a tool that nobody knows is not there, if that is why nobody knows it.
    async fn not_there(&self, tool: &str) -> Option<String> {
        if self.guard.toolbox().knows(tool) {
            return None;
        }
        let of_tool = |upstream: &&Arc<Upstream>| {
            !self.is_prefixed() || tool.starts_with(&self.prefix(upstream))
        };
        for upstream in self.upstreams.iter().filter(of_tool) {
            if let Err(lost) = upstream.connected(LISTING).await {
                return Some(forward::why(lost));
            }
        }
        None
    }

    /// What the client tells, and expects no answer to.
    async fn told(&self, method: &str, params: Option<Box<RawValue>>) {
        match method {
            // Each server is told so when it is greeted.
            "notifications/initialized" => {}
            "notifications/cancelled" => {
                let id = Fields::of(params.as_deref());
                if let Some(id) = id.get("requestId")
                    && let Some(stop) = locked(&self.running).remove(id.get())
                {
                    let _ = stop.send(());
                }
            }
            _ => {
                for upstream in &self.upstreams {
                    upstream.notify(method, params.as_deref()).await;
                }
            }
        }
    }

    /// The client answers a server.
    async fn answered(&self, id: &RawValue, answered: &Answer) {
        let asked = id.get().parse().ok().and_then(|id: u64| locked(&self.asked).remove(&id));
        let Some(asked) = asked else { return };
        if let Some(upstream) = self.upstream(&asked.key)
            && let Ok(connection) = upstream.connected(Duration::ZERO).await
            && connection.number == asked.connection
        {
            connection.send(answer(&asked.id, answered)).await;
        }
    }

    /// What a server does by itself.
    async fn happened(&self, event: Event) {
        match event {
            Event::Up(key) => {
                if self.learn(&key) {
                    self.tools_changed().await;
                }
            }
            Event::Tools(key) => {
                self.learn(&key);
                self.tools_changed().await;
            }
            Event::Notification { method, params } => {
                self.send(notification(&method, params.as_deref())).await;
            }
            Event::Request { key, connection, id, method, params } => {
                let waits =
                    matches!(method.as_str(), "elicitation/create" | "sampling/createMessage");
                let held = match self.upstream(&key) {
                    Some(upstream) if waits => upstream.hold(),
                    _ => Vec::new(),
                };
                let number = self.number();
                locked(&self.asked).insert(number, Asked { key, connection, id, _held: held });
                self.send(request(&number.to_string(), &method, params.as_deref())).await;
            }
        }
    }

    async fn tools_changed(&self) {
        self.send(notification("notifications/tools/list_changed", None)).await;
    }

    /// Takes over the tools of a server; true where a client that listed them before should again.
    fn learn(&self, key: &str) -> bool {
        let Some(upstream) = self.upstream(key) else { return false };
        let before: Vec<_> = self.guard.toolbox().callable();
        let entries = tools::entries(upstream, &self.prefix(upstream));
        let toolbox = self.guard.toolbox();
        let refused = toolbox.replace(key, entries.clone());
        if !refused.is_empty() {
            for (tool, error) in &refused {
                tracing::warn!(upstream = key, tool, %error, "Tool taken without its schema");
            }
            let is_refused = |name: &str| refused.iter().any(|(refused, _)| refused == name);
            let mended = entries.iter().map(|entry| {
                if is_refused(&entry.spec().name) {
                    tools::without_schema(entry)
                } else {
                    entry.clone()
                }
            });
            toolbox.replace(key, mended.collect::<Vec<_>>());
        }
        !before.is_empty() && before != toolbox.callable()
    }

    /// The client says hello: every server is started and greeted with it.
    async fn greeted(&self, params: Option<&RawValue>) -> Answer {
        let hello = Hello(params.map_or_else(|| raw(&json!({})), ToOwned::to_owned));
        for upstream in &self.upstreams {
            upstream.greet(hello.clone());
        }
        if let [only] = self.upstreams.as_slice()
            && let Ok(connection) = only.connected(GREETING).await
            && let Some(greeting) = connection.greeting.get()
        {
            return Answer::Result(greeting.clone());
        }
        let version = Fields::of(params).text("protocolVersion");
        Answer::Result(raw(&json!({
            "protocolVersion": version.as_deref().unwrap_or(LEGACY),
            "capabilities": {
                "tools": { "listChanged": true },
                "resources": { "listChanged": true, "subscribe": true },
                "prompts": { "listChanged": true },
                "logging": {},
                "completions": {},
            },
            "serverInfo": { "name": "breakfall", "version": env!("CARGO_PKG_VERSION") },
        })))
    }

    /// Whether the list of tools is ours to make: a single server lists its own.
    fn is_listing(&self) -> bool {
        self.upstreams.len() != 1 || !self.own.is_empty()
    }

    /// All tools of all servers.
    async fn listed(&self) -> Answer {
        let waits = self.upstreams.iter().map(|upstream| upstream.connected(LISTING));
        futures_util::future::join_all(waits).await;
        let own = self.own.iter().map(tools::described);
        let theirs = self
            .upstreams
            .iter()
            .flat_map(|upstream| tools::prefixed(upstream.tools(), &self.prefix(upstream)));
        let tools: Vec<Box<RawValue>> = own.chain(theirs).collect();
        Answer::Result(raw(&json!({ "tools": tools })))
    }
}
