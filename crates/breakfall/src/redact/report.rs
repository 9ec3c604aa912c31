//! The safe account of a call. Only the redactor builds it.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;

use super::Terms;
use crate::failure::{Facts, Standing, Words};
use crate::{Advice, Detail, Disposition, Failure, FailureKind, MayPass, Provenance, Reference};

/// The safe account of a call: what came of it, without secrets and of bounded size.
#[derive(Clone, Debug)]
pub enum Report {
    /// The tool returned something, perhaps not for every item.
    Output(Box<OutputReport>),
    /// The call did not succeed.
    Failure(Arc<FailureReport>),
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
    /// What a door passes on to the letter.
    pub payload: Option<Box<RawValue>>,
    /// Whose place it takes: a substitute answered.
    pub instead: Option<Box<InsteadReport>>,
}

impl OutputReport {
    /// The account of an output of so many bytes, whose text is elsewhere.
    pub(crate) fn of_bytes(bytes: usize) -> Self {
        let (text, problems) = (String::new(), Vec::new());
        Self { text, bytes, problems, items: None, payload: None, instead: None }
    }
}

/// A substitute answered.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InsteadReport {
    /// The tool that answered; `None` for a fixed value.
    pub by: Option<String>,
    /// How the tool that was called failed.
    pub of: Arc<FailureReport>,
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
    /// Could the same call succeed later?
    pub may_pass: MayPass,
    /// How often the model made this call in this run and it failed in this way.
    pub times: u32,
    /// The substitute that was tried and failed, too, and how.
    pub substitute: Option<Box<FailureReport>>,
    /// The call was dispatched and its result is not known.
    pub may_have_taken_effect: bool,
    /// What runs the tool was started anew, and this is the first that is told of it since.
    pub is_anew: bool,
    /// The causes, outermost first.
    pub chain: Vec<String>,
    /// Where it happened, when a backtrace was asked for.
    pub backtrace: Option<String>,
    /// How many characters of the words could not be seen and were removed.
    pub removed_characters: usize,
    /// The words are what a program printed that the call brought along.
    pub is_of_program: bool,
    /// What a door passes on beside the words.
    pub payload: Option<Box<RawValue>>,
}

impl FailureReport {
    /// The account of facts that are free of secrets.
    pub(super) fn of(facts: Facts, tool: String, terms: &Terms) -> Self {
        let Facts {
            kind,
            provenance,
            message,
            resource,
            status,
            wait,
            detail,
            attempts,
            may_pass,
            not_dispatched: _,
            may_have_taken_effect,
            is_anew,
            times,
            words,
            json_rpc_code: _,
            payload,
            key: _,
            substitute: _,
            type_name,
            source: _,
            source_says: _,
            backtrace,
        } = facts;
        let may_pass = may_pass.unwrap_or(kind.may_pass());
        Self {
            disposition: terms.dispositions.of(terms.tool, kind, &detail),
            advice: Advice::of(&Standing {
                kind,
                detail: &detail,
                wait,
                may_pass,
                may_have_taken_effect,
                times,
            }),
            reference: Reference::of(kind, &tool, &message),
            error_type: type_name.unwrap_or(Cow::Borrowed(kind.type_name())),
            tool,
            kind,
            provenance,
            message,
            resource,
            status,
            wait,
            detail,
            attempts,
            may_pass,
            times,
            may_have_taken_effect,
            is_anew,
            substitute: None,
            chain: Vec::new(),
            backtrace,
            is_of_program: words == Words::OfProgram,
            removed_characters: 0,
            payload,
        }
    }

    /// The tool's own words for the model, when it spoke to it.
    pub fn said(&self) -> Option<&str> {
        (self.provenance == Provenance::Tool && !self.message.is_empty()).then_some(&*self.message)
    }
}

impl Report {
    /// The account of a fault of ours, when the account of the call could not be given: nothing
    /// of the call is looked at but its name.
    pub(crate) fn broken(terms: &Terms, fault: &Failure) -> Self {
        let tool: String = terms.tool.chars().filter(char::is_ascii_graphic).take(64).collect();
        let message = "the account of this call could not be given".to_owned();
        let facts = Failure::new(fault.kind(), Provenance::Hidden, message).into_facts();
        Self::Failure(Arc::new(FailureReport::of(facts, tool, terms)))
    }

    /// How the tool that was called failed, also where a substitute answered.
    pub(crate) fn cause(&self) -> Option<&Arc<FailureReport>> {
        match self {
            Self::Output(output) => output.instead.as_ref().map(|instead| &instead.of),
            Self::Failure(failure) => Some(failure),
        }
    }

    /// The substitute that answered or failed, too; empty for a fixed value.
    pub(crate) fn substitute(&self) -> Option<&str> {
        match self {
            Self::Output(output) => {
                output.instead.as_ref().map(|instead| instead.by.as_deref().unwrap_or_default())
            }
            Self::Failure(failure) => failure.substitute.as_ref().map(|failure| &*failure.tool),
        }
    }

    /// The failure, when the call did not succeed.
    pub fn failure(&self) -> Option<&FailureReport> {
        match self {
            Self::Output(_) => None,
            Self::Failure(failure) => Some(failure),
        }
    }
}
