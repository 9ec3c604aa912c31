//! What a function returned becomes an output.

use breakfall::{Failure, Outcome};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::json::{Without, exact, json, too_deep};
use crate::raised::{Heard, Manners};
use crate::slot::{Left, written};

/// What a tool returns when a value alone does not say it all.
///
/// `text` is what the model gets; `value` is what the program gets; `problems` are the items that
/// failed beside others, each with an exception or a text; `of` is how many items there were.
#[pyclass(frozen, module = "breakfall")]
pub(crate) struct Output {
    #[pyo3(get)]
    text: Py<PyString>,
    #[pyo3(get)]
    value: Option<Py<PyAny>>,
    #[pyo3(get)]
    problems: Option<Py<PyDict>>,
    #[pyo3(get)]
    of: Option<usize>,
    /// What the door passes on to the letter, where it is more than the text.
    #[pyo3(get)]
    payload: Option<Py<PyAny>>,
    /// The text says that nothing came of the call.
    #[pyo3(get)]
    is_error: bool,
}

#[pymethods]
impl Output {
    #[new]
    #[pyo3(signature = (text, value=None, *, problems=None, of=None, payload=None, is_error=false))]
    fn new(
        text: Py<PyString>,
        value: Option<Py<PyAny>>,
        problems: Option<Py<PyDict>>,
        of: Option<usize>,
        payload: Option<Py<PyAny>>,
        is_error: bool,
    ) -> Self {
        Self { text, value, problems, of, payload, is_error }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Output({})", self.text.bind(py).repr()?))
    }
}

/// What a function returned, for the guard, and the value itself.
pub(crate) fn outcome(value: &Bound<'_, PyAny>, manners: &Manners) -> (Outcome, Left) {
    let Ok(said) = value.cast::<Output>() else {
        return (plain(value), Left::value(value.clone().unbind()));
    };
    let said = said.get();
    let left = said.value.as_ref().map(|kept| Left::value(kept.clone_ref(value.py())));
    (spoken(value.py(), said, manners), left.unwrap_or_default())
}

fn spoken(py: Python<'_>, said: &Output, manners: &Manners) -> Outcome {
    let text = said.text.bind(py).to_string_lossy().into_owned();
    let payload = said.payload.as_ref().map(|payload| raw(payload.bind(py)));
    if said.is_error {
        let failure = Failure::told(text);
        return Err(match payload {
            Some(payload) => failure.payload(payload),
            None => failure,
        });
    }
    let mut output = match payload {
        Some(payload) => breakfall::Output::payload(payload, text),
        None => breakfall::Output::text(text),
    };
    if let Some(problems) = &said.problems {
        for (item, problem) in problems.bind(py) {
            let item = item.str().map(|item| item.to_string_lossy().into_owned());
            let failure = match manners.hear(&problem) {
                Heard::Failure(failure) => failure,
                Heard::Escape => Failure::told(shown(&problem)),
            };
            output = output.with_problem(item.unwrap_or_default(), failure);
        }
    }
    Ok(match said.of {
        Some(items) => output.of(items),
        None => output,
    })
}

fn plain(value: &Bound<'_, PyAny>) -> Outcome {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(breakfall::Output::text(text.to_string_lossy().into_owned()));
    }
    if value.is_none() {
        return Ok(breakfall::Output::text("done"));
    }
    let text = match exact(value) {
        Ok(value) => return Ok(breakfall::Output::json(value)),
        Err(Without::Depth) => return Ok(breakfall::Output::json(too_deep())),
        Err(Without::Form) if is_generator(value) => {
            return Err(Failure::invalid_output("the tool gave a generator, and nothing of it"));
        }
        Err(Without::Form) => written(value),
    };
    text.map(breakfall::Output::text).map_err(|error| {
        Failure::internal("the tool's result cannot be written as a text").caused_by(error)
    })
}

/// A value for the guard to look at; one that JSON has no form for is read as it is written.
pub(crate) fn raw(value: &Bound<'_, PyAny>) -> Box<RawValue> {
    let value = json(value).or_else(|_| {
        let text = written(value)?;
        Ok::<_, PyErr>(serde_json::from_str(&text).unwrap_or(Value::String(text)))
    });
    value.ok().and_then(|value| to_raw_value(&value).ok()).unwrap_or_default()
}

/// What has not even begun to work.
fn is_generator(value: &Bound<'_, PyAny>) -> bool {
    let class = value.get_type();
    ["gi_frame", "ag_frame"].iter().any(|name| class.hasattr(*name).unwrap_or(false))
}

fn shown(value: &Bound<'_, PyAny>) -> String {
    value.str().map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}
