//! What the model asked for, right or wrong.

use std::sync::Arc;

use serde_json::Value;

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
}

/// Arguments as they arrived.
#[derive(Clone, Debug, PartialEq)]
pub enum RawArguments {
    /// A JSON value.
    Json(Value),
    /// The provider's JSON text, perhaps malformed or cut off.
    Text(String),
}

impl Call {
    /// A call to a tool with arguments: a JSON value, or the provider's JSON text.
    pub fn new(
        id: impl Into<String>,
        tool: impl Into<String>,
        arguments: impl Into<RawArguments>,
    ) -> Self {
        Self { id: id.into(), tool: tool.into(), arguments: arguments.into(), run: None }
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

impl RawArguments {
    /// No arguments at all.
    pub fn none() -> Self {
        Self::Json(Value::Object(serde_json::Map::new()))
    }
}
