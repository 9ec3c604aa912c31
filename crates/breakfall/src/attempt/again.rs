//! Whether a call that failed is tried again, and when. Kind and effect decide, then time and
//! budget.

use std::time::Duration;

use crate::{Effect, Failure, MayPass};

/// What is known when a call failed.
pub(super) struct Failed<'a> {
    pub(super) failure: &'a Failure,
    pub(super) effect: Effect,
    /// How many attempts there were.
    pub(super) attempts: u32,
    /// An attempt is still at work though its time is up.
    pub(super) straggles: bool,
    /// It says that the time is up which the call itself gave it.
    pub(super) is_own_time: bool,
    /// How much of the call's time is left.
    pub(super) left: &'a dyn Fn() -> Option<Duration>,
}

/// How long to wait before the next attempt; `None` for none.
pub(super) fn again(
    failed: &Failed<'_>,
    next: impl FnOnce() -> Option<Duration>,
) -> Option<Duration> {
    let failure = failed.failure;
    let may_pass = match failure.may_pass() {
        MayPass::Yes => true,
        MayPass::Once => failed.attempts < 2,
        // Only a service that says when it is back is worth waiting for.
        MayPass::Later => failure.wait().is_some(),
        MayPass::No | MayPass::AfterAnotherStep | MayPass::Unknown => false,
    };
    // The heart of it: what was dispatched is repeated only where twice is no worse than once.
    if !may_pass || !(failed.effect.may_repeat() || failure.never_dispatched()) {
        return None;
    }
    // A second attempt beside the first would be twice the load on what is too slow already.
    if failed.straggles {
        return None;
    }
    // Who asked for it has waited as long as was wanted.
    if failed.is_own_time {
        return None;
    }
    let delay = next()?;
    let wait = failure.wait().map_or(delay, |asked| asked.max(delay));
    (failed.left)().is_none_or(|left| wait < left).then_some(wait)
}
