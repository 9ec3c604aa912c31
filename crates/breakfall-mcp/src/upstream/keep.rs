//! Keeps a server alive.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use breakfall::Redactor;
use serde_json::value::RawValue;
use tokio::io::BufReader;
use tokio::process::ChildStdout;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{Connection, Event, Hello, Link, Lost, Upstream, locked};
use crate::child::{Child, spawn};
use crate::fields::{Fields, raw};
use crate::lines::{Line, Lines};
use crate::message::{Answer, Message, messages, notification};

/// How long a server has to answer when it is greeted.
const GREETING: Duration = Duration::from_secs(30);

/// How many starts there are in store for a server that ran and died, and how long one takes to
/// come back.
const STORE: u32 = 10;
const REFILL: Duration = Duration::from_secs(2);

/// The waits for a server that does not even start.
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_mins(1);

/// How long the last words of a server are waited for.
const LAST_WORDS: Duration = Duration::from_millis(20);

/// How many pages of tools are read.
const PAGES: usize = 100;

/// Starts the server, again and again, until nobody needs it any more.
pub(super) async fn keep(upstream: Weak<Upstream>, mut hello: watch::Receiver<Option<Hello>>) {
    let mut store = Store { left: STORE, since: Instant::now() };
    let mut failures = 0_u32;
    loop {
        let said = loop {
            if let Some(hello) = hello.borrow_and_update().clone() {
                break hello;
            }
            if hello.changed().await.is_err() {
                return;
            }
        };
        let Some(it) = upstream.upgrade() else { return };
        it.starts.fetch_add(1, Ordering::Relaxed);
        let (why, was_up) = live(&it, &said).await;
        let wait = if was_up {
            failures = 0;
            store.next(Instant::now())
        } else {
            failures += 1;
            FIRST.saturating_mul(1 << failures.min(8).saturating_sub(1)).min(LONGEST)
        };
        if *it.ending.borrow() {
            return;
        }
        let told = Redactor::default().redact(&why).into_owned();
        tracing::warn!(upstream = it.key, why = told, was_up, wait = ?wait, "Server stopped");
        if !was_up {
            it.link.send_replace(Link::Down(why));
        }
        let mut ending = it.ending.subscribe();
        drop(it);
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
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

/// One life of a server: why it ended, and whether it had ever been up.
async fn live(upstream: &Arc<Upstream>, hello: &Hello) -> (String, bool) {
    let (child, stdin, lines) = match spawn(&upstream.server.command, upstream.watchdog.clone()) {
        Ok(started) => started,
        Err(error) => return (with_causes(&error), false),
    };
    let connection = Arc::new(Connection::new(stdin));
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
    let _stop = AbortOnDrop(reading.abort_handle());
    let mut refusal = None;
    let was_up = match greet(upstream, &connection, hello).await {
        Ok(()) => {
            upstream.link.send_replace(Link::Up(Arc::clone(&connection)));
            let _ = upstream.events.send(Event::Up(upstream.key.clone())).await;
            let mut ending = upstream.ending.subscribe();
            tokio::select! {
                _ = reading => {}
                _ = ending.wait_for(|ending| *ending) => {}
            }
            true
        }
        Err(why) => {
            refusal = why;
            false
        }
    };
    if was_up {
        // From now on requests wait for the next life.
        upstream.link.send_replace(Link::Starting);
    }
    let why = last_words(child, &connection).await;
    (refusal.unwrap_or(why), was_up)
}

struct AbortOnDrop(tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Ends what is left of the process and tells what is known of its end.
async fn last_words(child: Child, connection: &Connection) -> String {
    let stderr = child.stderr.clone();
    connection.shut();
    connection.is_gone(tell("its server stopped", &stderr.text()));
    let status = child.end().await;
    let what =
        status.map_or_else(|| "it could not be ended".to_owned(), |status| status.to_string());
    tell(&what, &stderr.text())
}

fn tell(what: &str, stderr: &str) -> String {
    if stderr.is_empty() { what.to_owned() } else { format!("{what}; it wrote:\n{stderr}") }
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// Greets a server as the client did, and asks for its tools.
/// `Err(None)` is a server that died of it.
async fn greet(
    upstream: &Upstream,
    connection: &Connection,
    hello: &Hello,
) -> Result<(), Option<String>> {
    let greeting = connection.request(upstream.number(), "initialize", Some(&hello.0));
    let answer = match tokio::time::timeout(GREETING, greeting).await {
        Ok(Ok(Answer::Result(result))) => result,
        Ok(Ok(Answer::Error(error))) => return Err(Some(format!("it refused to start: {error}"))),
        Ok(Err(Lost::Gone(_) | Lost::NotSent(_))) => return Err(None),
        Ok(Err(Lost::TooLong)) => return Err(Some("its greeting is too long".to_owned())),
        Err(_) => return Err(Some(format!("it said nothing for {} s", GREETING.as_secs()))),
    };
    let offers_tools = {
        let capabilities = Fields::of(Some(&answer));
        Fields::of(capabilities.get("capabilities")).get("tools").is_some()
    };
    let _ = connection.greeting.set(answer);
    connection.send(notification("notifications/initialized", None)).await;
    let again = locked(&upstream.again).clone();
    for (method, params) in again {
        let asked = connection.request(upstream.number(), &method, Some(&params));
        let _ = tokio::time::timeout(GREETING, asked).await;
    }
    if offers_tools {
        list(upstream, connection).await;
    }
    Ok(())
}

/// Reads all tools of a server; what cannot be read stays as it was.
async fn list(upstream: &Upstream, connection: &Connection) {
    let mut tools = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES {
        let mut params = Fields::default();
        if let Some(cursor) = &cursor {
            params.set("cursor", raw(cursor));
        }
        let params = params.raw();
        let asked = connection.request(upstream.number(), "tools/list", Some(&params));
        let Ok(Ok(Answer::Result(page))) = tokio::time::timeout(GREETING, asked).await else {
            return;
        };
        let page = Fields::of(Some(&page));
        let listed: Option<Vec<Box<RawValue>>> =
            page.get("tools").and_then(|tools| serde_json::from_str(tools.get()).ok());
        tools.extend(listed.unwrap_or_default());
        cursor = page.text("nextCursor");
        if cursor.is_none() {
            break;
        }
    }
    *locked(&upstream.listed) = tools;
}

/// Reads what a server says, until it says nothing any more.
async fn read(
    upstream: &Arc<Upstream>,
    connection: &Arc<Connection>,
    mut lines: Lines<BufReader<ChildStdout>>,
) {
    loop {
        match lines.next().await {
            Ok(Some(Line::Text(line))) => {
                for message in messages(&line) {
                    heard(upstream, connection, message).await;
                }
            }
            Ok(Some(Line::TooLong(head))) => {
                upstream.garbage.fetch_add(1, Ordering::Relaxed);
                if let Some(id) = id_in(&head) {
                    connection.answered(id, Err(Lost::TooLong));
                }
            }
            Ok(Some(Line::Garbage)) => {
                upstream.garbage.fetch_add(1, Ordering::Relaxed);
            }
            Ok(None) | Err(_) => return,
        }
    }
}

/// The number under which an answer came that is too long to be read.
fn id_in(head: &str) -> Option<&str> {
    let (_, rest) = head.split_once("\"id\":")?;
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    Some(&rest[..end])
}

async fn heard(upstream: &Arc<Upstream>, connection: &Arc<Connection>, message: Option<Message>) {
    match message {
        None => {
            upstream.garbage.fetch_add(1, Ordering::Relaxed);
        }
        Some(Message::Answer { id, answer }) => {
            if !connection.answered(id.get(), Ok(answer)) {
                upstream.late.fetch_add(1, Ordering::Relaxed);
            }
        }
        Some(Message::Request { id, method, .. }) if method == "ping" => {
            let pong = Answer::Result(raw(&serde_json::json!({})));
            connection.send(crate::message::answer(&id, &pong)).await;
        }
        Some(Message::Request { id, method, params }) => {
            let (key, connection) = (upstream.key.clone(), connection.number);
            let event = Event::Request { key, connection, id, method, params };
            let _ = upstream.events.send(event).await;
        }
        Some(Message::Notification { method, params }) if method == "notifications/progress" => {
            // Progress of what nobody waits for is late, too.
            match upstream.progress(params.as_deref()) {
                Some(params) => {
                    let event = Event::Notification { method, params: Some(params) };
                    let _ = upstream.events.send(event).await;
                }
                None => {
                    upstream.late.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        Some(Message::Notification { method, params }) => {
            if method == "notifications/tools/list_changed" {
                let (upstream, connection) = (Arc::clone(upstream), Arc::clone(connection));
                tokio::spawn(async move {
                    list(&upstream, &connection).await;
                    let _ = upstream.events.send(Event::Tools(upstream.key.clone())).await;
                });
                return;
            }
            let _ = upstream.events.send(Event::Notification { method, params }).await;
        }
    }
}
