//! The guard as Python sees it.

use std::sync::Arc;

use breakfall::{
    Arguments, BoxFuture, Call, Context, Effect, Failure, Outcome, Patience, Tool, ToolSpec,
    Toolbox,
};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use pyo3::{PyTraverseError, PyVisit};

use crate::functions::{AllFunctions, Functions};
use crate::options::{FOR_EVER, Options};
use crate::raised::Manners;
use crate::reply::{self, Reply};
use crate::slot::{Asked, Slot, Where};
use crate::tool::PyTool;
use crate::wait::{Answer, Replies, on_this_thread};
use crate::words::wrong;
use crate::{logs, records};

/// Stands between a model and its tools. `breakfall.Guard` gives it its tools.
#[pyclass(frozen, module = "breakfall._breakfall")]
pub(crate) struct Guard {
    real: Arc<breakfall::Guard>,
    manners: Arc<Manners>,
    functions: AllFunctions,
}

#[pymethods]
impl Guard {
    #[new]
    fn new(
        options: Options,
        passes: Py<PyTuple>,
        told: Py<PyTuple>,
        declared: Py<PyAny>,
    ) -> PyResult<Self> {
        let guard = options.stored()?.build().map_err(wrong)?;
        Ok(Self {
            real: Arc::new(guard),
            manners: Arc::new(Manners { passes, told, declared }),
            functions: AllFunctions::default(),
        })
    }

    /// Says what is wrong with options, before anything is made of them.
    #[staticmethod]
    fn check(options: Options) -> PyResult<()> {
        options.builder()?.0.build().map(drop).map_err(wrong)
    }

    /// Says what is wrong with a tool, before anything is made of it.
    #[staticmethod]
    fn check_tool(name: String, schema: &Bound<'_, PyAny>, effect: &str) -> PyResult<()> {
        let spec = spec(name, String::new(), schema, effect)?;
        Toolbox::new().add(spec.tool(Unused)).map_err(wrong)
    }

    /// Adds a tool: a function of `(arguments, extra)`, a coroutine function of them, or both; and
    /// what says of arguments that the schema refuses whether they read them all the same.
    #[expect(clippy::too_many_arguments, reason = "they are Python's, by their names")]
    fn add(
        &self,
        name: String,
        description: String,
        schema: &Bound<'_, PyAny>,
        effect: &str,
        function: Option<Py<PyAny>>,
        coroutine: Option<Py<PyAny>>,
        accepts: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let spec = spec(name, description, schema, effect)?;
        let functions = Arc::new(Functions::new(function, coroutine, accepts));
        let manners = Arc::clone(&self.manners);
        let tool =
            PyTool { functions: Arc::clone(&functions), manners, patience: Patience::default() };
        self.real.toolbox().add(spec.tool(tool)).map_err(wrong)?;
        self.functions.add(&functions);
        Ok(())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.functions.visit(&visit)
    }

    fn __clear__(&self) {
        self.functions.clear();
    }

    /// Answers a call on this thread.
    fn call(&self, py: Python<'_>, asked: Asked<'_>) -> PyResult<Reply> {
        logs::look(py);
        let place = |tool: &str| {
            let policy = self.real.policy(tool);
            let limit = policy.attempt_timeout.min(policy.total_timeout);
            // Where nobody keeps its time, a function runs with its caller.
            if limit >= FOR_EVER { Where::Here } else { Where::Alone }
        };
        let (call, slot) = asked.call(place, None)?;
        let reply = on_this_thread(py, || self.real.handle(call))?;
        reply::of(py, vec![reply], &[slot])?.pop().ok_or_else(no_reply)
    }

    /// Answers calls side by side, in their order.
    fn batch(&self, py: Python<'_>, asked: Vec<Asked<'_>>) -> PyResult<Vec<Reply>> {
        logs::look(py);
        // Side by side needs threads, timeless or not.
        let place = Where::Thread;
        let (calls, slots) = all(asked, place, None)?;
        let replies = on_this_thread(py, || self.real.handle_all(calls))?;
        reply::of(py, replies, &slots)
    }

