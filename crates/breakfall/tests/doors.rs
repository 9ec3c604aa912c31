//! What doors need of the spine: to pass things on to the letter, beside what is checked.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use breakfall::{
    Arguments, BoxFuture, Call, Checking, Context, Failure, FailureKind, Guard, Outcome, Output,
    Policy, Problem, Tool, ToolSpec,
};
use serde_json::json;
use serde_json::value::RawValue;

/// Returns its arguments as they came, and what was attached.
struct Relay;

impl Tool for Relay {
    fn call<'a>(
        &'a self,
        arguments: &'a Arguments,
        context: Context<'a>,
    ) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let text = arguments.text().map_or_else(|| arguments.value().to_string(), Into::into);
            let attached = context.attachment.and_then(|it| it.get::<&str>()).copied();
            let raw = format!(r#"{{"sent": {text}, "attached": "{}"}}"#, attached.unwrap_or("-"));
            Ok(Output::payload(RawValue::from_string(raw)?, "a text"))
        })
    }
}

fn guard(schema: serde_json::Value) -> Guard {
    let policy = Policy { checking: Checking::Diagnose, ..Policy::default() };
    Guard::builder()
        .policy(policy)
        .tool(ToolSpec::new("relay", "").schema(schema).tool(Relay))
        .redact_value("hunter2-hunter2")
        .build()
        .unwrap()
}

#[tokio::test]
async fn what_nobody_changed_is_passed_on_to_the_letter() {
    let guard = guard(json!({ "type": "object", "properties": { "n": { "type": "number" } } }));
    let text = r#"{"n": 12345678901234567890123456789.10,  "z": 1, "a": 2}"#;
    let reply = guard.handle(Call::new("1", "relay", text).with("here")).await;
    let expected = format!(r#"{{"sent": {text}, "attached": "here"}}"#);
    assert_eq!(reply.payload().unwrap().get(), expected);
    assert_eq!(reply.text, "a text");
    // What was coerced is written anew.
    let reply = guard.handle(Call::new("2", "relay", r#"{"n": "1"}"#)).await;
    assert_eq!(reply.payload().unwrap().get(), r#"{"sent": {"n":1}, "attached": "-"}"#);
}

#[tokio::test]
async fn a_registered_value_leaves_a_payload_too() {
    let guard = guard(json!({ "type": "object" }));
    let reply = guard.handle(Call::new("1", "relay", r#"{"key": "hunter2-hunter2"}"#)).await;
    let payload = reply.payload().unwrap().get();
    assert!(!payload.contains("hunter2"), "{payload}");
    assert!(serde_json::from_str::<serde_json::Value>(payload).is_ok(), "{payload}");
}

#[tokio::test]
async fn the_words_of_a_tool_are_read_and_quoted() {
    for (failure, kind, resource) in [
        (
            Failure::told("ENOENT: no such file or directory, open '/srv/nope.txt'"),
            FailureKind::NotFound,
            Some("/srv/nope.txt"),
        ),
        // A tool that was found and called exists: its server lacks it now.
        (
            Failure::told("Unknown tool: nope").json_rpc_code_is(-32602),
            FailureKind::Unavailable,
            None,
        ),
        (Failure::gone("end of stream"), FailureKind::Network, None),
    ] {
        let words = failure.message().to_owned();
        let gone = kind == FailureKind::Network;
        let reply = breakfall_test::reply_to(breakfall::Preset::Breakfall, "t", failure).await;
        assert_eq!(reply.kind(), Some(kind), "{}", reply.text);
        assert_eq!(reply.text.contains(&format!("> {words}")), !gone, "{}", reply.text);
        if let Some(resource) = resource {
            assert!(reply.text.contains(&format!("`{resource}`")), "{}", reply.text);
        }
        if gone {
            let expected = "`t` lost its server; it may have taken effect.\nCheck its result";
            assert!(reply.text.starts_with(expected), "{}", reply.text);
        }
    }
}

/// Leaves by a way of its door's, as an interrupt of another language does.
struct Leaves;

impl Tool for Leaves {
    fn call<'a>(&'a self, _: &'a Arguments, _: Context<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async { Err(Failure::left()) })
    }
}

#[tokio::test]
async fn a_tool_that_is_left_is_abandoned_and_its_siblings_are_not() {
    let schema = json!({ "type": "object" });
    let guard = guard(schema);
    guard.toolbox().add(ToolSpec::new("leaves", "").tool(Leaves)).unwrap();
    let calls = ["leaves", "relay"].map(|tool| Call::new(tool, tool, "{}"));
    let replies = guard.handle_all(calls.into()).await;
    let ids: Vec<&str> = replies.iter().map(|reply| reply.id.as_str()).collect();
    assert_eq!(ids, ["leaves", "relay"]);
    let counts = guard.journal().counts();
    assert_eq!((counts.succeeded, counts.failed, counts.abandoned), (1, 0, 1));
}

#[tokio::test]
async fn a_door_is_told_whether_arguments_were_mended() {
    struct Tells;

    impl Tool for Tells {
        fn call<'a>(&'a self, arguments: &'a Arguments, _: Context<'a>) -> BoxFuture<'a, Outcome> {
            Box::pin(async move { Ok(Output::text(arguments.repairs().len().to_string())) })
        }
    }

    let guard = guard(json!({ "type": "object" }));
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    guard.toolbox().add(ToolSpec::new("tells", "").schema(schema).tool(Tells)).unwrap();
    for (arguments, repairs) in [(json!({ "n": 1 }), "0"), (json!({ "n": "1" }), "1")] {
        assert_eq!(guard.handle(Call::new("1", "tells", arguments)).await.text, repairs);
    }
}

#[tokio::test]
async fn every_problem_that_a_tool_finds_is_told() {
    let problem = |path: &str, remark: &str| Problem {
        path: path.to_owned(),
        remark: Some(remark.to_owned()),
        ..Problem::default()
    };
    let guard = guard(json!({ "type": "object" }));
    let problems = vec![problem("order.count", "it must be even"), problem("day", "it is past")];
    let reply = guard.refuse(Call::new("1", "relay", "{}"), Failure::invalid_all(problems));
    assert_eq!(reply.kind(), Some(FailureKind::InvalidArguments));
    for told in ["`order.count`", "it must be even", "`day`", "it is past"] {
        assert!(reply.text.contains(told), "{}", reply.text);
    }
}
