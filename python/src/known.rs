//! What Python has and every call needs, looked up once: an import takes longer than most of it.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// A function of a module.
pub(crate) struct Known {
    module: &'static str,
    name: &'static str,
    found: PyOnceLock<Py<PyAny>>,
}

impl Known {
    const fn new(module: &'static str, name: &'static str) -> Self {
        Self { module, name, found: PyOnceLock::new() }
    }

    pub(crate) fn get<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyAny>> {
        self.found.import(py, self.module, self.name)
    }
}

/// Looks up what a call needs while the interpreter ends, when nothing can be imported any more.
pub(crate) fn at_the_end(py: Python<'_>) -> PyResult<()> {
    COPY_CONTEXT.get(py)?;
    IS_FINALIZING.get(py)?;
    // Who comes back for the first time is asked whether there is an interpreter.
    py.detach(|| Python::attach(|_| ()));
    Ok(())
}

pub(crate) static COPY_CONTEXT: Known = Known::new("contextvars", "copy_context");
pub(crate) static IS_FINALIZING: Known = Known::new("sys", "is_finalizing");
pub(crate) static LEVEL: Known = Known::new("breakfall._logs", "level");
pub(crate) static TASK: Known = Known::new("breakfall._work", "task");
pub(crate) static WAKE: Known = Known::new("breakfall._work", "wake");
