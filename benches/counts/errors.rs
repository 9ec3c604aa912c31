//! Failures recorded in memory: what they hold, and what asking about them takes. A line of JSON a
//! point.
#![expect(clippy::unwrap_used, reason = "a program for the terminal")]
#![allow(clippy::cast_precision_loss, reason = "figures")]

#[path = "../figures.rs"]
mod figures;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use breakfall::{Call, Failure, Guard, Policy, function};
use futures_util::FutureExt;
use serde_json::Value;

use figures::{median, microseconds, point};

const TOOLS: u64 = 40;

const ERRORS: [&str; 5] = [
    "No such file or directory: '/home/ann/notes.txt'",
    "EACCES: permission denied, open '/etc/shadow'",
    "fatal: a branch named 'main' already exists",
    "process exited with exit status 2 after 1.25 s",
    "ValueError: 17 is not a month",
];

/// From a thousand to the most, ten times as many each time, in one guard.
fn main() {
    // Cargo gives benches arguments of its own.
    let most = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let most: u64 = most.map_or(10_000_000, |most| most.parse().unwrap());
    let guard = guard();
    // Each tool in each way once: what is held from here on is what recording more takes.
    let mut done = TOOLS * ERRORS.len() as u64;
    fail(&guard, 0, done);
    let empty = resident();
    let mut upto = 1_000;
    while upto <= most {
        let began = Instant::now();
        fail(&guard, done, upto);
        let each = began.elapsed().as_secs_f64() * 1e6 / (upto - done) as f64;
        done = upto;
        let counts = guard.journal().counts();
        assert_eq!(counts.failed, done, "every failure is counted");
        let summed: u64 = guard.journal().summary().values().sum();
        assert_eq!(summed, done, "and under its tool and its type");
        let held = resident();
        point("errors: one more", done, each);
        point("errors: memory", done, held as f64 / 1024.0);
        point("errors: more memory", done, held.saturating_sub(empty) as f64 / 1024.0);
        point("errors: counted", done, counts.failed as f64);
        let summary = median(25, || guard.journal().summary());
        point("errors: summary", done, microseconds(summary));
        let query = median(25, || guard.journal().for_tool("tool_7"));
        point("errors: query", done, microseconds(query));
        upto *= 10;
    }
}

/// All of them fail, each in several ways: neither breaker nor loop guard steps in.
fn guard() -> Guard {
    let calls = Arc::new(AtomicU64::new(0));
    let tools = (0..TOOLS).map(|n| {
        let calls = Arc::clone(&calls);
        function(format!("tool_{n}"), "Fails.", move |_: Value| {
            let text = text(calls.fetch_add(1, Ordering::Relaxed));
            async move { Err::<String, _>(Failure::from(std::io::Error::other(text))) }
        })
    });
    Guard::builder().tools(tools).policy(Policy::bare()).build().unwrap()
}

/// No two texts are the same.
fn text(number: u64) -> String {
    let which = usize::try_from(number / TOOLS).unwrap_or_default() % ERRORS.len();
    format!("{}, at line {number}", ERRORS[which])
}

fn fail(guard: &Guard, from: u64, to: u64) {
    let names: Vec<String> = (0..TOOLS).map(|n| format!("tool_{n}")).collect();
    for n in from..to {
        let tool = &names[usize::try_from(n % TOOLS).unwrap_or_default()];
        let reply = guard.handle(Call::new("call", tool.as_str(), "{}")).now_or_never();
        assert!(reply.is_some_and(|reply| reply.is_error), "it fails at once");
    }
}

/// What this process holds, in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}
