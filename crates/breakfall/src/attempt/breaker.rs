//! Rest after failures: a pure machine of closed, open and half-open. The clock is the caller's.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::time::Duration;

use serde::Serialize;
use tokio::time::Instant;

use super::policy::BreakerRules;
use super::window::Window;
use crate::FailureKind;

/// How many trips are remembered with their causes.
const TRIPS: usize = 16;

const GOOD: usize = 0;
const BAD: usize = 1;

/// Lets calls through, or holds them back after failures.
#[derive(Clone, Debug, Default)]
pub(crate) struct Breaker {
    phase: Phase,
    /// Grows with every change of phase, so that a call let through before it is not counted
    /// after it.
    epoch: u64,
    consecutive: u32,
    window: Window,
    tripped: u64,
    trips: VecDeque<Trip>,
    /// When the thing behind it was last told to be gone.
    lost: Option<Instant>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Phase {
    #[default]
    Closed,
    Open {
        since: Instant,
        open_for: Duration,
    },
    HalfOpen {
        probing: bool,
        successes: u32,
        open_for: Duration,
    },
    /// By hand, until told otherwise.
    Held,
}

/// Says that a call was let through, in which epoch, and whether as a probe: in one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket(NonZeroU64);

/// No ticket: each call is looked at.
const NONE: u64 = 0;

impl Ticket {
    fn new(epoch: u64, is_probe: bool) -> Self {
        Self(NonZeroU64::MIN.saturating_add(epoch << 1 | u64::from(is_probe)))
    }

    /// The ticket that everybody has, where there is one.
    pub(crate) fn of_all(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(Self)
    }

    fn epoch(self) -> u64 {
        (self.0.get() - 1) >> 1
    }

    fn is_probe(self) -> bool {
        (self.0.get() - 1) & 1 == 1
    }
}

/// What a call says of the thing behind the breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It works, whatever it answered.
    Good,
    /// It does not.
    Bad(FailureKind),
    /// It went away while this call was under way, which began then. Every such call tells of it;
    /// it happened once.
    Lost(Instant),
    /// Nothing: the call was stopped, or never reached it.
    Neither,
}

/// What counts of a verdict: that it works, or how it does not; nothing where neither is told.
type Told = Option<Result<(), FailureKind>>;

/// A call is held back; for how long, when that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeldBack(pub(crate) Option<Duration>);

/// Why a breaker opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Trip {
    /// The failure that did it.
    pub kind: FailureKind,
    /// What was too much.
    pub cause: TripCause,
    /// How long calls are held back.
    pub open_for: Duration,
}

/// A breaker turned: it holds calls back from now on, or lets them through again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Turned {
    /// It holds calls back.
    Opened(Trip),
    /// The probes went well.
    Closed,
}

/// What was too much for a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TripCause {
    /// So many failures in a row.
    Consecutive(u32),
    /// So many failures of so many calls.
    Rate {
        /// Failures.
        failed: u32,
        /// Calls.
        of: u32,
    },
    /// A probe failed.
    Probe,
}

/// Whether calls are let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BreakerState {
    /// Every call.
    Closed,
    /// None, for so long.
    Open {
        /// How long still.
        wait: Duration,
    },
    /// One at a time, to see whether it works again.
    HalfOpen,
    /// None, until told otherwise.
    Held,
}

impl Breaker {
    /// Lets a call through or holds it back.
    pub(crate) fn admit(&mut self, now: Instant) -> Result<Ticket, HeldBack> {
        if let Phase::Open { since, open_for } = self.phase {
            if let Some(wait) = left(since, open_for, now) {
                return Err(HeldBack(Some(wait)));
            }
            self.enter(Phase::HalfOpen { probing: false, successes: 0, open_for });
        }
        let is_probe = match &mut self.phase {
            Phase::Held | Phase::HalfOpen { probing: true, .. } => return Err(HeldBack(None)),
            Phase::HalfOpen { probing, .. } => {
                *probing = true;
                true
            }
            Phase::Closed | Phase::Open { .. } => false,
        };
        Ok(Ticket::new(self.epoch, is_probe))
    }

    /// What a ticket is made of as long as the breaker is closed.
    pub(crate) fn open_to_all(&self) -> u64 {
        if self.phase == Phase::Closed { Ticket::new(self.epoch, false).0.get() } else { NONE }
    }

    /// So many calls went well since, in the stretch that is the newest.
    pub(crate) fn went_well(&mut self, calls: u32) {
        if calls > 0 && self.phase == Phase::Closed {
            self.consecutive = 0;
            self.window.add_to_newest(GOOD, calls);
        }
    }

