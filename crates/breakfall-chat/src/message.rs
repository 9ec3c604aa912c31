//! What was said so far, in a shape of no provider's; one JSON line each on disk.

use breakfall::{Call, RawArguments, Reply};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::provider::{self, Shape};

/// One message of a history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// A person said it.
    User {
        /// The words.
        text: String,
    },
    /// We say it to the model; no person did.
    Notice {
        /// The words.
        text: String,
    },
    /// The model said it.
    Assistant(Said),
    /// What came of a call of the model's.
    Reply(SavedReply),
}

/// What the model said: words, calls, or both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// The words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The calls, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<SavedCall>,
    /// What only the provider of that shape understands, and wants to see again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Value>,
    /// Whose shape that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// Which model said it, as its provider names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A call as it stands in the history.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedCall {
    /// Its id, which no other call of the history has.
    pub id: String,
    /// The tool that was called.
    pub tool: String,
    /// The arguments as the model wrote them, perhaps malformed or cut off.
    #[serde(default)]
    pub arguments: String,
    /// Whether the model did not make it as a call: it was found in its text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_recovered: bool,
}

/// A reply as it stands in the history.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedReply {
    /// The id of the call.
    pub id: String,
    /// The tool that was called.
    pub tool: String,
    /// What the model is told.
    pub text: String,
    /// Whether nothing came of the call.
    #[serde(default)]
    pub is_error: bool,
}

impl Message {
    /// What a person said.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into() }
    }

    /// What the model said, without calls.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant(Said { text: text.into(), ..Said::default() })
    }
}

impl Said {
    /// Whether there is nothing in it: no words, no calls, none that its provider ran itself.
    pub(crate) fn is_blank(&self) -> bool {
        let is_done_there = self.kept.iter().any(provider::is_done_there);
        self.text.trim().is_empty() && self.calls.is_empty() && !is_done_there
    }

    /// Whether this model said it, in this shape.
    pub(crate) fn is_of(&self, shape: Shape, model: &str) -> bool {
        self.shape == Some(shape) && self.model.as_deref() == Some(model)
    }
}

impl From<&Call> for SavedCall {
    fn from(call: &Call) -> Self {
        let arguments = match &call.arguments {
            RawArguments::Json(value) => value.to_string(),
            RawArguments::Text(text) | RawArguments::CutOff(text) => text.clone(),
        };
        Self {
            id: call.id.clone(),
            tool: call.tool.clone(),
            arguments,
            is_recovered: call.is_recovered,
        }
    }
}

impl From<&Reply> for SavedReply {
    fn from(reply: &Reply) -> Self {
        Self {
            id: reply.id.clone(),
            tool: reply.tool.clone(),
            text: reply.text.clone(),
            is_error: reply.is_error,
        }
    }
}
