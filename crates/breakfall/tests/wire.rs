//! Providers' messages in, replies out, ids kept.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use breakfall::wire::{self, anthropic, gemini, langchain, mcp, openai};
use breakfall::{Call, FailureKind, Guard, RawArguments, Reply};
use breakfall_test::Script;
use serde_json::{Value, json};

fn guard() -> Guard {
    Guard::builder()
        .tool(Script::new("echo").tool())
        .tool(Script::new("fails").fails(FailureKind::NotFound).tool())
        .build()
        .unwrap()
}

async fn replies(calls: Vec<Call>) -> Vec<Reply> {
    guard().handle_all(calls).await
}

const FAILED: &str = "`fails` did not find `notes/today.md`.\nCheck the name, or find out what \
                      exists, before calling it again. (ref 5z79gq)";

#[tokio::test]
async fn openai_chat() {
    let message = json!({ "role": "assistant", "content": null, "tool_calls": [
        { "id": "a", "type": "function", "function": { "name": "echo", "arguments": "{\"x\":1}" } },
        { "id": "b", "type": "function", "function": { "name": "fails", "arguments": {} } },
        { "id": 7, "type": "function", "function": {} },
        { "type": "custom", "id": "c", "custom": { "name": "echo", "input": "free text" } },
    ] });
    let replies = replies(openai::calls(&message).unwrap()).await;
    let answers: Vec<Value> = replies.iter().map(openai::message).collect();
    assert_eq!(answers[0], json!({ "role": "tool", "tool_call_id": "a", "content": "{\"x\":1}" }));
    assert_eq!(answers[1], json!({ "role": "tool", "tool_call_id": "b", "content": FAILED }));
    assert_eq!(
        (&replies[2].id, replies[2].kind()),
        (&"7".to_owned(), Some(FailureKind::UnknownTool))
    );
    assert_eq!(answers[3]["content"], "{\"input\":\"free text\"}");
}

#[tokio::test]
async fn openai_responses() {
    let output = json!([
        { "type": "reasoning", "summary": [] },
        { "type": "function_call", "id": "fc_1", "call_id": "a", "name": "echo", "arguments": "{}" },
    ]);
    let replies = replies(openai::response_calls(&output).unwrap()).await;
    assert_eq!(
        openai::response_item(&replies[0]),
        json!({ "type": "function_call_output", "call_id": "a", "output": "{}" })
    );
}

#[tokio::test]
async fn anthropic_blocks() {
    let message = json!({ "role": "assistant", "content": [
        { "type": "text", "text": "Let me look." },
        { "type": "tool_use", "id": "a", "name": "echo", "input": { "x": 1 } },
        { "type": "tool_use", "id": "b", "name": "fails", "input": {} },
    ] });
    let replies = replies(anthropic::calls(&message).unwrap()).await;
    assert_eq!(
        anthropic::message(&replies),
        json!({ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "a", "content": "{\"x\":1}", "is_error": false },
            { "type": "tool_result", "tool_use_id": "b", "content": FAILED, "is_error": true },
        ] })
    );
    assert!(anthropic::calls(&json!({ "content": "just text" })).unwrap().is_empty());
}

#[tokio::test]
async fn gemini_parts() {
    let content = json!({ "role": "model", "parts": [
        { "functionCall": { "name": "echo", "args": { "x": 1 } } },
        { "text": "and" },
        { "functionCall": { "id": "b", "name": "fails", "args": {} } },
    ] });
    let replies = replies(gemini::calls(&content).unwrap()).await;
    assert_eq!(
        gemini::part(&replies[0]),
        json!({ "functionResponse": { "name": "echo", "response": { "output": "{\"x\":1}" } } })
    );
    assert_eq!(
        gemini::part(&replies[1]),
        json!({ "functionResponse": { "id": "b", "name": "fails", "response": { "error": FAILED } } })
    );
}

#[test]
fn gemini_parts_are_read_as_its_python_client_writes_them() {
    let content = json!({ "parts": [
        { "text": "So.", "function_call": null, "functionCall": null },
        { "text": null, "function_call": { "id": null, "name": "echo", "args": { "x": 1 } } },
    ] });
    let calls = gemini::calls(&content).unwrap();
    assert_eq!(calls, [Call::new("", "echo", json!({ "x": 1 }))]);
}

#[tokio::test]
async fn mcp_results() {
    let call = mcp::call("1", &json!({ "name": "fails", "arguments": {} }));
    let replies = replies(vec![call, mcp::call("2", &json!({ "name": "echo" }))]).await;
    assert_eq!(
        mcp::result(&replies[0]),
        json!({ "content": [{ "type": "text", "text": FAILED }], "isError": true })
    );
    assert_eq!(
        mcp::result(&replies[1]),
        json!({ "content": [{ "type": "text", "text": "{}" }], "isError": false })
    );
}

