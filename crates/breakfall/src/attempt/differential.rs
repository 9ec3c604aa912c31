//! Our breaker beside that of `tower-resilience`, where the two mean the same: calls one after
//! another, failures in a row or a share of them, probes that close it. Theirs keeps real time, so
//! that it rests either not at all or for longer than a test lasts; it also opens on a success that
//! completes a bad share, which ours leaves to the next failure.

use std::time::Duration;

use proptest::prelude::*;
use tokio::time::Instant;
use tower::{Layer, Service, ServiceExt, service_fn};
use tower_resilience_circuitbreaker::{
    CircuitBreakerError, CircuitBreakerLayer, FailureModel, SlidingWindowType,
};

use super::breaker::{Breaker, BreakerState, Verdict};
use super::policy::BreakerRules;
use crate::FailureKind;

const LONG: Duration = Duration::from_hours(1);

/// Which failures open the breaker.
#[derive(Clone, Copy, Debug)]
enum Model {
    InARow(u32),
    Share { percent: u32, floor: u32 },
}

fn model() -> impl Strategy<Value = Model> {
    prop_oneof![
        (1_u32..6).prop_map(Model::InARow),
        (1_u32..100, 1_u32..10).prop_map(|(percent, floor)| Model::Share { percent, floor }),
    ]
}

/// Runs the calls through both; how many were compared.
async fn compare(
    model: Model,
    successes: u32,
    rests: bool,
    calls: &[bool],
) -> Result<usize, String> {
    let rest = if rests { LONG } else { Duration::ZERO };
    let (consecutive, percent, floor) = match model {
        Model::InARow(row) => (row, 100, u32::MAX),
        Model::Share { percent, floor } => (u32::MAX, percent, floor),
    };
    let rules = BreakerRules {
        consecutive,
        percent,
        floor,
        window: LONG,
        open_for: rest,
        max_open: rest,
        successes,
    };
    let builder = CircuitBreakerLayer::builder()
        .wait_duration_in_open(rest)
        .permitted_calls_in_half_open(successes as usize)
        .sliding_window_type(SlidingWindowType::TimeBased)
        .sliding_window_duration(LONG)
        .sliding_window_size(usize::MAX)
        .minimum_number_of_calls(floor as usize)
        .failure_rate_threshold(f64::from(percent) / 100.0);
    let builder = match model {
        Model::InARow(row) => {
            builder.failure_model(FailureModel::ConsecutiveFailures { k: row as usize })
        }
        Model::Share { .. } => builder,
    };
    let layer = builder.build().map_err(|error| error.to_string())?;
    let inner = service_fn(|fails: bool| async move { if fails { Err("failed") } else { Ok(()) } });
    let mut theirs = layer.layer(inner);
    let mut ours = Breaker::default();
    let now = Instant::now();
    for (turn, fails) in calls.iter().enumerate() {
        let was_closed = ours.state(now) == BreakerState::Closed;
        let ticket = ours.admit(now);
        let ready = theirs.ready().await.map_err(|error| error.to_string())?;
        let answer = ready.call(*fails).await;
        let admitted = !matches!(answer, Err(CircuitBreakerError::OpenCircuit));
        if ticket.is_ok() != admitted {
            return Err(format!("call {turn}: ours {ticket:?}, theirs {admitted}"));
        }
        if let Ok(ticket) = ticket {
            let verdict = if *fails { Verdict::Bad(FailureKind::Network) } else { Verdict::Good };
            ours.settle(ticket, verdict, &rules, now);
        }
        let opened_on_success = was_closed && !fails && theirs.is_open();
        if opened_on_success {
            return Ok(turn);
        }
    }
    Ok(calls.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn both_breakers_let_the_same_calls_through(
        model in model(),
        successes in 1_u32..4,
        rests in any::<bool>(),
        calls in prop::collection::vec(any::<bool>(), 1..100),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let compared = runtime.block_on(compare(model, successes, rests, &calls));
        prop_assert!(compared.is_ok(), "{compared:?}");
    }
}
