//! How a session begins and ends, with a client or without.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use breakfall::{Call, Guard, GuardBuilder, Reply, ToolSpec};
use tokio::io::{AsyncBufRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::greeting::our_hello;
use super::prefixes::prefixes;
use super::{GREETING, Session, owner};
use crate::error::Error;
use crate::lines::{Line, Lines};
use crate::long;
use crate::message::{Message, messages};
use crate::origin::run_of_a;
use crate::out::{Out, Written};
use crate::servers::{Server, Servers};
use crate::stream::Stream;
use crate::tools;
use crate::upstream::{Events, Health, Sent, Upstream, locked};
use crate::watchdog::Watchdog;

/// How long the last requests of a client that leaves are served, and how long its last lines wait
/// to be read.
const LEAVING: Duration = Duration::from_secs(10);
const READING: Duration = Duration::from_secs(1);

/// How often it is looked whether they are answered.
const LOOKING: Duration = Duration::from_millis(10);

impl Session {
    /// Serves a client until it leaves, then ends the servers.
    pub async fn serve(
        servers: Servers,
        guard: GuardBuilder,
        watchdog: Option<Arc<Watchdog>>,
        input: impl AsyncBufRead + Unpin,
        output: impl AsyncWrite + Unpin + Send + 'static,
    ) -> Result<(), Error> {
        let (out, writing) = Written::to(output);
        let (session, mut heard) =
            Self::open(servers, guard, watchdog.as_ref(), Out::Written(out))?;
        let mut input = Lines::new(input);
        let ended = loop {
            tokio::select! {
                line = input.next() => match line {
                    Ok(Some(Line::Text(line))) => {
                        for message in messages(&line) {
                            session.heard(message).await;
                        }
                    }
                    Ok(Some(Line::TooLong(long))) => session.refused(&long, &long::refusal()).await,
                    Ok(None) => break Ok(()),
                    Err(error) => break Err(Error::Client(error)),
                },
                Some(event) = heard.recv() => session.happened(event).await,
            }
        };
        // A client may send its last request and its end in one breath.
        let answered = async {
            while locked(&session.running).values().any(|running| !running.listens) {
                tokio::select! {
                    Some(event) = heard.recv() => session.happened(event).await,
                    () = tokio::time::sleep(LOOKING) => {}
                }
            }
        };
        let _ = tokio::time::timeout(LEAVING, answered).await;
        session.end().await;
        // The last lines are written when nobody can write another.
        drop(session);
        let _ = tokio::time::timeout(READING, writing).await;
        ended
    }

    /// A session without a client, for trying tools: it refuses what servers ask of a client.
    pub fn alone(
        servers: Servers,
        guard: GuardBuilder,
        watchdog: Option<&Arc<Watchdog>>,
    ) -> Result<Arc<Self>, Error> {
        let (out, mut lines) = mpsc::channel(256);
        let (session, mut heard) = Self::open(servers, guard, watchdog, Out::Taken(out))?;
        let it = Arc::clone(&session);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    // What is to be said first: where it waits for a place, nobody else makes one.
                    biased;
                    Some(line) = lines.recv() => {
                        if let Some(Message::Request { id, .. }) = Message::parse(&line) {
                            let refusal = crate::message::error(-32601, "there is no client");
                            it.answered(&id, &refusal).await;
                        }
                    }
                    Some(event) = heard.recv() => it.happened(event).await,
                    else => return,
                }
            }
        });
        session.greet(&our_hello());
        Ok(session)
    }

    /// A session whose client has no line to us: what belongs to no request goes to a stream.
    pub(crate) fn apart(
        servers: Servers,
        guard: GuardBuilder,
        watchdog: Option<&Arc<Watchdog>>,
        standing: Arc<Stream>,
    ) -> Result<(Arc<Self>, AbortHandle), Error> {
        let (out, mut lines) = mpsc::channel(256);
        let (session, mut heard) = Self::open(servers, guard, watchdog, Out::Taken(out))?;
        let it = Arc::clone(&session);
        let pumping = tokio::spawn(async move {
            loop {
                tokio::select! {
                    // What is to be said first: where it waits for a place, nobody else makes one.
                    biased;
                    Some(line) = lines.recv() => standing.push(line),
                    Some(event) = heard.recv() => it.happened(event).await,
                    else => return,
                }
            }
        });
        Ok((session, pumping.abort_handle()))
    }

    /// How many requests of the client are under way.
    pub(crate) fn running(&self) -> usize {
        locked(&self.running).len()
    }

    fn open(
        servers: Servers,
        guard: GuardBuilder,
        watchdog: Option<&Arc<Watchdog>>,
        out: Out,
    ) -> Result<(Arc<Self>, mpsc::Receiver<Sent>), Error> {
        let (events, heard) = Events::new();
        let recorder = servers.recorder.as_deref();
        let keys: Vec<&str> = servers.servers.iter().map(|server| server.key.as_str()).collect();
        let prefixes = prefixes(&keys);
        let start = |(server, prefix): (Server, String)| {
            let recording =
                recorder.map(|it| it.open(&server.key, server.redactor())).transpose()?;
            let recording = recording.map(Arc::new);
            Ok(Upstream::new((server, prefix), watchdog.cloned(), recording, events.clone()))
        };
        let guard = guard.build()?;
        let each = servers.servers.into_iter().zip(prefixes);
        let upstreams: Result<Vec<_>, Error> = each.map(start).collect();
        let upstreams = upstreams?;
        let own = guard.toolbox().callable();
        // Beside tools of ours a name that nobody has is most likely meant for one of them.
        if own.is_empty() {
            let all = upstreams.clone();
            guard.toolbox().otherwise(move |name| tools::unlisted(owner(&all, name)?, name));
        }
        let session = Arc::new(Self {
            own,
            era: Mutex::default(),
            revision: Mutex::default(),
            listening: Mutex::default(),
            run: run_of_a("session"),
            asked_for: Mutex::default(),
            began: Instant::now(),
            has_listed: AtomicBool::new(false),
            remarks: Mutex::default(),
            unknown_tool: servers.unknown_tool,
            guard,
            upstreams,
            events,
            out,
            running: Mutex::default(),
            asked: Mutex::default(),
            counter: AtomicU64::new(1),
        });
        Ok((session, heard))
    }

    /// Ends the servers.
    pub async fn end(&self) {
        locked(&self.running).clear();
        let ends = self.upstreams.iter().map(|upstream| upstream.end());
        futures_util::future::join_all(ends).await;
    }

    /// Calls a tool, when its server is there.
    pub async fn call_tool(&self, call: Call) -> Reply {
        match self.not_there(&call.tool).await {
            Some(lost) => self.guard.refuse(call, tools::failure(lost)),
            None => self.guard.handle(call).await,
        }
    }

    /// Calls tools as one batch, as far as their servers are there, and tells of each reply as soon
    /// as it is there. When `stop` is ready, what is not done is answered as cancelled.
    pub async fn call_tools(
        &self,
        calls: Vec<Call>,
        stop: impl Future<Output = ()> + Send,
        tell: &mut (dyn FnMut(&Reply) + Send),
    ) -> Vec<Reply> {
        let mut replies: Vec<Option<Reply>> = Vec::with_capacity(calls.len());
        let mut there = Vec::new();
        for call in calls {
            replies.push(match self.not_there(&call.tool).await {
                Some(lost) => {
                    let reply = self.guard.refuse(call, tools::failure(lost));
                    tell(&reply);
                    Some(reply)
                }
                None => {
                    there.push(call);
                    None
                }
            });
        }
        let mut answered = self.guard.handle_all_telling(there, stop, tell).await.into_iter();
        replies.into_iter().filter_map(|refused| refused.or_else(|| answered.next())).collect()
    }

    /// The guard: its toolbox and its journal.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// The tools that can be called, when every server had time to start.
    pub async fn tools(&self) -> Vec<ToolSpec> {
        self.settled().await;
        self.guard.toolbox().callable()
    }

    /// The servers, by key.
    pub fn upstreams(&self) -> impl Iterator<Item = (&str, Health)> {
        self.upstreams.iter().map(|upstream| (upstream.key.as_str(), upstream.health()))
    }

    /// What is wrong with tools of a server: those that are left out, or taken without a schema.
    pub fn remarks(&self, key: &str) -> Vec<String> {
        locked(&self.remarks).get(key).cloned().unwrap_or_default()
    }

    /// Waits until every server is up, or will not be soon, and its tools are learned.
    async fn settled(&self) {
        let waits = self.upstreams.iter().map(|upstream| upstream.connected(GREETING));
        let up = futures_util::future::join_all(waits).await;
        for (upstream, up) in self.upstreams.iter().zip(up) {
            if up.is_ok() {
                self.learn(&upstream.key);
            }
        }
    }
}
