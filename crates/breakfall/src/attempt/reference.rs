//! The machines beside slow models of them: a model keeps everything that ever happened and counts
//! it anew for every answer, so that there is little to get wrong in it.

use std::time::Duration;

use proptest::prelude::*;
use tokio::time::Instant;

use super::breaker::{Breaker, HeldBack, Ticket, Verdict};
use super::budget::Budget;
use super::delays::Delays;
use super::policy::{BreakerRules, BudgetRules, RepeatRules, Retry};
use super::repeat::{CallKey, Refusal, Repeats, Way};
use super::window::CELLS;
use crate::FailureKind;

/// Cases of each property; with a hundred steps each they make 100,000 transitions.
const CASES: u32 = 1_000;
const STEPS: usize = 100;

/// Whether something that happened still counts: in cells, as the window has them.
fn counts(then: Instant, first: Instant, width: Duration, now: Instant) -> bool {
    let cell = |at: Instant| (at - first).as_nanos() / (width / CELLS).as_nanos().max(1);
    cell(now) - cell(then) < u128::from(CELLS)
}

/// What can happen to a breaker.
#[derive(Clone, Copy, Debug)]
enum Event {
    Admit,
    /// The ticket of this number, among those that are out, comes back.
    Settle(usize, Verdict),
    Wait(Duration),
    Hold,
    Close,
    Reset,
}

fn verdict() -> impl Strategy<Value = Verdict> {
    prop_oneof![
        3 => Just(Verdict::Good),
        4 => Just(Verdict::Bad(FailureKind::Network)),
        1 => Just(Verdict::Neither),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        20 => Just(Event::Admit),
        20 => (any::<usize>(), verdict()).prop_map(|(which, verdict)| Event::Settle(which, verdict)),
        6 => (0_u64..40_000).prop_map(|ms| Event::Wait(Duration::from_millis(ms))),
        1 => Just(Event::Hold),
        1 => Just(Event::Close),
        1 => Just(Event::Reset),
    ]
}

fn breaker_rules() -> impl Strategy<Value = BreakerRules> {
    (1_u32..6, 1_u32..100, 1_u32..12, 1_u64..90, 1_u64..60, 1_u32..4).prop_map(
        |(consecutive, percent, floor, window, open, successes)| BreakerRules {
            consecutive,
            percent,
            floor,
            window: Duration::from_secs(window),
            open_for: Duration::from_secs(open),
            max_open: Duration::from_secs(4 * open),
            successes,
        },
    )
}

/// A breaker that remembers everything. What happened before the last change of phase is past.
struct SlowBreaker {
    rules: BreakerRules,
    /// The phases so far, with when each began and how long it rests.
    phases: Vec<(&'static str, Instant, Duration)>,
    /// What was settled in the present phase.
    settled: Vec<(Instant, Verdict)>,
    /// In which phase each ticket was given out, and whether it is still out.
    tickets: Vec<(usize, bool)>,
    trips: u64,
}

impl SlowBreaker {
    fn new(rules: BreakerRules, now: Instant) -> Self {
        let phases = vec![("closed", now, Duration::ZERO)];
        Self { rules, phases, settled: Vec::new(), tickets: Vec::new(), trips: 0 }
    }

    fn phase(&self) -> (&'static str, Instant, Duration) {
        *self.phases.last().unwrap()
    }

    fn enter(&mut self, phase: &'static str, now: Instant, rest: Duration) {
        self.phases.push((phase, now, rest));
        self.settled.clear();
    }

    fn admit(&mut self, now: Instant) -> Result<usize, Option<Duration>> {
        let (phase, since, rest) = self.phase();
        if phase == "open" {
            if now - since < rest {
                return Err(Some(rest.saturating_sub(now - since)));
            }
            self.enter("half open", now, rest);
        }
        let present = self.phases.len();
        let probes = self.tickets.iter().filter(|(phase, out)| *out && *phase == present).count();
        match self.phase().0 {
            "held" => return Err(None),
            "half open" if probes > 0 => return Err(None),
            _ => {}
        }
        self.tickets.push((present, true));
        Ok(self.tickets.len() - 1)
    }

