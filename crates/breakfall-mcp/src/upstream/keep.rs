//! Keeps a server alive.

use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::address::client;
use super::connection::{WROTE, Wire};
use super::greet::{Cold, PROBING, greet, not_found};
use super::heard::read;
use super::http::Http;
use super::{Connection, DYING, Event, Hello, Link, Lost, Upstream, locked};
use crate::child::{Child, spawn};
use crate::era::Era;
use crate::servers::Reach;

/// How many starts there are in store for a server that ran and died, and how long one takes to
/// come back.
const STORE: u32 = 10;
const REFILL: Duration = Duration::from_secs(2);

/// How long a server at an address that was up is waited for, and how often it is looked for:
/// whoever keeps it may be starting it again.
const RETURNING: Duration = Duration::from_secs(5);
const LOOKING: Duration = Duration::from_millis(50);

/// The waits for a server that does not even start.
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_mins(1);

/// The signals with which a process is ended by others.
const KILLED: [i32; 2] = [9, 15];

/// How long the last words of a server are waited for.
const LAST_WORDS: Duration = Duration::from_millis(20);

/// Starts the server, again and again, until nobody needs it any more.
pub(super) async fn keep(upstream: Weak<Upstream>, mut hello: watch::Receiver<Option<Hello>>) {
    let mut store = Store { left: STORE, since: Instant::now() };
    let mut failures = 0_u32;
    let mut lost_at: Option<Instant> = None;
    let mut is_looked_for = false;
    loop {
        if hello.wait_for(Option::is_some).await.is_err() {
            return;
        }
        let Some(it) = upstream.upgrade() else { return };
        // One that is only looked for again was not started.
        if !std::mem::take(&mut is_looked_for) {
            it.starts.fetch_add(1, Ordering::Relaxed);
        }
        let (lost, was_up) = live(&it, &mut hello).await;
        let now = Instant::now();
        let is_away = it.is_remote() && matches!(lost, Lost::NotSent(_));
        let is_returning = is_away && lost_at.is_some_and(|at| now - at < RETURNING);
        let wait = if was_up {
            failures = 0;
            lost_at = Some(now);
            store.next(now)
        } else if is_returning {
            LOOKING
        } else {
            failures += 1;
            FIRST.saturating_mul(1 << failures.min(8).saturating_sub(1)).min(LONGEST)
        };
        if *it.ending.borrow() {
            return;
        }
        let mut ending = it.ending.subscribe();
        if is_returning && !was_up {
            is_looked_for = true;
            drop(it);
            tokio::select! {
                () = tokio::time::sleep(wait) => continue,
                _ = ending.wait_for(|ending| *ending) => return,
            }
        }
        let why = lost.why();
        let told = it.redactor.redact(&why).into_owned();
        tracing::warn!(upstream = it.key, why = told, was_up, wait = ?wait, "Server stopped");
        let is_unwelcome = matches!(lost, Lost::Unwelcome(_));
        if !was_up {
            it.link.send_replace(Link::Down(lost));
        }
        let needed = Arc::clone(&it.needed);
        drop(it);
        let looked_for = async {
            tokio::time::sleep(LOOKING.min(wait)).await;
            needed.notified().await;
        };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = looked_for, if is_away => {}
            // The client says something else, which it may take.
            _ = hello.changed(), if is_unwelcome => {}
            _ = ending.wait_for(|ending| *ending) => return,
        }
    }
}

/// Starts in store, which come back with time.
struct Store {
    left: u32,
    since: Instant,
}

impl Store {
    /// How long to wait for the next start.
    fn next(&mut self, now: Instant) -> Duration {
        let back = (now - self.since).as_secs() / REFILL.as_secs();
        if back > 0 {
            self.left = self.left.saturating_add(u32::try_from(back).unwrap_or(STORE)).min(STORE);
            self.since = now;
        }
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Duration::ZERO
            }
            None => REFILL,
        }
    }
}

/// One life of a server: why it ended, and whether it had been up, or would have been.
async fn live(upstream: &Arc<Upstream>, said: &mut watch::Receiver<Option<Hello>>) -> (Lost, bool) {
    let began = Instant::now();
    let mut life = match Life::begin(upstream) {
        Ok(life) => life,
        Err(why) => return (Lost::NotSent(why), false),
    };
    let connection = &Arc::clone(&life.connection);
    let mut ending = upstream.ending.subscribe();
    let mut refusal = None;
    let mut was_up = false;
    let mut has_died = false;
    let mut is_left = false;
    loop {
        let Some(hello) = said.borrow_and_update().clone() else { break };
        let other = |said: &Option<Hello>| said.as_ref().is_some_and(|it| it.era != hello.era);
        let greeted = tokio::select! {
            // What it says before it goes tells more than that it goes.
            biased;
            greeted = told_when_silent(upstream, &hello, greet(upstream, connection, &hello)) => {
                greeted
            }
            _ = ending.wait_for(|ending| *ending) => break,
            // It has read how the client spoke before, and may speak no other way in this life.
            _ = said.wait_for(other) => {
                upstream.link.send_replace(Link::Starting);
                is_left = true;
                break;
            }
            () = life.failed() => Err(Cold::Died),
        };
        let foreign = match greeted {
            Ok(()) => None,
            Err(Cold::Foreign(said)) => Some(said),
            Err(Cold::Died) => {
                has_died = true;
                break;
            }
            Err(Cold::Refused(lost)) => {
                refusal = Some(lost);
                break;
            }
        };
        let is_up = foreign.is_none();
        let _listening = is_up.then(|| life.listening(upstream, hello.era));
        match foreign {
            None => {
                was_up = true;
                upstream.lives.fetch_add(1, Ordering::Relaxed);
                *locked(&upstream.took) = Some(began.elapsed());
                upstream.link.send_replace(Link::Up(Arc::clone(connection)));
                upstream.events.send(Event::Up(upstream.key.clone())).await;
            }
            Some(said) => {
                upstream.link.send_replace(Link::Foreign(said));
            }
        }
        tokio::select! {
            () = connection.over() => break,
            () = life.failed() => break,
            _ = ending.wait_for(|ending| *ending) => break,
            // The client speaks otherwise now.
            _ = said.wait_for(other) => {
                upstream.link.send_replace(Link::Starting);
                if is_up {
                    break;
                }
            }
        }
    }
    if was_up {
        // From now on requests wait for the next life.
        upstream.link.send_replace(Link::Starting);
    }
    let (why, signal) = life.end().await;
    // Who is killed while he starts would have been up.
    let was_killed = has_died && signal.is_some_and(|signal| KILLED.contains(&signal));
    (refusal.unwrap_or(Lost::NotSent(why)), was_up || was_killed || is_left)
}

