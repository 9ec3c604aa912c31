//! A million calls, a fifth of them in trouble: memory stays where it was and every call is
//! counted. Alone in its process, whose memory is measured.
#![expect(clippy::print_stdout, reason = "what was measured")]
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod memory;

use breakfall::{Call, FailureKind, Fault, Guard, Policy, RepeatRules, Trouble};
use breakfall_test::Script;
use serde_json::json;

const TROUBLES: [FailureKind; 4] = [
    FailureKind::NotFound,
    FailureKind::Permission,
    FailureKind::Execution,
    FailureKind::InvalidArguments,
];

#[tokio::test(start_paused = true)]
async fn memory_after_a_million_calls_is_that_after_a_hundred_thousand() {
    // Five troubles at 4.4 % each of what the others left: a fifth of all calls.
    let mut tool = Script::new("t").answers("fine").tool();
    for (seed, kind) in TROUBLES.into_iter().enumerate() {
        let fault = Fault::new(Trouble::Fail(kind)).probability(0.044).seed(seed as u64);
        tool = tool.fault(fault);
    }
    tool = tool.fault(Fault::new(Trouble::Panic).probability(0.044).seed(9));
    let repeats = RepeatRules { tool_failures: u32::MAX, ..RepeatRules::default() };
    let guard = Guard::builder()
        .tool(tool)
        .policy(Policy { repeats, ..Policy::default() })
        .seed(1)
        .build()
        .unwrap();
    let mut failed = 0;
    let mut early = 0;
    for turn in 0..1_000_000_u64 {
        let run = format!("run_{}", turn / 50);
        let call = Call::new(turn.to_string(), "t", json!({ "n": turn })).in_run(run);
        failed += u64::from(guard.handle(call).await.is_error);
        if turn == 100_000 {
            early = memory::kib("VmRSS");
        }
    }
    let counts = guard.journal().counts();
    assert_eq!((counts.calls(), counts.failed), (1_000_000, failed));
    assert_eq!(guard.journal().summary().values().sum::<u64>(), failed);
    assert!((190_000..210_000).contains(&failed), "{failed} failed");
    let late = memory::kib("VmRSS");
    println!("{early} KiB after 100,000 calls, {late} KiB after 1,000,000; {failed} failed");
    assert!(late <= early + early / 20, "{early} KiB grew to {late} KiB");
}
