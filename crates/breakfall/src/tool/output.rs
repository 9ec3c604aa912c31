//! What a tool returned, with what went wrong beside it.

use std::any::Any;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::check::{MAX_DEPTH, deeper_than, take_apart};
use crate::{Failure, Outcome};

/// What a tool returned. It may carry problems beside it: a partial success.
///
/// ```
/// # use breakfall::{Failure, Output};
/// let output = Output::text("a.txt: 12 bytes")
///     .with_problem("b.txt", Failure::not_found("b.txt"))
///     .of(2);
/// assert!(output.is_partial());
/// ```
#[derive(Debug)]
pub struct Output {
    pub(crate) content: Content,
    pub(crate) problems: Vec<ItemProblem>,
    pub(crate) items: Option<usize>,
    /// Whose place it takes, and why.
    pub(crate) instead: Option<Box<Instead>>,
}

/// A substitute answered.
#[derive(Debug)]
pub(crate) struct Instead {
    /// The tool that answered; `None` for a fixed value.
    pub(crate) by: Option<String>,
    /// How the tool that was called failed.
    pub(crate) of: Failure,
}

#[derive(Debug)]
pub(crate) enum Content {
    Text(String),
    Json(Value),
    /// What a door passes on to the letter, with the text in it.
    Payload(Box<RawValue>, String),
}

/// One item that failed beside others that did not.
#[derive(Debug)]
pub struct ItemProblem {
    pub(crate) item: String,
    pub(crate) failure: Failure,
}

impl Output {
    fn of_content(content: Content) -> Self {
        Self { content, problems: Vec::new(), items: None, instead: None }
    }

    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of_content(Content::Text(text.into()))
    }

    /// A JSON value; a string is passed on as a text.
    pub fn json(value: impl Into<Value>) -> Self {
        let content = match value.into() {
            Value::String(text) => Content::Text(text),
            value if deeper_than(&value, MAX_DEPTH) => {
                take_apart(value);
                Content::Text(format!("[a value nested more than {MAX_DEPTH} levels deep]"))
            }
            value => Content::Json(value),
        };
        Self::of_content(content)
    }

    /// What a door passes on to the letter ([`Reply::payload`](crate::Reply::payload)), with the
    /// text in it for who reads text.
    pub fn payload(payload: Box<RawValue>, text: impl Into<String>) -> Self {
        Self::of_content(Content::Payload(payload, text.into()))
    }

    /// The same output with an item that failed.
    pub fn with_problem(mut self, item: impl Into<String>, failure: impl Into<Failure>) -> Self {
        self.problems.push(ItemProblem { item: item.into(), failure: failure.into() });
        self
    }

    /// The same output with another text.
    pub fn replace_text(mut self, text: impl Into<String>) -> Self {
        self.content = Content::Text(text.into());
        self
    }

    /// How many items there were in all, so that the model hears "k of n".
    pub fn of(mut self, items: usize) -> Self {
        self.items = Some(items);
        self
    }

    /// Whether something failed beside what succeeded.
    pub fn is_partial(&self) -> bool {
        !self.problems.is_empty()
    }

    pub(crate) fn instead(mut self, by: Option<&str>, of: Failure) -> Self {
        self.instead = Some(Box::new(Instead { by: by.map(ToOwned::to_owned), of }));
        self
    }

    /// The text, where there is nothing else and it is no longer than that.
    pub(crate) fn plain(self, max: usize) -> Result<String, Self> {
        match self {
            Self { content: Content::Text(text), problems, items: None, instead: None }
                if problems.is_empty() && text.len() <= max =>
            {
                Ok(text)
            }
            output => Err(output),
        }
    }

    pub(crate) fn into_text(self) -> String {
        match self.content {
            Content::Text(text) | Content::Payload(_, text) => text,
            Content::Json(value) => value.to_string(),
        }
    }
}

/// What a typed function may return: an [`Output`], or anything serde can write.
pub trait IntoOutput: Send {
    /// The output, or an internal failure where the value cannot be written as JSON.
    fn into_output(self) -> Outcome;
}

impl IntoOutput for Output {
    fn into_output(self) -> Outcome {
        Ok(self)
    }
}

impl<T: Serialize + Send + 'static> IntoOutput for T {
    fn into_output(self) -> Outcome {
        // A string is by far the commonest: moved, not serialised.
        let mut value = Some(self);
        if let Some(text) = (&mut value as &mut dyn Any).downcast_mut::<Option<String>>() {
            return Ok(Output::text(text.take().unwrap_or_default()));
        }
        if (&value as &dyn Any).is::<Option<()>>() {
            return Ok(Output::text("done"));
        }
        serde_json::to_value(value).map(Output::json).map_err(|error| {
            Failure::internal("the tool's result cannot be written as JSON").caused_by(error)
        })
    }
}
