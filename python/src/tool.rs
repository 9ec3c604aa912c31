//! A Python function as a tool: run once for each attempt, on a kept thread, as a task of an event
//! loop, or with the caller.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use breakfall::{Arguments, BoxFuture, Context, Elsewhere, Failure, Outcome, Patience, Tool};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use crate::functions::Functions;
use crate::given::given;
use crate::output;
use crate::raised::{Heard, Manners};
use crate::slot::{Left, Slot, Where};
use crate::threads::{Bell, Job, Urgency, pool};
use crate::{fork, known, runtime};

/// Python functions of the arguments and of what the door hands over.
pub(crate) struct PyTool {
    pub(crate) functions: Arc<Functions>,
    pub(crate) manners: Arc<Manners>,
    pub(crate) patience: Patience,
}

impl Tool for PyTool {
    fn call<'a>(
        &'a self,
        arguments: &'a Arguments,
        context: Context<'a>,
    ) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let slot = context.attachment.and_then(|attachment| attachment.get::<Arc<Slot>>());
            let Some(slot) = slot else {
                return Err(Failure::internal("the call came through a door of another language"));
            };
            let begun =
                fork::outside(|| Python::attach(|py| self.begin(py, slot, arguments, &context)));
            match begun {
                Ok(Begun::Done(outcome)) => outcome,
                Ok(Begun::Task(waits)) => waits.await,
                Ok(Begun::Job(waits, bell)) => {
                    bell.ring();
                    // Where nothing else is to be done meanwhile.
                    let is_alone = slot.place == Where::Alone;
                    match is_alone.then(|| waits.soon(&self.patience)).flatten() {
                        Some(outcome) => outcome,
                        None => waits.await,
                    }
                }
                Err(error) => {
                    let failure = Failure::internal("the function did not start");
                    Err(failure.caused_by(error).not_dispatched())
                }
            }
        })
    }

    fn accepts(&self, arguments: &Value) -> bool {
        let asked = |py: Python<'_>| -> PyResult<bool> {
            let Some(accepts) = self.functions.accepts(py) else { return Ok(false) };
            accepts.call1(py, (pythonize::pythonize(py, arguments)?,))?.is_truthy(py)
        };
        fork::outside(|| Python::try_attach(asked)).is_some_and(|said| said.unwrap_or(false))
    }
}

/// What became of a function that was begun.
enum Begun {
    Done(Outcome),
    Task(Waits),
    Job(Waits, Bell),
}

impl PyTool {
    fn begin(
        &self,
        py: Python<'_>,
        slot: &Arc<Slot>,
        arguments: &Arguments,
        context: &Context<'_>,
    ) -> PyResult<Begun> {
        // What the model wrote is passed on as it came; another attempt must not find what the one
        // before it made of it.
        let is_first = !slot.is_used.swap(true, Ordering::Relaxed);
        let came = slot.arguments.as_ref().filter(|_| context.tool == slot.tool);
        let came = came.map(|came| came.bind(py));
        let is_as_it_came = is_first && arguments.repairs().is_empty();
        let given = match came.filter(|came| is_as_it_came && came.is_instance_of::<PyDict>()) {
            Some(given) => given.clone(),
            None => given(py, came, arguments)?,
        };
        let given = given.unbind();
        // What the attempt before it left is not what comes of this one.
        *slot.left() = Left::default();
        let (function, coroutine) = self.functions.of(py, slot.event_loop.is_some());
        let ends = runtime::ends(py);
        if ends && function.is_none() {
            return Err(PyRuntimeError::new_err("the interpreter ends: no event loop goes on"));
        }
        // Of a tool that stands in for another the time may be kept.
        let is_here = ends || slot.place == Where::Here && context.tool == slot.tool;
        if let Some(function) = function.as_ref().filter(|_| is_here) {
            let called =
                function.call1(py, (given, &slot.extra)).and_then(|value| awaited(py, value));
            let (outcome, left) = match called {
                Ok(value) => output::outcome(value.bind(py), &self.manners),
                Err(error) => heard(error.value(py).as_any(), &self.manners),
            };
            *slot.left() = left;
            return Ok(Begun::Done(outcome));
        }
        let done = Arc::new(Done::default());
        let finish = Finish {
            done: Arc::clone(&done),
            manners: Arc::clone(&self.manners),
            elsewhere: Mutex::new(None),
            is_told_later: function.is_some(),
        };
        let progress = context.progress();
        let Some(function) = function else {
            let Some(coroutine) = coroutine else {
                return Err(PyTypeError::new_err("the tool has no function"));
            };
            let _ = finish.begins(progress.elsewhere());
            let task = task(py, slot, &coroutine, given, finish)?;
            return Ok(Begun::Task(Waits { done, slot: Arc::clone(slot), task }));
        };
        let job = Job {
            function,
            arguments: given,
            extra: slot.extra.clone_ref(py),
            context: slot.context.clone_ref(py),
            progress,
            finish,
        };
        let urgency = match slot.place {
            Where::Thread => Urgency::Soon,
            Where::Alone | Where::BesideLoop | Where::Here => Urgency::Now,
        };
        let bell = pool().submit(py, job, urgency)?;
        Ok(Begun::Job(Waits { done, slot: Arc::clone(slot), task: None }, bell))
    }
}