    fn settle(&mut self, ticket: usize, verdict: Verdict, now: Instant) {
        let (phase, _) = std::mem::take(&mut self.tickets[ticket]);
        if phase != self.phases.len() || verdict == Verdict::Neither {
            return;
        }
        self.settled.push((now, verdict));
        let bad = |verdict: &Verdict| matches!(verdict, Verdict::Bad(_));
        let (phase, _, rest) = self.phase();
        if phase == "half open" {
            if bad(&verdict) {
                self.trips += 1;
                self.enter("open", now, (rest * 2).min(self.rules.max_open));
            } else if self.settled.len() >= self.rules.successes as usize {
                self.enter("closed", now, Duration::ZERO);
            }
            return;
        }
        let row = self.settled.iter().rev().take_while(|(_, verdict)| bad(verdict)).count();
        let first = self.settled[0].0;
        let recent: Vec<_> = self
            .settled
            .iter()
            .filter(|(then, _)| counts(*then, first, self.rules.window, now))
            .collect();
        let failed = recent.iter().filter(|(_, verdict)| bad(verdict)).count();
        let often = recent.len() >= self.rules.floor as usize
            && failed * 100 >= recent.len() * self.rules.percent as usize;
        if bad(&verdict) && (row >= self.rules.consecutive as usize || often) {
            self.trips += 1;
            self.enter("open", now, self.rules.open_for);
        }
    }
}

/// Of a call: which it was, what became of it, when, and when it was told to come back; what had
/// changed by then, and what it said.
type Then = (u64, Option<FailureKind>, Instant, Option<Instant>, (u32, &'static str));

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn a_breaker_does_what_the_slow_one_does(
        rules in breaker_rules(),
        events in prop::collection::vec(event(), STEPS),
    ) {
        let mut now = Instant::now();
        let (mut fast, mut slow) = (Breaker::default(), SlowBreaker::new(rules.clone(), now));
        let mut out: Vec<(Ticket, usize)> = Vec::new();
        for event in events {
            match event {
                Event::Admit => match (fast.admit(now), slow.admit(now)) {
                    (Ok(fast), Ok(slow)) => out.push((fast, slow)),
                    (Err(HeldBack(fast)), Err(slow)) => prop_assert_eq!(fast, slow),
                    (fast, slow) => prop_assert!(false, "{fast:?} beside {slow:?}"),
                },
                Event::Settle(which, verdict) if !out.is_empty() => {
                    let (ticket, number) = out.swap_remove(which % out.len());
                    fast.settle(ticket, verdict, &rules, now);
                    slow.settle(number, verdict, now);
                }
                Event::Settle(..) => {}
                Event::Wait(time) => now += time,
                Event::Hold => {
                    fast.hold();
                    slow.enter("held", now, Duration::ZERO);
                }
                Event::Close => {
                    fast.close();
                    slow.enter("closed", now, Duration::ZERO);
                }
                Event::Reset => {
                    fast.reset();
                    slow.enter("closed", now, Duration::ZERO);
                    slow.trips = 0;
                }
            }
            prop_assert_eq!(fast.trips().1, slow.trips);
        }
    }

    #[test]
    fn a_budget_does_what_the_slow_one_does(
        rules in (0_u32..100, 1_u64..60, 0_u32..6).prop_map(|(percent, window, floor)| BudgetRules {
            percent, window: Duration::from_secs(window), floor,
        }),
        events in prop::collection::vec((any::<bool>(), 0_u64..4_000), STEPS),
    ) {
        let mut now = Instant::now();
        let mut fast = Budget::default();
        let mut all: Vec<(Instant, bool)> = Vec::new();
        let mut first = None;
        for (is_repeat, wait) in events {
            now += Duration::from_millis(wait);
            let first = *first.get_or_insert(now);
            let count = |repeats: bool| {
                all.iter().filter(|(then, repeat)| {
                    *repeat == repeats && counts(*then, first, rules.window, now)
                }).count()
            };
            if is_repeat {
                let allowed = (count(false) * rules.percent as usize / 100).max(rules.floor as usize);
                let expected = count(true) < allowed;
                prop_assert_eq!(fast.repeat(&rules, now), expected);
                if expected {
                    all.push((now, true));
                }
            } else {
                fast.call(&rules, now);
                all.push((now, false));
            }
        }
    }

    #[test]
    fn delays_are_as_many_as_attempts_are_left_and_never_longer_than_they_may(
        attempts in 0_u32..40,
        first in 0_u64..5_000,
        max in 0_u64..60_000,
        draws in prop::collection::vec(0.0..=1.0_f64, 40),
    ) {
        let retry = Retry {
            attempts,
            first_delay: Duration::from_millis(first),
            max_delay: Duration::from_millis(max),
        };
        let mut drawn = draws.iter().copied();
        let mut delays = Delays::new(&retry);
        let delays: Vec<_> =
            std::iter::from_fn(|| delays.next(|| drawn.next().unwrap())).collect();
        prop_assert_eq!(delays.len(), attempts.saturating_sub(1) as usize);
        for (turn, (delay, draw)) in delays.iter().zip(&draws).enumerate() {
            let longest = Duration::from_millis(first.saturating_mul(1 << turn).min(max));
            let expected = Duration::try_from_secs_f64(longest.as_secs_f64() * draw).unwrap();
            prop_assert_eq!(*delay, expected);
            prop_assert!(*delay <= longest + Duration::from_nanos(1));
        }
    }

    #[test]
    fn the_loop_guard_does_what_the_slow_one_does(
        rules in (1_u32..5, 1_u32..8, 1_u64..600).prop_map(|(warn_at, refuse_at, forget)| RepeatRules {
            warn_at, refuse_at, forget_after: Duration::from_secs(forget), ..RepeatRules::default()
        }),
        events in prop::collection::vec(
            (
                0_u64..4,
                0_u8..5,
                0_u64..60_000,
                prop::option::weighted(0.2, 0_u64..90_000),
                prop::sample::select(vec!["one thing in 3 s", "one thing in 4 s", "another"]),
            ),
            STEPS,
        ),
    ) {
        let mut now = Instant::now();
        let mut fast = Repeats::default();
        let mut all: Vec<Then> = Vec::new();
        let mut changes = 0;
        let words = |said: &'static str| said.trim_end_matches(['3', '4', 's', ' ']);
        let gets_on = |which: u64, (then, said): (u32, &'static str), (now, says): (u32, &'static str)| {
            let differs = if which == 0 { said != says } else { words(said) != words(says) };
            0 < then && then < now && differs
        };
        // The first is a program.
        for (which, what, wait, told, says) in events {
            now += Duration::from_millis(wait);
            let key = CallKey::of_text("tool", &which.to_string());
            // The failures in a row up to now, none of them long before the next, and none that
            // was told to come back when it did.
            let (mut times, mut refused, mut kind_of_row) = (0, 0, None);
            let (mut next, mut next_failure) = (now, now);
            let (mut last_said, mut next_said) = (None, None);
            for (_, kind, then, back_at, said) in all.iter().rev().filter(|(of, ..)| *of == which) {
                let Some(kind) = kind else { break };
                if next - *then >= rules.forget_after { break; }
                next = *then;
                if *kind == FailureKind::Repeated {
                    if times == 0 { refused += 1; }
                    continue;
                }
                if back_at.is_some_and(|back_at| back_at <= next_failure) { break; }
                next_failure = *then;
                if *kind_of_row.get_or_insert(*kind) != *kind { break; }
                if next_said.is_some_and(|next| gets_on(which, *said, next)) { break; }
                last_said.get_or_insert(*said);
                next_said = Some(*said);
                times += 1;
            }
            let told = told.map(Duration::from_millis);
            if what >= 3 {
                fast.succeeded(key, "tool", what == 3);
                changes += u32::from(what == 3);
                all.push((which, None, now, None, (changes, "")));
                continue;
            }
            let has_changed = last_said.is_some_and(|(then, _)| then < changes);
            let is_refused = times > 0 && times >= rules.refuse_at.saturating_sub(1);
            let expected = (is_refused && !((refused > 0 || which == 0) && has_changed)).then_some({
                if refused == 0 { Refusal::Told { failed: times } } else { Refusal::Stalled { failed: times } }
            });
            prop_assert_eq!(fast.refuse(key, &rules, (now, now)), expected);
            if expected.is_some() {
                all.push((which, Some(FailureKind::Repeated), now, None, (changes, "")));
                continue;
            }
            let kind = if what == 0 { FailureKind::NotFound } else { FailureKind::Permission };
            let is_same = kind_of_row == Some(kind);
            let on = last_said.is_some_and(|said| gets_on(which, said, (changes, says)));
            let expected = if is_same && !on { times + 1 } else { 1 };
            let counts = last_said.is_none() || !is_same || !on;
            let way = Way { kind, wait: told, message: says, is_of_program: which == 0 };
            prop_assert_eq!(fast.failed(key, way, &rules, (now, now)), (expected, counts));
            all.push((which, Some(kind), now, told.map(|told| now + told), (changes, says)));
        }
    }
}
