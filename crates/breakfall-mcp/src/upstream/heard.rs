//! What a server says becomes answers to who waits, and events for the session.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::value::RawValue;
use tokio::io::BufReader;
use tokio::process::ChildStdout;

use super::connection::Busy;
use super::greet::list;
use super::{Connection, Event, Lost, Resources, Upstream, locked, of_subscription, subscription};
use crate::fields::raw;
use crate::lines::{Line, Lines};
use crate::long::{self, Long};
use crate::message::{Answer, LOST, Message, error, messages, number};
use crate::record::Way;

/// Reads what a server says, until it says nothing any more.
pub(super) async fn read(
    upstream: &Arc<Upstream>,
    connection: &Arc<Connection>,
    mut lines: Lines<BufReader<ChildStdout>>,
) {
    loop {
        match lines.next().await {
            Ok(Some(Line::Text(line))) => {
                said(upstream, connection, &line, None).await;
            }
            Ok(Some(Line::TooLong(long))) => too_long(upstream, connection, &long, None).await,
            Ok(None) | Err(_) => return,
        }
    }
}

/// Something came that is too long to be read: who waits for it hears that, or who sent it. Where
/// it does not tell whose it is, it answers what was asked in its stream.
pub(super) async fn too_long(
    upstream: &Arc<Upstream>,
    connection: &Arc<Connection>,
    long: &Long,
    asked: Option<u64>,
) {
    upstream.garbage.fetch_add(1, Ordering::Relaxed);
    let id = long.id();
    if long.is_asking() {
        if let Some(id) = id {
            let refusal = crate::message::answer(&id, &long::refusal());
            connection.send(upstream, refusal).await;
        }
        return;
    }
    if let Some(number) = id.and_then(|id| number(&id)).or(asked) {
        connection.answered(number, Err(Lost::TooLong));
    }
}

/// A line of a server's; `within` is the request of ours in whose stream it came.
pub(super) async fn said(
    upstream: &Arc<Upstream>,
    connection: &Arc<Connection>,
    line: &str,
    within: Option<u64>,
) {
    connection.record(Way::From, line);
    for message in messages(line) {
        match message {
            Ok(message) => heard(upstream, connection, message, within).await,
            Err(text) => {
                upstream.garbage.fetch_add(1, Ordering::Relaxed);
                // Nothing else will come for who waits for it.
                if let Some(number) = long::unreadable(text).and_then(|id| number(&id)) {
                    connection.answered(number, Err(Lost::unreadable(text)));
                }
            }
        }
    }
}

async fn heard(
    upstream: &Arc<Upstream>,
    connection: &Arc<Connection>,
    message: Message,
    within: Option<u64>,
) {
    match message {
        Message::Answer { id, answer } => {
            let number = number(&id).unwrap_or_default();
            if !connection.answered(number, Ok(answer)) {
                upstream.late.fetch_add(1, Ordering::Relaxed);
            }
        }
        Message::Request { id, method, .. } if method == "ping" => {
            let pong = Answer::Result(raw(&serde_json::json!({})));
            connection.send(upstream, crate::message::answer(&id, &pong)).await;
        }
        Message::Request { id, method, params } => {
            let about = match (within, connection.busy()) {
                (Some(number), _) => connection.origin(number),
                (None, Busy::For(origin)) => Some(origin),
                (None, Busy::ForNobody) => None,
                (None, Busy::ForSeveral) => {
                    let refusal = error(
                        LOST,
                        "several clients are served, and it is not told which is asked",
                    );
                    connection.send(upstream, crate::message::answer(&id, &refusal)).await;
                    return;
                }
            };
            let (key, connection) = (upstream.key.clone(), Arc::clone(connection));
            let event = Event::Request { key, connection, id, method, params, about };
            upstream.events.send(event).await;
        }
        Message::Notification { method, params } => {
            if let Some(event) = noticed(upstream, connection, method, params, within) {
                upstream.events.send(event).await;
            }
        }
    }
}

/// What a notification is to the client.
fn noticed(
    upstream: &Arc<Upstream>,
    connection: &Arc<Connection>,
    method: String,
    params: Option<Box<RawValue>>,
    within: Option<u64>,
) -> Option<Event> {
    let late = || {
        upstream.late.fetch_add(1, Ordering::Relaxed);
    };
    if method == "notifications/progress" {
        // Progress of what nobody waits for is late, too.
        let Some((params, about)) = upstream.progress(params.as_deref()) else {
            late();
            return None;
        };
        return Some(Event::Notification { method, params: Some(params), about });
    }
    if method == "notifications/cancelled" {
        return Some(Event::TakenBack { key: upstream.key.clone(), params: params? });
    }
    if method == "notifications/resources/list_changed" {
        *locked(&upstream.resources) = Resources::default();
    }
    let is_of_tools = method == "notifications/tools/list_changed";
    if let Some(number) = subscription(params.as_deref()) {
        let Some(origin) = connection.origin(number) else {
            late();
            return None;
        };
        if is_of_tools {
            relist(upstream, connection, Event::Listed(upstream.key.clone()));
        }
        let params = of_subscription(&method, params.as_deref(), &origin)?;
        return Some(Event::Notification { method, params: Some(params), about: Some(origin) });
    }
    if is_of_tools {
        // Told where it stands: who asks for them then waits until they are known.
        relist(upstream, connection, Event::Listed(upstream.key.clone()));
        return Some(Event::Tools);
    }
    let about = match (within, method.as_str()) {
        (Some(number), _) => connection.origin(number),
        // What a server logs most likely belongs to what it does. Where it works for several
        // clients, none of them hears it: it may be about another's.
        (None, "notifications/message") => match connection.busy() {
            Busy::For(origin) => Some(origin),
            Busy::ForSeveral => return None,
            Busy::ForNobody => None,
        },
        (None, _) => None,
    };
    Some(Event::Notification { method, params, about })
}

/// Asks for the tools anew, and tells it then.
pub(super) fn relist(upstream: &Arc<Upstream>, connection: &Arc<Connection>, told: Event) {
    let (upstream, connection) = (Arc::clone(upstream), Arc::clone(connection));
    let relisting = upstream.relisting();
    tokio::spawn(async move {
        list(&upstream, &connection).await;
        drop(relisting);
        upstream.events.send(told).await;
    });
}
