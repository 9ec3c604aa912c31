//! The tally beside a gate is held to the pure machines in it.

use proptest::prelude::*;

use super::*;
use crate::attempt::{BreakerRules, BudgetRules};

/// What happens at a gate.
#[derive(Clone, Debug)]
enum Event {
    Passes { takes: u64, verdict: Verdict },
    GoesWell,
    Repeats,
}

fn event() -> impl Strategy<Value = (u64, Event)> {
    let bad = Verdict::Bad(FailureKind::Upstream);
    let verdict = prop::sample::select(vec![Verdict::Good, Verdict::Good, bad, Verdict::Neither]);
    let passes =
        (0..400_u64, verdict).prop_map(|(takes, verdict)| Event::Passes { takes, verdict });
    let rare = prop::sample::select(vec![Event::GoesWell, Event::GoesWell, Event::Repeats]);
    (0..900_u64, prop_oneof![4 => passes, 3 => rare])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn what_is_counted_beside_the_lock_counts_as_if_within(
        events in prop::collection::vec(event(), 1..120),
        consecutive in 1..5_u32,
        window in 1..20_u64,
    ) {
        let rules = GateRules {
            breaker: Some(BreakerRules {
                consecutive,
                floor: 4,
                window: Duration::from_secs(window),
                open_for: Duration::from_secs(2),
                ..BreakerRules::default()
            }),
            budget: Some(BudgetRules { percent: 30, floor: 1, window: Duration::from_secs(5) }),
            ..GateRules::default()
        };
        let breaker_rules = rules.breaker.as_ref().unwrap();
        let budget_rules = rules.budget.as_ref().unwrap();
        let gate = Gate::default();
        let (mut breaker, mut budget) = (Breaker::default(), Budget::default());
        let mut now = Instant::now();
        for (later, event) in events {
            now += Duration::from_millis(later);
            match event {
                Event::Repeats => {
                    let mut inside = gate.inside();
                    let may = inside.budget.repeat(budget_rules, now);
                    prop_assert_eq!(may, budget.repeat(budget_rules, now));
                    prop_assert_eq!(inside.breaker.state(now), breaker.state(now));
                }
                Event::GoesWell => {
                    let pass = gate.pass(&rules, now, true);
                    budget.call(budget_rules, now);
                    let ticket = breaker.admit(now);
                    prop_assert_eq!(pass.is_some(), ticket.is_ok());
                    if let (Some(pass), Ok(ticket)) = (pass, ticket) {
                        let turned = breaker.settle(ticket, Verdict::Good, breaker_rules, now);
                        let mut pass = pass;
                        if !pass.goes_well_at_once() {
                            prop_assert_eq!(pass.settle(Verdict::Good, now), turned);
                        }
                    }
                }
                Event::Passes { takes, verdict } => {
                    let pass = gate.pass(&rules, now, true);
                    budget.call(budget_rules, now);
                    let ticket = breaker.admit(now);
                    prop_assert_eq!(pass.is_some(), ticket.is_ok());
                    now += Duration::from_millis(takes);
                    if let (Some(pass), Ok(ticket)) = (pass, ticket) {
                        let turned = breaker.settle(ticket, verdict, breaker_rules, now);
                        prop_assert_eq!(pass.settle(verdict, now), turned);
                    }
                }
            }
            prop_assert_eq!(gate.running.load(Ordering::Relaxed), 0);
        }
    }
}

#[test]
fn most_calls_that_go_well_take_no_lock() {
    let (gate, rules, now) = (Gate::default(), GateRules::default(), Instant::now());
    let passes = || gate.pass(&rules, now, true).unwrap();
    assert_eq!(passes().settle(Verdict::Good, now), None);
    assert_eq!(passes().settle(Verdict::Good, now), None);
    // Whoever takes the lock from here on waits for ever.
    let _taken = gate.inside();
    assert_eq!(passes().settle(Verdict::Good, now), None);
    assert_eq!(gate.running.load(Ordering::Relaxed), 0);
}
