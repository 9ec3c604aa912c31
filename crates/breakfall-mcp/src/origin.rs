//! A request of the client's, and where what belongs to it goes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use axum::http::HeaderMap;
use rustix::rand::{GetRandomFlags, getrandom};
use serde_json::value::RawValue;

use crate::era::Era;
use crate::stream::Stream;
use crate::upstream::locked;

/// A request of the client's.
#[derive(Debug)]
pub(crate) struct Origin {
    /// The client's id for it.
    pub(crate) id: Box<RawValue>,
    pub(crate) era: Era,
    /// Where its answer and all that belongs to it goes; nothing where client and guard have one
    /// line between them.
    pub(crate) stream: Option<Arc<Stream>>,
    /// The run that it belongs to, where a session is not one.
    pub(crate) run: Option<Arc<str>>,
    /// The headers it came with.
    pub(crate) headers: HeaderMap,
    /// How an HTTP server refused it, the last time.
    refusal: Mutex<Option<Refusal>>,
    /// A subscription was acknowledged, and need not be again.
    acknowledged: AtomicBool,
    /// How far the client was told that it is.
    progress: Mutex<Option<f64>>,
}

/// How an HTTP server refused a request.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// What would be needed, in its `WWW-Authenticate`.
    pub(crate) challenge: Option<String>,
    /// How long to wait, in its `Retry-After`.
    pub(crate) wait: Option<std::time::Duration>,
    pub(crate) words: String,
}

/// A name for a run that no other run has, in whatever store it is kept.
pub(crate) fn run_of_a(what: &str) -> Arc<str> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut chance = [0; 4];
    // Without chance the number and the process must do.
    if getrandom(&mut chance, GetRandomFlags::empty()).is_err() {
        chance = std::process::id().to_ne_bytes();
    }
    let (chance, number) = (u32::from_ne_bytes(chance), NEXT.fetch_add(1, Ordering::Relaxed));
    format!("{what} {chance:08x}-{number}").into()
}

impl Origin {
    pub(crate) fn new(id: Box<RawValue>, era: Era) -> Self {
        Self {
            id,
            era,
            stream: None,
            run: None,
            headers: HeaderMap::new(),
            refusal: Mutex::default(),
            acknowledged: AtomicBool::new(false),
            progress: Mutex::default(),
        }
    }

    /// A request that came by itself, with headers.
    pub(crate) fn with(mut self, headers: HeaderMap) -> Self {
        self.headers = headers;
        self
    }

    pub(crate) fn in_run(mut self, run: Option<Arc<str>>) -> Self {
        self.run = run;
        self
    }

    /// One that has a stream of its own.
    pub(crate) fn to(mut self, stream: &Arc<Stream>) -> Arc<Self> {
        self.stream = Some(Arc::clone(stream));
        Arc::new(self)
    }

    pub(crate) fn is_refused(&self, refusal: Refusal) {
        *locked(&self.refusal) = Some(refusal);
    }

    /// It was answered all the same, or others have a say in it.
    pub(crate) fn is_not_refused(&self) {
        locked(&self.refusal).take();
    }

    /// How the only server refused it.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        locked(&self.refusal).clone()
    }

    /// How far it is, as the client was told; less than anything where it was told nothing.
    pub(crate) fn how_far(&self) -> f64 {
        locked(&self.progress).unwrap_or(f64::NEG_INFINITY)
    }

    /// The client is told how far it is.
    pub(crate) fn came_to(&self, progress: f64) {
        *locked(&self.progress) = Some(progress);
    }

    /// Whether this is the first that acknowledges its subscription.
    pub(crate) fn acknowledge(&self) -> bool {
        !self.acknowledged.swap(true, Ordering::Relaxed)
    }
}
