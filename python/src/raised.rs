//! An exception becomes a failure: its type, `errno`, HTTP status, causes and traceback. Those that
//! are no failures (`KeyboardInterrupt`, `CancelledError`, an interrupt of a graph) are let go.

use std::fmt::Write;
use std::time::Duration;

use breakfall::{Failure, FailureKind, Problem, Raised};
use pyo3::exceptions::{PyBaseException, PyException, PyOSError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple, PyType};

use crate::response::Response;

/// How far down a chain of causes is looked; a chain may be a ring.
const CAUSES: usize = 16;

/// How many exceptions of a group are looked at.
const LEAVES: usize = 64;

/// How many frames of a traceback are kept: the innermost.
const FRAMES: usize = 40;

/// The files that stand between the guard and a tool.
const OURS: &[&str] = &[
    "breakfall/_work.py",
    "breakfall/_guard.py",
    "breakfall/_langchain.py",
    "breakfall/_message.py",
    "breakfall/_intercepted.py",
    "breakfall/langgraph.py",
];

/// What is none of `Exception` and no failure, by its package: it ends a program, a task or a test.
/// What else there is, such as a panic of a library in Rust, is a failure.
const LEAVING: &[(&str, &[&str])] = &[
    ("builtins", &["KeyboardInterrupt", "SystemExit", "GeneratorExit"]),
    ("asyncio", &["CancelledError"]),
    ("trio", &["Cancelled"]),
    ("greenlet", &["GreenletExit"]),
    ("gevent", &["Timeout"]),
    ("_pytest", &["OutcomeException"]),
];

/// The most bytes of a text that are looked at.
const TEXT: usize = 1 << 20;

/// What the door decided about exceptions.
pub(crate) struct Manners {
    /// Let go, though they are exceptions.
    pub(crate) passes: Py<PyTuple>,
    /// Raised to speak to the model.
    pub(crate) told: Py<PyTuple>,
    /// `breakfall.Failure`.
    pub(crate) declared: Py<PyAny>,
}

/// What an exception is.
pub(crate) enum Heard {
    /// A failure of the call.
    Failure(Failure),
    /// None of the guard's business.
    Escape,
}

impl Manners {
    /// What an exception is; what is no exception is words for the model.
    pub(crate) fn hear(&self, error: &Bound<'_, PyAny>) -> Heard {
        let py = error.py();
        let is = |error: &Bound<'_, PyAny>, class: &Bound<'_, PyAny>| {
            error.is_instance(class).unwrap_or(false)
        };
        if is(error, self.passes.bind(py)) {
            return Heard::Escape;
        }
        let seen = Seen::of(error);
        let all = seen.leaves();
        if all.iter().any(leaves) {
            return Heard::Escape;
        }
        let first = all.first().unwrap_or(error);
        let traceback = traceback(&seen);
        let seen = if first.is(error) { seen } else { Seen::of(first) };
        // Where others failed too, the words of one do not tell what came of the call.
        let are = |class: &Bound<'_, PyAny>| all.iter().all(|error| is(error, class));
        if are(self.declared.bind(py)) {
            return Heard::Failure(declared(seen).traceback(traceback));
        }
        let raised = raised(seen).traceback(traceback);
        let raised = if are(self.told.bind(py)) { raised.told() } else { raised };
        Heard::Failure(Failure::raised(raised))
    }
}

/// Whether it is no failure of anything: who raised it ends something larger. What is no exception
/// at all leaves, too.
fn leaves(error: &Bound<'_, PyAny>) -> bool {
    if error.is_instance_of::<PyException>() {
        return false;
    }
    let is_known = |class: Bound<'_, PyAny>| {
        let Ok(class) = class.cast::<PyType>() else { return false };
        let module = class.module().map(|module| module.to_string_lossy().into_owned());
        let package = module.as_deref().unwrap_or_default().split('.').next();
        let name = name(class);
        LEAVING.iter().any(|(of, named)| package == Some(*of) && named.contains(&&*name))
    };
    !error.is_instance_of::<PyBaseException>() || error.get_type().mro().iter().any(is_known)
}

