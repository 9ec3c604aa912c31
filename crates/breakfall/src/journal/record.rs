//! The developer's line for a call.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::Serialize;

use crate::{FailureKind, FailureReport, Trace, Try, Turned, Whose};

/// What came of a call, for the developer. Free of secrets, bounded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Record {
    /// The caller's id.
    pub id: String,
    /// The run, when the caller named one.
    pub run: Option<Arc<str>>,
    /// The name that was called.
    pub tool: String,
    /// The upstream to which the tool belongs.
    pub upstream: Option<Arc<str>>,
    /// When it began.
    pub started: SystemTime,
    /// How long it took.
    pub took: Duration,
    /// Where it stands in a trace, when the guard traces.
    pub trace: Option<Box<Trace>>,
    /// Whether a tool of that name exists: a model may write any.
    pub is_found: bool,
    /// How it ended.
    pub ending: Ending,
    /// The failure, when it failed: kind, words, cause chain, attempts, reference. Also where a
    /// substitute answered.
    pub failure: Option<Arc<FailureReport>>,
    /// The tool that was tried instead; empty for a fixed value.
    pub substitute: Option<String>,
    /// The upstream to which the substitute belongs.
    pub substitute_upstream: Option<Arc<str>>,
    /// How many attempts there were.
    pub attempts: u32,
    /// How many of them were the tool's own; the others were its substitute's.
    pub own_attempts: u32,
    /// When the last attempt began, after the call's beginning.
    pub last_began: Duration,
    /// The attempts that failed, one by one.
    pub tries: Vec<Try>,
    /// The breakers that opened or closed with this call.
    pub turned: Vec<(Whose, Turned)>,
    /// The trouble that was made on purpose.
    pub fault: Option<&'static str>,
    /// What an output that looks like a failure looks like, and why.
    pub silent: Option<(FailureKind, String)>,
    /// What the model was told, when it did not simply succeed.
    pub told: Option<String>,
    /// The arguments as the model wrote them, when the guard keeps them.
    pub arguments: Option<String>,
    /// What the model got of what the tool returned, redacted and cut, when the guard keeps it.
    pub output: Option<String>,
    /// What was mended in the arguments.
    pub repairs: Vec<&'static str>,
    /// How many bytes the tool returned.
    pub output_bytes: Option<usize>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// All was done.
    Succeeded,
    /// Some was done.
    Partial,
    /// A substitute did it.
    Substituted,
    /// Nothing came of it.
    Failed,
    /// Nobody waited for the end.
    Abandoned,
}

impl Ending {
    /// Its name in records and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Partial => "partial",
            Self::Substituted => "substituted",
            Self::Failed => "failed",
            Self::Abandoned => "abandoned",
        }
    }
}

impl Record {
    /// The name of the error's type: what failures are counted by, beside the tool.
    pub fn error_type(&self) -> &str {
        match (&self.failure, self.ending) {
            (Some(failure), _) => &failure.error_type,
            (None, Ending::Partial) => "Partial",
            (None, _) => "Abandoned",
        }
    }

    /// About how many bytes it takes in memory.
    pub fn weight(&self) -> usize {
        let texts = [&self.told, &self.arguments, &self.output];
        let failures =
            std::iter::successors(self.failure.as_deref(), |of| of.substitute.as_deref());
        size_of::<Self>()
            + self.id.len()
            + self.run.as_ref().map_or(0, |run| run.len())
            + self.tool.len()
            + failures.map(failure_weight).sum::<usize>()
            + texts.into_iter().flatten().map(String::len).sum::<usize>()
            + self.tries.len() * size_of::<Try>()
    }
}

fn failure_weight(failure: &FailureReport) -> usize {
    let texts = [&failure.resource, &failure.backtrace];
    size_of::<FailureReport>()
        + failure.message.len()
        + failure.tool.len()
        + failure.error_type.len()
        + failure.chain.iter().map(|cause| size_of::<String>() + cause.len()).sum::<usize>()
        + failure.detail.weight()
        + failure.payload.as_ref().map_or(0, |payload| payload.get().len())
        + texts.into_iter().flatten().map(String::len).sum::<usize>()
}