#[tokio::test]
async fn langchain_messages() {
    let message = json!({
        "type": "ai",
        "tool_calls": [{ "name": "echo", "args": { "x": 1 }, "id": "a", "type": "tool_call" }],
        "invalid_tool_calls": [{ "name": "echo", "args": "{\"x\": ", "id": "b", "error": null }],
    });
    let replies = replies(langchain::calls(&message).unwrap()).await;
    assert_eq!(
        langchain::message(&replies[0]),
        json!({ "type": "tool", "content": "{\"x\":1}", "tool_call_id": "a", "name": "echo", "status": "success" })
    );
    let answer = langchain::message(&replies[1]);
    assert_eq!((&answer["status"], &answer["tool_call_id"]), (&json!("error"), &json!("b")));
    assert_eq!(replies[1].kind(), Some(FailureKind::TruncatedArguments));
}

#[test]
fn a_list_of_calls_that_is_no_list_is_refused() {
    let error = openai::calls(&json!({ "tool_calls": { "a": 1 } })).unwrap_err().to_string();
    assert_eq!(error, "not an OpenAI message at `tool_calls`: expected a list");
    for message in [json!(null), json!(7), json!({}), json!({ "tool_calls": null })] {
        assert!(openai::calls(&message).unwrap().is_empty());
    }
}

#[test]
fn names_and_arguments_are_written_as_providers_take_them() {
    assert_eq!(wire::name("read_file"), "read_file");
    let long = "x".repeat(100);
    let names = ["files.read", "files/read", "", &long].map(wire::name);
    for name in &names {
        assert!((1..=64).contains(&name.len()), "{name}");
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'), "{name}");
    }
    assert_ne!(names[0], names[1]);
    for (arguments, object) in [
        ("", json!({})),
        ("null", json!({})),
        (r#"{"a":1}"#, json!({ "a": 1 })),
        (r#"{"a":"#, json!({ "malformed_arguments": r#"{"a":"# })),
        ("[1]", json!({ "malformed_arguments": "[1]" })),
    ] {
        assert_eq!(anthropic::made("a", "f", arguments)["input"], object);
        let made = openai::made("a", "f", arguments);
        let text = made["function"]["arguments"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), object);
    }
}

#[tokio::test]
async fn nothing_is_run_with_arguments_that_were_cut_off_before_they_began() {
    let cut = |text: &str| Call::new("a", "echo", RawArguments::CutOff(text.to_owned()));
    let replies = replies(vec![cut(""), cut(r#"{"a": 1"#), cut(r#"{"a": 1}"#)]).await;
    let kinds: Vec<_> = replies.iter().map(Reply::kind).collect();
    let truncated = Some(FailureKind::TruncatedArguments);
    assert_eq!(kinds, [truncated, truncated, None]);
}

#[tokio::test]
async fn each_reply_is_told_of_when_it_is_there_and_a_recovered_call_is_recorded_as_one() {
    let guard = guard();
    let mut told = Vec::new();
    let calls = vec![Call::new("a", "echo", "{}"), Call::new("b", "fails", "{}").recovered()];
    let stop = std::future::pending();
    let replies = guard.handle_all_telling(calls, stop, &mut |r| told.push(r.id.clone())).await;
    assert_eq!(told, replies.iter().map(|reply| reply.id.clone()).collect::<Vec<_>>());
    let samples = guard.journal().samples();
    assert_eq!(samples[0].repairs, ["the call was found in the model's text"]);
}

fn spec(schema: Value, description: &str) -> breakfall::ToolSpec {
    let tool = Script::new("echo").tool();
    breakfall::ToolSpec {
        input_schema: schema,
        description: description.to_owned(),
        ..tool.spec().clone()
    }
}

#[test]
fn schemas_are_written_as_providers_take_them() {
    let text = json!({ "type": "string" });
    for (schema, expected) in [
        (json!({ "type": "object" }), json!({ "type": "object", "properties": {} })),
        (json!(true), json!({ "type": "object", "properties": {} })),
        (
            json!({ "properties": { "a": text }, "required": ["a"] }),
            json!({ "type": "object", "properties": { "a": text }, "required": ["a"] }),
        ),
        (
            json!({ "type": "object", "properties": { "a": text },
                    "anyOf": [{ "required": ["a"] }, { "properties": { "a": {}, "b": text } }],
                    "oneOf": [{ "properties": { "c": text } }], "allOf": [] }),
            json!({ "type": "object", "properties": { "a": text, "b": text, "c": text } }),
        ),
    ] {
        let spec = spec(schema, "");
        assert_eq!(openai::tool(&spec)["function"]["parameters"], expected);
        assert_eq!(openai::response_tool(&spec)["parameters"], expected);
        assert_eq!(anthropic::tool(&spec)["input_schema"], expected);
    }
}

#[test]
fn descriptions_that_openai_does_not_take_are_cut() {
    let long = "ü".repeat(2_000);
    let cut = format!("{}…", "ü".repeat(1_023));
    let spec = spec(json!({}), &long);
    assert_eq!(openai::tool(&spec)["function"]["description"], cut);
    assert_eq!(openai::response_tool(&spec)["description"], cut);
    assert_eq!(anthropic::tool(&spec)["description"], long);
}
