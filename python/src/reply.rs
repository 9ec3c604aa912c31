//! A reply as Python sees it.

use std::sync::Arc;

use breakfall::wire;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use pyo3::{PyTraverseError, PyVisit};
use serde_json::value::RawValue;

use crate::slot::Slot;
use crate::{output, records};

/// The answer to a call, under its id.
#[pyclass(frozen, module = "breakfall")]
pub(crate) struct Reply {
    real: breakfall::Reply,
    value: Option<Py<PyAny>>,
    exception: Option<Py<PyAny>>,
}

/// The replies with what their functions left. What is not for the guard goes on upwards: the first
/// in the order of the calls.
pub(crate) fn of(
    py: Python<'_>,
    replies: Vec<breakfall::Reply>,
    slots: &[Arc<Slot>],
) -> PyResult<Vec<Reply>> {
    let mut all = Vec::with_capacity(replies.len());
    let mut escape = None;
    for (reply, slot) in replies.into_iter().zip(slots) {
        let mut left = slot.left();
        let (value, exception) = (left.value.take(), left.exception.take());
        if left.escapes && escape.is_none() {
            escape = exception.as_ref().map(|exception| exception.clone_ref(py));
        }
        all.push(Reply { real: reply, value, exception });
    }
    match escape {
        Some(exception) => Err(PyErr::from_value(exception.into_bound(py))),
        None => Ok(all),
    }
}

#[pymethods]
impl Reply {
    /// An exception knows the frames it came through, and one of them may hold this reply.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.value)?;
        visit.call(&self.exception)
    }

    /// The caller's id.
    #[getter]
    fn id(&self) -> &str {
        &self.real.id
    }

    /// The name that was called.
    #[getter]
    fn tool(&self) -> &str {
        &self.real.tool
    }

    /// What the model is told.
    #[getter]
    fn text(&self) -> &str {
        &self.real.text
    }

    /// Whether nothing came of the call.
    #[getter]
    fn is_error(&self) -> bool {
        self.real.is_error
    }

    /// Whether everything that was asked for was done.
    #[getter]
    fn success(&self) -> bool {
        self.real.success()
    }

    /// What the tool returned, as a text; on partial success too.
    #[getter]
    fn output(&self) -> Option<&str> {
        self.real.output()
    }

    /// What went wrong, in the voice's words; on partial success too.
    #[getter]
    fn error(&self) -> Option<&str> {
        self.real.error()
    }

    /// What the function returned, for the program.
    #[getter]
    fn value(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.value.as_ref().map(|value| value.clone_ref(py))
    }

    /// What the function raised, for the program.
    #[getter]
    fn exception(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.exception.as_ref().map(|exception| exception.clone_ref(py))
    }

    /// Which way it failed.
    #[getter]
    fn kind(&self) -> Option<&'static str> {
        self.real.kind().map(breakfall::FailureKind::name)
    }

    /// Whether the run goes on: `recoverable`, `pause` or `fatal`.
    #[getter]
    fn disposition(&self) -> Option<&'static str> {
        self.real.disposition().map(records::disposition)
    }

    /// Whether the run must stop.
    #[getter]
    fn is_fatal(&self) -> bool {
        self.real.is_fatal()
    }

    /// The hash that leads from this text to the log and the record.
    #[getter]
    fn reference(&self) -> Option<String> {
        self.real.reference().map(|reference| reference.to_string())
    }

    /// How many attempts there were.
    #[getter]
    fn attempts(&self) -> u32 {
        self.real.attempts
    }

    /// Whether this is all that the model is told.
    fn says(&self, text: &Bound<'_, PyString>) -> bool {
        self.real.text == text.to_string_lossy()
    }

    /// What a door passes on, without secrets; `None` where it is as it came. It is a list, and
    /// empty where nothing of it is passed on.
    fn payload<'py>(&self, came: &Bound<'py, PyList>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let clean = self.real.payload().map_or("[]", RawValue::get);
        if clean == output::raw(came).get() {
            return Ok(None);
        }
        let json = came.py().import(intern!(came.py(), "json"))?;
        let clean = json.call_method1(intern!(came.py(), "loads"), (clean,))?;
        // What could only be looked at as a text cannot be put together again.
        let is_list = clean.is_instance_of::<PyList>();
        Ok(Some(if is_list { clean } else { PyList::empty(came.py()).into_any() }))
    }

    /// The failure as the developer sees it, or `None`.
    fn failure<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.real.report().failure().map(|failure| records::failure(py, failure)).transpose()
    }

    /// The message that answers the call, in a provider's shape: `openai`, `openai_responses`,
    /// `anthropic`, `gemini`, `mcp` or `langchain`.
    fn message<'py>(&self, py: Python<'py>, shape: &str) -> PyResult<Bound<'py, PyAny>> {
        let message = match shape {
            "openai" => wire::openai::message(&self.real),
            "openai_responses" => wire::openai::response_item(&self.real),
            "anthropic" => wire::anthropic::block(&self.real),
            "gemini" => wire::gemini::part(&self.real),
            "mcp" => wire::mcp::result(&self.real),
            "langchain" => wire::langchain::message(&self.real),
            other => {
                return Err(PyValueError::new_err(format!(
                    "unknown shape `{other}`: expected openai, openai_responses, anthropic, \
                     gemini, mcp or langchain"
                )));
            }
        };
        Ok(pythonize::pythonize(py, &message)?)
    }

    fn __str__(&self) -> &str {
        &self.real.text
    }

    fn __repr__(&self) -> String {
        match self.real.kind() {
            Some(kind) => format!("<Reply {}: {kind}>", self.real.id),
            None => format!("<Reply {}>", self.real.id),
        }
    }
}
