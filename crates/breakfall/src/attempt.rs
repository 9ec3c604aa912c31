//! One call to a tool that was found, with arguments that were checked: tried within its time, and
//! again where that can do no harm.

mod again;
mod breaker;
mod brought;
mod budget;
mod clock;
mod complete;
mod delays;
#[cfg(test)]
mod differential;
mod execute;
mod gate;
mod go_on;
pub(crate) mod panics;
mod policy;
#[cfg(test)]
mod reference;
mod repeat;
mod tally;
mod trail;
mod window;

pub(crate) use breaker::Breaker;
pub use breaker::{BreakerState, Trip, TripCause, Turned};
pub(crate) use execute::on_a_blocking_thread;
pub(crate) use gate::Gate;
pub use gate::{GateState, Whose};
pub use policy::{
    BreakerRules, BudgetRules, Checking, GateRules, Policy, Repair, RepeatRules, Retry, SilentRule,
};
pub(crate) use repeat::{CallKey, Refusal, Repeats, Way};
pub use trail::Try;
pub(crate) use trail::{Rare, Trail};

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use self::breaker::Verdict;
use self::complete::complete;
use self::execute::begin;
use self::gate::Pass;
use self::go_on::Waits;
pub(crate) use self::go_on::{Polled, Repeating, Step, go_on};
use crate::classify::{self, Reader, Silent};
use crate::dice::Dice;
use crate::tool::{Output, Place, Stragglers, Watch};
use crate::toolbox::{Rules, Slot};
use crate::{
    Arguments, Call, Detail, Failure, FailureKind, Outcome, Provenance, ToolSpec, Trace, journal,
};

/// What an attempt needs of the guard.
pub(crate) struct Terms<'g> {
    pub(crate) reader: &'g Reader,
    pub(crate) stragglers: &'g Arc<Stragglers>,
    /// When the call began, and when it must end.
    pub(crate) began: Instant,
    pub(crate) deadline: Option<Instant>,
    pub(crate) dice: &'g Dice,
}

/// What is tried: a call whose tool was found and whose arguments were checked.
#[derive(Clone, Copy)]
pub(crate) struct Checked<'a> {
    pub(crate) slot: &'a Slot,
    pub(crate) arguments: &'a Arguments,
    pub(crate) call: &'a Call,
    pub(crate) terms: &'a Terms<'a>,
}

/// Tries a call: admit, execute, classify, settle, and again where that can do no harm.
pub(crate) async fn attempt(checked: Checked<'_>, trail: &mut Trail) -> Outcome {
    // The clock is read at both ends of an attempt, and not in between.
    let now = if trail.attempts == 0 { checked.terms.began } else { Instant::now() };
    // A substitute has attempts of its own, and no part in what its tool left behind.
    let repeats = Repeating::after(trail.attempts);
    trail.straggles = false;
    let first = Step::Begins(now, pass(checked.slot, now, true));
    go_on(checked, trail, first, repeats).await
}

/// An attempt as far as it comes without waiting: what most tools give, or the step to go on from.
#[inline]
pub(crate) fn at_once<'a>(
    (slot, arguments): (&'a Slot, &'a Arguments),
    (call, watch): (&'a Call, &'a Watch<'a>),
    trace: impl FnOnce() -> Option<&'a Trace>,
    (now, reader): (Instant, &Reader),
    cx: &mut std::task::Context<'_>,
) -> Result<Output, Box<Step<'a>>> {
    let mut passes = match pass(slot, now, true) {
        Some(passes) if slot.entry.place == Place::Inline => passes,
        passes => return Err(Box::new(Step::Begins(now, passes))),
    };
    let polled = match begin(&slot.entry, arguments, call, trace(), watch, cx) {
        Ok(Ok(output))
            if !watch.has_line()
                && !is_silent(slot, reader, &output)
                && passes.go_well_at_once() =>
        {
            // They are given up: there is nothing to be dropped.
            std::mem::forget(passes);
            return Ok(output);
        }
        Ok(outcome) => Polled::Answered(outcome),
        Err(work) => Polled::Works(work),
    };
    Err(Box::new(Step::Polled(passes, polled, watch)))
}

