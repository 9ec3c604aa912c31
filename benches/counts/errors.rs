//! Failures recorded in memory: what they hold, and what asking about them takes. A line of JSON a
//! point. They come as failures do, of a few tools in a few ways; or each of another tool or of
//! another type, which no model and no server does that means well.
#![expect(clippy::unwrap_used, reason = "a program for the terminal")]
#![allow(clippy::cast_precision_loss, reason = "figures")]

#[path = "../figures.rs"]
mod figures;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use breakfall::{Call, Failure, Guard, Policy, Raised, function};
use futures_util::FutureExt;
use peak_alloc::PeakAlloc;
use serde_json::Value;

use figures::{median, microseconds, point};

/// Counts what is held, to the byte.
#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

const TOOLS: u64 = 40;

const ERRORS: [&str; 5] = [
    "No such file or directory: '/home/ann/notes.txt'",
    "EACCES: permission denied, open '/etc/shadow'",
    "fatal: a branch named 'main' already exists",
    "process exited with exit status 2 after 1.25 s",
    "ValueError: 17 is not a month",
];

/// How failures come: what fails, and the n-th call.
struct Way {
    name: &'static str,
    failure: fn(u64) -> Failure,
    call: fn(u64) -> Call,
}

const WAYS: [Way; 2] = [
    Way {
        name: "errors",
        failure: |n| std::io::Error::other(text(n)).into(),
        call: |n| called(&format!("tool_{}", n % TOOLS)),
    },
    Way { name: "hostile errors", failure: new_type, call: new_name },
];

fn called(tool: &str) -> Call {
    Call::new("call", tool, "{}")
}

/// No two texts are the same.
fn text(number: u64) -> String {
    let which = usize::try_from(number / TOOLS).unwrap() % ERRORS.len();
    format!("{}, at line {number}", ERRORS[which])
}

/// No two types are the same, and all are longer than any that means well.
fn new_type(number: u64) -> Failure {
    Failure::raised(Raised::new(format!("{number:x<200}Error"), text(number)))
}

/// Of two calls one is of a tool that there is; no other has the name of another.
fn new_name(number: u64) -> Call {
    if number.is_multiple_of(2) {
        called(&format!("tool_{}", number % TOOLS))
    } else {
        called(&format!("{number:x<200}"))
    }
}

/// From a thousand to the most, ten times as many each time, in one guard for each way.
fn main() {
    // Cargo gives benches arguments of its own.
    let most = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let most: u64 = most.map_or(10_000_000, |most| most.parse().unwrap());
    for way in &WAYS {
        // What is made once for all guards is not held for a failure.
        fail(&way.guard(), way, 0, 1_000);
        let guard = way.guard();
        let empty = HEAP.current_usage();
        let (mut done, mut upto) = (0, 1_000);
        while upto <= most {
            let each = fail(&guard, way, done, upto);
            done = upto;
            let held = HEAP.current_usage().saturating_sub(empty);
            let point =
                |curve: &str, value: f64| point(&format!("{}: {curve}", way.name), done, value);
            point("one more", each);
            point("memory", held as f64 / f64::from(1 << 20));
            let counts = guard.journal().counts();
            let summed: u64 = guard.journal().summary().values().sum();
            assert_eq!((counts.failed, summed), (done, done), "every failure is counted");
            point("counted", summed as f64);
            point("summary", microseconds(median(25, || guard.journal().summary())));
            point("query", microseconds(median(25, || guard.journal().for_tool("tool_7"))));
            upto *= 10;
        }
    }
}

impl Way {
    /// All of its tools fail: neither breaker nor loop guard steps in.
    fn guard(&self) -> Guard {
        let (calls, failure) = (Arc::new(AtomicU64::new(0)), self.failure);
        let tools = (0..TOOLS).map(|n| {
            let calls = Arc::clone(&calls);
            function(format!("tool_{n}"), "Fails.", move |_: Value| {
                let failure = failure(calls.fetch_add(1, Ordering::Relaxed));
                async move { Err::<String, _>(failure) }
            })
        });
        Guard::builder().tools(tools).policy(Policy::bare()).build().unwrap()
    }
}

/// Microseconds of a failure with its call: the median of hundreds.
fn fail(guard: &Guard, way: &Way, from: u64, to: u64) -> f64 {
    let mut hundreds = from..to;
    let rounds = usize::try_from((to - from) / 100).unwrap();
    let hundred = median(rounds, || {
        for n in hundreds.by_ref().take(100) {
            let reply = guard.handle((way.call)(n)).now_or_never();
            assert!(reply.is_some_and(|reply| reply.is_error), "it fails at once");
        }
    });
    microseconds(hundred) / 100.0
}
