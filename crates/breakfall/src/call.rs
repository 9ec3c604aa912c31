//! What the model asked for, right or wrong.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::Trace;

/// A call as the model made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The caller's id; the reply carries the same one, whatever it is.
    pub id: String,
    /// The name the model wrote.
    pub tool: String,
    /// The arguments the model wrote, unchecked.
    pub arguments: RawArguments,
    /// The run it belongs to: one agent's work from a user message to its end.
    pub run: Option<Arc<str>>,
    /// What the door hands to the tool beside the arguments.
    pub attachment: Option<Attachment>,
    /// Whether the model did not make it as a call: it was found in its text.
    pub is_recovered: bool,
    /// Where the caller stands in a trace.
    pub trace: Option<Box<Trace>>,
}

/// What a door hands to a tool beside the arguments; nobody else looks at it.
#[derive(Clone)]
pub struct Attachment(Arc<dyn Any + Send + Sync>);

impl Attachment {
    /// The thing itself, if it is of that type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Attachment")
    }
}

impl PartialEq for Attachment {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Arguments as they arrived.
#[derive(Clone, Debug, PartialEq)]
pub enum RawArguments {
    /// A JSON value.
    Json(Value),
    /// The provider's JSON text, perhaps malformed or cut off.
    Text(String),
    /// The provider's JSON text, when it is known that the model was stopped while it wrote: nothing
    /// at all then does not mean that there are no arguments.
    CutOff(String),
}

impl Call {
    /// A call to a tool with arguments: a JSON value, or the provider's JSON text.
    pub fn new(
        id: impl Into<String>,
        tool: impl Into<String>,
        arguments: impl Into<RawArguments>,
    ) -> Self {
        Self {
            id: id.into(),
            tool: tool.into(),
            arguments: arguments.into(),
            run: None,
            attachment: None,
            is_recovered: false,
            trace: None,
        }
    }

    /// The same call as one that was found in the model's text; its record says so.
    pub fn recovered(mut self) -> Self {
        self.is_recovered = true;
        self
    }

    /// The same call with something for its tool.
    pub fn with<T: Any + Send + Sync>(mut self, attachment: T) -> Self {
        self.attachment = Some(Attachment(Arc::new(attachment)));
        self
    }

    /// The same call in the trace of its caller.
    pub fn traced(mut self, trace: Trace) -> Self {
        self.trace = Some(Box::new(trace));
        self
    }

    /// The same call as part of a run.
    pub fn in_run(mut self, run: impl Into<Arc<str>>) -> Self {
        self.run = Some(run.into());
        self
    }
}

impl From<Value> for RawArguments {
    fn from(value: Value) -> Self {
        Self::Json(value)
    }
}

impl From<String> for RawArguments {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for RawArguments {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Default for RawArguments {
    /// What is left where arguments were taken: nothing.
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl RawArguments {
    /// No arguments at all.
    pub fn none() -> Self {
        Self::Json(Value::Object(serde_json::Map::new()))
    }
}
