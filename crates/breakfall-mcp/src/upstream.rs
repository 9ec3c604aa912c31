//! A server that is kept alive: started, greeted, started anew when it dies; requests are matched
//! with their answers, and what comes too late is counted.

mod address;
mod connection;
mod event;
mod greet;
mod heard;
mod http;
mod keep;
mod listed;
mod mailbox;
mod progress;
mod resources;
mod streams;
mod subscription;

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use breakfall::{Progress, Redactor};
use serde_json::value::RawValue;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

pub(crate) use connection::{Connection, Lost};
pub(crate) use event::{Event, Events, Sent};
pub(crate) use greet::PAGES;
use progress::Token;
pub(crate) use progress::Tracked;
use resources::Resources;
pub(crate) use subscription::of_subscription;
use subscription::subscription;

use crate::era::{self, Era};
use crate::fields::{Fields, raw};
use crate::headers::Parameter;
use crate::message::{Answer, notification};
use crate::numbers::Numbered;
use crate::origin::Origin;
use crate::record::Recording;
use crate::servers::{Reach, Server};
use crate::watchdog::Watchdog;

/// How long a request waits for a server that is being started.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a request waits for a server at an address that was not there, and is looked for again.
const LOOKING: Duration = Duration::from_secs(1);

/// How often a request is made that never arrived, or to a server that has forgotten the session.
const OFTEN: u32 = 3;

/// How long a server that hears nothing any more, or has failed, is given until it is gone.
const DYING: Duration = Duration::from_secs(1);

/// How much a new life is told again.
const AGAIN: usize = 1_000;

/// A server behind the guard.
pub struct Upstream {
    pub(crate) key: String,
    /// What stands before the names of its tools.
    pub(crate) prefix: String,
    server: Server,
    /// Takes out what the server is shown and nobody else.
    redactor: Redactor,
    watchdog: Option<Arc<Watchdog>>,
    recording: Option<Arc<Recording>>,
    events: Events,
    link: watch::Sender<Link>,
    hello: watch::Sender<Option<Hello>>,
    ending: watch::Sender<bool>,
    keeping: Mutex<Option<JoinHandle<()>>>,
    /// Somebody needs it, and it is not there.
    needed: Arc<Notify>,
    /// What connects to an address.
    client: OnceLock<Result<address::To, String>>,
    /// What every new life of the server is told again: the level of logging, subscriptions.
    again: Mutex<Vec<(String, Box<RawValue>)>>,
    /// The tools as the server lists them.
    listed: Mutex<Vec<Box<RawValue>>>,
    /// How often it is asked for them at this moment.
    relists: watch::Sender<usize>,
    /// The arguments that its tools want said again in headers, by tool.
    parameters: Mutex<HashMap<String, Arc<[Parameter]>>>,
    /// What it has to read.
    pub(crate) resources: Mutex<Resources>,
    took: Mutex<Option<Duration>>,
    calls: Mutex<Numbered<Progress>>,
    tokens: Mutex<Numbered<Token>>,
    /// The tokens of what goes on when it is answered, the oldest first.
    lasting: Mutex<VecDeque<u64>>,
    counter: AtomicU64,
    late: AtomicU64,
    garbage: AtomicU64,
    starts: AtomicU64,
    /// How often it was up, and of which of these lives the model knows.
    lives: AtomicU64,
    known: AtomicU64,
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
    /// How long it took to be up, the last time.
    pub took: Option<Duration>,
    /// What it calls itself, with its version.
    pub name: Option<String>,
    /// How many tools it lists.
    pub tools: usize,
}

/// How a server is connected.
#[derive(Clone)]
pub(crate) enum Link {
    /// For the first time, or after it had been up: it will be there in a moment.
    Starting,
    Up(Arc<Connection>),
    /// It did not even start, and why. It is tried again, but nobody waits for it.
    Down(Lost),
    /// It is there and does not speak as the client does; what it said to that.
    Foreign(Box<RawValue>),
}

/// What the client said when it came: every life of a server is greeted with it.
#[derive(Clone, Debug)]
pub(crate) struct Hello {
    pub(crate) era: Era,
    /// Its handshake, or what it says in every request.
    pub(crate) said: Box<RawValue>,
}

