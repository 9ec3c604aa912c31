//! Ten thousand calls at once to a tool that takes two seconds: none lost, memory bounded. Alone in
//! its process, whose memory is measured.
#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![expect(clippy::print_stdout, reason = "what was measured")]

mod memory;

use std::sync::Arc;
use std::time::Duration;

use breakfall::{Block, Call, Detail, GateRules, Guard, Policy, Scope};
use breakfall_test::{Script, Step};
use futures_util::future::join_all;
use serde_json::json;

const CALLS: usize = 10_000;

fn guard(gate: GateRules) -> Guard {
    let slow = Step::Slow(Duration::from_secs(2), "done".to_owned());
    Guard::builder()
        .policy(Policy { gate, ..Policy::default() })
        .tool(Script::new("slow").step(slow).tool())
        .build()
        .unwrap()
}

/// How many were answered, and how many were turned away.
async fn crowd(guard: &Guard) -> (usize, usize) {
    let calls = (0..CALLS).map(|n| Call::new(n.to_string(), "slow", json!({ "n": n })));
    let replies = join_all(calls.map(|call| guard.handle(call))).await;
    for (n, reply) in replies.iter().enumerate() {
        assert_eq!(reply.id, n.to_string());
    }
    let done = replies.iter().filter(|reply| reply.text == "done").count();
    let full = Detail::Blocked(Block::QueueFull);
    let turned_away = replies
        .iter()
        .filter(|reply| reply.report().failure().is_some_and(|failure| failure.detail == full));
    (done, turned_away.count())
}

async fn none_is_lost() {
    let open = guard(GateRules::default());
    assert_eq!(crowd(&open).await, (CALLS, 0));
    // With places for a hundred and a queue of a thousand, of which two hundred have their turn.
    let queue_timeout = Duration::from_secs(5);
    let narrow =
        GateRules { concurrency: Some(100), queue: 1_000, queue_timeout, ..GateRules::default() };
    let narrow = guard(narrow);
    let (done, turned_away) = crowd(&narrow).await;
    assert_eq!((done, turned_away), (300, CALLS - 300));
    assert_eq!(narrow.journal().counts().calls(), CALLS as u64);
    let gate = narrow.toolbox().gate(Scope::Tool("slow")).unwrap();
    assert_eq!((gate.running, gate.waiting), (0, 0));
}

#[test]
fn ten_thousand_at_once_are_all_answered_in_bounded_memory() {
    let paused = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    paused.block_on(none_is_lost());
    // Once for real, each on a task of its own.
    let real = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
    let guard = Arc::new(guard(GateRules::default()));
    real.block_on(async {
        let calls = (0..CALLS).map(|n| {
            let guard = Arc::clone(&guard);
            tokio::spawn(async move { guard.handle(Call::new(n.to_string(), "slow", "{}")).await })
        });
        let replies = join_all(calls).await;
        assert!(replies.iter().all(|reply| reply.as_ref().unwrap().text == "done"));
    });
    assert_eq!(guard.journal().counts().succeeded, CALLS as u64);
    let peak = memory::kib("VmHWM");
    println!("{peak} KiB at most, {} KiB in the end", memory::kib("VmRSS"));
    assert!(peak < 200 << 10, "{peak} KiB for {CALLS} calls at once");
}
