//! What goes with a call through the guard to its function, and what the function leaves on its
//! way back.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use breakfall::{Call, RawArguments};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};
use serde_json::Value;

use crate::json::{Without, json, too_deep};
use crate::{given, known};

/// With so many digits a whole number is beyond every float.
const DIGITS: usize = 309;

/// Where a function that is no coroutine runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Where {
    /// On a kept thread, while the caller's thread waits for this call alone.
    Alone,
    /// On a kept thread, while the caller's thread waits for this call and others.
    Thread,
    /// On a kept thread, while the caller's event loop goes on.
    BesideLoop,
    /// With the caller: nobody keeps its time.
    Here,
}

/// What goes with a call.
pub(crate) struct Slot {
    /// The name that was called.
    pub(crate) tool: String,
    /// The arguments as they came, where they came as a dictionary or as a text.
    pub(crate) arguments: Option<Py<PyAny>>,
    /// What the door hands to the function.
    pub(crate) extra: Py<PyAny>,
    /// The context variables of the caller.
    pub(crate) context: Py<PyAny>,
    /// The event loop of the caller.
    pub(crate) event_loop: Option<Py<PyAny>>,
    pub(crate) place: Where,
    /// An attempt had the arguments as they came.
    pub(crate) is_used: AtomicBool,
    left: Mutex<Left>,
}

/// What a function left.
#[derive(Default)]
pub(crate) struct Left {
    /// What it returned.
    pub(crate) value: Option<Py<PyAny>>,
    /// What it raised.
    pub(crate) exception: Option<Py<PyAny>>,
    /// What it raised is not for the guard: it goes on upwards.
    pub(crate) escapes: bool,
}

impl Left {
    pub(crate) fn value(value: Py<PyAny>) -> Self {
        Self { value: Some(value), ..Self::default() }
    }
}

impl Slot {
    pub(crate) fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call as Python makes it: name, arguments, id, run, and what the function gets beside.
#[derive(FromPyObject)]
pub(crate) struct Asked<'py>(
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
);

impl Asked<'_> {
    /// The call, with its slot.
    pub(crate) fn call(
        self,
        place: impl FnOnce(&str) -> Where,
        event_loop: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Call, Arc<Slot>)> {
        let Self(name, arguments, id, run, extra) = self;
        let py = name.py();
        let arguments = read(arguments);
        let context = known::COPY_CONTEXT.get(py)?.call0()?.unbind();
        let tool = text(&name);
        let slot = Arc::new(Slot {
            tool: tool.clone(),
            arguments: is_kept(&arguments).then(|| arguments.clone().unbind()),
            extra: extra.unbind(),
            context,
            event_loop: event_loop.map(|event_loop| event_loop.clone().unbind()),
            place: place(&tool),
            is_used: AtomicBool::new(false),
            left: Mutex::default(),
        });
        let mut call = Call::new(text(&id), tool, raw(&arguments)).with(Arc::clone(&slot));
        if !run.is_none() {
            call = call.in_run(text(&run));
        }
        Ok((call, slot))
    }
}

/// Arguments as the guard reads them: a mapping of another kind as a dictionary.
fn read(arguments: Bound<'_, PyAny>) -> Bound<'_, PyAny> {
    if arguments.is_none() || is_kept(&arguments) || !arguments.is_instance_of::<PyMapping>() {
        return arguments;
    }
    let class = arguments.py().get_type::<PyDict>();
    class.call1((&arguments,)).unwrap_or(arguments)
}

fn is_kept(arguments: &Bound<'_, PyAny>) -> bool {
    arguments.is_instance_of::<PyDict>() || arguments.is_instance_of::<PyString>()
}

/// A name or an id as it came: what is missing or cannot be written is empty.
fn text(value: &Bound<'_, PyAny>) -> String {
    if value.is_none() {
        return String::new();
    }
    value.str().map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Arguments as they came: a text is the provider's JSON, anything else a value.
fn raw(value: &Bound<'_, PyAny>) -> RawArguments {
    if value.is_none() {
        return RawArguments::none();
    }
    if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_string_lossy();
        return match large(value.py(), &text) {
            Some(value) => RawArguments::Json(value),
            None => RawArguments::Text(text.into_owned()),
        };
    }
    match json(value) {
        Ok(value) => RawArguments::Json(value),
        Err(Without::Depth) => RawArguments::Json(too_deep()),
        // What JSON has no form for is read as it is written.
        Err(Without::Form) => RawArguments::Text(written(value).unwrap_or_default()),
    }
}

/// What a text says with a whole number in it that only Python reads. The function gets it from
/// the text.
fn large(py: Python<'_>, text: &str) -> Option<Value> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit());
    if text.len() < DIGITS || !numbers.any(|digits| digits.len() >= DIGITS) {
        return None;
    }
    given::read(py, text).and_then(|read| json(&read).ok())
}

/// A value as Python writes it.
pub(crate) fn written(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = value.py();
    let module = py.import(intern!(py, "breakfall._values"))?;
    let text = module.call_method1(intern!(py, "text"), (value,))?;
    Ok(text.cast::<PyString>()?.to_string_lossy().into_owned())
}
