//! A Python value becomes JSON, as deep as the guard looks and no deeper.

use breakfall::MAX_DEPTH;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple};
use serde_json::{Map, Value};

/// Why a value has no JSON form.
pub(crate) enum Without {
    /// It holds what JSON has no word for.
    Form,
    /// It is nested deeper than the guard looks.
    Depth,
}

/// A value as JSON; a number is as near as JSON comes to it.
pub(crate) fn json(value: &Bound<'_, PyAny>) -> Result<Value, Without> {
    at(value, 0, false)
}

/// A value as JSON that says the same; one with other numbers has no such form.
pub(crate) fn exact(value: &Bound<'_, PyAny>) -> Result<Value, Without> {
    at(value, 0, true)
}

/// A value that the guard refuses as one that is nested too deeply.
pub(crate) fn too_deep() -> Value {
    (0..MAX_DEPTH + 2).fold(Value::Null, |inner, _| Value::Array(vec![inner]))
}

/// The depth is bounded, so this may call itself.
fn at(value: &Bound<'_, PyAny>, depth: usize, is_exact: bool) -> Result<Value, Without> {
    if depth > MAX_DEPTH {
        return Err(Without::Depth);
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::String(text.to_string_lossy().into_owned()));
    }
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(Value::Bool(truth.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        return number(value, is_exact);
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        if is_exact && !number.value().is_finite() {
            return Err(Without::Form);
        }
        return Ok(Value::from(number.value()));
    }
    if let Ok(fields) = value.cast::<PyDict>() {
        let mut map = Map::new();
        for (name, value) in fields {
            let name = name.cast::<PyString>().map_err(|_| Without::Form)?;
            map.insert(name.to_string_lossy().into_owned(), at(&value, depth + 1, is_exact)?);
        }
        return Ok(Value::Object(map));
    }
    let is_list = value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyTuple>()
        || value.is_instance_of::<PySet>()
        || value.is_instance_of::<PyFrozenSet>();
    if !is_list {
        return Err(Without::Form);
    }
    let mut items = Vec::new();
    for item in value.try_iter().map_err(|_| Without::Form)? {
        items.push(at(&item.map_err(|_| Without::Form)?, depth + 1, is_exact)?);
    }
    Ok(Value::Array(items))
}

/// Numbers beyond 64 bits are as near as a float comes, where that is near enough.
fn number(value: &Bound<'_, PyAny>, is_exact: bool) -> Result<Value, Without> {
    if let Ok(number) = value.extract::<i64>() {
        return Ok(number.into());
    }
    if let Ok(number) = value.extract::<u64>() {
        return Ok(number.into());
    }
    if is_exact {
        return Err(Without::Form);
    }
    let is_negative = || value.lt(0).unwrap_or(false);
    let near = value.extract::<f64>();
    Ok(near.unwrap_or_else(|_| if is_negative() { f64::MIN } else { f64::MAX }).into())
}