/// What a function gave, once it is there: it may have called a coroutine function.
fn awaited(py: Python<'_>, value: Py<PyAny>) -> PyResult<Py<PyAny>> {
    if !value.bind(py).hasattr(intern!(py, "__await__"))? || runtime::ends(py) {
        return Ok(value);
    }
    let work = py.import(intern!(py, "breakfall._work"))?;
    Ok(work.call_method1(intern!(py, "awaited"), (value,))?.unbind())
}

/// The coroutine as a task of the caller's event loop, or of one kept for callers without; none
/// where it is done already.
fn task(
    py: Python<'_>,
    slot: &Slot,
    coroutine: &Py<PyAny>,
    given: Py<PyAny>,
    finish: Finish,
) -> PyResult<Option<Py<PyAny>>> {
    let task = if let Some(event_loop) = &slot.event_loop {
        known::TASK.get(py)?.call1((event_loop, coroutine, given, &slot.extra, finish))?
    } else {
        let work = py.import(intern!(py, "breakfall._work"))?;
        let arguments = (coroutine, given, &slot.extra, &slot.context, finish);
        work.call_method1(intern!(py, "task_elsewhere"), arguments)?
    };
    Ok((!task.is_none()).then(|| task.unbind()))
}

/// What a function raised, for the guard, and the exception itself.
fn heard(error: &Bound<'_, PyAny>, manners: &Manners) -> (Outcome, Left) {
    let (failure, escapes) = match manners.hear(error) {
        Heard::Failure(failure) => (failure, false),
        Heard::Escape => (Failure::left(), true),
    };
    (Err(failure), Left { exception: Some(error.clone().unbind()), escapes, value: None })
}

/// Takes what came of a function, on whatever thread it ran.
#[pyclass(frozen, module = "breakfall._breakfall")]
pub(crate) struct Finish {
    done: Arc<Done>,
    manners: Arc<Manners>,
    elsewhere: Mutex<Option<Elsewhere>>,
    /// Who ran the function tells who waits, when the interpreter is free.
    is_told_later: bool,
}

impl Finish {
    /// The function begins to run. Who runs it gets what is to be told when it is done.
    pub(crate) fn begins(&self, elsewhere: Elsewhere) -> Weak<Done> {
        *self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner) = Some(elsewhere);
        Arc::downgrade(&self.done)
    }
}

#[pymethods]
impl Finish {
    /// It returned.
    fn returned(&self, value: &Bound<'_, PyAny>) {
        self.finish(output::outcome(value, &self.manners));
    }

    /// It raised.
    fn raised(&self, error: &Bound<'_, PyAny>) {
        self.finish(heard(error, &self.manners));
    }
}

impl Finish {
    fn finish(&self, came: (Outcome, Left)) {
        let elsewhere = self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Before anybody hears of it: who was answered in time leaves nothing behind.
        if let Some(elsewhere) = elsewhere {
            elsewhere.done();
        }
        // What comes too late lies here until it is dropped: only who waits takes it.
        self.done.set(came);
        if !self.is_told_later {
            self.done.tell();
        }
    }
}

/// What came of a function, once it is there.
#[derive(Default)]
pub(crate) struct Done {
    came: Mutex<Came>,
    changed: Condvar,
    /// Whoever waits need not sleep any more.
    is_told: AtomicBool,
}

/// The outcome with what the function left, and who is to be woken then.
type Came = (Option<(Outcome, Left)>, Option<Waker>);

/// How long a function that may be done at once is waited for, before anything is made ready for a
/// longer time: a clock costs more than most functions.
const AT_ONCE: Duration = Duration::from_millis(2);

impl Done {
    fn state(&self) -> MutexGuard<'_, Came> {
        self.came.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The outcome, if it is there in a moment.
    fn soon(&self, patience: &Patience) -> Option<(Outcome, Left)> {
        patience.look(|| self.is_told.load(Ordering::Acquire));
        let waits = |state: &mut Came| state.0.is_none();
        let waited = self.changed.wait_timeout_while(self.state(), AT_ONCE, waits);
        waited.unwrap_or_else(PoisonError::into_inner).0.0.take()
    }

    fn set(&self, came: (Outcome, Left)) {
        self.state().0 = Some(came);
    }

    /// Wakes who waits.
    pub(crate) fn tell(&self) {
        let waker = self.state().1.take();
        self.is_told.store(true, Ordering::Release);
        self.changed.notify_one();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Waits for a function. Dropped, it tells a task to stop; a thread cannot be told.
struct Waits {
    done: Arc<Done>,
    slot: Arc<Slot>,
    task: Option<Py<PyAny>>,
}

impl Waits {
    /// The outcome; the slot keeps what the function left.
    fn taken(&self, (outcome, left): (Outcome, Left)) -> Outcome {
        *self.slot.left() = left;
        outcome
    }

    fn soon(&self, patience: &Patience) -> Option<Outcome> {
        Some(self.taken(self.done.soon(patience)?))
    }
}

impl Future for Waits {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<Outcome> {
        let mut state = self.done.state();
        if let Some(came) = state.0.take() {
            drop(state);
            self.task = None;
            return Poll::Ready(self.taken(came));
        }
        state.1 = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        let Some(task) = self.task.take() else { return };
        // An interpreter that ends has stopped everything.
        let tell = |py: Python<'_>| {
            let stop = || py.import(intern!(py, "breakfall._work"))?.call_method1("stop", (task,));
            // An event loop that is closed has stopped it already.
            let _: PyResult<_> = stop();
        };
        fork::outside(|| Python::try_attach(tell));
    }
}