/// A failure that the tool declared.
fn declared(seen: Seen<'_>) -> Failure {
    let get =
        |name: &str| seen.error.getattr_opt(name).ok().flatten().filter(|value| !value.is_none());
    let text = |name: &str| get(name).map(|value| shown(&value));
    let kind = text("kind").and_then(|kind| kind.parse::<FailureKind>().ok());
    let kind = kind.unwrap_or(FailureKind::Execution);
    let message = text("message").unwrap_or_default();
    let problems = get("problems").map(|problems| self::problems(&problems)).unwrap_or_default();
    let mut failure = match kind {
        FailureKind::InvalidArguments if !problems.is_empty() => Failure::invalid_all(problems),
        FailureKind::Internal => Failure::internal(message.clone()),
        FailureKind::Authentication => {
            Failure::authentication(text("resource").unwrap_or_default())
        }
        kind => Failure::of_kind(kind),
    };
    if kind != FailureKind::Internal && !message.is_empty() {
        failure = failure.saying(message);
    }
    if let Some(resource) = text("resource") {
        failure = failure.resource_is(resource);
    }
    if let Some(wait) = get("wait").and_then(|wait| seconds(&wait)) {
        failure = failure.wait_for(wait);
    }
    failure.caused_by(raised(seen))
}

/// What is wrong with arguments: pairs of a path and a remark.
fn problems(pairs: &Bound<'_, PyAny>) -> Vec<Problem> {
    let Ok(pairs) = pairs.cast::<PyList>() else { return Vec::new() };
    let problem = |pair: Bound<'_, PyAny>| {
        let (path, remark) = pair.extract::<(String, String)>().ok()?;
        Some(Problem { path, remark: Some(remark), ..Problem::default() })
    };
    pairs.iter().filter_map(problem).collect()
}

/// What an exception says: the name of its type, and its text.
pub(crate) struct Said {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Said {
    fn by(error: &Bound<'_, PyAny>) -> Self {
        Self { name: name(&error.get_type()), text: shown(error) }
    }
}

/// An exception with what is asked of it more than once.
struct Seen<'py> {
    error: Bound<'py, PyAny>,
    said: Said,
    /// Those in it, where it is a group.
    members: Vec<Bound<'py, PyAny>>,
}

impl<'py> Seen<'py> {
    fn of(error: &Bound<'py, PyAny>) -> Self {
        Self { error: error.clone(), said: Said::by(error), members: members(error) }
    }

    /// The exceptions that a group comes down to, the first of which stands for it: a group says
    /// nothing that they do not. What is no group is its own.
    fn leaves(&self) -> Vec<Bound<'py, PyAny>> {
        let mut found = Vec::new();
        match &*self.members {
            [] => found.push(self.error.clone()),
            all => all.iter().for_each(|error| gather(error, 1, &mut found)),
        }
        found
    }

    /// What it was raised from; for a group that is the first in it.
    fn cause(&self) -> Option<Bound<'py, PyAny>> {
        let cause = self.error.getattr(intern!(self.error.py(), "__cause__")).ok()?;
        if cause.is_none() { self.members.first().cloned() } else { Some(cause) }
    }

    /// What it was raised from or after, and how that is told.
    fn before(&self) -> Option<(Bound<'py, PyAny>, &'static str)> {
        let py = self.error.py();
        if let Some(cause) = self.cause() {
            let joint = "\n\nThe above exception was the direct cause of the following:\n\n";
            return Some((cause, joint));
        }
        let context = self.error.getattr(intern!(py, "__context__")).ok()?;
        let is_hidden = || {
            let hidden = self.error.getattr(intern!(py, "__suppress_context__"));
            hidden.is_ok_and(|hidden| hidden.is_truthy().unwrap_or(false))
        };
        if context.is_none() || is_hidden() {
            return None;
        }
        Some((context, "\n\nWhile that was handled another was raised:\n\n"))
    }

    /// It with its frames, alone.
    fn part(&self) -> String {
        let mut text = frames(&self.error);
        text.extend([&*self.said.name, ": ", &*self.said.text]);
        // Those of a group that do not stand for it.
        for error in self.members.iter().skip(1).take(CAUSES) {
            let _ = write!(text, "\n  and {}: {}", name(&error.get_type()), shown(error));
        }
        text
    }
}