impl Upstream {
    /// Describes a server, with what stands before the names of its tools; it is started when the
    /// client says hello.
    pub(crate) fn new(
        (server, prefix): (Server, String),
        watchdog: Option<Arc<Watchdog>>,
        recording: Option<Arc<Recording>>,
        events: Events,
    ) -> Arc<Self> {
        let upstream = Arc::new(Self {
            key: server.key.clone(),
            prefix,
            redactor: server.redactor(),
            server,
            watchdog,
            recording,
            events,
            link: watch::Sender::new(Link::Starting),
            hello: watch::Sender::new(None),
            ending: watch::Sender::new(false),
            keeping: Mutex::default(),
            needed: Arc::default(),
            client: OnceLock::new(),
            again: Mutex::default(),
            listed: Mutex::default(),
            relists: watch::Sender::new(0),
            parameters: Mutex::default(),
            resources: Mutex::default(),
            took: Mutex::default(),
            calls: Mutex::default(),
            tokens: Mutex::default(),
            lasting: Mutex::default(),
            counter: AtomicU64::new(1),
            late: AtomicU64::new(0),
            garbage: AtomicU64::new(0),
            starts: AtomicU64::new(0),
            lives: AtomicU64::new(0),
            known: AtomicU64::new(0),
        });
        let keeping = keep::keep(Arc::downgrade(&upstream), upstream.hello.subscribe());
        *locked(&upstream.keeping) = Some(tokio::spawn(keeping));
        upstream
    }

    /// Starts it, with what the client said.
    pub(crate) fn greet(&self, hello: Hello) {
        // One that did not understand or take the last hello is asked again with this one.
        self.link.send_if_modified(|link| {
            let is_cold = matches!(link, Link::Foreign(_) | Link::Down(Lost::Unwelcome(_)));
            if is_cold {
                *link = Link::Starting;
            }
            is_cold
        });
        self.hello.send_replace(Some(hello));
    }