    /// When the newest stretch ends.
    pub(crate) fn until(&self) -> Option<Instant> {
        self.window.until()
    }

    /// Learns what came of a call that was let through; tells where that opens or closes it.
    pub(crate) fn settle(
        &mut self,
        ticket: Ticket,
        verdict: Verdict,
        rules: &BreakerRules,
        now: Instant,
    ) -> Option<Turned> {
        if ticket.epoch() != self.epoch {
            return None;
        }
        let told = self.told_once(verdict, now);
        match &mut self.phase {
            Phase::Closed => self.count(told, rules, now),
            Phase::HalfOpen { probing, successes, open_for } if ticket.is_probe() => {
                *probing = false;
                match told {
                    None => {}
                    Some(Ok(())) => {
                        *successes += 1;
                        if *successes >= rules.successes {
                            self.close();
                        }
                    }
                    Some(Err(kind)) => {
                        let open_for = open_for.saturating_mul(2).min(rules.max_open);
                        self.trip(Trip { kind, cause: TripCause::Probe, open_for }, now);
                    }
                }
            }
            Phase::HalfOpen { .. } | Phase::Open { .. } | Phase::Held => {}
        }
        // Every change of phase is an epoch.
        match self.phase {
            _ if ticket.epoch() == self.epoch => None,
            Phase::Closed => Some(Turned::Closed),
            Phase::Open { .. } => self.trips.back().copied().map(Turned::Opened),
            Phase::HalfOpen { .. } | Phase::Held => None,
        }
    }

    /// What a verdict comes to. The first call that tells of a loss counts, no other that was under
    /// way then.
    fn told_once(&mut self, verdict: Verdict, now: Instant) -> Told {
        match verdict {
            Verdict::Neither => None,
            Verdict::Good => Some(Ok(())),
            Verdict::Bad(kind) => Some(Err(kind)),
            Verdict::Lost(began) if self.lost.is_some_and(|lost| began < lost) => None,
            Verdict::Lost(_) => {
                self.lost = Some(now);
                Some(Err(FailureKind::Network))
            }
        }
    }

    fn count(&mut self, told: Told, rules: &BreakerRules, now: Instant) {
        let kind = match told {
            None => return,
            Some(Ok(())) => {
                self.consecutive = 0;
                self.window.add(GOOD, rules.window, now);
                return;
            }
            Some(Err(kind)) => kind,
        };
        self.consecutive += 1;
        self.window.add(BAD, rules.window, now);
        let [good, failed] = self.window.counts(rules.window, now);
        let of = good.saturating_add(failed);
        let too_many = of >= rules.floor
            && u64::from(failed) * 100 >= u64::from(rules.percent) * u64::from(of);
        let cause = if self.consecutive >= rules.consecutive {
            TripCause::Consecutive(self.consecutive)
        } else if too_many {
            TripCause::Rate { failed, of }
        } else {
            return;
        };
        self.trip(Trip { kind, cause, open_for: rules.open_for }, now);
    }

    fn trip(&mut self, trip: Trip, now: Instant) {
        self.tripped += 1;
        if self.trips.len() == TRIPS {
            self.trips.pop_front();
        }
        self.trips.push_back(trip);
        self.enter(Phase::Open { since: now, open_for: trip.open_for });
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.epoch += 1;
        self.consecutive = 0;
        self.window = Window::default();
    }

    /// Holds every call back until told otherwise.
    pub(crate) fn hold(&mut self) {
        self.enter(Phase::Held);
    }

    /// Lets every call through from now on, as long as they go well.
    pub(crate) fn close(&mut self) {
        self.enter(Phase::Closed);
    }

    /// As new: the trips are forgotten, too.
    pub(crate) fn reset(&mut self) {
        self.close();
        self.tripped = 0;
        self.trips.clear();
    }

    pub(crate) fn state(&self, now: Instant) -> BreakerState {
        match self.phase {
            Phase::Closed => BreakerState::Closed,
            Phase::Open { since, open_for } => match left(since, open_for, now) {
                Some(wait) => BreakerState::Open { wait },
                None => BreakerState::HalfOpen,
            },
            Phase::HalfOpen { .. } => BreakerState::HalfOpen,
            Phase::Held => BreakerState::Held,
        }
    }

    /// Why it opened, the newest last, and how often in all.
    pub(crate) fn trips(&self) -> (Vec<Trip>, u64) {
        (self.trips.iter().copied().collect(), self.tripped)
    }
}

/// How long it is open still.
fn left(since: Instant, open_for: Duration, now: Instant) -> Option<Duration> {
    open_for.checked_sub(now.saturating_duration_since(since)).filter(|left| !left.is_zero())
}
