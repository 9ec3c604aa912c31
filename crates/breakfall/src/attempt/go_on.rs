//! What few calls need: to wait for a place, for a tool that is not done at once, for another try.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use tokio::time::{Instant, Sleep};

use super::again::{Failed, again};
use super::brought;
use super::delays::Delays;
use super::execute::{begin, context, in_time, on_a_task, stops};
use super::panics::Caught;
use super::{Checked, Passes, Trail, admit, clock, pass};
use crate::tool::{Place, Watch};
use crate::{Failure, FailureKind, Outcome};

/// What came of polling a tool once.
pub(crate) enum Polled<'a> {
    /// It works.
    Works(Caught<'a>),
    /// It answered, and may have left something behind that still works.
    Answered(Outcome),
}

/// How far an attempt came.
pub(crate) enum Step<'a> {
    /// It begins, in its places where it has them.
    Begins(Instant, Option<Passes<'a>>),
    /// Its tool was polled.
    Polled(Passes<'a>, Polled<'a>, &'a Watch<'a>),
    /// It failed; the next one begins then.
    Waits(Waits),
}

/// A failure after which the call is tried again, and when.
pub(crate) struct Waits {
    failure: Failure,
    timer: Pin<Box<Sleep>>,
}

/// Goes on from where an attempt came to, and tries again where that can do no harm.
pub(crate) async fn go_on(
    checked: Checked<'_>,
    trail: &mut Trail,
    mut step: Step<'_>,
    mut repeats: Repeating,
) -> Outcome {
    let Checked { slot, terms, .. } = checked;
    let mut last: Option<Failure> = None;
    loop {
        let since = trail.last_began.unwrap_or(terms.began);
        let (outcome, passes, now) = match step {
            Step::Waits(Waits { failure, timer }) => {
                timer.await;
                let now = Instant::now();
                last = Some(failure);
                step = Step::Begins(now, pass(slot, now, false));
                continue;
            }
            Step::Begins(_, None) => match admit(slot, terms).await {
                Ok(passes) => {
                    step = Step::Begins(Instant::now(), Some(passes));
                    continue;
                }
                // What is known of the first attempt tells more than that there is no second.
                Err(failure) => return Err(last.unwrap_or(failure)),
            },
            Step::Begins(now, Some(passes)) => (execute(checked, trail, now).await, passes, now),
            Step::Polled(passes, polled, watch) => {
                let outcome = match polled {
                    Polled::Works(work) => in_time(checked.limits(trail), watch, work).await,
                    Polled::Answered(outcome) => outcome,
                };
                (left(outcome, watch, trail).await, passes, since)
            }
        };
        match checked.ended(outcome, (passes, now), &mut repeats, trail) {
            Ok(outcome) => return outcome,
            Err(waits) => step = Step::Waits(waits),
        }
    }
}

/// One attempt, from its beginning to its end.
async fn execute(checked: Checked<'_>, trail: &mut Trail, now: Instant) -> Outcome {
    let Checked { arguments, call, .. } = checked;
    let entry = &checked.slot.entry;
    let watch = Watch::new(checked.terms.stragglers);
    let trace = trail.begins(now, entry.spec.effect);
    let outcome = match entry.place {
        Place::Inline => {
            let trace = trace.as_deref();
            let first = poll_fn(|cx| Poll::Ready(begin(entry, arguments, call, trace, &watch, cx)));
            match first.await {
                Ok(outcome) => outcome,
                Err(work) => in_time(checked.limits(trail), &watch, work).await,
            }
        }
        Place::Task => {
            let context = context(entry, call, trace.as_deref(), &watch);
            let work = Box::pin(on_a_task(entry, arguments, context));
            in_time(checked.limits(trail), &watch, work).await
        }
    };
    left(outcome, &watch, trail).await
}

/// Nobody waits any more: what still works is given a moment to stop.
async fn left(outcome: Outcome, watch: &Watch<'_>, trail: &mut Trail) -> Outcome {
    if !watch.leaves_nothing(trail) {
        trail.straggles |= !stops(watch).await;
    }
    outcome
}

/// What decides about another attempt.
#[derive(Default)]
pub(crate) struct Repeating {
    /// How many attempts there were before.
    before: u32,
    delays: Option<Delays>,
}

impl Repeating {
    /// After so many attempts of another tool.
    pub(super) fn after(before: u32) -> Self {
        Self { before, delays: None }
    }

    /// Whether it is tried again after a failure, and when; or the failure, completed.
    pub(super) fn decide(
        &mut self,
        mut failure: Failure,
        checked: Checked<'_>,
        trail: &mut Trail,
    ) -> Result<Waits, Failure> {
        let Checked { slot, terms, .. } = checked;
        failure.facts_mut().attempts = trail.attempts;
        let failed = Failed {
            failure: &failure,
            effect: slot.entry.spec.effect,
            attempts: trail.attempts - self.before,
            straggles: trail.straggles,
            is_own_time: failure.kind() == FailureKind::Timeout
                && failure.is_told()
                && brought::has_time(checked.arguments.value()),
            left: &|| terms.left(trail, Instant::now()),
        };
        let delays = self.delays.get_or_insert_with(|| Delays::new(&slot.rules.policy.retry));
        let next = || delays.next(|| terms.dice.throw());
        let Some(wait) = again(&failed, next) else { return Err(failure) };
        let (budget, rules) = slot.budget();
        if !budget.may_repeat(rules) {
            return Err(failure);
        }
        // Without timers there is no waiting, and no second attempt without waiting.
        let Some(timer) = clock::timer(wait) else { return Err(failure) };
        trail.waits(wait);
        Ok(Waits { failure, timer })
    }
}