/// Those of a group, where it is one. Python 3.10 has none of its own, but libraries have.
fn members<'py>(error: &Bound<'py, PyAny>) -> Vec<Bound<'py, PyAny>> {
    let named = |class: &Bound<'_, PyType>| {
        class.name().is_ok_and(|name| name.to_string_lossy().ends_with("ExceptionGroup"))
    };
    let is_group = |class: Bound<'_, PyAny>| class.cast::<PyType>().is_ok_and(named);
    let class = error.get_type();
    // What Python brings is no more than its own name says.
    let is_one = named(&class) || !is_builtin(&class) && class.mro().iter().any(is_group);
    if !is_one {
        return Vec::new();
    }
    let all = error.getattr_opt("exceptions").ok().flatten().and_then(|all| all.try_iter().ok());
    // Whatever they are, they may have no end.
    all.map(|all| all.take(LEAVES).flatten().collect()).unwrap_or_default()
}

/// The depth is bounded, so this may call itself.
fn gather<'py>(error: &Bound<'py, PyAny>, depth: usize, found: &mut Vec<Bound<'py, PyAny>>) {
    if found.len() >= LEAVES {
        return;
    }
    let members = if depth < CAUSES { members(error) } else { Vec::new() };
    if members.is_empty() {
        found.push(error.clone());
    }
    for error in &members {
        gather(error, depth + 1, found);
    }
}

/// An exception with what it was raised from.
fn raised(seen: Seen<'_>) -> Raised {
    let mut all = vec![seen];
    while all.len() < CAUSES
        && let Some(cause) = all.last().and_then(Seen::cause)
    {
        let mut cause = Seen::of(&cause);
        if let Some(first) = cause.leaves().into_iter().next().filter(|it| !it.is(&cause.error)) {
            cause = Seen::of(&first);
        }
        if all.iter().any(|known| known.error.is(&cause.error)) {
            break;
        }
        all.push(cause);
    }
    let raised = all.into_iter().rev().fold(None, |inner, seen| Some(one(seen, inner)));
    raised.unwrap_or_default()
}

fn one(Seen { error, said, .. }: Seen<'_>, cause: Option<Raised>) -> Raised {
    let error = &error;
    let py = error.py();
    let class = error.get_type();
    let is_of_the_system = error.is_instance_of::<PyOSError>() && counts_as_the_systems(&said.name);
    let response = if is_builtin(&class) { None } else { Response::of(error) };
    let against = response.as_ref().and_then(|response| response.against(error, &said));
    let is_vague = against.is_some();
    let cause = cause.or_else(|| wrote(error, &said));
    let mut raised = Raised::new(said.name, against.unwrap_or(said.text));
    if let Some(cause) = cause {
        raised = raised.caused_by(cause);
    }
    if is_of_the_system {
        let number = error.getattr(intern!(py, "errno")).and_then(|number| number.extract::<i32>());
        if let Ok(number) = number {
            raised = raised.errno(number);
        }
    }
    let Some(response) = response else { return raised };
    if !is_vague {
        raised = raised.status(response.status);
    }
    match response.wait() {
        Some(wait) => raised.wait(wait),
        None => raised,
    }
}

/// Whether Python itself brings a class.
fn is_builtin(class: &Bound<'_, PyType>) -> bool {
    let module = class.getattr(intern!(class.py(), "__module__"));
    module.is_ok_and(|module| module.eq(intern!(class.py(), "builtins")).unwrap_or(false))
}

