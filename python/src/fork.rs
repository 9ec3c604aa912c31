//! A fork takes one thread along. What the others hold then is held in the child for ever, so a fork
//! waits until none of them is within the guard; they wait outside until it is over.
//!
//! Nothing here may be a lock: it would be one more that the child finds taken.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::{runtime, store, threads};

/// How many threads are within the guard, and in the highest bit whether one forks.
static STATE: AtomicUsize = AtomicUsize::new(0);

const FORKING: usize = 1 << (usize::BITS - 1);

/// How often is looked whether it is over.
const STEP: Duration = Duration::from_micros(50);

/// How long a fork waits at most. Nobody is within the guard for long; a fork that never came would
/// be worse than a child that may hang.
const LONGEST: Duration = Duration::from_secs(2);

thread_local! {
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Within the guard, until it is dropped.
pub(crate) struct Inside(bool);

/// Enters the guard. The interpreter must not be held: who forks holds it.
pub(crate) fn inside() -> Inside {
    if IS_INSIDE.replace(true) {
        return Inside(false);
    }
    while STATE.fetch_add(1, Ordering::AcqRel) & FORKING != 0 {
        STATE.fetch_sub(1, Ordering::AcqRel);
        while STATE.load(Ordering::Acquire) & FORKING != 0 {
            std::thread::sleep(STEP);
        }
    }
    Inside(true)
}

impl Drop for Inside {
    fn drop(&mut self) {
        if self.0 {
            IS_INSIDE.set(false);
            STATE.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// Leaves the guard while Python runs, which may fork.
pub(crate) fn outside<T>(python: impl FnOnce() -> T) -> T {
    if !IS_INSIDE.replace(false) {
        return python();
    }
    STATE.fetch_sub(1, Ordering::AcqRel);
    let _back = Back;
    python()
}

/// Comes back into the guard, after a panic too.
struct Back;

impl Drop for Back {
    fn drop(&mut self) {
        std::mem::forget(inside());
    }
}

/// Keeps everybody out of the guard.
#[pyfunction]
pub(crate) fn before_fork(py: Python<'_>) {
    py.detach(|| {
        STATE.fetch_or(FORKING, Ordering::AcqRel);
        let began = Instant::now();
        while STATE.load(Ordering::Acquire) != FORKING && began.elapsed() < LONGEST {
            std::thread::sleep(STEP);
        }
        store::leave_files();
    });
}

/// Lets everybody go on in the parent.
#[pyfunction]
pub(crate) fn after_fork_in_parent() {
    STATE.fetch_and(!FORKING, Ordering::AcqRel);
}

/// Begins anew in the child.
#[pyfunction]
pub(crate) fn after_fork() {
    STATE.store(0, Ordering::Release);
    IS_INSIDE.set(false);
    runtime::begin_anew();
    threads::begin_anew();
    store::begin_anew();
}
