//! How far a call came: most come to their end at once, and what is left of the others is boxed.

use tokio::time::Instant;

use crate::attempt::{CallKey, Repeating, Step};
use crate::check::Tamed;
use crate::journal::OpenRecord;
use crate::tool::Watch;
use crate::toolbox::{Found, Slot};
use crate::{Arguments, Call, Failure, Output, Reply, Trace};

/// A call that came, with what its name stands for and who waits for it.
pub(super) struct Asked<'a> {
    pub(super) call: &'a Call,
    pub(super) found: &'a Found,
    pub(super) watch: &'a Watch<'a>,
    pub(super) began: Instant,
    /// When the batch came to which it belongs.
    pub(super) made: Option<Instant>,
}

impl Asked<'_> {
    /// When the model made it.
    pub(super) fn made(&self) -> Instant {
        self.made.unwrap_or(self.began)
    }
}

/// What must stay where it is while a tool works with it.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) arguments: Option<Arguments>,
    pub(super) trace: Option<Box<Trace>>,
}

/// A tool that may be called, and arguments that were checked.
pub(super) struct Prepared<'a> {
    pub(super) slot: &'a Slot,
    pub(super) arguments: &'a Arguments,
    /// Which call it is, where the run knows one like it.
    pub(super) known: Option<CallKey>,
}

/// A call whose first attempt came so far.
pub(super) struct Begun<'a> {
    pub(super) slot: &'a Slot,
    pub(super) arguments: &'a Arguments,
    pub(super) known: Option<CallKey>,
    pub(super) tried: Result<Output, Box<Step<'a>>>,
}

impl Begun<'_> {
    /// The text that the tool gave, where there is nothing else to it.
    #[inline]
    pub(super) fn plain(self) -> Result<String, Self> {
        match self {
            Self { known: None, tried: Ok(output), slot, arguments } => {
                let text = output.plain(slot.rules.policy.max_output_bytes);
                text.map_err(|output| Self { slot, arguments, known: None, tried: Ok(output) })
            }
            begun => Err(begun),
        }
    }
}

/// What a call is answered with, or will be. What few calls need is boxed.
pub(super) enum Answer<'a> {
    /// What its tool gave, and nothing else.
    Text(String),
    Reply(Box<Reply>),
    Left(Box<Left<'a>>),
}

/// What is left to do for a call.
pub(super) struct Left<'a> {
    pub(super) record: OpenRecord<'a>,
    pub(super) rest: Rest<'a>,
}

pub(super) enum Rest<'a> {
    /// All of it: a substitute may be needed.
    Raw(Tamed<'a>),
    /// To go on from where its first attempt came to.
    Begun {
        slot: &'a Slot,
        arguments: &'a Arguments,
        known: Option<CallKey>,
        step: Box<Step<'a>>,
        repeats: Repeating,
    },
}

/// The failure of a call that the run may know again.
pub(super) fn of_call(
    failure: Failure,
    known: Option<CallKey>,
    tool: &str,
    arguments: &Arguments,
) -> Failure {
    failure.of_call(|| known.unwrap_or_else(|| CallKey::of(tool, arguments.value())))
}
