//! Words for a model about an error that a Python program caught itself, in a preset's voice and
//! without secrets.

use breakfall::{Call, Failure, Preset, Raised, RawArguments, Redactor};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The text without its secrets.
#[pyfunction]
pub(crate) fn redact(py: Python<'_>, text: &Bound<'_, PyString>) -> String {
    let text = text.to_string_lossy().into_owned();
    py.detach(|| Redactor::default().redact(&text).into_owned())
}

/// What a preset says of a tool that failed with an error of this type and these words. Nothing is
/// recorded.
#[pyfunction]
pub(crate) fn speak(
    py: Python<'_>,
    preset: &str,
    tool: &Bound<'_, PyString>,
    error_type: &Bound<'_, PyString>,
    message: &Bound<'_, PyString>,
) -> PyResult<String> {
    let preset: Preset = preset.parse().map_err(wrong)?;
    let owned = |text: &Bound<'_, PyString>| text.to_string_lossy().into_owned();
    let (tool, error_type, message) = (owned(tool), owned(error_type), owned(message));
    py.detach(|| {
        let guard = breakfall::Guard::builder().preset(preset).max_error_bytes(8 << 10).build();
        let failure = Failure::raised(Raised::new(error_type, message).told());
        let call = Call::new("", tool, RawArguments::none());
        Ok(guard.map_err(wrong)?.refuse(call, failure).text)
    })
}

/// What is wrong with what the user said.
pub(crate) fn wrong(error: breakfall::Error) -> PyErr {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    PyValueError::new_err(text)
}
