//! How much is taken from clients, and what a connection is to the guard.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use breakfall_http::Bounds;

/// So many connections at once, and no long silence in any.
pub(super) const BOUNDS: Bounds =
    Bounds { most: 1024, head: Duration::from_secs(30), head_bytes: 400 << 10 };

/// What a connection is to the guard: whoever has no session goes in circles only there.
#[derive(Clone)]
pub(super) struct Run(pub(super) Arc<str>);

impl Run {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(format!("connection {}", NEXT.fetch_add(1, Ordering::Relaxed)).into())
    }
}
