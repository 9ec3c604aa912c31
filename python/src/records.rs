//! Records as Python sees them: dictionaries of plain values.

use std::time::UNIX_EPOCH;

use breakfall::{Disposition, Ending, FailureReport, Provenance, Record};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The name of a disposition.
pub(crate) fn disposition(disposition: Disposition) -> &'static str {
    match disposition {
        Disposition::Recoverable => "recoverable",
        Disposition::Pause => "pause",
        Disposition::Fatal => "fatal",
    }
}

pub(crate) fn ending(ending: Ending) -> &'static str {
    match ending {
        Ending::Succeeded => "succeeded",
        Ending::Partial => "partial",
        Ending::Substituted => "substituted",
        Ending::Failed => "failed",
        Ending::Abandoned => "abandoned",
    }
}

/// A record.
pub(crate) fn record<'py>(py: Python<'py>, record: &Record) -> PyResult<Bound<'py, PyAny>> {
    let fields = PyDict::new(py);
    let started = record.started.duration_since(UNIX_EPOCH).unwrap_or_default();
    fields.set_item("id", &record.id)?;
    fields.set_item("run", record.run.as_deref())?;
    fields.set_item("tool", &record.tool)?;
    fields.set_item("started", started.as_secs_f64())?;
    fields.set_item("took", record.took.as_secs_f64())?;
    fields.set_item("ending", ending(record.ending))?;
    fields.set_item("error_type", record.error_type())?;
    fields.set_item("attempts", record.attempts)?;
    fields.set_item("told", record.told.as_deref())?;
    fields.set_item("arguments", record.arguments.as_deref())?;
    fields.set_item("repairs", record.repairs.clone())?;
    fields.set_item("substitute", record.substitute.as_deref())?;
    fields.set_item("silent", record.silent.as_ref().map(|(kind, why)| (kind.name(), why)))?;
    let failure = record.failure.as_ref().map(|failure| self::failure(py, failure)).transpose()?;
    fields.set_item("failure", failure)?;
    Ok(fields.into_any())
}

/// A failure.
pub(crate) fn failure<'py>(
    py: Python<'py>,
    failure: &FailureReport,
) -> PyResult<Bound<'py, PyAny>> {
    let fields = PyDict::new(py);
    fields.set_item("kind", failure.kind.name())?;
    fields.set_item("disposition", disposition(failure.disposition))?;
    fields.set_item("reference", failure.reference.to_string())?;
    fields.set_item("error_type", &*failure.error_type)?;
    fields.set_item("message", &failure.message)?;
    fields.set_item("is_told", failure.provenance == Provenance::Tool)?;
    fields.set_item("resource", failure.resource.as_deref())?;
    fields.set_item("status", failure.status)?;
    fields.set_item("wait", failure.wait.map(|wait| wait.as_secs_f64()))?;
    fields.set_item("attempts", failure.attempts)?;
    fields.set_item("may_have_taken_effect", failure.may_have_taken_effect)?;
    fields.set_item("causes", failure.chain.clone())?;
    fields.set_item("traceback", failure.backtrace.as_deref())?;
    Ok(fields.into_any())
}
