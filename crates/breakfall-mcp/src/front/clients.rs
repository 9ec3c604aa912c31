//! The clients that came over HTTP: each with a session of its own, and all that need none together.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use breakfall::GuardBuilder;
use rustix::rand::GetRandomFlags;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::error::Error;
use crate::servers::Servers;
use crate::session::Session;
use crate::stream::Stream;
use crate::upstream::locked;
use crate::watchdog::Watchdog;

/// How many clients there may be at once.
const MOST: usize = 256;

/// How long a client that has no connection to us is kept.
const IDLE: Duration = Duration::from_mins(30);

/// How many streams are kept for a client that may come back for them, and how much in them.
const KEPT: usize = 64;
const KEPT_BYTES: usize = 32 << 20;

/// How many requests of a client may be under way.
const RUNNING: usize = 1024;

/// The first revision whose clients understand an event that says nothing.
const PRIMED: &str = "2025-11-25";

/// All clients.
pub(super) struct Clients {
    servers: Servers,
    guard: Box<dyn Fn() -> GuardBuilder + Send + Sync>,
    watchdog: Option<Arc<Watchdog>>,
    by_session: Mutex<HashMap<String, Arc<Client>>>,
    /// Those that say everything in every request.
    shared: OnceLock<Arc<Client>>,
    opening: Mutex<()>,
}

/// A client.
pub(super) struct Client {
    pub(super) session: Arc<Session>,
    /// What belongs to no request.
    pub(super) standing: Arc<Stream>,
    /// How much of that the client has.
    pub(super) heard: AtomicU64,
    /// How many connections it has.
    pub(super) connections: AtomicUsize,
    streams: Mutex<Vec<Arc<Stream>>>,
    seen: Mutex<Instant>,
    pumping: AbortHandle,
}

impl Clients {
    pub(super) fn new(
        servers: Servers,
        guard: Box<dyn Fn() -> GuardBuilder + Send + Sync>,
        watchdog: Option<Arc<Watchdog>>,
    ) -> Self {
        Self {
            servers,
            guard,
            watchdog,
            by_session: Mutex::default(),
            shared: OnceLock::new(),
            opening: Mutex::default(),
        }
    }

    /// A new client with a session of its own.
    pub(super) fn open(&self) -> Result<(String, Arc<Client>), Error> {
        let mut name = [0; 16];
        rustix::rand::getrandom(&mut name, GetRandomFlags::empty())
            .map_err(|error| Error::Client(error.into()))?;
        let name = format!("{:032x}", u128::from_ne_bytes(name));
        let mut clients = locked(&self.by_session);
        if clients.len() >= MOST {
            // Most clients go without a word: the one that is away for longest makes room.
            let away = clients.iter().filter(|(_, client)| client.is_away());
            let longest = away.min_by_key(|(_, client)| *locked(&client.seen));
            let longest = longest.map(|(name, _)| name.clone());
            let Some(gone) = longest.and_then(|name| clients.remove(&name)) else {
                return Err(Error::Full { most: MOST });
            };
            tokio::spawn(async move { gone.end().await });
        }
        let client = Arc::new(self.client()?);
        clients.insert(name.clone(), Arc::clone(&client));
        Ok((name, client))
    }

    /// The client that all share who need no session.
    pub(super) fn shared(&self) -> Result<Arc<Client>, Error> {
        let _one_at_a_time = locked(&self.opening);
        if let Some(client) = self.shared.get() {
            return Ok(Arc::clone(client));
        }
        let client = Arc::new(self.client()?);
        Ok(Arc::clone(self.shared.get_or_init(|| client)))
    }

    fn client(&self) -> Result<Client, Error> {
        let (guard, watchdog) = ((self.guard)(), self.watchdog.as_ref());
        let standing = Arc::new(Stream::new(0));
        let (session, pumping) =
            Session::apart(self.servers.clone(), guard, watchdog, Arc::clone(&standing))?;
        Ok(Client {
            session,
            standing,
            heard: AtomicU64::new(0),
            connections: AtomicUsize::new(0),
            streams: Mutex::default(),
            seen: Mutex::new(Instant::now()),
            pumping,
        })
    }

    pub(super) fn get(&self, session: &str) -> Option<Arc<Client>> {
        locked(&self.by_session).get(session).cloned()
    }

    /// Ends a client's session.
    pub(super) async fn close(&self, session: &str) {
        let client = locked(&self.by_session).remove(session);
        if let Some(client) = client {
            client.end().await;
        }
    }

    /// Ends every session.
    pub(super) async fn end(&self) {
        let clients: Vec<_> = locked(&self.by_session).drain().map(|(_, client)| client).collect();
        let all = clients.iter().chain(self.shared.get()).map(|client| client.end());
        futures_util::future::join_all(all).await;
    }

    /// Ends the sessions of clients that went without a word, for ever.
    pub(super) async fn expire(&self) {
        loop {
            tokio::time::sleep(IDLE / 30).await;
            let now = Instant::now();
            let idle: Vec<String> = locked(&self.by_session)
                .iter()
                .filter(|(_, client)| client.is_idle(now))
                .map(|(name, _)| name.clone())
                .collect();
            for name in idle {
                self.close(&name).await;
            }
        }
    }
}

impl Client {
    pub(super) fn is_seen(&self) {
        *locked(&self.seen) = Instant::now();
    }

    fn is_idle(&self, now: Instant) -> bool {
        // Whether it left something under way: what waits for an answer of its would wait for ever.
        self.connections.load(Ordering::Relaxed) == 0
            && now.saturating_duration_since(*locked(&self.seen)) > IDLE
    }

    fn is_away(&self) -> bool {
        self.connections.load(Ordering::Relaxed) == 0 && self.session.running() == 0
    }

    /// Whether it has as much under way as any may have.
    pub(super) fn is_full(&self) -> bool {
        self.session.running() >= RUNNING
    }

    /// Whether the client can take a stream up again: its revision knows how.
    pub(super) fn is_resumable(&self) -> bool {
        self.session.speaks(PRIMED)
    }

    /// Keeps a stream for a client that may lose its connection.
    pub(super) fn keep(&self, stream: Arc<Stream>) {
        let mut streams = locked(&self.streams);
        let mut bytes: usize = streams.iter().map(|stream| stream.bytes()).sum();
        while (streams.len() >= KEPT || bytes > KEPT_BYTES)
            && let Some(done) = streams.iter().position(|stream| stream.is_done())
        {
            bytes -= streams.remove(done).bytes();
        }
        streams.push(stream);
    }

    pub(super) fn stream(&self, number: u64) -> Option<Arc<Stream>> {
        locked(&self.streams).iter().find(|stream| stream.number == number).cloned()
    }

    async fn end(&self) {
        self.session.end().await;
        self.standing.end();
        self.pumping.abort();
    }
}
