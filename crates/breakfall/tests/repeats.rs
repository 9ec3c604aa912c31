//! The loop guard, through the guard.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use breakfall::{
    Call, Disposition, Effect, Failure, FailureKind, Guard, Policy, RepeatRules, StopReason,
    function,
};
use breakfall_test::Script;
use serde_json::{Value, json};

fn call(arguments: &str) -> Call {
    Call::new("1", "t", arguments).in_run("run")
}

#[tokio::test]
async fn the_same_failing_call_is_named_at_the_third_time_refused_at_the_fifth_and_then_fatal() {
    let (tool, calls) = Script::new("t").fails(FailureKind::NotFound).counted();
    let guard = Guard::builder().tool(tool).build().unwrap();
    let mut texts = Vec::new();
    let mut replies = Vec::new();
    for _ in 0..6 {
        let reply = guard.handle(call(r#"{"a": 1, "b": 2}"#)).await;
        texts.push(reply.text.clone());
        replies.push(reply);
    }
    insta::assert_snapshot!(texts.join("\n\n"), @r"
    `t` did not find `notes/today.md`.
    Check the name, or find out what exists, before calling it again. (ref w2a3pn)

    `t` did not find `notes/today.md`.
    Check the name, or find out what exists, before calling it again. (ref w2a3pn)

    `t` did not find `notes/today.md`. This is the 3rd time that this call fails in this way.
    Do not make the same call again: change the arguments, use another tool, or say what is missing. (ref w2a3pn)

    `t` did not find `notes/today.md`. This is the 4th time that this call fails in this way.
    Do not make the same call again: change the arguments, use another tool, or say what is missing. (ref w2a3pn)

    `t` failed 4 times with these arguments and was not run again.
    Change the arguments, use another tool, or say what is missing. (ref 7rrrva)

    `t` failed 4 times with these arguments and was not run again.
    Stop, and tell the user what is missing: this run goes in circles. (ref 7rrrva)
    ");
    assert_eq!(calls.load(Relaxed), 4);
    let kinds: Vec<_> = replies.iter().filter_map(breakfall::Reply::kind).collect();
    assert_eq!(kinds[4..], [FailureKind::Repeated; 2]);
    assert_eq!(replies[4].disposition(), Some(Disposition::Recoverable));
    assert_eq!(replies[4].stop_reason(), None);
    assert_eq!(replies[5].stop_reason(), Some(StopReason::Stalled));
}

#[tokio::test]
async fn order_and_spacing_of_arguments_do_not_hide_a_repetition_and_calls_between_do_not_either() {
    let (tool, calls) = Script::new("t").fails(FailureKind::NotFound).counted();
    let other = Script::new("other").answers("fine").tool();
    let guard = Guard::builder().tools([tool, other]).build().unwrap();
    let ways = [
        r#"{"a": 1, "b": [1, {"c": 2, "d": 3}]}"#,
        r#"{"b":[1,{"d":3,"c":2}],"a":1}"#,
        "{\"a\": 1,\n \"b\": [1, {\"c\": 2, \"d\": 3}]}",
    ];
    for turn in 0..5 {
        let reply = guard.handle(call(ways[turn % 3])).await;
        assert_eq!(reply.kind() == Some(FailureKind::Repeated), turn == 4, "{turn}");
        guard.handle(Call::new("2", "other", "{}").in_run("run")).await;
        guard.handle(call(&format!(r#"{{"turn": {turn}}}"#))).await;
    }
    assert_eq!(calls.load(Relaxed), 4 + 5);
    // Another run starts from nought.
    let reply = guard.handle(Call::new("1", "t", ways[0]).in_run("another")).await;
    assert_eq!(reply.kind(), Some(FailureKind::NotFound));
}

#[tokio::test]
async fn calls_that_never_run_are_refused_at_the_fifth_time_too() {
    let tool = Script::new("t").schema(json!({ "type": "object", "required": ["x"] })).tool();
    let guard = Guard::builder().tool(tool).build().unwrap();
    for (tool, arguments, kind) in [
        ("t", "{}", FailureKind::InvalidArguments),
        ("t", r#"{"x": "#, FailureKind::TruncatedArguments),
        ("no_such", "{}", FailureKind::UnknownTool),
    ] {
        let mut kinds = Vec::new();
        for _ in 0..6 {
            let reply = guard.handle(Call::new("1", tool, arguments)).await;
            kinds.push((reply.kind().unwrap(), reply.is_fatal()));
        }
        assert_eq!(kinds[..4], [(kind, false); 4]);
        assert_eq!(kinds[4..], [(FailureKind::Repeated, false), (FailureKind::Repeated, true)]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_success_another_kind_or_a_long_time_makes_it_forgotten() {
    let script = Script::new("t")
        .fails(FailureKind::NotFound)
        .fails(FailureKind::NotFound)
        .fails(FailureKind::NotFound)
        .answers("found")
        .fails(FailureKind::NotFound)
        .fails(FailureKind::Permission)
        .fails(FailureKind::NotFound);
    let guard = Guard::builder().tool(script.tool()).build().unwrap();
    for turn in 0..10 {
        let reply = guard.handle(call("{}")).await;
        assert_eq!(
            reply.text.contains("3rd time"),
            turn == 2 || turn == 8,
            "{turn}: {}",
            reply.text
        );
    }
    assert_eq!(guard.handle(call("{}")).await.kind(), Some(FailureKind::Repeated));
    tokio::time::advance(Duration::from_mins(10)).await;
    assert_eq!(guard.handle(call("{}")).await.kind(), Some(FailureKind::NotFound));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_fails_too_often_in_a_run_is_paused_in_it() {
    let (tool, calls) = Script::new("t").fails(FailureKind::NotFound).counted();
    let repeats = RepeatRules { tool_failures: 10, ..RepeatRules::default() };
    let guard = Guard::builder()
        .policy(Policy { repeats, ..Policy::default() })
        .tool(tool)
        .build()
        .unwrap();
    for n in 0..15 {
        guard.handle(call(&format!(r#"{{"n": {n}}}"#))).await;
    }
    assert_eq!(calls.load(Relaxed), 10);
    guard.end_run("run");
    for n in 0..15 {
        guard.handle(call(&format!(r#"{{"n": {n}}}"#))).await;
    }
    assert_eq!(calls.load(Relaxed), 20);
    // A run may last for days: it is tried again, and once where it fails as before.
    tokio::time::advance(Duration::from_mins(10)).await;
    for n in 15..20 {
        guard.handle(call(&format!(r#"{{"n": {n}}}"#))).await;
    }
    assert_eq!(calls.load(Relaxed), 21);
}

#[tokio::test(start_paused = true)]
async fn who_comes_back_when_told_is_in_no_loop_and_who_hammers_is() {
    let script = || Script::new("t").effect(Effect::Once).fails(FailureKind::RateLimited);
    let (tool, calls) = script().counted();
    let guard = Guard::builder().tool(tool).build().unwrap();
    for _ in 0..10 {
        assert_eq!(guard.handle(call("{}")).await.kind(), Some(FailureKind::RateLimited));
        tokio::time::advance(Duration::from_secs(20)).await;
    }
    assert_eq!(calls.load(Relaxed), 10);
    let (tool, calls) = script().counted();
    let guard = Guard::builder().tool(tool).build().unwrap();
    for _ in 0..10 {
        guard.handle(call("{}")).await;
    }
    assert_eq!(calls.load(Relaxed), 4);
    assert_eq!(guard.handle(call("{}")).await.stop_reason(), Some(StopReason::Stalled));
    // Having waited at last, it may try.
    tokio::time::advance(Duration::from_secs(20)).await;
    assert_eq!(guard.handle(call("{}")).await.kind(), Some(FailureKind::RateLimited));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_hammers_an_open_breaker_is_stopped() {
    let (tool, calls) = Script::new("t").fails(FailureKind::Upstream).counted();
    let guard = Guard::builder().tool(tool).build().unwrap();
    let mut turns = 0;
    while guard.handle(call("{}")).await.stop_reason() != Some(StopReason::Stalled) {
        turns += 1;
        assert!(turns < 20, "it goes on for ever");
    }
    assert_eq!(calls.load(Relaxed), 5);
}

/// Four calls that were under way when their server died were taken for a loop, and the same call was
/// refused ever after.
#[tokio::test(start_paused = true)]
async fn calls_side_by_side_that_fail_are_no_loop() {
    let slow = || {
        function("t", "", |_: Value| async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Err::<(), _>(Failure::not_found("it"))
        })
    };
    let guard = Guard::builder().tool(slow()).build().unwrap();
    for turn in 1..=4 {
        let replies = guard.handle_all(vec![call("{}"); 4]).await;
        let all = replies.iter().all(|reply| reply.kind() == Some(FailureKind::NotFound));
        assert!(all, "{turn}: {:?}", replies.last());
    }
    assert_eq!(guard.handle(call("{}")).await.kind(), Some(FailureKind::Repeated));
}

/// The calls of one batch that failed at once, one after another, were taken for a loop: the fourth of
/// one answer of the model's was refused.
#[tokio::test]
async fn calls_of_one_batch_that_fail_at_once_are_no_loop() {
    let fails = || function("t", "", |_: Value| async { Err::<(), _>(Failure::not_found("it")) });
    let guard = Guard::builder().tool(fails()).build().unwrap();
    for turn in 1..=4 {
        let replies = guard.handle_all(vec![call("{}"); 6]).await;
        let all = replies.iter().all(|reply| reply.kind() == Some(FailureKind::NotFound));
        assert!(all, "{turn}: {:?}", replies.last());
    }
    assert_eq!(guard.handle(call("{}")).await.kind(), Some(FailureKind::Repeated));
}

/// One answer of a model's with 25 calls for 25 files that are not there took the tool from it.
#[tokio::test]
async fn calls_that_a_model_made_at_once_are_one_failure_of_their_tool() {
    let fails = || function("t", "", |_: Value| async { Err::<(), _>(Failure::not_found("it")) });
    let guard = Guard::builder().tool(fails()).build().unwrap();
    let turn =
        |turn: usize| (0..25).map(move |n| call(&format!(r#"{{"n": {n}, "turn": {turn}}}"#)));
    for nth in 0..19 {
        let replies = guard.handle_all(turn(nth).collect()).await;
        let all = replies.iter().all(|reply| reply.kind() == Some(FailureKind::NotFound));
        assert!(all, "{nth}: {:?}", replies.last());
    }
    guard.handle_all(turn(19).collect()).await;
    assert_eq!(guard.handle(call("{}")).await.kind(), Some(FailureKind::Unavailable));
}

/// Who edits, runs the tests and edits again was refused the fifth run of the tests.
#[tokio::test]
async fn a_model_that_changes_something_and_hears_something_new_is_in_no_loop() {
    let broken = ["login", "logout", "search", "upload", "export", "import", "print", "undo"];
    let tests = Script::new("t");
    let tests = broken.iter().enumerate().fold(tests, |tests, (turn, name)| {
        tests.errs(format!("FAILED tests::{name} in 0.{turn} s"))
    });
    let tests = tests.answers("all passed").tool();
    let edit = Script::new("edit").answers("done").effect(Effect::Once).tool();
    let look = Script::new("look").answers("fine").effect(Effect::ReadOnly).tool();
    let guard = Guard::builder().tools([tests, edit, look]).build().unwrap();
    let between = |tool: &'static str| Call::new("2", tool, "{}").in_run("run");
    for _ in &broken {
        let reply = guard.handle(call("{}")).await;
        assert_eq!(reply.kind(), Some(FailureKind::Execution));
        assert!(!reply.text.contains("3rd time"), "{}", reply.text);
        guard.handle(between("edit")).await;
    }
    assert_eq!(guard.handle(call("{}")).await.text, "all passed");
}

/// Looking changes nothing, and times that differ are nothing new.
#[tokio::test]
async fn who_only_looks_or_hears_the_same_again_goes_in_circles() {
    for (between, words) in [("look", ["one", "another"]), ("edit", ["one in 3 s", "one in 4 s"])] {
        let mut script = Script::new("t");
        for turn in 0..6 {
            script = script.errs(words[turn % 2]);
        }
        let edit = Script::new("edit").answers("done").effect(Effect::Once).tool();
        let look = Script::new("look").answers("fine").effect(Effect::ReadOnly).tool();
        let guard = Guard::builder().tools([script.tool(), edit, look]).build().unwrap();
        let mut kinds = Vec::new();
        for _ in 0..5 {
            kinds.push(guard.handle(call("{}")).await.kind().unwrap());
            guard.handle(Call::new("2", between, "{}").in_run("run")).await;
        }
        assert_eq!(kinds[3..], [FailureKind::Execution, FailureKind::Repeated], "{between}");
    }
}

/// A query failed four times, the table was made, and the query was refused until the run stopped.
#[tokio::test]
async fn what_was_refused_is_run_again_when_something_was_changed() {
    let mut script = Script::new("t");
    for _ in 0..4 {
        script = script.errs("no such table: users");
    }
    let (tool, runs) = script.answers("3 rows").counted();
    let make = Script::new("make").answers("done").effect(Effect::Once).tool();
    let guard = Guard::builder().tools([tool, make]).build().unwrap();
    for _ in 0..4 {
        guard.handle(call("{}")).await;
    }
    assert_eq!(guard.handle(call("{}")).await.kind(), Some(FailureKind::Repeated));
    guard.handle(Call::new("2", "make", "{}").in_run("run")).await;
    assert_eq!(guard.handle(call("{}")).await.text, "3 rows");
    assert_eq!(runs.load(Relaxed), 5);
}
