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
    beside: Option<Box<Beside>>,
}

/// What few outputs have: boxed, so that the others are moved without room for it.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    pub(crate) problems: Vec<ItemProblem>,
    pub(crate) items: Option<usize>,
    /// Whose place it takes, and why.
    pub(crate) instead: Option<Instead>,
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
    Json(Box<Value>),
    Payload(Box<Payload>),
}

/// What a door passes on to the letter, with the text in it.
#[derive(Debug)]
pub(crate) struct Payload {
    pub(crate) whole: Box<RawValue>,
    pub(crate) text: String,
}

/// One item that failed beside others that did not.
#[derive(Debug)]
pub struct ItemProblem {
    pub(crate) item: String,
    pub(crate) failure: Failure,
}

impl Output {
    fn of_content(content: Content) -> Self {
        Self { content, beside: None }
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
            value => Content::Json(Box::new(value)),
        };
        Self::of_content(content)
    }

    /// What a door passes on to the letter ([`Reply::payload`](crate::Reply::payload)), with the
    /// text in it for who reads text.
    pub fn payload(payload: Box<RawValue>, text: impl Into<String>) -> Self {
        let payload = Payload { whole: payload, text: text.into() };
        Self::of_content(Content::Payload(Box::new(payload)))
    }

    /// The same output with an item that failed.
    pub fn with_problem(mut self, item: impl Into<String>, failure: impl Into<Failure>) -> Self {
        let problem = ItemProblem { item: item.into(), failure: failure.into() };
        self.beside_mut().problems.push(problem);
        self
    }

    /// The same output with another text.
    pub fn replace_text(mut self, text: impl Into<String>) -> Self {
        self.content = Content::Text(text.into());
        self
    }

    /// How many items there were in all, so that the model hears "k of n".
    pub fn of(mut self, items: usize) -> Self {
        self.beside_mut().items = Some(items);
        self
    }

    /// Whether something failed beside what succeeded.
    pub fn is_partial(&self) -> bool {
        self.beside.as_ref().is_some_and(|beside| !beside.problems.is_empty())
    }

    pub(crate) fn instead(mut self, by: Option<&str>, of: Failure) -> Self {
        self.beside_mut().instead = Some(Instead { by: by.map(ToOwned::to_owned), of });
        self
    }

    fn beside_mut(&mut self) -> &mut Beside {
        self.beside.get_or_insert_default()
    }

    /// Takes what is beside the content.
    pub(crate) fn take_beside(&mut self) -> Beside {
        self.beside.take().map_or_else(Beside::default, |beside| *beside)
    }

    /// The text, where there is nothing else and it is no longer than that.
    #[inline]
    pub(crate) fn plain(self, max: usize) -> Result<String, Self> {
        match self {
            Self { content: Content::Text(text), beside: None } if text.len() <= max => Ok(text),
            output => Err(output),
        }
    }

    pub(crate) fn into_text(self) -> String {
        match self.content {
            Content::Text(text) => text,
            Content::Payload(payload) => payload.text,
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
