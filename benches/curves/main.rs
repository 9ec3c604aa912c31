//! What grows with what, where instructions do not tell it: answers of the database by how much is
//! kept, and calls that are tasks of their own. A line of JSON a point.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for the terminal")]
#![allow(clippy::cast_precision_loss, reason = "figures")]

mod records;
mod tasks;

use std::time::{Duration, Instant};

use serde_json::json;

fn main() {
    // Cargo gives benches arguments of its own.
    let mut words = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let file = words.next().unwrap_or_else(|| {
        std::env::temp_dir().join("breakfall-curves.db").to_str().unwrap().to_owned()
    });
    let most = words.next().map_or(1_000_000, |most| most.parse().unwrap());
    tasks::curves();
    records::curves(&file, most);
}

/// A point of a curve.
fn point(curve: &str, at: u64, value: f64) {
    println!("{}", json!({ "curve": curve, "at": at, "value": value }));
}

/// The median of how long it takes.
fn median<T>(rounds: usize, mut work: impl FnMut() -> T) -> Duration {
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

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
