//! Batches: one reply for each call, in their order, whatever happens to the others.

use std::sync::atomic::Ordering;
use std::time::Duration;

use breakfall::{Call, FailureKind, Guard, Policy, RawArguments, Reply};
use breakfall_test::{Recorder, Script, Step};
use proptest::prelude::*;

fn call(id: &str, tool: &str) -> Call {
    Call::new(id, tool, "{}")
}

fn slow(name: &str, milliseconds: u64) -> breakfall::Entry {
    let step = Step::Slow(Duration::from_millis(milliseconds), name.to_owned());
    Script::new(name).step(step).tool()
}

#[tokio::test]
async fn an_empty_batch_gives_an_empty_list() {
    let guard = Guard::builder().build().unwrap();
    assert!(guard.handle_all(Vec::new()).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn replies_stand_in_the_order_of_the_calls_and_run_side_by_side() {
    let guard = Guard::builder().tools([slow("slow", 900), slow("quick", 10)]).build().unwrap();
    let started = tokio::time::Instant::now();
    let calls = vec![call("1", "slow"), call("2", "quick"), call("3", "slow")];
    let replies = guard.handle_all(calls).await;
    let seen: Vec<_> = replies.iter().map(|r| (r.id.as_str(), r.text.as_str())).collect();
    assert_eq!(seen, [("1", "slow"), ("2", "quick"), ("3", "slow")]);
    assert_eq!(started.elapsed().as_millis(), 900);
}

#[tokio::test(start_paused = true)]
async fn no_more_run_at_once_than_allowed() {
    let guard = Guard::builder().tool(slow("slow", 100)).concurrency(2).build().unwrap();
    let started = tokio::time::Instant::now();
    let calls = (0..5).map(|id| call(&id.to_string(), "slow")).collect();
    assert_eq!(guard.handle_all(calls).await.len(), 5);
    assert_eq!(started.elapsed().as_millis(), 300);
}

#[tokio::test(start_paused = true)]
async fn one_failure_never_cancels_its_siblings() {
    let guard = Guard::builder()
        .tool(Script::new("panics").panics("x").tool())
        .tool(Script::new("fails").fails(FailureKind::NotFound).tool())
        .tool(Script::new("hangs").hangs().tool())
        .tool(slow("slow", 500))
        .build()
        .unwrap();
    let names = ["panics", "slow", "fails", "hangs", "nothing", "slow"];
    let replies = guard.handle_all(names.iter().map(|n| call(n, n)).collect()).await;
    let kinds: Vec<_> = replies.iter().map(|r| r.kind().map(FailureKind::name)).collect();
    let unknown = Some("unknown_tool");
    assert_eq!(kinds, [Some("internal"), None, Some("not_found"), Some("timeout"), unknown, None]);
}

#[tokio::test]
async fn duplicate_ids_are_each_answered() {
    let guard = Guard::builder().tool(Script::new("echo").tool()).build().unwrap();
    let calls = ["a", "b"].map(|x| Call::new("same", "echo", format!(r#"{{"x":"{x}"}}"#)));
    let replies = guard.handle_all(calls.to_vec()).await;
    assert_eq!(replies[0].text, r#"{"x":"a"}"#);
    assert_eq!(replies[1].text, r#"{"x":"b"}"#);
    assert!(replies.iter().all(|reply| reply.id == "same"));
}

#[tokio::test(start_paused = true)]
async fn after_a_fatal_failure_the_rest_is_answered_as_cancelled() {
    let recorder = Recorder::new();
    let (tool, calls) = Script::new("later").answers("never").counted();
    let guard = Guard::builder()
        .tools([slow("slow", 300), tool])
        .tool(Script::new("locked").fails(FailureKind::Authentication).tool())
        .sink(recorder.sink())
        .build()
        .unwrap();
    let batch = ["slow", "locked", "later", "later"];
    let replies = guard.handle_all(batch.iter().map(|name| call(name, name)).collect()).await;
    assert_eq!(replies[0].text, "slow");
    assert!(replies[1].is_fatal());
    for reply in &replies[2..] {
        assert_eq!(reply.kind(), Some(FailureKind::Cancelled));
        assert!(reply.text.starts_with("`later` was not started"), "{}", reply.text);
    }
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    assert_eq!(recorder.records().len(), 4);
}

/// What a call of the property test is like.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Valid,
    Unknown,
    Malformed,
    Truncated,
    Panicking,
    Hanging,
    Failing(FailureKind),
    Slow,
}

fn any_kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::Valid),
        Just(Kind::Unknown),
        Just(Kind::Malformed),
        Just(Kind::Truncated),
        Just(Kind::Panicking),
        Just(Kind::Hanging),
        Just(Kind::Slow),
        proptest::sample::select(FailureKind::ALL).prop_map(Kind::Failing),
    ]
}

fn named(kind: Kind) -> (String, RawArguments) {
    let (tool, arguments) = match kind {
        Kind::Valid => ("echo".to_owned(), "{}"),
        Kind::Unknown => ("ehco".to_owned(), "{}"),
        Kind::Malformed => ("echo".to_owned(), "{]"),
        Kind::Truncated => ("echo".to_owned(), "{\"a\": \""),
        Kind::Panicking => ("panics".to_owned(), "{}"),
        Kind::Hanging => ("hangs".to_owned(), "{}"),
        Kind::Slow => ("slow".to_owned(), "{}"),
        Kind::Failing(kind) => (kind.name().to_owned(), "{}"),
    };
    (tool, arguments.into())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_sequence_of_calls_gives_one_reply_each_in_order(
        kinds in proptest::collection::vec((any_kind(), "[a-c]{0,1}"), 0..40),
        concurrency in 1_usize..8,
    ) {
        let recorder = Recorder::new();
        let scripted = FailureKind::ALL.iter().map(|kind| Script::new(kind.name()).fails(*kind).tool());
        let guard = Guard::builder()
            .tools(scripted)
            .tool(Script::new("echo").tool())
            .tool(Script::new("panics").panics("x").tool())
            .tool(Script::new("hangs").hangs().tool().isolated())
            .tool(slow("slow", 70))
            .policy(Policy { attempt_timeout: Duration::from_millis(100), ..Policy::default() })
            .concurrency(concurrency)
            .sink(recorder.sink())
            .build()
            .unwrap();
        let calls: Vec<Call> = kinds.iter().map(|(kind, id)| {
            let (tool, arguments) = named(*kind);
            Call::new(id.clone(), tool, arguments)
        }).collect();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let replies = runtime.block_on(guard.handle_all(calls.clone()));
        prop_assert_eq!(replies.len(), calls.len());
        let mut stopped = false;
        for (call, reply) in calls.iter().zip(&replies) {
            prop_assert_eq!(&call.id, &reply.id);
            prop_assert_eq!(&call.tool, &reply.tool);
            prop_assert!(!reply.text.is_empty());
            stopped |= reply.is_fatal();
        }
        let cancelled = |reply: &Reply| {
            reply.kind() == Some(FailureKind::Cancelled) && reply.tool != "cancelled"
        };
        prop_assert!(stopped || !replies.iter().any(cancelled), "cancelled for no reason");
        prop_assert_eq!(recorder.records().len(), calls.len());
        prop_assert_eq!(guard.journal().counts().calls(), calls.len() as u64);
    }
}