/// TLS and name resolution have numbers of their own in the same place.
fn counts_as_the_systems(name: &str) -> bool {
    !name.starts_with("SSL") && !matches!(name, "gaierror" | "herror")
}

/// What a program wrote before it failed, which tells more than that it did.
fn wrote(error: &Bound<'_, PyAny>, said: &Said) -> Option<Raised> {
    if said.name != "CalledProcessError" {
        return None;
    }
    let get = |name| error.getattr_opt(name).ok().flatten().filter(|value| !value.is_none());
    // Where its errors were not kept apart they stand in what it wrote.
    let (name, value) = match get("stderr") {
        Some(value) => ("stderr", value),
        None => ("stdout", get("stdout")?),
    };
    let text = match value.cast::<PyBytes>() {
        Ok(bytes) => {
            let bytes = bytes.as_bytes();
            String::from_utf8_lossy(&bytes[..bytes.len().min(TEXT)]).into_owned()
        }
        Err(_) => shown(value.cast::<PyString>().ok()?),
    };
    (!text.trim().is_empty()).then(|| Raised::new(name, text.trim()))
}

fn seconds(value: &Bound<'_, PyAny>) -> Option<Duration> {
    let number = match value.extract::<f64>() {
        Ok(number) => number,
        Err(_) => shown(value).trim().parse().ok()?,
    };
    Duration::try_from_secs_f64(number).ok()
}

fn name(class: &Bound<'_, PyType>) -> String {
    class.name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The text of a value; one that cannot be written has none.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    let Ok(text) = value.str() else { return String::new() };
    let text = text.to_string_lossy();
    text[..text.floor_char_boundary(TEXT)].to_owned()
}

/// Where an exception was raised, with what it was raised from, as Python writes it but without
/// reading the source.
fn traceback(outermost: &Seen<'_>) -> String {
    let mut parts = vec![outermost.part()];
    let mut next = outermost.before();
    while parts.len() < CAUSES
        && let Some((error, joint)) = next
    {
        let seen = Seen::of(&error);
        let mut part = seen.part();
        part.push_str(joint);
        parts.push(part);
        next = seen.before();
    }
    // What came before stands before.
    parts.reverse();
    parts.concat()
}

fn frames(error: &Bound<'_, PyAny>) -> String {
    let py = error.py();
    let mut lines = std::collections::VecDeque::new();
    let mut next = error.getattr(intern!(py, "__traceback__")).ok();
    while let Some(traceback) = next.filter(|traceback| !traceback.is_none()) {
        if lines.len() == FRAMES {
            lines.pop_front();
        }
        // Those above the tool are ours, and tell nothing.
        if let Ok(Some(line)) = frame(&traceback, lines.is_empty()) {
            lines.push_back(line);
        }
        next = traceback.getattr(intern!(py, "tb_next")).ok();
    }
    let mut text = String::from("Traceback (most recent call last):\n");
    text.extend(lines);
    text
}

fn frame(traceback: &Bound<'_, PyAny>, may_be_ours: bool) -> PyResult<Option<String>> {
    let py = traceback.py();
    let code = traceback.getattr(intern!(py, "tb_frame"))?.getattr(intern!(py, "f_code"))?;
    let file = code.getattr(intern!(py, "co_filename"))?;
    let file = file.cast::<PyString>()?.to_string_lossy();
    if may_be_ours && OURS.iter().any(|ours| file.ends_with(ours)) {
        return Ok(None);
    }
    let function = code.getattr(intern!(py, "co_name"))?;
    // Code that was made up has none.
    let line: u32 = traceback.getattr(intern!(py, "tb_lineno"))?.extract().unwrap_or(0);
    let function = function.cast::<PyString>()?.to_string_lossy();
    Ok(Some(format!("  File \"{file}\", line {line}, in {function}\n")))
}