impl Checked<'_> {
    /// What comes of an attempt that ended: an outcome, or another attempt.
    pub(crate) fn ended(
        self,
        outcome: Outcome,
        (passes, began): (Passes<'_>, Instant),
        repeats: &mut Repeating,
        trail: &mut Trail,
    ) -> Result<Outcome, Waits> {
        match self.settled(outcome, (passes, began), trail) {
            Ok(output) => Ok(Ok(output)),
            Err(failure) => match repeats.decide(failure, self, trail) {
                Ok(waits) => Err(waits),
                Err(failure) => Ok(Err(failure)),
            },
        }
    }

    /// What came of an attempt, all considered.
    fn settled(
        self,
        outcome: Outcome,
        (passes, began): (Passes<'_>, Instant),
        trail: &mut Trail,
    ) -> Outcome {
        let Self { slot, arguments, terms, .. } = self;
        trail.under_way = None;
        let outcome = heard(outcome, slot, terms.reader, trail);
        let ended = Instant::now();
        let mut failure = match outcome {
            Ok(output) => {
                passes.settle(&slot.entry.spec, (Verdict::Good, Verdict::Good), ended, trail);
                return Ok(output);
            }
            Err(failure) => failure,
        };
        classify::classify(&mut failure, terms.reader, &slot.entry.spec.name);
        let failure = complete(failure, arguments, &slot.entry.spec);
        let verdicts = (of_tool(&failure, (slot, arguments), began), of_upstream(&failure, began));
        passes.settle(&slot.entry.spec, verdicts, ended, trail);
        trail.failed(began - terms.began, ended - began, failure.kind());
        Err(failure)
    }
}

/// The places that a call takes while it runs.
pub(crate) struct Passes<'g> {
    tool: Pass<'g>,
    upstream: Option<Pass<'g>>,
}

/// Its places at once, where nothing stands in the way. The budget is that of its upstream, where it
/// has one: which is asked first, so that the call counts in any case.
#[inline]
pub(crate) fn pass(slot: &Slot, now: Instant, counts: bool) -> Option<Passes<'_>> {
    let upstream = match &slot.upstream {
        Some(gate) => Some(gate.pass(&slot.rules.upstream, now, counts)?),
        None => None,
    };
    let counts = counts && upstream.is_none();
    let tool = slot.gate.pass(&slot.rules.policy.gate, now, counts)?;
    Some(Passes { tool, upstream })
}

/// Its places, waited for where they are taken; or why it has none.
async fn admit<'s>(slot: &'s Slot, terms: &Terms<'_>) -> Result<Passes<'s>, Failure> {
    let Rules { policy, upstream: rules, .. } = &slot.rules;
    let mut tool = slot.gate.enter(&policy.gate, Whose::Tool, terms.deadline).await?;
    let mut upstream = match &slot.upstream {
        Some(gate) => Some(gate.enter(rules, Whose::Upstream, terms.deadline).await?),
        None => None,
    };
    tool.admit(Whose::Tool)?;
    if let Some(pass) = &mut upstream {
        pass.admit(Whose::Upstream)?;
    }
    Ok(Passes { tool, upstream })
}

impl Terms<'_> {
    /// How much of the call's time is left; what was waited for a person does not count.
    fn left(&self, trail: &Trail, now: Instant) -> Option<Duration> {
        Some(self.deadline(trail)?.saturating_duration_since(now))
    }

    fn deadline(&self, trail: &Trail) -> Option<Instant> {
        match trail.rare() {
            None => self.deadline,
            Some(rare) => self.deadline?.checked_add(rare.held),
        }
    }
}

