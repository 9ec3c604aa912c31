//! Whose move it is after a failure, typed: a voice turns it into words.

use std::time::Duration;

use serde::Serialize;

use super::{Detail, FailureKind};

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

impl Advice {
    /// The one move that fits a failure of this kind with these facts.
    pub(crate) fn of(
        kind: FailureKind,
        detail: &Detail,
        wait: Option<Duration>,
        may_have_taken_effect: bool,
    ) -> Self {
        use FailureKind as K;
        let repeat = || wait.map_or(Self::Repeat, Self::RepeatAfter);
        match kind {
            K::Timeout | K::Network | K::Upstream | K::Cancelled if may_have_taken_effect => {
                Self::VerifyFirst
            }
            K::UnknownTool if matches!(detail, Detail::Names { total: 0, .. }) => Self::GoOnWithout,
            K::UnknownTool => Self::CallAnExistingTool,
            K::Unavailable => wait.map_or(Self::GoOnWithout, Self::RepeatAfter),
            K::Cancelled => Self::GoOnWithout,
            K::InvalidArguments => Self::CorrectTheArguments,
            K::TruncatedArguments => Self::SendLess,
            K::NotFound => Self::LookFirst,
            K::Precondition => Self::DoThatFirst,
            K::Conflict | K::Execution => Self::Decide,
            K::Timeout | K::RateLimited | K::Network | K::Upstream => repeat(),
            K::InvalidOutput => Self::RepeatOnce,
            K::Permission | K::Internal | K::Repeated => Self::DoNotRepeat,
            K::Authentication | K::QuotaExceeded | K::System | K::Broken => Self::TellAPerson,
        }
    }
}
