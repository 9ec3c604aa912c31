//! How much is taken from clients, and what a connection is to the guard.

use std::sync::Arc;
use std::time::Duration;

use breakfall_http::Bounds;

use crate::origin::run_of_a;

/// So many connections at once, and no long silence in any.
pub(super) const BOUNDS: Bounds =
    Bounds { most: 1024, head: Duration::from_secs(30), head_bytes: 400 << 10 };

/// What a connection is to the guard: whoever has no session goes in circles only there.
#[derive(Clone)]
pub(super) struct Run(pub(super) Arc<str>);

impl Run {
    pub(super) fn new() -> Self {
        Self(run_of_a("connection"))
    }
}
