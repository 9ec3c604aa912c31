//! Times of the same calls, in turns, so that a busy machine slows all ways alike: of each the
//! median. A line of JSON a way and case.

use std::hint::black_box;
use std::time::{Duration, Instant};

use breakfall::{Call, Guard, Policy};
use breakfall_counts::{bare, boxed, tools};
use breakfall_peers::{Case, Connection, Rig, Router, asked, object};
use futures_util::FutureExt;
use serde_json::json;

/// Rounds of each way, and calls in one.
const ROUNDS: usize = 201;
const CALLS: u32 = 50;

/// A way to call a tool so often, and how long that takes without what is made for the calls.
type Way = Box<dyn FnMut(Case) -> Duration>;

fn main() {
    // The tool that fails is to be called every time, not only until a breaker steps in.
    let guard = Guard::builder()
        .tools(tools())
        .policy_for("fails", Policy::bare())
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    let (router, connection, mut rig, mut served) =
        (Router::default(), Connection::default(), Rig::default(), Rig::default());
    let table = boxed();
    let mut ways: Vec<(&str, Way)> = vec![
        (
            "bare call",
            Box::new(|case| timed(|n| case.arguments(n), |value| bare(&value).now_or_never())),
        ),
        (
            "boxed call",
            Box::new(move |case| {
                timed(
                    |n| case.arguments(n),
                    |value| table.get(case.tool()).and_then(|tool| tool(&value).now_or_never()),
                )
            }),
        ),
        (
            "guarded call",
            Box::new(move |case| {
                let call = |n: u32| Call::new(n.to_string(), case.tool(), case.arguments(n));
                timed(call, |call| guard.handle(call).now_or_never())
            }),
        ),
        (
            "rmcp router",
            Box::new(move |case| {
                let given = |n: u32| (n, asked(case.tool(), object(case.arguments(n))));
                timed(given, |(n, asked)| router.call(n, asked))
            }),
        ),
        (
            "rig tool set",
            Box::new(move |case| {
                timed(|n| case.arguments(n).to_string(), |text| rig.call(case.tool(), &text))
            }),
        ),
        (
            "rig tool server",
            Box::new(move |case| {
                timed(
                    |n| case.arguments(n).to_string(),
                    |text| served.call_served(case.tool(), &text),
                )
            }),
        ),
        (
            "rmcp connection",
            Box::new(move |case| {
                timed(
                    |n| asked(case.tool(), object(case.arguments(n))),
                    |asked| connection.call(asked),
                )
            }),
        ),
    ];
    for (name, case) in [("success", Case::Success), ("failure", Case::Failure)] {
        // The bare and the boxed function cannot fail.
        let from = if matches!(case, Case::Success) { 0 } else { 2 };
        in_turns(name, case, &mut ways[from..]);
    }
}

fn in_turns(name: &str, case: Case, ways: &mut [(&str, Way)]) {
    let mut times = vec![Vec::with_capacity(ROUNDS); ways.len()];
    for round in 0..ROUNDS + 5 {
        for (times, (_, way)) in times.iter_mut().zip(ways.iter_mut()) {
            let took = way(case);
            // The first rounds warm up.
            if round >= 5 {
                times.push(took);
            }
        }
    }
    for (mut times, (way, _)) in times.into_iter().zip(ways) {
        times.sort_unstable();
        let each = times[ROUNDS / 2].as_secs_f64() * 1e9 / f64::from(CALLS);
        println!("{}", json!({ "way": way, "case": name, "nanoseconds": each }));
    }
}

/// How long so many calls take; what they are given and what they give is not in it.
fn timed<G, T>(given: impl Fn(u32) -> G, mut call: impl FnMut(G) -> T) -> Duration {
    let given: Vec<G> = (0..CALLS).map(given).collect();
    let mut all = Vec::with_capacity(given.len());
    let began = Instant::now();
    for given in given {
        all.push(call(black_box(given)));
    }
    let took = began.elapsed();
    black_box(all);
    took
}
