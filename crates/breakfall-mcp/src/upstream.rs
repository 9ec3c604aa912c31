//! A server that is kept alive: started, greeted, started anew when it dies; requests are matched
//! with their answers, and what comes too late is counted.

mod connection;
mod keep;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use breakfall::{Held, Progress};
use serde_json::value::RawValue;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

pub(crate) use connection::{Connection, Lost};

use crate::fields::{Fields, raw};
use crate::message::{Answer, notification};
use crate::servers::Server;
use crate::watchdog::Watchdog;

/// How long a request waits for a server that is being started.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server behind the guard.
pub struct Upstream {
    pub(crate) key: String,
    server: Server,
    watchdog: Option<Arc<Watchdog>>,
    events: mpsc::Sender<Event>,
    link: watch::Sender<Link>,
    hello: watch::Sender<Option<Hello>>,
    ending: watch::Sender<bool>,
    keeping: Mutex<Option<JoinHandle<()>>>,
    /// What every new incarnation of the server is told again: the level of logging, subscriptions.
    again: Mutex<Vec<(String, Box<RawValue>)>>,
    /// The tools as the server lists them.
    listed: Mutex<Vec<Box<RawValue>>>,
    calls: Mutex<HashMap<u64, Progress>>,
    tokens: Mutex<HashMap<u64, Token>>,
    counter: AtomicU64,
    late: AtomicU64,
    garbage: AtomicU64,
    starts: AtomicU64,
}

/// How a server is, for the developer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// Whether it answers.
    pub is_up: bool,
    /// Why it does not.
    pub why: Option<String>,
    /// How often it was started.
    pub starts: u64,
    /// Answers that came when nobody waited any more.
    pub late: u64,
    /// Lines that are no messages.
    pub garbage: u64,
}

/// How a server is connected.
#[derive(Clone)]
pub(crate) enum Link {
    Starting,
    Up(Arc<Connection>),
    /// Why, and when it is tried again.
    Down(String, Duration),
}

/// What the client said when it came: every incarnation of a server is greeted with it.
#[derive(Clone, Debug)]
pub(crate) struct Hello(pub(crate) Box<RawValue>);

/// What a server does by itself.
#[derive(Debug)]
pub(crate) enum Event {
    /// It is up, with these tools.
    Up(String),
    /// Its tools are others now.
    Tools(String),
    Request {
        key: String,
        connection: u64,
        id: Box<RawValue>,
        method: String,
        params: Option<Box<RawValue>>,
    },
    Notification {
        method: String,
        params: Option<Box<RawValue>>,
    },
}

/// A token for progress that a server was given in place of the client's.
struct Token {
    clients: Box<RawValue>,
    /// Progress never goes back, also not over a second attempt.
    last: f64,
    call: Option<Progress>,
}

impl Upstream {
    /// Describes a server; it is started when the client says hello.
    pub(crate) fn new(
        server: Server,
        watchdog: Option<Arc<Watchdog>>,
        events: mpsc::Sender<Event>,
    ) -> Arc<Self> {
        let upstream = Arc::new(Self {
            key: server.key.clone(),
            server,
            watchdog,
            events,
            link: watch::Sender::new(Link::Starting),
            hello: watch::Sender::new(None),
            ending: watch::Sender::new(false),
            keeping: Mutex::default(),
            again: Mutex::default(),
            listed: Mutex::default(),
            calls: Mutex::default(),
            tokens: Mutex::default(),
            counter: AtomicU64::new(1),
            late: AtomicU64::new(0),
            garbage: AtomicU64::new(0),
            starts: AtomicU64::new(0),
        });
        let keeping = keep::keep(Arc::downgrade(&upstream), upstream.hello.subscribe());
        *locked(&upstream.keeping) = Some(tokio::spawn(keeping));
        upstream
    }

    /// Starts it, with what the client said.
    pub(crate) fn greet(&self, hello: Hello) {
        self.hello.send_replace(Some(hello));
    }

    /// Ends the server and waits until it is gone.
    pub(crate) async fn end(&self) {
        self.ending.send_replace(true);
        let keeping = locked(&self.keeping).take();
        // One that was never greeted waits for that, and ends nothing.
        if self.hello.borrow().is_some()
            && let Some(keeping) = keeping
        {
            let _ = tokio::time::timeout(Duration::from_secs(4), keeping).await;
        }
    }

    /// How it is.
    pub fn health(&self) -> Health {
        let (is_up, why) = match &*self.link.borrow() {
            Link::Up(_) => (true, None),
            Link::Starting => (false, None),
            Link::Down(why, _) => (false, Some(why.clone())),
        };
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (starts, late, garbage) = (&self.starts, &self.late, &self.garbage);
        Health { is_up, why, starts: count(starts), late: count(late), garbage: count(garbage) }
    }

