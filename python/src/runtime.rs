//! What keeps the time: one runtime for the process, and another after a fork, whose threads are
//! all gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tokio::runtime::{Builder, Handle};

use crate::{known, store};

/// How often the clock wakes by itself: more often than the default deadline of an attempt.
const WAKES: Duration = Duration::from_secs(15);

static CURRENT: ArcSwapOption<Handle> = ArcSwapOption::const_empty();

/// The runtime of this process. It is never dropped: what still runs in it ends with the process.
pub(crate) fn runtime() -> PyResult<Arc<Handle>> {
    if let Some(handle) = CURRENT.load_full() {
        return Ok(handle);
    }
    let built = Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("breakfall")
        .enable_time()
        .build()
        .map_err(|error| PyRuntimeError::new_err(format!("the clock did not start: {error}")))?;
    // A clock that has nothing to wait for must be woken for every deadline; one that wakes by itself
    // before the usual deadlines must not.
    built.spawn(async {
        loop {
            tokio::time::sleep(WAKES).await;
        }
    });
    let handle = Arc::new(Box::leak(Box::new(built)).handle().clone());
    // Two that come at once each have a clock that goes.
    CURRENT.store(Some(Arc::clone(&handle)));
    Ok(handle)
}

/// The threads of the old one did not come through the fork: it cannot even be dropped.
pub(crate) fn begin_anew() {
    std::mem::forget(CURRENT.swap(None));
}

/// Whether the end of the interpreter was announced.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Writes what still waits to be kept.
#[pyfunction]
pub(crate) fn close(py: Python<'_>) {
    IS_CLOSED.store(true, Ordering::Relaxed);
    py.detach(store::close);
}

/// Whether the interpreter ends: no thread has a turn any more but the one that ends it.
pub(crate) fn ends(py: Python<'_>) -> bool {
    let is_finalizing = || known::IS_FINALIZING.get(py)?.call0()?.is_truthy();
    IS_CLOSED.load(Ordering::Relaxed) && is_finalizing().unwrap_or(true)
}
