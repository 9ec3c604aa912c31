//! What lets calls through to a tool, or to all tools of an upstream: its breaker, its places, its
//! budget for repeats.

use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use foldhash::fast::FixedState;
use serde::Serialize;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::breaker::{Breaker, BreakerState, HeldBack, Ticket, Trip, Turned, Verdict};
use super::budget::Budget;
use super::clock;
use super::policy::GateRules;
use super::tally::Tally;
use crate::{Block, Detail, Failure, FailureKind};

/// Lets calls through, or turns them away. Most calls need no lock: they come while the breaker is
/// closed, go well, and are counted beside it until the next who takes it.
pub(crate) struct Gate {
    /// The ticket of every call while the breaker is closed.
    open_to_all: AtomicU64,
    /// How many calls run. Where places are few it changes under the lock.
    running: AtomicUsize,
    tally: Tally,
    inside: Mutex<Inside>,
    /// Stands for the address that failed last, of those that calls bring along.
    address: AtomicU64,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            open_to_all: AtomicU64::new(Breaker::default().open_to_all()),
            running: AtomicUsize::new(0),
            tally: Tally::default(),
            inside: Mutex::default(),
            address: AtomicU64::new(0),
        }
    }
}

impl Gate {
    /// An address that a call brought along failed: whether it is another than the last.
    pub(super) fn is_another_address(&self, address: &str) -> bool {
        let address = FixedState::default().hash_one(address) | 1;
        let last = self.address.swap(address, Ordering::Relaxed);
        last != 0 && last != address
    }
}

#[derive(Default)]
struct Inside {
    breaker: Breaker,
    budget: Budget,
    /// Each is told when a place is its own.
    waiting: VecDeque<oneshot::Sender<()>>,
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
    ticket: Option<Ticket>,
    way: Way,
}

/// How a call came. As wide as the rest of its pass, which is moved without looking at its parts so.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
enum Way {
    /// Without the lock.
    Beside,
    /// With it.
    Within,
    /// It has left.
    Gone,
}