impl Passes<'_> {
    /// Ends a call that went well at once, where that is nothing but a count.
    #[inline]
    fn go_well_at_once(&mut self) -> bool {
        if let Some(upstream) = &mut self.upstream {
            if !upstream.goes_well_at_once() {
                return false;
            }
            // It has left, and settles nothing any more.
            self.upstream = None;
        }
        self.tool.goes_well_at_once()
    }

    fn settle(
        self,
        spec: &ToolSpec,
        (tool, upstream): (Verdict, Verdict),
        now: Instant,
        trail: &mut Trail,
    ) {
        let upstream = self.upstream.and_then(|pass| pass.settle(upstream, now));
        let tool = self.tool.settle(tool, now);
        if tool.is_none() && upstream.is_none() {
            return;
        }
        for (whose, turned) in [(Whose::Tool, tool), (Whose::Upstream, upstream)] {
            let Some(turned) = turned else { continue };
            journal::breaker_turned(spec, whose, &turned);
            trail.rare_mut().turned.push((whose, turned));
        }
    }
}

/// What a failure says of the tool: only what is no fault of the call counts against it, nor of what
/// the call brought along.
fn of_tool(failure: &Failure, (slot, arguments): (&Slot, &Arguments), began: Instant) -> Verdict {
    let is_brought = || {
        let is_another = |address: &str| failure.is_told() || slot.gate.is_another_address(address);
        failure.is_of_program() || brought::address(arguments.value()).is_some_and(is_another)
    };
    match failure.kind() {
        FailureKind::Timeout | FailureKind::Upstream | FailureKind::Network if is_brought() => {
            Verdict::Good
        }
        kind @ (FailureKind::Timeout | FailureKind::Upstream) => Verdict::Bad(kind),
        kind @ FailureKind::Network if failure.is_told() => Verdict::Bad(kind),
        _ => of_upstream(failure, began),
    }
}

/// What a failure says of the whole upstream: one tool that is slow or broken says nothing of the
/// others, a server that is gone does. One that answers is there, whatever it says of others.
fn of_upstream(failure: &Failure, began: Instant) -> Verdict {
    match failure.kind() {
        FailureKind::Network if failure.is_told() => Verdict::Good,
        FailureKind::Network if failure.detail() == &Detail::Gone => Verdict::Lost(began),
        kind @ FailureKind::Network => Verdict::Bad(kind),
        // A panic or a crash; an exception that was reported is an answer.
        kind @ FailureKind::Internal if failure.provenance() == Provenance::Hidden => {
            Verdict::Bad(kind)
        }
        FailureKind::Timeout
        | FailureKind::Upstream
        | FailureKind::Cancelled
        | FailureKind::Unavailable
        | FailureKind::Broken => Verdict::Neither,
        _ => Verdict::Good,
    }
}

/// Looks whether a success is one.
fn heard(outcome: Outcome, slot: &Slot, reader: &Reader, trail: &mut Trail) -> Outcome {
    let output = outcome?;
    let Some(silent) = silent(slot, reader, &output) else { return Ok(output) };
    trail.rare_mut().silent = Some((silent.kind, silent.why));
    match slot.rules.policy.silent {
        SilentRule::Ignore | SilentRule::Note => Ok(output),
        SilentRule::Fail => Err(said_as_success(silent.kind, output)),
    }
}

/// What an output looks like that is none, where anybody wants to know.
fn silent(slot: &Slot, reader: &Reader, output: &Output) -> Option<Silent> {
    match slot.rules.policy.silent {
        SilentRule::Ignore => None,
        SilentRule::Note | SilentRule::Fail => classify::silent_output(reader, output),
    }
}

/// Whether an output looks like none; what most begin with tells it.
#[inline]
fn is_silent(slot: &Slot, reader: &Reader, output: &Output) -> bool {
    classify::may_be_silent(output) && silent(slot, reader, output).is_some()
}

/// A success that is none, as the failure it is; its words were for the model.
fn said_as_success(kind: FailureKind, output: Output) -> Failure {
    Failure::new(kind, Provenance::Tool, output.into_text())
}
