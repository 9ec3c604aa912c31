//! A call that nobody hears of takes a shorter way. It must be answered as every other is, and leave
//! the same counts and gates behind.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::Arc;
use std::time::Duration;

use breakfall::{
    Arguments, BoxFuture, BreakerRules, Call, Context, Effect, Failure, FailureKind, GateRules,
    Guard, Outcome, Output, Policy, Record, Reply, Retry, Scope, SilentRule, Sink, Tool, ToolSpec,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Does what its arguments say.
struct Does;

impl Tool for Does {
    fn call<'a>(
        &'a self,
        arguments: &'a Arguments,
        context: Context<'a>,
    ) -> BoxFuture<'a, Outcome> {
        let what = arguments.value()["what"].as_str().unwrap_or_default();
        assert!(what != "panic at once", "at once");
        Box::pin(async move {
            match what {
                "wait" => tokio::time::sleep(Duration::from_millis(700)).await,
                "hang" => std::future::pending().await,
                "tick" => context.progress().tick(),
                _ => {}
            }
            assert!(what != "panic", "the tool panics");
            match what {
                "json" => Ok(Output::json(json!({ "rows": [1, 2] }))),
                "partial" => Ok(Output::text("a").with_problem("b", Failure::not_found("b")).of(2)),
                "items" => Ok(Output::text("a").of(1)),
                "long" => Ok(Output::text("x".repeat(5_000))),
                "silent" => Ok(Output::text("Error: no such table: users")),
                "empty" => Ok(Output::text("")),
                "fail" => Err(Failure::execution("the disk is full")),
                "upstream" => Err(Failure::upstream("502 Bad Gateway")),
                "later" => Err(Failure::rate_limited(Some(Duration::from_secs(2)))),
                _ => Ok(Output::text(format!("did {what}, {:?}", context.run))),
            }
        })
    }
}

const WHATS: [&str; 17] = [
    "it",
    "that",
    "wait",
    "hang",
    "tick",
    "panic",
    "panic at once",
    "json",
    "partial",
    "items",
    "long",
    "silent",
    "empty",
    "fail",
    "upstream",
    "later",
    "it",
];

struct Deaf;

impl Sink for Deaf {
    fn take(&self, _: &Record) {}
}

fn guard(hears: bool, silent: SilentRule) -> Guard {
    let schema = json!({
        "type": "object",
        "properties": { "what": { "type": "string" }, "n": { "type": "integer" } },
        "required": ["what"],
    });
    let narrow = Policy {
        gate: GateRules { concurrency: Some(1), ..GateRules::default() },
        ..Policy::default()
    };
    let wary = BreakerRules { consecutive: 3, ..BreakerRules::default() };
    let policy = Policy {
        silent,
        attempt_timeout: Duration::from_secs(3),
        max_output_bytes: 4_000,
        retry: Retry { attempts: 2, ..Retry::default() },
        gate: GateRules { breaker: Some(wary), ..GateRules::default() },
        ..Policy::default()
    };
    let tool = |name: &str, effect| {
        ToolSpec::new(name, "Does it.").schema(schema.clone()).effect(effect).tool(Does)
    };
    let builder = Guard::builder()
        .seed(7)
        .policy(policy)
        .policy_for("narrow", narrow)
        .tool(tool("reads", Effect::ReadOnly))
        .tool(tool("writes", Effect::Once))
        .tool(tool("narrow", Effect::ReadOnly))
        .tool(tool("far", Effect::ReadOnly).upstream("far away"));
    let builder = if hears { builder.sink(Arc::new(Deaf)) } else { builder };
    builder.build().unwrap()
}

fn call() -> impl Strategy<Value = Call> {
    let tool = prop::sample::select(vec!["reads", "writes", "narrow", "far", "reeds"]);
    let what = prop::sample::select(WHATS.to_vec());
    let run = prop::sample::select(vec![None, Some("a"), Some("b")]);
    (tool, what, 0..3_u32, 0..8_u32, run).prop_map(|(tool, what, n, form, run)| {
        let value = json!({ "what": what, "n": n });
        let call = match form {
            0 => Call::new(n.to_string(), tool, json!({ "waht": what })),
            1 => Call::new(n.to_string(), tool, value.to_string()),
            2 => Call::new(n.to_string(), tool, format!("{value},")),
            3 => Call::new(n.to_string(), tool, Value::Null),
            _ => Call::new(n.to_string(), tool, value),
        };
        match run {
            Some(run) => call.in_run(run),
            None => call,
        }
    })
}

/// All that can be seen of a reply.
fn seen(reply: &Reply) -> String {
    let failure = reply.report().failure().map(|failure| {
        (failure.kind, failure.disposition, failure.attempts, failure.message.clone())
    });
    let Reply { id, tool, text, is_error, attempts, .. } = reply;
    let parts = (reply.output(), reply.error(), reply.success());
    format!("{id} {tool} {text:?} {is_error} {attempts} {parts:?} {failure:?}")
}

fn left_behind(guard: &Guard) -> String {
    let gates = ["reads", "writes", "narrow", "far"].map(|tool| {
        let gate = guard.toolbox().gate(Scope::Tool(tool)).unwrap();
        (gate.breaker, gate.tripped, gate.running, gate.waiting)
    });
    let far = guard.toolbox().gate(Scope::Upstream("far away")).unwrap();
    let journal = guard.journal();
    format!("{gates:?} {far:?} {:?} {:?}", journal.counts(), journal.summary())
}

async fn answered(guard: &Guard, calls: Vec<Call>, at_a_time: usize) -> Vec<String> {
    let mut told = Vec::new();
    for calls in calls.chunks(at_a_time) {
        let replies = match calls {
            [call] => vec![guard.handle(call.clone()).await],
            calls => guard.handle_all(calls.to_vec()).await,
        };
        told.extend(replies.iter().map(seen));
        tokio::time::advance(Duration::from_millis(300)).await;
    }
    told.push(left_behind(guard));
    told
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_call_that_nobody_hears_of_is_answered_as_every_other(
        calls in prop::collection::vec(call(), 1..24),
        at_a_time in 1..4_usize,
        silent in prop::sample::select(vec![SilentRule::Ignore, SilentRule::Note, SilentRule::Fail]),
    ) {
        let told = [false, true].map(|hears| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .start_paused(true)
                .build()
                .unwrap();
            runtime.block_on(async {
                answered(&guard(hears, silent), calls.clone(), at_a_time).await
            })
        });
        let [alone, heard] = told;
        prop_assert_eq!(alone, heard);
    }
}

#[tokio::test]
async fn a_dropped_call_leaves_a_record_also_where_nobody_hears_of_success() {
    let guard = guard(false, SilentRule::Ignore);
    let call = Call::new("1", "reads", json!({ "what": "hang" }));
    let hangs = tokio::time::timeout(Duration::from_millis(20), guard.handle(call)).await;
    assert!(hangs.is_err());
    assert_eq!(guard.journal().counts().abandoned, 1);
    assert_eq!(guard.toolbox().gate(Scope::Tool("reads")).unwrap().running, 0);
    let text = guard.handle(Call::new("2", "reads", json!({ "what": "it" }))).await;
    assert_eq!(text.kind(), None::<FailureKind>);
}
