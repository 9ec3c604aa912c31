//! What servers do by themselves, on its way to the session.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use super::Connection;
use crate::origin::Origin;

/// How many may be on their way.
const MOST: usize = 1024;

/// What a server does by itself.
pub(crate) enum Event {
    /// It is up, with these tools.
    Up(String),
    /// It says that its tools are others now.
    Tools,
    /// They were listed anew; the client has heard that they are others.
    Listed(String),
    Request {
        key: String,
        connection: Arc<Connection>,
        id: Box<RawValue>,
        method: String,
        params: Option<Box<RawValue>>,
        about: Option<Arc<Origin>>,
    },
    /// It does not want an answer to a request any more.
    TakenBack { key: String, params: Box<RawValue> },
    /// Whoever waits for this knows that everything before it was heard.
    Heard(oneshot::Sender<()>),
    Notification {
        method: String,
        params: Option<Box<RawValue>>,
        /// The client's request that it belongs to.
        about: Option<Arc<Origin>>,
    },
}

/// The way of events to a session.
#[derive(Clone)]
pub(crate) struct Events {
    sender: mpsc::Sender<Event>,
    /// How many were sent and are not dealt with.
    unheard: Arc<AtomicUsize>,
}

impl Events {
    pub(crate) fn new() -> (Self, mpsc::Receiver<Event>) {
        let (sender, receiver) = mpsc::channel(MOST);
        (Self { sender, unheard: Arc::default() }, receiver)
    }

    /// Sends an event, unless the session has ended.
    pub(crate) async fn send(&self, event: Event) {
        if let Ok(place) = self.sender.reserve().await {
            self.unheard.fetch_add(1, Ordering::AcqRel);
            place.send(event);
        }
    }

    /// One more was dealt with.
    pub(crate) fn one_is_heard(&self) {
        self.unheard.fetch_sub(1, Ordering::AcqRel);
    }

    /// Waits until all is dealt with that was sent before now.
    pub(crate) async fn are_heard(&self) {
        // Almost always nothing is on its way, and then nobody is woken.
        if self.unheard.load(Ordering::Acquire) > 0 {
            let (waiting, heard) = oneshot::channel();
            self.send(Event::Heard(waiting)).await;
            let _ = heard.await;
        }
    }
}