    /// The tools as the server last listed them.
    pub(crate) fn tools(&self) -> Vec<Box<RawValue>> {
        locked(&self.listed).clone()
    }

    /// The connection, when there is one soon.
    pub(crate) async fn connected(&self, patience: Duration) -> Result<Arc<Connection>, Lost> {
        let mut link = self.link.subscribe();
        let up = async {
            loop {
                match &*link.borrow_and_update() {
                    Link::Up(connection) => return Ok(Arc::clone(connection)),
                    Link::Down(why, wait) if *wait > patience => {
                        return Err(Lost::NotSent(why.clone()));
                    }
                    Link::Starting | Link::Down(..) => {}
                }
                if link.changed().await.is_err() {
                    return Err(Lost::NotSent("the guard ends".to_owned()));
                }
            }
        };
        tokio::time::timeout(patience, up).await.unwrap_or_else(|_| {
            let why = match &*self.link.borrow() {
                Link::Down(why, _) => why.clone(),
                _ => "it is still starting".to_owned(),
            };
            Err(Lost::NotSent(why))
        })
    }

    /// Sends a request and waits for its answer. Dropped before, the server is told to stop.
    pub(crate) async fn request(
        &self,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<Answer, Lost> {
        self.connected(PATIENCE).await?.request(self.number(), method, params).await
    }

    /// Tells the server something, if it is there to hear it.
    pub(crate) async fn notify(&self, method: &str, params: Option<&RawValue>) {
        let link = self.link.borrow().clone();
        if let Link::Up(connection) = link {
            let _ = connection.send(notification(method, params)).await;
        }
    }

    /// A number that was never used before.
    pub(crate) fn number(&self) -> u64 {
        self.counter.fetch_add(1, Ordering::Relaxed)
    }

    /// Remembers what a new incarnation must be told again.
    pub(crate) fn remember(&self, method: &str, params: Option<&RawValue>) {
        let params = params.map_or_else(|| raw(&()), ToOwned::to_owned);
        let mut again = locked(&self.again);
        again.retain(|(known, what)| {
            known != method || method == "resources/subscribe" && what.get() != params.get()
        });
        again.push((method.to_owned(), params));
    }

    /// Forgets a subscription.
    pub(crate) fn forget(&self, params: Option<&RawValue>) {
        let uri = Fields::of(params).text("uri");
        locked(&self.again).retain(|(method, what)| {
            method != "resources/subscribe" || Fields::of(Some(what)).text("uri") != uri
        });
    }

    /// A call is under way until what is returned is dropped.
    pub(crate) fn under_way(self: &Arc<Self>, progress: Progress) -> UnderWay {
        let number = self.number();
        locked(&self.calls).insert(number, progress);
        UnderWay { upstream: Arc::clone(self), number }
    }

    /// Stops the clock of every call under way: the server asks a person.
    pub(crate) fn hold(&self) -> Vec<Held> {
        locked(&self.calls).values().map(Progress::hold).collect()
    }

    /// Gives the server a token of ours in place of the client's, in the fields of a request.
    pub(crate) fn with_token(
        self: &Arc<Self>,
        fields: &mut Fields,
        call: Option<Progress>,
    ) -> Option<Tracked> {
        let mut meta = Fields::of(fields.get("_meta"));
        let clients = meta.get("progressToken")?.to_owned();
        let number = self.number();
        meta.set("progressToken", raw(&number));
        fields.set("_meta", meta.raw());
        locked(&self.tokens).insert(number, Token { clients, last: f64::NEG_INFINITY, call });
        Some(Tracked { upstream: Arc::clone(self), number })
    }

    /// Progress as the client knows it; nothing for a request that nobody waits for.
    fn progress(&self, params: Option<&RawValue>) -> Option<Box<RawValue>> {
        let mut fields = Fields::of(params);
        let number: u64 = serde_json::from_str(fields.get("progressToken")?.get()).ok()?;
        let value = fields.get("progress").and_then(|it| it.get().parse().ok());
        let mut tokens = locked(&self.tokens);
        let token = tokens.get_mut(&number)?;
        if let Some(call) = &token.call {
            call.tick();
        }
        if let Some(value) = value {
            if value < token.last {
                return None;
            }
            token.last = value;
        }
        fields.set("progressToken", token.clients.clone());
        Some(fields.raw())
    }
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A call under way.
pub(crate) struct UnderWay {
    upstream: Arc<Upstream>,
    number: u64,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        locked(&self.upstream.calls).remove(&self.number);
    }
}

/// A token that a server was given.
pub(crate) struct Tracked {
    upstream: Arc<Upstream>,
    number: u64,
}

impl Drop for Tracked {
    fn drop(&mut self) {
        locked(&self.upstream.tokens).remove(&self.number);
    }
}
