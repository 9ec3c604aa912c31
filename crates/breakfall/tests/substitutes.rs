//! Substitutes, and trouble made on purpose, through the guard.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use breakfall::{
    Call, Effect, Ending, Failure, FailureKind, Fallback, Fault, Guard, Policy, Retry, Trouble,
    function,
};
use breakfall_test::{Recorder, Script};
use serde_json::{Value, json};

#[tokio::test(start_paused = true)]
async fn a_substitute_answers_once_the_reply_says_so_and_the_record_links_both() {
    let recorder = Recorder::new();
    let search = function("search_local", "", |arguments: Value| async move {
        Ok::<_, Failure>(format!("local: {arguments}"))
    });
    let guard = Guard::builder()
        .tool(Script::new("search_web").fails(FailureKind::Upstream).tool())
        .tool(search)
        .fallback(
            "search_web",
            Fallback::tool("search_local").arguments(json!({ "text": "$query", "limit": 5 })),
        )
        .sink(recorder.sink())
        .build()
        .unwrap();
    let reply = guard.handle(Call::new("1", "search_web", r#"{"query": "rust"}"#)).await;
    insta::assert_snapshot!(reply.text, @r#"
    local: {"limit":5,"text":"rust"}

    `search_web` did not answer this: remote service failed. `search_local` answered instead.
    "#);
    assert_eq!(reply.output(), Some(r#"local: {"limit":5,"text":"rust"}"#));
    assert!(reply.success() && !reply.is_error);
    assert_eq!(reply.substitute(), Some("search_local"));
    let record = recorder.records().remove(0);
    assert_eq!(
        (record.ending, record.substitute.as_deref()),
        (Ending::Substituted, Some("search_local"))
    );
    assert_eq!(record.failure.unwrap().kind, FailureKind::Upstream);
    assert_eq!(record.attempts, 4, "three and one");
    assert_eq!(guard.journal().counts().substituted, 1);
    assert_eq!(guard.journal().summary()["search_web:Upstream"], 1);
}

#[tokio::test]
async fn a_fixed_answer_takes_the_place_of_a_tool_that_is_switched_off() {
    let guard = Guard::builder()
        .tool(Script::new("weather").answers("sunny").tool())
        .fallback("weather", Fallback::value("no forecast today"))
        .build()
        .unwrap();
    guard.toolbox().disable("weather").unwrap();
    let reply = guard.handle(Call::new("1", "weather", "{}")).await;
    insta::assert_snapshot!(reply.text, @r"
    no forecast today

    `weather` did not answer this: not available now. This is a fixed answer instead.
    ");
    assert_eq!(reply.substitute(), Some(""));
}

#[tokio::test]
async fn a_substitute_that_fails_too_changes_nothing_but_a_word_of_it() {
    let recorder = Recorder::new();
    let guard = Guard::builder()
        .policy(Policy { retry: Retry::never(), ..Policy::default() })
        .tool(Script::new("a").fails(FailureKind::Upstream).tool())
        .tool(Script::new("b").fails(FailureKind::NotFound).tool())
        .fallback("a", Fallback::tool("b"))
        .fallback("b", Fallback::tool("a"))
        .sink(recorder.sink())
        .build()
        .unwrap();
    let reply = guard.handle(Call::new("1", "a", "{}")).await;
    insta::assert_snapshot!(reply.text, @r"
    `a` failed: its remote service failed. It said:
    > the service is down
    `b` was tried instead: not found.
    Call it again later, or use another tool. (ref zh8ge9)
    ");
    let record = recorder.records().remove(0);
    assert_eq!((record.ending, record.substitute.as_deref()), (Ending::Failed, Some("b")));
    assert_eq!(record.failure.unwrap().substitute.as_ref().unwrap().kind, FailureKind::NotFound);
}

#[tokio::test(start_paused = true)]
async fn what_may_have_taken_effect_is_not_done_again_by_a_substitute() {
    let (other, calls) = Script::new("other").answers("paid").counted();
    let guard = Guard::builder()
        .tool(Script::new("pay").effect(Effect::Once).hangs().tool())
        .tool(other)
        .fallback("pay", Fallback::tool("other"))
        .build()
        .unwrap();
    let reply = guard.handle(Call::new("1", "pay", "{}")).await;
    assert_eq!((reply.kind(), calls.load(Relaxed)), (Some(FailureKind::Timeout), 0));
    // Nor where the call itself is at fault.
    let guard = Guard::builder()
        .tool(Script::new("read").fails(FailureKind::NotFound).tool())
        .fallback("read", Fallback::value("x"))
        .build()
        .unwrap();
    assert_eq!(
        guard.handle(Call::new("1", "read", "{}")).await.kind(),
        Some(FailureKind::NotFound)
    );
}

#[tokio::test(start_paused = true)]
async fn every_trouble_made_on_purpose_is_answered_and_marked() {
    use Trouble as T;
    let http = T::Http { status: 503, body: "busy".to_owned(), retry_after: None };
    for (trouble, expected) in [
        (T::Latency(Duration::from_secs(2)), Ok("the whole answer")),
        (T::Hang, Err(FailureKind::Timeout)),
        (T::Fail(FailureKind::Permission), Err(FailureKind::Permission)),
        (http, Err(FailureKind::Upstream)),
        (T::Garbage, Ok("t\u{fffd}\u{fffd}")),
        (T::Truncated, Ok("the whol")),
        (T::Panic, Err(FailureKind::Internal)),
        (T::Flood(1 << 20), Ok("flood flood")),
    ] {
        let recorder = Recorder::new();
        let name = trouble.name();
        let tool = Script::new("t").effect(Effect::Once).answers("the whole answer").tool();
        let guard = Guard::builder()
            .tool(tool.fault(Fault::new(trouble)))
            .sink(recorder.sink())
            .build()
            .unwrap();
        let reply = guard.handle(Call::new("1", "t", "{}")).await;
        match expected {
            Ok(text) => assert!(reply.text.starts_with(text), "{name}: {}", reply.text),
            Err(kind) => assert_eq!(reply.kind(), Some(kind), "{name}"),
        }
        assert!(reply.text.len() <= 100 << 10, "{name}");
        assert_eq!(recorder.records()[0].fault, Some(name));
    }
}

#[tokio::test]
async fn a_fault_strikes_as_often_and_where_it_is_told_the_same_way_for_the_same_seed() {
    let struck = |seed| async move {
        let tool = Script::new("t").answers("ok").tool();
        let fault = Fault::new(Trouble::Fail(FailureKind::Permission))
            .probability(0.2)
            .when(json!({ "city": "Paris" }))
            .seed(seed);
        let guard =
            Guard::builder().policy(Policy::bare()).tool(tool.fault(fault)).build().unwrap();
        let mut struck = Vec::new();
        for n in 0..500 {
            let city = if n % 2 == 0 { "Paris" } else { "Rome" };
            let arguments = json!({ "city": city, "n": n });
            if guard.handle(Call::new("1", "t", arguments)).await.is_error {
                struck.push(n);
            }
        }
        struck
    };
    let first = struck(7).await;
    assert_eq!(first, struck(7).await);
    assert_ne!(first, struck(8).await);
    assert!(first.iter().all(|n| n % 2 == 0) && (30..70).contains(&first.len()), "{}", first.len());
}

#[test]
fn a_tool_cannot_be_its_own_fallback() {
    let tool = Script::new("a").tool();
    let error = Guard::builder().tool(tool).fallback("a", Fallback::tool("a")).build().unwrap_err();
    assert_eq!(error.to_string(), "`a` cannot be its own fallback");
}

#[tokio::test(start_paused = true)]
async fn a_substitute_has_attempts_of_its_own() {
    let (other, calls) = Script::new("b").fails(FailureKind::InvalidOutput).answers("ok").counted();
    let guard = Guard::builder()
        .tool(Script::new("a").fails(FailureKind::Upstream).tool())
        .tool(other)
        .fallback("a", Fallback::tool("b"))
        .build()
        .unwrap();
    let reply = guard.handle(Call::new("1", "a", "{}")).await;
    assert_eq!((reply.output(), calls.load(Relaxed)), (Some("ok"), 2));
}
