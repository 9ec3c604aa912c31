//! What lets calls through to a tool, or to all tools of an upstream: its breaker, its places, its
//! budget for repeats.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::breaker::{Breaker, BreakerState, HeldBack, Ticket, Trip, Turned, Verdict};
use super::budget::Budget;
use super::clock;
use super::policy::GateRules;
use crate::{Block, Detail, Failure, FailureKind};

/// Lets calls through, or turns them away.
#[derive(Default)]
pub(crate) struct Gate {
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    breaker: Breaker,
    budget: Budget,
    running: usize,
    /// Each is told when a place is its own.
    waiting: VecDeque<oneshot::Sender<()>>,
}

impl Inside {
    fn has_place(&self, rules: &GateRules) -> bool {
        rules.concurrency.is_none_or(|most| self.running < most.max(1))
    }
}

/// What a gate does now, for the developer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GateState {
    /// Whether calls are let through.
    pub breaker: BreakerState,
    /// Why the breaker opened, the newest last; only the last few.
    pub trips: Vec<Trip>,
    /// How often the breaker opened.
    pub tripped: u64,
    /// How many calls run.
    pub running: usize,
    /// How many wait for a place.
    pub waiting: usize,
}

/// Whose gate it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Whose {
    /// The tool's.
    Tool,
    /// That of the upstream to which the tool belongs.
    Upstream,
}

/// A call that was let through. Dropped without a verdict, it says nothing of the tool.
pub(crate) struct Pass<'g> {
    gate: &'g Gate,
    rules: &'g GateRules,
    whose: Whose,
    ticket: Option<Ticket>,
}

impl Gate {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a call a place and lets it through, where nothing stands in the way: all that most
    /// calls need, at once. One that counts is one more that may be repeated.
    pub(crate) fn pass<'g>(
        &'g self,
        rules: &'g GateRules,
        whose: Whose,
        (now, counts): (Instant, bool),
    ) -> Option<Pass<'g>> {
        let mut inside = self.inside();
        if let Some(budget) = rules.budget.as_ref().filter(|_| counts) {
            inside.budget.call(budget, now);
        }
        if !inside.has_place(rules) {
            return None;
        }
        let ticket = match &rules.breaker {
            Some(_) => Some(inside.breaker.admit(now).ok()?),
            None => None,
        };
        inside.running += 1;
        Some(Pass { gate: self, rules, whose, ticket })
    }

    /// Gives a call a place, at once or when one is free before the deadline.
    pub(crate) async fn enter<'g>(
        &'g self,
        rules: &'g GateRules,
        whose: Whose,
        deadline: Option<Instant>,
    ) -> Result<Pass<'g>, Failure> {
        let pass = || Pass { gate: self, rules, whose, ticket: None };
        let turn = {
            let mut inside = self.inside();
            if inside.has_place(rules) {
                inside.running += 1;
                return Ok(pass());
            }
            // A call that would be held back need not wait to hear it.
            if rules.breaker.is_some()
                && let BreakerState::Open { wait } = inside.breaker.state(Instant::now())
            {
                return Err(held_back(whose, Some(wait)));
            }
            inside.waiting.retain(|sender| !sender.is_closed());
            if inside.waiting.len() >= rules.queue {
                return Err(crowded(whose));
            }
            let (sender, receiver) = oneshot::channel();
            inside.waiting.push_back(sender);
            Turn { gate: self, receiver }
        };
        let longest = deadline.map_or(rules.queue_timeout, |deadline| {
            rules.queue_timeout.min(deadline.saturating_duration_since(Instant::now()))
        });
        if turn.comes_within(longest).await { Ok(pass()) } else { Err(crowded(whose)) }
    }

    /// Takes a repeat out of the budget; false where none is left.
    pub(crate) fn may_repeat(&self, rules: &GateRules) -> bool {
        rules
            .budget
            .as_ref()
            .is_none_or(|budget| self.inside().budget.repeat(budget, Instant::now()))
    }

    pub(crate) fn state(&self) -> GateState {
        let mut inside = self.inside();
        inside.waiting.retain(|sender| !sender.is_closed());
        let (trips, tripped) = inside.breaker.trips();
        GateState {
            breaker: inside.breaker.state(Instant::now()),
            trips,
            tripped,
            running: inside.running,
            waiting: inside.waiting.len(),
        }
    }

    pub(crate) fn change_breaker(&self, change: impl FnOnce(&mut Breaker)) {
        change(&mut self.inside().breaker);
    }

    /// Hands a place on to who waits longest, or gives it up.
    fn leave(inside: &mut Inside) {
        while let Some(next) = inside.waiting.pop_front() {
            if next.send(()).is_ok() {
                return;
            }
        }
        inside.running = inside.running.saturating_sub(1);
    }
}

impl Pass<'_> {
    /// Lets the call through, or holds it back: at the last moment, when it has all its places.
    pub(crate) fn admit(&mut self) -> Result<(), Failure> {
        if self.rules.breaker.is_none() {
            return Ok(());
        }
        let admitted = self.gate.inside().breaker.admit(Instant::now());
        self.ticket = Some(admitted.map_err(|HeldBack(wait)| held_back(self.whose, wait))?);
        Ok(())
    }

    /// Says what came of the call; tells where that turns the breaker.
    pub(crate) fn settle(self, verdict: Verdict, now: Instant) -> Option<Turned> {
        // Dropped it would end a second time.
        std::mem::ManuallyDrop::new(self).end(verdict, now)
    }

    fn end(&mut self, verdict: Verdict, now: Instant) -> Option<Turned> {
        let mut inside = self.gate.inside();
        let turned = match (self.ticket, &self.rules.breaker) {
            (Some(ticket), Some(rules)) => inside.breaker.settle(ticket, verdict, rules, now),
            _ => None,
        };
        Gate::leave(&mut inside);
        turned
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.end(Verdict::Neither, Instant::now());
    }
}

/// A call that waits for a place.
struct Turn<'g> {
    gate: &'g Gate,
    receiver: oneshot::Receiver<()>,
}

impl Turn<'_> {
    async fn comes_within(mut self, longest: Duration) -> bool {
        matches!(clock::within(longest, &mut self.receiver).await, Some(Ok(())))
    }
}

/// Who stops waiting while a place comes gives it on.
impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.receiver.close();
        if self.receiver.try_recv().is_ok() {
            Gate::leave(&mut self.gate.inside());
        }
    }
}

fn held_back(whose: Whose, wait: Option<Duration>) -> Failure {
    let block = match whose {
        Whose::Tool => Block::BreakerOpen,
        Whose::Upstream => Block::UpstreamBreakerOpen,
    };
    let failure = blocked(block);
    match wait {
        // Whole seconds: the model needs no more, and the text changes less.
        Some(wait) => failure
            .wait_for(Duration::from_secs(wait.as_secs() + u64::from(wait.subsec_nanos() > 0))),
        None => failure,
    }
}

fn crowded(whose: Whose) -> Failure {
    blocked(match whose {
        Whose::Tool => Block::QueueFull,
        Whose::Upstream => Block::UpstreamQueueFull,
    })
}

fn blocked(block: Block) -> Failure {
    Failure::found(FailureKind::Unavailable, Detail::Blocked(block)).not_dispatched()
}