    /// Whether it refused what the client said when it came.
    pub(crate) fn is_unwelcome(&self) -> bool {
        matches!(&*self.link.borrow(), Link::Down(Lost::Unwelcome(_)))
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
            Link::Down(lost) => (false, Some(lost.why())),
            Link::Foreign(said) => (false, Some(Lost::Foreign(said.clone()).why())),
        };
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (starts, late, garbage) = (&self.starts, &self.late, &self.garbage);
        let name = match &*self.link.borrow() {
            Link::Up(connection) => connection.greeting.get().and_then(|said| era::name(said)),
            _ => None,
        };
        Health {
            is_up,
            why: why.map(|why| self.redactor.redact(&why).into_owned()),
            starts: count(starts),
            late: count(late),
            garbage: count(garbage),
            took: *locked(&self.took),
            name,
            tools: locked(&self.listed).len(),
        }
    }

    /// The connection that there is.
    fn up(&self) -> Option<Arc<Connection>> {
        match &*self.link.borrow() {
            Link::Up(connection) if !connection.is_over() => Some(Arc::clone(connection)),
            _ => None,
        }
    }

    /// The connection, when there is one soon.
    pub(crate) async fn connected(&self, patience: Duration) -> Result<Arc<Connection>, Lost> {
        let mut link = self.link.subscribe();
        let mut has_looked = false;
        let up = async {
            loop {
                let down = match &*link.borrow_and_update() {
                    // One that is over is about to be replaced.
                    Link::Up(connection) if !connection.is_over() => {
                        return Ok(Arc::clone(connection));
                    }
                    Link::Down(lost @ Lost::NotSent(_)) if self.is_remote() => Some(lost.clone()),
                    Link::Down(lost) => return Err(lost.clone()),
                    Link::Foreign(said) => return Err(Lost::Foreign(said.clone())),
                    Link::Up(_) | Link::Starting => None,
                };
                // Whoever started it may have done so again a moment ago.
                if let Some(lost) = down {
                    if std::mem::replace(&mut has_looked, true) {
                        return Err(lost);
                    }
                    self.needed.notify_one();
                    if tokio::time::timeout(LOOKING, link.changed()).await.is_err() {
                        return Err(lost);
                    }
                    continue;
                }
                if link.changed().await.is_err() {
                    return Err(Lost::NotSent("the guard ends".to_owned()));
                }
            }
        };
        let late = || Err(Lost::NotSent("it is still starting".to_owned()));
        tokio::time::timeout(patience, up).await.unwrap_or_else(|_| late())
    }

    /// Sends a request and waits for its answer. Dropped before, the server is told to stop.
    pub(crate) async fn request(
        self: &Arc<Self>,
        method: &str,
        params: Option<&RawValue>,
        origin: Option<&Arc<Origin>>,
    ) -> Result<Answer, Lost> {
        let mut left = OFTEN;
        loop {
            // Boxed: almost always it is there.
            let connection = match self.up() {
                Some(connection) => connection,
                None => Box::pin(self.connected(PATIENCE)).await?,
            };
            let answer = connection.request(self, (method, params), origin).await;
            left -= 1;
            match answer {
                // It did nothing, and its next life may. That it is gone is seen a moment
                // after it stopped listening.
                Err(Lost::Stale(_) | Lost::NotSent(_)) if left > 0 => {
                    if !self.is_remote()
                        && tokio::time::timeout(DYING, connection.over()).await.is_err()
                    {
                        connection.is_gone("its server hears nothing any more".to_owned());
                    }
                }
                Err(Lost::Stale(why)) => return Err(Lost::NotSent(why)),
                answer => return answer,
            }
        }
    }

    /// Tells the server something, if it is there to hear it.
    pub(crate) async fn notify(self: &Arc<Self>, method: &str, params: Option<&RawValue>) {
        let link = self.link.borrow().clone();
        if let Link::Up(connection) = link {
            let _ = connection.send(self, notification(method, params)).await;
        }
    }

    /// The arguments that a tool wants said again in headers.
    pub(crate) fn parameters(&self, tool: &str) -> Arc<[Parameter]> {
        locked(&self.parameters).get(tool).cloned().unwrap_or_else(|| Arc::new([]))
    }

    /// A call succeeded. Who did something with it works with this life of it; who only read may
    /// take it for the one before.
    pub(crate) fn succeeded(&self, reads: bool) {
        let life = self.lives.load(Ordering::Relaxed);
        if !reads || self.known.load(Ordering::Relaxed) == 0 {
            self.known.fetch_max(life, Ordering::Relaxed);
        }
    }

    /// Whether it was started anew and nobody was told so; the next is not told again.
    pub(crate) fn is_anew(&self) -> bool {
        let life = self.lives.load(Ordering::Relaxed);
        let known = self.known.fetch_max(life, Ordering::Relaxed);
        known != 0 && known < life
    }

    /// Whether its tools are believed what they say of themselves.
    pub(crate) fn is_trusted(&self) -> bool {
        self.server.is_trusted
    }

    /// Whether it is reached at an address.
    pub(crate) fn is_remote(&self) -> bool {
        matches!(self.server.reach, Reach::Address(_))
    }

    /// What our own requests carry beside their parameters.
    fn meta(&self) -> Option<Box<RawValue>> {
        let hello = self.hello.borrow();
        hello.as_ref().filter(|hello| hello.era == Era::Modern).map(|hello| hello.said.clone())
    }

    /// A number that was never used before.
    pub(crate) fn number(&self) -> u64 {
        self.counter.fetch_add(1, Ordering::Relaxed)
    }

    /// Remembers what a new life must be told again.
    pub(crate) fn remember(&self, method: &str, params: Option<&RawValue>) {
        let params = params.map_or_else(|| raw(&()), ToOwned::to_owned);
        let mut again = locked(&self.again);
        again.retain(|(known, what)| {
            known != method || method == "resources/subscribe" && what.get() != params.get()
        });
        // The oldest is given up rather than all kept.
        if again.len() >= AGAIN {
            again.remove(0);
        }
        again.push((method.to_owned(), params));
    }

    /// Forgets a subscription.
    pub(crate) fn forget(&self, params: Option<&RawValue>) {
        let uri = Fields::of(params).text("uri");
        locked(&self.again).retain(|(method, what)| {
            method != "resources/subscribe" || Fields::of(Some(what)).text("uri") != uri
        });
    }
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