    /// Answers calls for a coroutine of this event loop: the replies, or what it waits for.
    fn start<'py>(
        &self,
        py: Python<'py>,
        asked: Vec<Asked<'py>>,
        event_loop: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        logs::look(py);
        let (mut calls, slots) = all(asked, Where::BesideLoop, Some(event_loop))?;
        let guard = Arc::clone(&self.real);
        let single = if calls.len() == 1 { calls.pop() } else { None };
        let replies: Replies = match single {
            Some(call) => Box::pin(async move { vec![guard.handle(call).await] }),
            None => Box::pin(async move { guard.handle_all(calls).await }),
        };
        let answer = Answer::new(replies, slots);
        match answer.look(py)? {
            Some(replies) => replies.into_bound_py_any(py),
            None => answer.into_bound_py_any(py),
        }
    }

    /// Words of a tool's own, without secrets and bounded.
    fn clean(&self, words: &Bound<'_, PyString>) -> String {
        self.real.clean(words.to_string_lossy().into_owned())
    }

    /// The tools that may be called now.
    fn tools<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize::pythonize(py, &self.real.toolbox().callable())?)
    }

    fn enable(&self, name: &str) -> PyResult<()> {
        self.real.toolbox().enable(name).map_err(wrong)
    }

    fn disable(&self, name: &str) -> PyResult<()> {
        self.real.toolbox().disable(name).map_err(wrong)
    }

    fn remove(&self, name: &str) -> PyResult<()> {
        self.real.toolbox().remove(name).map_err(wrong)
    }

    fn end_run(&self, run: Option<&str>) {
        self.real.end_run(run);
    }

    /// How many calls there were, by how they ended.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = self.real.journal().counts();
        let fields = PyDict::new(py);
        fields.set_item("calls", counts.calls())?;
        fields.set_item("succeeded", counts.succeeded)?;
        fields.set_item("partial", counts.partial)?;
        fields.set_item("substituted", counts.substituted)?;
        fields.set_item("failed", counts.failed)?;
        fields.set_item("abandoned", counts.abandoned)?;
        Ok(fields)
    }

    /// How often each tool failed in which way.
    fn summary(&self) -> std::collections::BTreeMap<String, u64> {
        self.real.journal().summary()
    }

    /// The newest records of calls that did not simply succeed, oldest first.
    #[pyo3(signature = (tool=None))]
    fn records<'py>(
        &self,
        py: Python<'py>,
        tool: Option<&str>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let journal = self.real.journal();
        let samples = match tool {
            Some(tool) => journal.for_tool(tool),
            None => journal.samples(),
        };
        samples.iter().map(|record| records::record(py, record)).collect()
    }

    /// Functions that went on when their time was up: how many still run, and how many came to an
    /// end since.
    fn stragglers(&self) -> (u64, u64) {
        self.real.stragglers()
    }

    /// Records that could not be handed over to be kept.
    fn lost_records(&self) -> u64 {
        self.real.lost_records()
    }
}

/// A tool that is never called.
struct Unused;

impl Tool for Unused {
    fn call<'a>(&'a self, _: &'a Arguments, _: Context<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async { Err(Failure::internal("the tool is not to be called")) })
    }
}

fn spec(
    name: String,
    description: String,
    schema: &Bound<'_, PyAny>,
    effect: &str,
) -> PyResult<ToolSpec> {
    let schema: serde_json::Value = pythonize::depythonize(schema)?;
    let effect: Effect = effect.parse().map_err(wrong)?;
    Ok(ToolSpec::new(name, description).schema(schema).effect(effect))
}

fn all(
    asked: Vec<Asked<'_>>,
    place: Where,
    event_loop: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Vec<Call>, Vec<Arc<Slot>>)> {
    let calls: PyResult<Vec<_>> =
        asked.into_iter().map(|asked| asked.call(|_| place, event_loop)).collect();
    Ok(calls?.into_iter().unzip())
}

fn no_reply() -> PyErr {
    PyRuntimeError::new_err("the call was not answered")
}
