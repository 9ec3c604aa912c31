//! Log lines go to Python's `logging`, under the name `breakfall`, with their fields as `extra`.

use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tracing::field::{Field, Visit};
use tracing::metadata::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};

use crate::{fork, known};

/// The lowest level of Python's that anybody listens to.
static LEVEL: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Sends the lines of this library to Python from now on.
pub(crate) fn listen() {
    // It is there already when the module is made twice.
    let _ = tracing::subscriber::set_global_default(ToPython);
}

/// Asks Python who listens. Called where the interpreter is held anyway.
pub(crate) fn look(py: Python<'_>) {
    let level = || -> PyResult<usize> { known::LEVEL.get(py)?.call0()?.extract::<usize>() };
    LEVEL.store(level().unwrap_or(usize::MAX), Ordering::Relaxed);
}

struct ToPython;

/// Python's number for a level.
fn number(level: Level) -> usize {
    match level {
        Level::ERROR => 40,
        Level::WARN => 30,
        Level::INFO => 20,
        _ => 10,
    }
}

impl Subscriber for ToPython {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        // Who listens changes while the program runs.
        if is_ours(metadata) { Interest::sometimes() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        is_ours(metadata) && number(*metadata.level()) >= LEVEL.load(Ordering::Relaxed)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::INFO)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let level = number(*event.metadata().level());
        let to_python = |py: Python<'_>| {
            let fields = PyDict::new(py);
            let mut seen = Fields { fields: &fields, message: String::new() };
            event.record(&mut seen);
            let message = seen.message;
            let log = || {
                py.import(intern!(py, "breakfall._logs"))?
                    .call_method1(intern!(py, "log"), (level, message, &fields))
            };
            // A log that fails must not make a call fail.
            let _ = log();
        };
        fork::outside(|| Python::try_attach(to_python));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn is_ours(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with("breakfall")
}

struct Fields<'a, 'py> {
    fields: &'a Bound<'py, PyDict>,
    message: String,
}

impl Visit for Fields<'_, '_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        } else {
            let _ = self.fields.set_item(field.name(), format!("{value:?}"));
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let _ = self.fields.set_item(field.name(), value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        let _ = self.fields.set_item(field.name(), value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        let _ = self.fields.set_item(field.name(), value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        let _ = self.fields.set_item(field.name(), value);
    }
}
