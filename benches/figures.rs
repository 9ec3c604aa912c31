//! Points of curves, and medians of times.
#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::time::{Duration, Instant};

use serde_json::json;

/// A point of a curve.
pub(crate) fn point(curve: &str, at: u64, value: f64) {
    println!("{}", json!({ "curve": curve, "at": at, "value": value }));
}

/// The median of how long it takes.
pub(crate) fn median<T>(rounds: usize, mut work: impl FnMut() -> T) -> Duration {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let began = Instant::now();
            let given = work();
            let took = began.elapsed();
            drop(given);
            took
        })
        .collect();
    times.sort_unstable();
    times[rounds / 2]
}

pub(crate) fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
