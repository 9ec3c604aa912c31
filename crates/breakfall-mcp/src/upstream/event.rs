//! What servers do by themselves, on its way to the session.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::value::RawValue;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::Connection;
use crate::origin::Origin;

/// How many may be on their way, and how many bytes of them. A server that says more waits until the
/// client has read.
const MOST: usize = 1024;
const BYTES: u32 = 4 << 20;

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

impl Event {
    /// How much room it takes; at most all that there is.
    fn weight(&self) -> u32 {
        let said = match self {
            Self::Request { params, .. } | Self::Notification { params, .. } => params.as_deref(),
            Self::TakenBack { params, .. } => Some(&**params),
            Self::Up(_) | Self::Tools | Self::Listed(_) | Self::Heard(_) => None,
        };
        let bytes = said.map_or(0, |params| params.get().len());
        u32::try_from(bytes).unwrap_or(BYTES).clamp(1, BYTES)
    }
}

/// An event that holds its room until it is dealt with.
pub(crate) struct Sent {
    pub(crate) event: Event,
    _room: Option<OwnedSemaphorePermit>,
}

/// The way of events to a session.
#[derive(Clone)]
pub(crate) struct Events {
    sender: mpsc::Sender<Sent>,
    room: Arc<Semaphore>,
    /// How many were sent and are not dealt with.
    unheard: Arc<AtomicUsize>,
}

impl Events {
    pub(crate) fn new() -> (Self, mpsc::Receiver<Sent>) {
        let (sender, receiver) = mpsc::channel(MOST);
        let room = Arc::new(Semaphore::new(BYTES as usize));
        (Self { sender, room, unheard: Arc::default() }, receiver)
    }

    /// Sends an event, unless the session has ended.
    pub(crate) async fn send(&self, event: Event) {
        // Room first: who has a place and waits for room would let nobody pass.
        let room = Arc::clone(&self.room).acquire_many_owned(event.weight()).await.ok();
        if let Ok(place) = self.sender.reserve().await {
            self.unheard.fetch_add(1, Ordering::AcqRel);
            place.send(Sent { event, _room: room });
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
