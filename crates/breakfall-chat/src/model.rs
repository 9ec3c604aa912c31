//! A question becomes an answer, or an error of the model's own table.

use breakfall::{BoxFuture, Call, RawArguments, ToolSpec};
use serde_json::Value;

use crate::error::ModelError;
use crate::message::Message;
use crate::provider::Shape;

/// Answers questions.
pub trait Model: Send + Sync {
    /// Answers, and tells of every piece of the answer as it comes.
    fn answer<'a>(
        &'a self,
        question: Question<'a>,
        hear: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<Answer, ModelError>>;
}

/// What a model is asked: what was said so far, and what it can call.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// What it is told before anything is said.
    pub system: &'a str,
    /// What was said. Every call has its reply.
    pub history: &'a [Message],
    /// The tools that can be called now.
    pub tools: &'a [ToolSpec],
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    /// Of its words.
    Text(String),
    /// Of what it thinks.
    Reasoning(String),
    /// Of a call.
    Call {
        /// Which call of the answer.
        index: usize,
        /// The tool, once it is known.
        tool: String,
        /// More of its arguments.
        arguments: String,
    },
}

/// What a model answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Its words.
    pub text: String,
    /// What it thought, where it shows that.
    pub reasoning: String,
    /// Its calls, under the ids that it gave them, if any.
    pub calls: Vec<Call>,
    /// What only the provider of that shape understands, and wants to see again.
    pub kept: Vec<Value>,
    /// Whose shape that is.
    pub shape: Option<Shape>,
    /// Which model answered, as its provider names it.
    pub model: Option<String>,
    /// Why it ended.
    pub finish: Finish,
    /// What it cost.
    pub usage: Usage,
}

impl Answer {
    /// Says that nobody knows whether the model was done: its last call may lack its end, or all of
    /// its arguments.
    pub(crate) fn last_call_may_lack_its_end(&mut self) {
        if let Some(Call { arguments, .. }) = self.calls.last_mut()
            && let RawArguments::Text(text) = arguments
        {
            *arguments = RawArguments::CutOff(std::mem::take(text));
        }
    }
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finish {
    /// The model was done, or calls something.
    #[default]
    Done,
    /// The provider paused the model in the middle: asked again, it goes on.
    Paused,
    /// The model was stopped in the middle because the answer was long enough.
    Length,
    /// The provider kept the rest back.
    Refused,
}

/// How many tokens were read and written, as the provider counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Read.
    pub input: u64,
    /// Written.
    pub output: u64,
}

impl Usage {
    /// Both.
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}
