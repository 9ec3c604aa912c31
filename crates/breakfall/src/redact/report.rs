//! The safe account of a call. Only the redactor builds it.

use std::borrow::Cow;
use std::time::Duration;

use crate::{Advice, Detail, Disposition, FailureKind, Provenance, Reference};

/// The safe account of a call: what came of it, without secrets and of bounded size.
#[derive(Clone, Debug)]
pub enum Report {
    /// The tool returned something, perhaps not for every item.
    Output(OutputReport),
    /// The call did not succeed.
    Failure(Box<FailureReport>),
}

/// What a tool returned.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OutputReport {
    /// The output, bounded.
    pub text: String,
    /// How long it was before it was bounded.
    pub bytes: usize,
    /// Items that failed beside it.
    pub problems: Vec<ItemReport>,
    /// How many items there were in all, when the tool told.
    pub items: Option<usize>,
}

/// An item that failed beside others that did not.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ItemReport {
    /// The item.
    pub item: String,
    /// How it failed.
    pub failure: FailureReport,
}

/// A failure, safe to read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FailureReport {
    /// The name that was called.
    pub tool: String,
    /// Which way it failed.
    pub kind: FailureKind,
    /// Whether the run goes on.
    pub disposition: Disposition,
    /// Whose move it is.
    pub advice: Advice,
    /// The short hash shared by the model's text, the log and the record.
    pub reference: Reference,
    /// Who found the words: decides whether the model may see them.
    pub provenance: Provenance,
    /// The words, for the developer; for the model only where the tool spoke to it.
    pub message: String,
    /// The name of the error's type, or of the kind where there was none.
    pub error_type: Cow<'static, str>,
    /// What is missing, denied or in the way.
    pub resource: Option<String>,
    /// The HTTP status, when one is known.
    pub status: Option<u16>,
    /// How long to wait, when it is known.
    pub wait: Option<Duration>,
    /// What is known beyond the words.
    pub detail: Detail,
    /// How many attempts were made.
    pub attempts: u32,
    /// The call was dispatched and its result is not known.
    pub may_have_taken_effect: bool,
    /// The causes, outermost first.
    pub chain: Vec<String>,
    /// Where it happened, when a backtrace was asked for.
    pub backtrace: Option<String>,
}

impl FailureReport {
    /// The tool's own words for the model, when it spoke to it.
    pub fn said(&self) -> Option<&str> {
        (self.provenance == Provenance::Tool && !self.message.is_empty()).then_some(&*self.message)
    }
}

impl Report {
    /// The failure, when the call did not succeed.
    pub fn failure(&self) -> Option<&FailureReport> {
        match self {
            Self::Output(_) => None,
            Self::Failure(failure) => Some(failure),
        }
    }
}
