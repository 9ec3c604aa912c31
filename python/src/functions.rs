//! The functions of a tool, where Python's garbage collection finds them: they often hold the agent
//! that holds the guard.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

/// A function, a coroutine function, or both.
pub(crate) struct Functions(Mutex<Pair>);

#[derive(Default)]
struct Pair {
    /// For a caller that waits, and for every caller where there is no coroutine function.
    function: Option<Py<PyAny>>,
    /// For a caller with an event loop, and for every caller where there is no function.
    coroutine: Option<Py<PyAny>>,
    /// Says of arguments whether they read them.
    accepts: Option<Py<PyAny>>,
}

impl Functions {
    pub(crate) fn new(
        function: Option<Py<PyAny>>,
        coroutine: Option<Py<PyAny>>,
        accepts: Option<Py<PyAny>>,
    ) -> Self {
        Self(Mutex::new(Pair { function, coroutine, accepts }))
    }

    /// What says of arguments whether the functions read them, where they check them themselves.
    pub(crate) fn accepts(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.pair().accepts.as_ref().map(|accepts| accepts.clone_ref(py))
    }

    /// The one that is called, in its place; neither where all was let go.
    pub(crate) fn of(
        &self,
        py: Python<'_>,
        has_loop: bool,
    ) -> (Option<Py<PyAny>>, Option<Py<PyAny>>) {
        let pair = self.pair();
        let copy = |one: &Option<Py<PyAny>>| one.as_ref().map(|one| one.clone_ref(py));
        if has_loop && pair.coroutine.is_some() || pair.function.is_none() {
            (None, copy(&pair.coroutine))
        } else {
            (copy(&pair.function), None)
        }
    }

    fn pair(&self) -> MutexGuard<'_, Pair> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The functions of all tools of a guard that are still there.
#[derive(Default)]
pub(crate) struct AllFunctions(Mutex<Vec<Weak<Functions>>>);

impl AllFunctions {
    pub(crate) fn add(&self, functions: &Arc<Functions>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|functions| functions.strong_count() > 0);
        all.push(Arc::downgrade(functions));
    }

    /// Shows them to the collector. What is in use just now is not shown, and thereby kept.
    pub(crate) fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        let Ok(all) = self.0.try_lock() else { return Ok(()) };
        for functions in all.iter().filter_map(Weak::upgrade) {
            if let Ok(pair) = functions.0.try_lock() {
                visit.call(&pair.function)?;
                visit.call(&pair.coroutine)?;
                visit.call(&pair.accepts)?;
            }
        }
        Ok(())
    }

    /// Lets them go: nobody can call them any more.
    pub(crate) fn clear(&self) {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for functions in all.iter().filter_map(Weak::upgrade) {
            // Dropped outside of the lock: that may run anything.
            let gone = std::mem::take(&mut *functions.pair());
            drop(gone);
        }
    }
}
