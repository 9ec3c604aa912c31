//! What is known of a failure beyond its words, by the step that found it.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::check::{MAX_DEPTH, measure};

/// What is known of a failure beyond its words.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Detail {
    /// Nothing.
    #[default]
    None,
    /// No tool has the name that was called.
    Names {
        /// Names that resemble it, nearest first.
        nearest: Vec<Arc<str>>,
        /// Names that can be called now, bounded.
        callable: Vec<Arc<str>>,
        /// How many can be called now in all.
        total: usize,
    },
    /// Why the tool cannot be used: for the developer only.
    Blocked(Block),
    /// The arguments do not fit.
    Arguments {
        /// Every problem at once.
        problems: Vec<Problem>,
        /// The model's own call in the accepted shape, when one could be found.
        correction: Option<Correction>,
    },
    /// The arguments were cut off after so many bytes.
    CutOff {
        /// Bytes that arrived.
        bytes: usize,
    },
    /// No answer within this time.
    Elapsed(Duration),
    /// The server that runs the tool stopped.
    Gone,
    /// The call was not even started.
    NotStarted,
    /// The tool was left by a way that only its door knows: nobody is told.
    Left,
    /// The same call failed again and again.
    Repeated {
        /// How often.
        times: u32,
        /// It was refused before: the run does not get on.
        is_stalled: bool,
    },
    /// The name of the credential to check.
    Credential(String),
}

impl Detail {
    /// About how many bytes it takes in memory, beyond itself.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Names { nearest, callable, .. } => {
                nearest.iter().chain(callable).map(|name| name.len() + size_of::<Arc<str>>()).sum()
            }
            Self::Arguments { problems, correction } => {
                let problem = |problem: &Problem| {
                    size_of::<Problem>()
                        + problem.path.len()
                        + problem.expected.len()
                        + problem.got.as_ref().map_or(0, String::len)
                };
                // A correction that was kept is short; a JSON value takes a few times its text, which
                // is kept, too.
                problems.iter().map(problem).sum::<usize>()
                    + correction.as_ref().map_or(0, |correction| 5 * written_bytes(correction))
            }
            Self::Credential(name) => name.len(),
            _ => 0,
        }
    }
}

/// About how long a correction is as JSON.
fn written_bytes(Correction { arguments, written, .. }: &Correction) -> usize {
    match written {
        Some(written) => written.len(),
        None => {
            let mut bytes = 0;
            measure(arguments, MAX_DEPTH, &mut bytes);
            bytes
        }
    }
}

/// Why a tool cannot be used now. The model hears only that it cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    /// Switched off by the user.
    Disabled,
    /// Paused by the user, for every run.
    Paused,
    /// Paused in this run after a failure.
    PausedInRun,
    /// The tool itself said so.
    Declared,
    /// The tool rests after failures.
    BreakerOpen,
    /// Its upstream rests after failures.
    UpstreamBreakerOpen,
    /// Too many calls wait for the tool.
    QueueFull,
    /// Too many calls wait for its upstream.
    UpstreamQueueFull,
}

/// One thing wrong with the arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where: `filters[0].date`; empty for the arguments as a whole.
    pub path: String,
    /// What is accepted there; empty where a remark says it.
    pub expected: String,
    /// What a tool says of it in its own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// What was sent, as JSON, clipped; nothing where it is missing.
    pub got: Option<String>,
    /// The name the model may have meant.
    pub nearest: Option<String>,
}

/// The model's own call, rewritten into the accepted shape.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Correction {
    /// Arguments that the schema accepts.
    pub arguments: Value,
    /// Paths whose values are made up and must be replaced.
    pub made_up: Vec<String>,
    /// The same values in another type, and nothing else: no name guessed, nothing left out.
    #[serde(skip)]
    pub is_exact: bool,
    /// The arguments as JSON, where they were written to be looked at.
    #[serde(skip)]
    pub(crate) written: Option<String>,
}
