//! What does the work: a [`Tool`], described by its [`ToolSpec`].

mod function;
mod input;
mod output;
mod progress;

use std::fmt;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use function::{blocking, blocking_with, function, function_with};
pub use input::require_input;
pub(crate) use output::{Beside, Content};
pub use output::{IntoOutput, ItemProblem, Output};
pub use progress::{Elsewhere, Held, Progress};
pub(crate) use progress::{Stragglers, Watch};

use crate::{Arguments, Attachment, Error, Outcome, Trace};

/// A future on the heap, as tools return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Does the work of a call.
///
/// ```
/// use breakfall::{Arguments, BoxFuture, Context, Outcome, Output, Tool};
///
/// struct Echo;
///
/// impl Tool for Echo {
///     fn call<'a>(&'a self, arguments: &'a Arguments, _: Context<'a>) -> BoxFuture<'a, Outcome> {
///         Box::pin(async move { Ok(Output::json(arguments.value().clone())) })
///     }
/// }
/// ```
///
/// The guard polls the future where the caller is. Work that blocks its thread belongs in
/// [`blocking`] or behind [`Entry::isolated`], or it delays the other calls of its batch.
pub trait Tool: Send + Sync + 'static {
    /// Does the work once. A panic is caught; when time is up the future is dropped.
    fn call<'a>(&'a self, arguments: &'a Arguments, context: Context<'a>)
    -> BoxFuture<'a, Outcome>;

    /// Whether the tool reads arguments itself that its schema does not accept: they are handed
    /// over as the model wrote them, neither refused nor mended. Asked only then.
    fn accepts(&self, _arguments: &Value) -> bool {
        false
    }
}

/// What a tool may know of the call it serves.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The caller's id.
    pub id: &'a str,
    /// The name of the tool.
    pub tool: &'a str,
    /// The run, when the caller named one.
    pub run: Option<&'a str>,
    /// What the door handed over beside the arguments.
    pub attachment: Option<&'a Attachment>,
    /// Where this attempt stands in a trace, for whoever passes it on: the caller's own place where
    /// the guard does not trace.
    pub trace: Option<&'a Trace>,
    pub(crate) watch: &'a Watch<'a>,
}

impl Context<'_> {
    /// The tool's line to who waits for it: says that work goes on, and hears whether anybody
    /// still wants it.
    pub fn progress(&self) -> Progress {
        self.watch.progress(self.tool, self.id)
    }

    /// Says that what comes of this attempt was made on purpose.
    pub(crate) fn mark_fault(&self, fault: &'static str) {
        self.progress().mark_fault(fault);
    }
}

/// May a call be repeated? Unknown counts as `Once`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Changes nothing.
    ReadOnly,
    /// Twice is the same as once.
    Idempotent,
    /// Twice is worse than once.
    #[default]
    Once,
}

impl Effect {
    /// Whether a call that was dispatched may be dispatched again.
    pub fn may_repeat(self) -> bool {
        self != Self::Once
    }
}

impl FromStr for Effect {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "read_only" => Ok(Self::ReadOnly),
            "idempotent" => Ok(Self::Idempotent),
            "once" => Ok(Self::Once),
            _ => Err(Error::UnknownWord {
                what: "effect",
                given: name.to_owned(),
                accepted: vec!["read_only", "idempotent", "once"],
            }),
        }
    }
}

/// What is known of a tool without calling it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolSpec {
    /// Its name, as the model writes it.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of its arguments (2020-12, or draft-07 where `$schema` says so).
    pub input_schema: Value,
    /// May a call be repeated?
    pub effect: Effect,
    /// The upstream it belongs to, whose breaker, places and budget it shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream: Option<Arc<str>>,
}

impl ToolSpec {
    /// A spec with a schema that accepts any object.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema: serde_json::json!({ "type": "object" }),
            effect: Effect::Once,
            upstream: None,
        }
    }

    /// Sets the schema of its arguments.
    pub fn schema(mut self, schema: impl Into<Value>) -> Self {
        self.input_schema = schema.into();
        self
    }

    /// Says whether a call may be repeated.
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// Says to which upstream it belongs.
    pub fn upstream(mut self, upstream: impl Into<Arc<str>>) -> Self {
        self.upstream = Some(upstream.into());
        self
    }

    /// The tool with this spec, ready for a toolbox.
    pub fn tool(self, tool: impl Tool) -> Entry {
        Entry { spec: self, tool: Arc::new(tool), place: Place::Inline }
    }
}

/// A tool with its spec, as it goes into a toolbox.
#[derive(Clone)]
pub struct Entry {
    pub(crate) spec: ToolSpec,
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) place: Place,
}

/// Where a tool's future is polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// With its caller: costs nothing.
    Inline,
    /// On a task of its own: cannot hold up its siblings.
    Task,
}

impl Entry {
    /// Its spec.
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Says whether a call may be repeated.
    pub fn effect(mut self, effect: Effect) -> Self {
        self.spec.effect = effect;
        self
    }

    /// Says to which upstream it belongs.
    pub fn upstream(mut self, upstream: impl Into<Arc<str>>) -> Self {
        self.spec.upstream = Some(upstream.into());
        self
    }

    /// The same tool under another spec.
    pub fn with_spec(mut self, spec: ToolSpec) -> Self {
        self.spec = spec;
        self
    }

    /// Runs every call on a task of its own, so that a tool which blocks its thread or ignores
    /// its deadline holds up nobody. Needs a multi-threaded Tokio runtime to be of use.
    pub fn isolated(mut self) -> Self {
        self.place = Place::Task;
        self
    }

    /// The same entry around another tool: special behaviour is a tool wrapped around a tool.
    pub fn wrap<T: Tool>(mut self, wrapper: impl FnOnce(Arc<dyn Tool>) -> T) -> Self {
        self.tool = Arc::new(wrapper(self.tool));
        self
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("spec", &self.spec).finish_non_exhaustive()
    }
}
