//! The Python package, from the side of Rust: a Python call becomes a [`breakfall::Call`], a Python
//! function a [`breakfall::Tool`], an exception a [`breakfall::Failure`], and a
//! [`breakfall::Reply`] a Python object. Nothing is decided here.
//!
//! ```text
//! guard.rs    call ──▶ slot ──▶ Guard::handle ──▶ reply
//! tool.rs     a function runs: on a kept thread (threads.rs), as a task of an event loop, or here
//! raised.rs   its exception becomes a failure, or leaves by the way that exceptions go
//! fork.rs     a fork waits until nobody is within the guard
//! wait.rs     who waits: a thread that looks out for signals, or a coroutine
//! ```

mod fork;
mod functions;
mod given;
mod guard;
mod json;
mod known;
mod logs;
mod options;
mod output;
mod raised;
mod records;
mod reply;
mod response;
mod runtime;
mod slot;
mod store;
mod threads;
mod tool;
mod wait;
mod words;

use pyo3::prelude::*;

#[pymodule]
mod _breakfall {
    #[pymodule_export]
    use super::fork::{after_fork, after_fork_in_parent, before_fork};
    #[pymodule_export]
    use super::guard::Guard;
    #[pymodule_export]
    use super::output::Output;
    #[pymodule_export]
    use super::reply::Reply;
    #[pymodule_export]
    use super::runtime::close;
    #[pymodule_export]
    use super::wait::Answer;
    #[pymodule_export]
    use super::words::{redact, speak};

    use super::{Bound, PyModule, PyModuleMethods, PyResult, known, logs};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        logs::listen();
        known::at_the_end(module.py())
    }
}
