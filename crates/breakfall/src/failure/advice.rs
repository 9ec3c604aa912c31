//! Whose move it is after a failure, typed: a voice turns it into words.

use std::time::Duration;

use serde::Serialize;

use super::{Detail, FailureKind, MayPass};

/// Whose move it is, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// The model: call a tool that exists.
    CallAnExistingTool,
    /// The model: another tool, or none.
    GoOnWithout,
    /// The model: correct the arguments and call again.
    CorrectTheArguments,
    /// The model: send the whole call again, shorter.
    SendLess,
    /// The model: find out what exists first.
    LookFirst,
    /// The model: do the missing step first.
    DoThatFirst,
    /// The model: look at what is in the way and decide.
    Decide,
    /// The model: find out whether it took effect before calling again.
    VerifyFirst,
    /// The model: the same call may pass.
    Repeat,
    /// The model: the same call may pass after this wait.
    RepeatAfter(#[serde(rename = "wait")] Duration),
    /// The model: once more, not oftener.
    RepeatOnce,
    /// The model: not the same call again.
    DoNotRepeat,
    /// A person: something must be mended.
    TellAPerson,
}

/// The facts that advice depends on.
pub(crate) struct Standing<'a> {
    pub(crate) kind: FailureKind,
    pub(crate) detail: &'a Detail,
    pub(crate) wait: Option<Duration>,
    pub(crate) may_pass: MayPass,
    pub(crate) may_have_taken_effect: bool,
    pub(crate) times: u32,
}

impl Advice {
    /// The one move that fits a failure with these facts.
    pub(crate) fn of(standing: &Standing<'_>) -> Self {
        let first = Self::at_first(standing);
        match first {
            // It was told that before, and did not help.
            Self::Repeat
            | Self::RepeatOnce
            | Self::Decide
            | Self::LookFirst
            | Self::DoThatFirst
                if standing.times > 1 =>
            {
                Self::DoNotRepeat
            }
            advice => advice,
        }
    }

    fn at_first(standing: &Standing<'_>) -> Self {
        use FailureKind as K;
        // To wait for nothing is no advice.
        let wait = standing.wait.filter(|wait| !wait.is_zero());
        let repeat = || wait.map_or(Self::Repeat, Self::RepeatAfter);
        match standing.kind {
            K::Timeout | K::Network | K::Upstream | K::InvalidOutput | K::Cancelled
                if standing.may_have_taken_effect =>
            {
                Self::VerifyFirst
            }
            K::UnknownTool if matches!(standing.detail, Detail::Names { total: 0, .. }) => {
                Self::GoOnWithout
            }
            K::UnknownTool => Self::CallAnExistingTool,
            // What comes by itself; a lock that someone else holds for a while.
            K::Unavailable | K::Conflict if standing.may_pass == MayPass::Yes => repeat(),
            K::Unavailable => wait.map_or(Self::GoOnWithout, Self::RepeatAfter),
            K::Cancelled => Self::GoOnWithout,
            K::InvalidArguments => Self::CorrectTheArguments,
            K::TruncatedArguments => Self::SendLess,
            K::NotFound => Self::LookFirst,
            K::Precondition => Self::DoThatFirst,
            // A name that nobody knows, a certificate that nobody signed.
            K::Network if standing.may_pass == MayPass::No => Self::DoNotRepeat,
            K::Conflict | K::Execution => Self::Decide,
            K::Timeout | K::RateLimited | K::Network | K::Upstream => repeat(),
            K::InvalidOutput => Self::RepeatOnce,
            K::Permission | K::Internal | K::Repeated => Self::DoNotRepeat,
            K::Authentication | K::QuotaExceeded | K::System | K::Broken => Self::TellAPerson,
        }
    }
}