impl Gate {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((came, well)) = self.tally.take() {
            inside.budget.calls_came(came);
            inside.breaker.went_well(well);
        }
        inside
    }

    fn has_place(&self, rules: &GateRules) -> bool {
        let running = || self.running.load(Ordering::Relaxed);
        rules.concurrency.is_none_or(|most| running() < most.max(1))
    }

    /// Asks the breaker or tells it something, and lets everybody know what it does then.
    fn at_breaker<T>(&self, breaker: &mut Breaker, act: impl FnOnce(&mut Breaker) -> T) -> T {
        let done = act(breaker);
        if self.open_to_all.swap(breaker.open_to_all(), Ordering::Relaxed) != breaker.open_to_all()
        {
            self.tally.stops();
        }
        done
    }

    /// From now on calls may be counted beside the lock, until the first window goes on.
    fn tallies(&self, inside: &Inside, rules: &GateRules, now: Instant) {
        let of_breaker = rules.breaker.as_ref().map(|_| inside.breaker.until().unwrap_or(now));
        self.tally.begins(now, [of_breaker, inside.budget.until()]);
    }

    /// Gives a call a place and lets it through, where nothing stands in the way: all that most
    /// calls need, at once. One that counts is one more that may be repeated.
    #[inline]
    pub(crate) fn pass<'g>(
        &'g self,
        rules: &'g GateRules,
        now: Instant,
        counts: bool,
    ) -> Option<Pass<'g>> {
        let ticket = Ticket::of_all(self.open_to_all.load(Ordering::Relaxed));
        let is_plain = rules.concurrency.is_none()
            && (ticket.is_some() || rules.breaker.is_none())
            && self.tally.comes(counts && rules.budget.is_some(), now);
        if is_plain {
            self.running.fetch_add(1, Ordering::Relaxed);
            return Some(Pass { gate: self, rules, ticket, way: Way::Beside });
        }
        self.pass_one_by_one(rules, now, counts)
    }

    #[cold]
    fn pass_one_by_one<'g>(
        &'g self,
        rules: &'g GateRules,
        now: Instant,
        counts: bool,
    ) -> Option<Pass<'g>> {
        let mut inside = self.inside();
        if let Some(budget) = rules.budget.as_ref().filter(|_| counts) {
            inside.budget.call(budget, now);
        }
        self.tallies(&inside, rules, now);
        if !self.has_place(rules) {
            return None;
        }
        let ticket = match &rules.breaker {
            Some(_) => {
                Some(self.at_breaker(&mut inside.breaker, |breaker| breaker.admit(now)).ok()?)
            }
            None => None,
        };
        self.running.fetch_add(1, Ordering::Relaxed);
        Some(Pass { gate: self, rules, ticket, way: Way::Within })
    }

    /// Gives a call a place, at once or when one is free before the deadline.
    pub(crate) async fn enter<'g>(
        &'g self,
        rules: &'g GateRules,
        whose: Whose,
        deadline: Option<Instant>,
    ) -> Result<Pass<'g>, Failure> {
        let pass = || Pass { gate: self, rules, ticket: None, way: Way::Within };
        let turn = {
            let mut inside = self.inside();
            if self.has_place(rules) {
                self.running.fetch_add(1, Ordering::Relaxed);
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
            running: self.running.load(Ordering::Relaxed),
            waiting: inside.waiting.len(),
        }
    }

    pub(crate) fn change_breaker(&self, change: impl FnOnce(&mut Breaker)) {
        self.at_breaker(&mut self.inside().breaker, change);
    }

    /// Hands a place on to who waits longest, or gives it up.
    fn leave(&self, inside: &mut Inside) {
        while let Some(next) = inside.waiting.pop_front() {
            if next.send(()).is_ok() {
                return;
            }
        }
        self.running.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Pass<'_> {
    /// Lets the call through, or holds it back: at the last moment, when it has all its places.
    pub(crate) fn admit(&mut self, whose: Whose) -> Result<(), Failure> {
        if self.rules.breaker.is_none() {
            return Ok(());
        }
        let breaker = &mut self.gate.inside().breaker;
        let admitted = self.gate.at_breaker(breaker, |breaker| breaker.admit(Instant::now()));
        self.ticket = Some(admitted.map_err(|HeldBack(wait)| held_back(whose, wait))?);
        Ok(())
    }

    /// Says what came of the call; tells where that turns the breaker.
    pub(crate) fn settle(mut self, verdict: Verdict, now: Instant) -> Option<Turned> {
        let goes_well =
            verdict == Verdict::Good && self.is_undisturbed() && self.gate.tally.goes_well(now);
        if goes_well {
            self.leaves();
            return None;
        }
        self.end(verdict, now)
    }

    /// Ends a call that went well at once, where that is nothing but a count: it counts when it
    /// came, and no clock is read. False where more is to be done.
    #[inline]
    pub(crate) fn goes_well_at_once(&mut self) -> bool {
        let is_plain = self.is_undisturbed();
        if is_plain {
            self.gate.tally.goes_well_at_once();
            self.leaves();
        }
        is_plain
    }

    /// Whether it came without the lock, and the breaker did not turn since.
    #[inline]
    fn is_undisturbed(&self) -> bool {
        let now = Ticket::of_all(self.gate.open_to_all.load(Ordering::Relaxed));
        self.way == Way::Beside && self.ticket == now
    }

    #[inline]
    fn leaves(&mut self) {
        self.gate.running.fetch_sub(1, Ordering::Relaxed);
        self.way = Way::Gone;
    }

    #[cold]
    fn end(&mut self, verdict: Verdict, now: Instant) -> Option<Turned> {
        self.way = Way::Gone;
        let mut inside = self.gate.inside();
        let turned = match (self.ticket, &self.rules.breaker) {
            (Some(ticket), Some(rules)) => self.gate.at_breaker(&mut inside.breaker, |breaker| {
                breaker.settle(ticket, verdict, rules, now)
            }),
            _ => None,
        };
        self.gate.tallies(&inside, self.rules, now);
        self.gate.leave(&mut inside);
        turned
    }
}

impl Drop for Pass<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.way != Way::Gone {
            self.end(Verdict::Neither, Instant::now());
        }
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
            self.gate.leave(&mut self.gate.inside());
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

/// How long who finds no place is told to wait.
const CROWDED: Duration = Duration::from_secs(1);

fn crowded(whose: Whose) -> Failure {
    let block = match whose {
        Whose::Tool => Block::QueueFull,
        Whose::Upstream => Block::UpstreamQueueFull,
    };
    blocked(block).wait_for(CROWDED)
}

fn blocked(block: Block) -> Failure {
    Failure::found(FailureKind::Unavailable, Detail::Blocked(block)).not_dispatched()
}

#[cfg(test)]
mod tests;
