//! The journal in memory: exact counts, bounded samples.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use breakfall::{Call, Counts, Failure, FailureKind, Guard, Policy, Raised, function};
use breakfall_test::Script;
use serde_json::json;

#[tokio::test]
async fn counts_are_exact_by_tool_and_type() {
    let guard = Guard::builder()
        .tool(Script::new("a").errs("x").fails(FailureKind::NotFound).answers("y").tool())
        .tool(Script::new("b").fails(FailureKind::Timeout).tool())
        .build()
        .unwrap();
    for tool in ["a", "a", "a", "a", "b", "b", "c"] {
        guard.handle(Call::new("1", tool, "{}")).await;
    }
    let summary = guard.journal().summary();
    let seen: Vec<_> = summary.iter().map(|(pair, n)| (pair.as_str(), *n)).collect();
    assert_eq!(seen, [("a:IoError", 1), ("a:NotFound", 1), ("b:Timeout", 2), ("c:UnknownTool", 1)]);
    assert_eq!(
        guard.journal().counts(),
        Counts { succeeded: 2, partial: 0, substituted: 0, failed: 5, abandoned: 0 }
    );
}

#[tokio::test]
async fn samples_tell_time_kind_type_message_and_arguments_on_request() {
    let build = |keep| {
        let tool = Script::new("t").errs("gromf").tool();
        Guard::builder().tool(tool).keep_arguments(keep).build().unwrap()
    };
    let before = std::time::SystemTime::now();
    let guard = build(true);
    guard.handle(Call::new("1", "t", r#"{"token": "hunter2", "n": 1}"#).in_run("r")).await;
    let sample = guard.journal().for_tool("t").remove(0);
    assert!(sample.started >= before - std::time::Duration::from_millis(5));
    assert_eq!((sample.error_type(), sample.run.as_deref()), ("IoError", Some("r")));
    let failure = sample.failure.as_ref().unwrap();
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Execution, "gromf"));
    assert_eq!(sample.arguments.as_deref(), Some(r#"{"token": "[redacted:token#1dd2]", "n": 1}"#));
    assert!(sample.told.as_ref().unwrap().starts_with("`t` failed."));
    let guard = build(false);
    guard.handle(Call::new("1", "t", r#"{"n": 1}"#)).await;
    assert_eq!(guard.journal().samples()[0].arguments, None);
    assert!(guard.journal().for_tool("other").is_empty());
}

#[tokio::test]
async fn samples_are_bounded_in_number_and_bytes_and_the_newest_stay() {
    let big = "word ".repeat(1_000);
    let guard = Guard::builder()
        .tool(Script::new("big").errs(&big).tool())
        .tool(Script::new("small").fails(FailureKind::NotFound).tool())
        .policy(Policy::bare())
        .samples(50, 40_000)
        .build()
        .unwrap();
    for turn in 0..500 {
        let tool = if turn % 2 == 0 { "big" } else { "small" };
        guard.handle(Call::new(turn.to_string(), tool, "{}")).await;
    }
    let samples = guard.journal().samples();
    assert!(!samples.is_empty() && samples.len() < 20, "{}", samples.len());
    assert_eq!(samples.last().unwrap().id, "499");
    assert_eq!(guard.journal().summary().values().sum::<u64>(), 500);
}

#[tokio::test]
async fn names_that_a_model_invents_fill_no_memory_and_lose_no_count() {
    let guard = Guard::builder().build().unwrap();
    for n in 0..10_000 {
        guard.handle(Call::new("1", format!("invented_{n}"), "{}")).await;
    }
    let summary = guard.journal().summary();
    assert!(summary.len() <= 4_097, "{}", summary.len());
    assert_eq!(summary.values().sum::<u64>(), 10_000);
    assert_eq!(summary["(others):UnknownTool"], 10_000 - 4_096);
}

#[tokio::test]
async fn types_that_a_server_invents_fill_no_memory_and_lose_no_count() {
    let turn = AtomicU32::new(0);
    let tool = function("t", "", move |_: serde_json::Value| {
        let named = format!("Invented{}", turn.fetch_add(1, Ordering::Relaxed));
        async move { Err::<String, _>(Failure::raised(Raised::new(named, "gone"))) }
    });
    let guard = Guard::builder().tool(tool).policy(Policy::bare()).build().unwrap();
    for n in 0..8_000 {
        guard.handle(Call::new("1", "t", json!({ "n": n }))).await;
    }
    let summary = guard.journal().summary();
    assert!(summary.len() <= 4_096 + 1_024 + 1, "{}", summary.len());
    assert_eq!(summary.values().sum::<u64>(), 8_000);
    assert_eq!(summary["(others):(others)"], 8_000 - 4_096 - 1_024);
}

#[tokio::test]
async fn long_names_and_types_fill_no_memory_and_lose_no_count() {
    let turn = AtomicU32::new(0);
    let tool = function("t", "", move |_: serde_json::Value| {
        let named = format!("{:x<9000}", turn.fetch_add(1, Ordering::Relaxed));
        async move { Err::<String, _>(Failure::raised(Raised::new(named, "gone"))) }
    });
    let guard = Guard::builder().tool(tool).policy(Policy::bare()).build().unwrap();
    for n in 0..5_000 {
        guard.handle(Call::new("1", format!("{n:x<200}"), "{}")).await;
        guard.handle(Call::new("1", "t", "{}")).await;
    }
    let summary = guard.journal().summary();
    assert!(summary.keys().map(String::len).sum::<usize>() < 768 << 10);
    assert_eq!(summary.values().sum::<u64>(), 10_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counts_are_exact_from_many_tasks() {
    let tool = Script::new("t").fails(FailureKind::Network).tool();
    let guard = Arc::new(Guard::builder().policy(Policy::bare()).tool(tool).build().unwrap());
    let tasks: Vec<_> = (0..50)
        .map(|_| {
            let guard = Arc::clone(&guard);
            tokio::spawn(async move {
                for _ in 0..100 {
                    guard.handle(Call::new("1", "t", "{}")).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(guard.journal().summary()["t:Network"], 5_000);
    assert_eq!(guard.journal().counts().failed, 5_000);
}

#[tokio::test]
async fn the_name_of_a_type_hides_no_secret_and_stays_on_its_line() {
    let secret = ["ghp_", "x7Kq2mVb9Zt4Wc8Rn5Ld3Hj6Fs1Pg0Ya2Ee4"].concat();
    let named = format!("Bad`\n{secret}");
    let tool = function("t", "", move |_: serde_json::Value| {
        let raised = Raised::new(named.clone(), "gone");
        async move { Err::<String, _>(Failure::raised(raised)) }
    });
    let guard = Guard::builder().tool(tool).voice(breakfall::Sidekick::Long);
    let guard = guard.build().unwrap();
    let reply = guard.handle(Call::new("1", "t", "{}")).await;
    let kept = guard.journal().samples()[0].error_type().to_owned();
    assert!(kept.starts_with("Bad'"), "{kept}");
    for text in [&reply.text, &kept] {
        assert!(!text.contains(&secret), "{text}");
    }
    assert!(!kept.contains('\n'), "{kept}");
}