/// A greeting. The first that is not answered soon may not be understood, and who waits is told so;
/// the answer may come all the same.
async fn told_when_silent(
    upstream: &Upstream,
    hello: &Hello,
    greeting: impl Future<Output = Result<(), Cold>>,
) -> Result<(), Cold> {
    let mut greeting = std::pin::pin!(greeting);
    if hello.era == Era::Modern && upstream.lives.load(Ordering::Relaxed) == 0 {
        match tokio::time::timeout(PROBING, &mut greeting).await {
            Ok(greeted) => return greeted,
            Err(_) => drop(upstream.link.send_replace(Link::Foreign(not_found()))),
        }
    }
    greeting.await
}

/// What a server is while it is there.
struct Life {
    connection: Arc<Connection>,
    child: Option<Child>,
    _reading: Option<AbortOnDrop>,
}

impl Life {
    fn begin(upstream: &Arc<Upstream>) -> Result<Self, String> {
        let recording = upstream.recording.clone();
        match &upstream.server.reach {
            Reach::Command(command) => {
                let (child, stdin, lines) = spawn(command, upstream.watchdog.clone())
                    .map_err(|error| with_causes(&error))?;
                let connection = Arc::new(Connection::new(Wire::lines(stdin), recording));
                let reading = tokio::spawn({
                    let (upstream, connection) = (Arc::clone(upstream), Arc::clone(&connection));
                    let stderr = child.stderr.clone();
                    async move {
                        read(&upstream, &connection, lines).await;
                        // What it wrote last may come a moment after its end.
                        tokio::time::sleep(LAST_WORDS).await;
                        connection.is_gone(tell("its server stopped", &stderr.text()));
                    }
                });
                let reading = Some(AbortOnDrop(reading.abort_handle()));
                Ok(Self { connection, child: Some(child), _reading: reading })
            }
            Reach::Address(address) => {
                let to = upstream.client.get_or_init(|| client(address)).clone();
                let wire = Wire::Http(Box::new(Http::new(to?)));
                let connection = Arc::new(Connection::new(wire, recording));
                Ok(Self { connection, child: None, _reading: None })
            }
        }
    }

    /// Hears what a server at an address says by itself.
    fn listening(&self, upstream: &Arc<Upstream>, era: Era) -> Option<AbortOnDrop> {
        let Wire::Http(_) = &self.connection.wire else { return None };
        if era == Era::Modern {
            return None;
        }
        let (upstream, connection) = (Arc::clone(upstream), Arc::clone(&self.connection));
        let listening = tokio::spawn(async move {
            if let Wire::Http(http) = &connection.wire {
                http.listen(&upstream, &connection).await;
            }
        });
        Some(AbortOnDrop(listening.abort_handle()))
    }

    /// Waits until its process has failed and had time to be heard to its end: something that it
    /// started may keep its output open.
    async fn failed(&mut self) {
        let Some(child) = &mut self.child else { return std::future::pending().await };
        child.failed().await;
        let _ = tokio::time::timeout(DYING, self.connection.over()).await;
    }

    /// Ends what is left of it and tells what is known of its end, and which signal ended it.
    async fn end(self) -> (String, Option<i32>) {
        let connection = &self.connection;
        let Some(child) = self.child else {
            // What is under way where nothing new is asked goes on.
            if let Wire::Http(http) = &connection.wire
                && !connection.is_over()
            {
                http.farewell().await;
                connection.is_gone("its session ended".to_owned());
            }
            return (connection.fate(), None);
        };
        let stderr = child.stderr.clone();
        connection.shut();
        connection.is_gone(tell("its server stopped", &stderr.text()));
        let status = child.end().await;
        let what =
            status.map_or_else(|| "it could not be ended".to_owned(), |status| status.to_string());
        (tell(&what, &stderr.text()), status.and_then(|status| status.signal()))
    }
}

struct AbortOnDrop(tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn tell(what: &str, stderr: &str) -> String {
    if stderr.is_empty() { what.to_owned() } else { format!("{what}{WROTE}{stderr}") }
}

pub(super) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
