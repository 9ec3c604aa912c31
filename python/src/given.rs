//! Checked arguments become what a function gets. JSON has no word for all that Python has: what
//! was not mended is handed over as it came.

use breakfall::Arguments;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use serde_json::{Map, Value};

use crate::json::json;

/// The arguments as new values, which nobody had before.
pub(crate) fn given<'py>(
    py: Python<'py>,
    came: Option<&Bound<'py, PyAny>>,
    arguments: &Arguments,
) -> PyResult<Bound<'py, PyAny>> {
    // Python reads numbers of any size.
    if let Some(read) = arguments.text().and_then(|text| read(py, text)) {
        return Ok(read);
    }
    let wanted = arguments.value();
    let Some(came) = came else { return Ok(pythonize::pythonize(py, wanted)?) };
    let Ok(text) = came.cast::<PyString>() else { return kept(came, wanted) };
    match read(py, &text.to_string_lossy()) {
        Some(came) => kept(&came, wanted),
        None => Ok(pythonize::pythonize(py, wanted)?),
    }
}

/// The object that a text is.
pub(crate) fn read<'py>(py: Python<'py>, text: &str) -> Option<Bound<'py, PyAny>> {
    let module = py.import(intern!(py, "json")).ok()?;
    let read = module.call_method1(intern!(py, "loads"), (text.trim(),)).ok()?;
    if read.is_instance_of::<PyDict>() { Some(read) } else { None }
}

/// What is wanted, with what came wherever that is the same. The depth is bounded, so this may
/// call itself.
fn kept<'py>(came: &Bound<'py, PyAny>, wanted: &Value) -> PyResult<Bound<'py, PyAny>> {
    let py = came.py();
    match wanted {
        Value::Object(wanted) if let Ok(came) = came.cast::<PyDict>() => {
            Ok(fields(came, wanted)?.into_any())
        }
        Value::Array(wanted) if let Some(came) = items(came, wanted)? => Ok(came),
        Value::Object(_) | Value::Array(_) => Ok(pythonize::pythonize(py, wanted)?),
        _ if json(came).is_ok_and(|came| came == *wanted) => Ok(came.clone()),
        _ => Ok(pythonize::pythonize(py, wanted)?),
    }
}

fn fields<'py>(
    came: &Bound<'py, PyDict>,
    wanted: &Map<String, Value>,
) -> PyResult<Bound<'py, PyDict>> {
    let made = PyDict::new(came.py());
    // In the order in which they came.
    for (name, value) in came {
        let text = name.cast::<PyString>().map(|name| name.to_string_lossy().into_owned());
        if let Some(wanted) = text.ok().and_then(|text| wanted.get(&text)) {
            made.set_item(name, kept(&value, wanted)?)?;
        }
    }
    for (name, value) in wanted {
        if !made.contains(name)? {
            made.set_item(name, pythonize::pythonize(came.py(), value)?)?;
        }
    }
    Ok(made)
}

/// A list or a tuple, where it has as many.
fn items<'py>(came: &Bound<'py, PyAny>, wanted: &[Value]) -> PyResult<Option<Bound<'py, PyAny>>> {
    let is_tuple = came.is_instance_of::<PyTuple>();
    if !(is_tuple || came.is_instance_of::<PyList>()) || came.len()? != wanted.len() {
        return Ok(None);
    }
    let all = came.try_iter()?.zip(wanted).map(|(item, wanted)| kept(&item?, wanted));
    let all = all.collect::<PyResult<Vec<_>>>()?;
    let made = if is_tuple {
        PyTuple::new(came.py(), all)?.into_any()
    } else {
        PyList::new(came.py(), all)?.into_any()
    };
    Ok(Some(made))
}
