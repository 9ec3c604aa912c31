//! Arguments: every problem at once, the call corrected, hostile input answered.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use breakfall::{
    Arguments, BoxFuture, Call, Checking, Context, Detail, Effect, FailureKind, Guard, Outcome,
    Output, Policy, Repair, Reply, Report, Tool, ToolSpec, function, tool,
};
use breakfall_test::{Recorder, Script};
use serde_json::{Value, json};

/// Any JSON that serde accepts for a file search.
fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "minLength": 1 },
            "limit": { "type": "integer", "minimum": 1, "maximum": 100 },
            "order": { "enum": ["newest", "oldest"] },
            "filters": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "date": { "type": "string", "format": "date" },
                        "exact": { "type": "boolean" },
                    },
                    "required": ["date"],
                },
            },
        },
        "required": ["query"],
        "additionalProperties": false,
    })
}

async fn answer(schema: Value, arguments: &str) -> Reply {
    let guard = Guard::builder().tool(Script::new("t").schema(schema).tool()).build().unwrap();
    guard.handle(Call::new("1", "t", arguments)).await
}

/// What a tool gets that is asked first, whatever its schema says.
async fn passed_on(schema: &Value, arguments: &str) -> String {
    let guard = Guard::builder()
        .tool(Script::new("t").schema(schema.clone()).tool())
        .policy(Policy { checking: Checking::Diagnose, ..Policy::default() })
        .build()
        .unwrap();
    guard.handle(Call::new("1", "t", arguments)).await.text
}

fn correction(reply: &Reply) -> Option<(Value, Vec<String>)> {
    let Report::Failure(failure) = reply.report() else { return None };
    let Detail::Arguments { correction, .. } = &failure.detail else { return None };
    correction.as_ref().map(|found| (found.arguments.clone(), found.made_up.clone()))
}

#[tokio::test]
async fn every_problem_is_told_at_once_with_the_call_corrected() {
    let reply = answer(
        schema(),
        r#"{"qurey": "x", "limit": "7", "order": "Newest", "filters": [{"date": "next tuesday"}]}"#,
    )
    .await;
    insta::assert_snapshot!(reply.text, @r#"
    `t` did not accept its arguments:
    - `filters[0].date`: expected a date like `2026-01-31`, got `"next tuesday"`
    - `limit`: expected an integer, got `"7"`
    - `order`: expected one of `"newest"`, `"oldest"`, got `"Newest"`
    - `qurey` is not an argument; nearest: `query`
    - `query`: expected a string; it is missing
    Call it again in this shape: `{"filters":[{"date":"2026-01-31"}],"limit":7,"order":"newest","query":"x"}`. Made up, put the real values there: `filters[0].date`. (ref eawa0h)
    "#);
}

#[tokio::test]
async fn corrections_keep_what_was_right_and_name_what_is_made_up() {
    let nested = json!({
        "type": "object",
        "$defs": { "point": {
            "type": "object",
            "properties": { "x": { "type": "number" }, "y": { "type": "number" } },
            "required": ["x", "y"],
        } },
        "properties": {
            "at": { "$ref": "#/$defs/point" },
            "names": { "type": "array", "items": { "type": "string" }, "minItems": 1 },
            "mode": { "anyOf": [{ "type": "null" }, { "type": "integer" }] },
            "when": { "type": "string", "format": "date-time" },
        },
        "required": ["at", "names"],
    });
    for (schema, arguments, corrected, made_up) in [
        (schema(), "{}", json!({ "query": "text" }), vec!["query"]),
        (schema(), r#"{"query": 5}"#, json!({ "query": "5" }), vec![]),
        (
            schema(),
            r#"{"query": "x", "limit": 7.0, "order": 3}"#,
            json!({ "query": "x", "limit": 7.0, "order": "newest" }),
            vec!["order"],
        ),
        (
            schema(),
            r#"{"query": "x", "limit": 1000}"#,
            json!({ "query": "x", "limit": 1 }),
            vec!["limit"],
        ),
        (
            schema(),
            r#"{"query": "x", "filters": {"date": "2026-02-01", "exact": "true"}}"#,
            json!({ "query": "x", "filters": [{ "date": "2026-02-01", "exact": true }] }),
            vec![],
        ),
        (schema(), r#"{"query": "x", "whatever": 1}"#, json!({ "query": "x" }), vec![]),
        (
            nested.clone(),
            r#"{"at": {"x": "1.5"}, "names": "bob"}"#,
            json!({ "at": { "x": 1.5, "y": 1 }, "names": ["bob"] }),
            vec!["at.y"],
        ),
        (
            nested.clone(),
            r#"{"at": {"x": 1, "y": 2}}"#,
            json!({ "at": { "x": 1, "y": 2 }, "names": ["text"] }),
            vec!["names[0]"],
        ),
        (
            nested,
            r#"{"at": {"x": 1, "y": 2}, "names": ["a"], "mode": "4", "when": "2026-01-01T00:00:00Z"}"#,
            json!({ "at": { "x": 1, "y": 2 }, "names": ["a"], "mode": 4, "when": "2026-01-01T00:00:00Z" }),
            vec![],
        ),
    ] {
        let reply = answer(schema, arguments).await;
        assert_eq!(reply.kind(), Some(FailureKind::InvalidArguments), "{arguments}");
        let (found, invented) =
            correction(&reply).unwrap_or_else(|| panic!("none: {}", reply.text));
        assert_eq!(found, corrected, "{arguments}");
        assert_eq!(invented, made_up, "{arguments}");
    }
}

#[tokio::test]
async fn a_correction_that_would_be_refused_again_is_not_shown() {
    let schema = json!({
        "type": "object",
        "properties": { "code": { "type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$" } },
        "required": ["code"],
    });
    let reply = answer(schema, r#"{"code": "abc"}"#).await;
    assert_eq!(correction(&reply), None);
    assert!(
        reply.text.contains("expected text that matches `^[A-Z]{3}-[0-9]{4}$`, got `\"abc\"`"),
        "{}",
        reply.text
    );
    assert!(reply.text.contains("Correct the arguments and call it again."), "{}", reply.text);
}

#[tokio::test]
async fn malformed_json_is_mended_where_a_repeat_does_no_harm() {
    for (arguments, value) in [
        ("```json\n{\"query\": \"x\"}\n```", json!({ "query": "x" })),
        (r#"{"query": "x",}"#, json!({ "query": "x" })),
        ("{'query': 'it\\'s'}", json!({ "query": "it's" })),
        (r#"{query: "x", limit: 3}"#, json!({ "query": "x", "limit": 3 })),
        ("{'query': 'x', 'filters': [],}", json!({ "query": "x", "filters": [] })),
        ("{\"query\": \"two\nlines\"}", json!({ "query": "two\nlines" })),
        (r#"{'query': '\ud83d\ude00 é "q"'}"#, json!({ "query": "😀 é \"q\"" })),
        (r#""{\"query\": \"x\"}""#, json!({ "query": "x" })),
        (
            r#"{"query": "x", "filters": "[{\"date\": \"2026-01-01\"}]"}"#,
            json!({ "query": "x", "filters": [{ "date": "2026-01-01" }] }),
        ),
        (
            r#"{"query": "x", 'filters': [{'date': '2026-01-01', 'exact': True}]}"#,
            json!({ "query": "x", "filters": [{ "date": "2026-01-01", "exact": true }] }),
        ),
    ] {
        for (effect, repair, mended) in [
            (Effect::ReadOnly, Repair::Repeatable, true),
            (Effect::Once, Repair::Repeatable, false),
            (Effect::Once, Repair::Always, true),
            (Effect::ReadOnly, Repair::Never, false),
        ] {
            let recorder = Recorder::new();
            let (tool, calls) = Script::new("t").schema(schema()).effect(effect).counted();
            let guard = Guard::builder()
                .tool(tool)
                .policy(Policy { repair, ..Policy::default() })
                .sink(recorder.sink())
                .build()
                .unwrap();
            let reply = guard.handle(Call::new("1", "t", arguments)).await;
            let ran = calls.load(Ordering::Relaxed) == 1;
            assert_eq!(ran, mended, "{arguments} ({effect:?}, {repair:?}): {}", reply.text);
            if mended {
                assert_eq!(serde_json::from_str::<Value>(&reply.text).unwrap(), value);
                assert!(!recorder.records()[0].repairs.is_empty(), "{arguments}: not noted");
            } else {
                assert_eq!(reply.kind(), Some(FailureKind::InvalidArguments));
            }
        }
    }
}

#[tokio::test]
async fn what_cannot_be_mended_without_guessing_is_refused() {
    for arguments in [
        r#"{"query": "C:\Users\x"}"#,
        r#"{"query": "x" "limit": 3}"#,
        r#"{"query": "a "quoted" word"}"#,
        r#"{"query": "\ud800"}"#,
        r#"{"query": "x"}}"#,
        "query: x",
        "[1, 2",
    ] {
        let (tool, calls) = Script::new("t").schema(schema()).counted();
        let guard = Guard::builder().tool(tool).build().unwrap();
        let reply = guard.handle(Call::new("1", "t", arguments)).await;
        assert!(reply.is_error, "{arguments}");
        assert_eq!(calls.load(Ordering::Relaxed), 0, "{arguments}");
    }
}

#[tokio::test]
async fn cut_off_arguments_are_told_apart_and_never_become_nothing() {
    let anything = json!({ "type": "object" });
    for arguments in [
        "{",
        r#"{"a"#,
        r#"{"a":"#,
        r#"{"a": "b"#,
        r#"{"a": [1, 2"#,
        r#"{"a": tru"#,
        r#"{"a": {"#,
        "```json\n{\"a\": 1",
        "{'a': 'b",
        "{a: 1,",
        r#"{"a": "b\"#,
        r#"{"a": "\u12"#,
    ] {
        let (tool, calls) = Script::new("t").schema(anything.clone()).counted();
        let guard = Guard::builder().tool(tool).build().unwrap();
        let reply = guard.handle(Call::new("1", "t", arguments)).await;
        assert_eq!(
            reply.kind(),
            Some(FailureKind::TruncatedArguments),
            "{arguments}: {}",
            reply.text
        );
        assert_eq!(calls.load(Ordering::Relaxed), 0);
    }
}

#[tokio::test]
async fn no_arguments_at_all_are_none() {
    for arguments in ["", "  ", "null", "{}"] {
        assert_eq!(answer(json!({ "type": "object" }), arguments).await.text, "{}");
    }
    assert_eq!(answer(schema(), "").await.kind(), Some(FailureKind::InvalidArguments));
}

#[tokio::test]
async fn hostile_arguments_get_an_answer() {
    let brackets = "[".repeat(200_000);
    let closed = format!("{brackets}{}", "]".repeat(200_000));
    let objects = r#"{"a":"#.repeat(200_000);
    let quoted = "{'a':".repeat(200_000);
    let long = format!(r#"{{"query": "{}"}}"#, "x".repeat(50 << 20));
    let twice = r#"{"query": "a", "query": "b"}"#;
    for (arguments, kind) in [
        (brackets.as_str(), Some("invalid_arguments")),
        (&closed, Some("invalid_arguments")),
        (&objects, Some("invalid_arguments")),
        (&quoted, Some("invalid_arguments")),
        (&long, Some("invalid_arguments")),
        (r#"{"query": "\udc00\ud800"}"#, Some("invalid_arguments")),
        ("\u{0}\u{1}", Some("invalid_arguments")),
        ("42", Some("invalid_arguments")),
        (twice, None),
    ] {
        let reply = answer(schema(), arguments).await;
        assert_eq!(reply.kind().map(FailureKind::name), kind, "{arguments:.40}");
        assert!(reply.text.len() < 2200, "{} bytes", reply.text.len());
    }
}

#[tokio::test]
async fn a_value_nested_too_deeply_gets_an_answer() {
    let mut value = json!(1);
    for _ in 0..200_000 {
        value = Value::Array(vec![value]);
    }
    let guard = Guard::builder().tool(Script::new("t").tool()).build().unwrap();
    let reply = guard.handle(Call::new("1", "t", value)).await;
    assert!(reply.text.contains("at most 127 levels of nesting"), "{}", reply.text);
}

#[tokio::test]
async fn the_limit_of_size_is_a_setting_with_a_text() {
    let policy = Policy { max_argument_bytes: 10, ..Policy::default() };
    let guard = Guard::builder().tool(Script::new("t").tool()).policy(policy).build().unwrap();
    for arguments in [json!({ "a": "0123456789" }).into(), r#"{"a": "0123456789"}"#.into()] {
        let arguments: breakfall::RawArguments = arguments;
        let reply = guard.handle(Call::new("1", "t", arguments)).await;
        assert!(
            reply.text.contains("the arguments: expected at most 10 bytes, got `"),
            "{}",
            reply.text
        );
    }
}

#[tokio::test]
async fn draft_07_and_2020_12_are_both_understood() {
    let draft07 = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "definitions": { "n": { "type": "integer" } },
        "properties": { "pair": { "items": [{ "type": "string" }, { "$ref": "#/definitions/n" }] } },
    });
    let modern = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "n": { "type": "integer" } },
        "properties": { "pair": { "prefixItems": [{ "type": "string" }, { "$ref": "#/$defs/n" }] } },
    });
    for schema in [draft07, modern] {
        assert!(!answer(schema.clone(), r#"{"pair": ["a", 1]}"#).await.is_error);
        let reply = answer(schema, r#"{"pair": ["a", "b"]}"#).await;
        assert!(
            reply.text.contains("- `pair[1]`: expected an integer, got `\"b\"`"),
            "{}",
            reply.text
        );
    }
}

#[test]
fn a_schema_that_reaches_outside_or_is_wrong_is_refused_when_the_guard_is_built() {
    for schema in [
        json!({ "$ref": "https://example.org/schema.json" }),
        json!({ "$ref": "file:///etc/passwd" }),
        json!({ "type": "no-such-type" }),
        json!({ "properties": { "a": { "pattern": "(" } } }),
    ] {
        let guard = Guard::builder().tool(Script::new("t").schema(schema).tool()).build();
        let error = guard.unwrap_err().to_string();
        assert!(error.starts_with("the input schema of `t` is not usable"), "{error}");
    }
}

#[tokio::test]
async fn a_tool_that_takes_more_than_its_schema_is_let_do_so() {
    for (checking, arguments, text) in [
        (Checking::Diagnose, r#"{"limit": "7", "query": "x"}"#, r#"{"limit":7,"query":"x"}"#),
        (
            Checking::Diagnose,
            r#"{"limit": "many", "query": "x"}"#,
            r#"{"limit":"many","query":"x"}"#,
        ),
        (Checking::Warn, r#"{"limit": "7", "query": "x"}"#, r#"{"limit":"7","query":"x"}"#),
        (Checking::Off, r#"{"limit": "7"}"#, r#"{"limit":"7"}"#),
    ] {
        let guard = Guard::builder()
            .tool(Script::new("t").schema(schema()).tool())
            .policy(Policy { checking, ..Policy::default() })
            .build()
            .unwrap();
        assert_eq!(guard.handle(Call::new("1", "t", arguments)).await.text, text);
    }
}

#[tokio::test]
async fn the_only_unknown_name_is_taken_for_the_only_missing_one() {
    let schema = json!({
        "type": "object",
        "properties": { "query": { "type": "string" }, "limit": { "type": "integer" } },
        "required": ["query"],
        "additionalProperties": false,
    });
    let reply = answer(schema.clone(), r#"{"sql": "select 1", "limit": 3}"#).await;
    let expected = r#"Call it again like this: `{"limit":3,"query":"select 1"}`"#;
    assert!(reply.text.contains(expected), "{}", reply.text);
    // One of another type is another.
    let reply = answer(schema, r#"{"rows": 5, "limit": 3}"#).await;
    assert!(reply.text.contains("put the real values there: `query`"), "{}", reply.text);
}

/// `delete where {}` ran where the model had said nothing of what.
#[tokio::test]
async fn what_was_not_said_is_never_passed_on() {
    let schema = json!({
        "type": "object",
        "properties": {
            "where": { "type": "object" },
            "list": { "type": "array" },
            "text": { "type": "string" },
            "flag": { "type": "boolean" },
            "number": { "type": "integer" },
            "all": { "type": "array", "items": { "type": "object" } },
            "shape": { "type": "object", "properties": { "of": { "type": "object" } }, "required": ["of"] },
            "either": { "anyOf": [{ "type": "object" }, { "type": "array" }] },
        },
        "required": ["where"],
    });
    for arguments in [
        "{}",
        r#"{"where":null}"#,
        r#"{"where":{},"list":null}"#,
        r#"{"where":{},"text":null}"#,
        r#"{"where":{},"flag":null}"#,
        r#"{"where":{},"number":null}"#,
        r#"{"all":[null],"where":{}}"#,
        r#"{"shape":{},"where":{}}"#,
        r#"{"shape":null,"where":{}}"#,
        r#"{"either":null,"where":{}}"#,
    ] {
        let passed: Value = serde_json::from_str(&passed_on(&schema, arguments).await).unwrap();
        assert_eq!(passed, serde_json::from_str::<Value>(arguments).unwrap());
    }
    let reply = answer(schema, "{}").await;
    assert!(reply.text.contains("put the real values there: `where`"), "{}", reply.text);
}

#[tokio::test]
async fn what_would_change_what_a_call_means_is_left_to_its_tool() {
    let schema = json!({ "type": "object", "properties": {
        "tags": { "type": ["array", "null"], "items": { "type": "string" } },
        "ratio": { "type": "number" },
    } });
    // A list of one, and a number without some of its digits, are guesses.
    for arguments in
        [r#"{"tags":"null"}"#, r#"{"tags":"a,b"}"#, r#"{"ratio":"12345678901234567890.5"}"#]
    {
        assert_eq!(passed_on(&schema, arguments).await, arguments);
    }
}

#[tokio::test]
async fn what_tells_shapes_apart_or_confirms_is_never_made_up_for_the_model() {
    let shape = |action: &str| {
        json!({ "type": "object",
            "properties": { "action": { "const": action }, "name": { "type": "string" } },
            "required": ["action", "name"] })
    };
    let op = json!({ "type": "object", "required": ["op"],
        "properties": { "op": { "anyOf": [shape("delete"), shape("create")] } } });
    let wipe = json!({ "type": "object", "required": ["path", "confirm"],
        "properties": { "path": { "type": "string" }, "confirm": { "const": true } } });
    let either = json!({ "type": "object",
        "properties": { "a": { "anyOf": [{ "type": "integer" }, { "type": "string" }] } } });
    let version = json!({ "type": "object",
        "properties": { "a": { "type": "string" }, "n": { "type": "integer" } } });
    for (schema, arguments) in [
        (&op, r#"{"op":{"name":"prod"}}"#),
        (&wipe, r#"{"path":"/"}"#),
        (&either, r#"{"a":true}"#),
        (&version, r#"{"a":3.5}"#),
        (&version, r#"{"n":"007"}"#),
    ] {
        // The tool itself decides.
        assert_eq!(passed_on(schema, arguments).await, arguments);
    }
    let text = answer(op.clone(), r#"{"op": {"name": "prod"}}"#).await.text;
    let expected = "- `op.action`: expected one of `\"delete\"`, `\"create\"`; it is missing";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("put the real values there: `op.action`"), "{text}");
    let text = answer(op, r#"{"op": {"name": "prod", "action": "destroy"}}"#).await.text;
    let expected = "- `op.action`: expected one of `\"delete\"`, `\"create\"`, got `\"destroy\"`";
    assert!(text.contains(expected), "{text}");
}

#[tokio::test]
async fn when_such_a_tool_refuses_the_call_the_full_diagnosis_is_told() {
    let guard = Guard::builder()
        .tool(Script::new("t").schema(schema()).fails(FailureKind::InvalidArguments).tool())
        .policy(Policy { checking: Checking::Diagnose, ..Policy::default() })
        .build()
        .unwrap();
    let reply = guard.handle(Call::new("1", "t", r#"{"limit": "many"}"#)).await;
    assert!(
        reply.text.contains("- `limit`: expected an integer, got `\"many\"`"),
        "{}",
        reply.text
    );
    assert!(reply.text.contains("- `query`: expected a string; it is missing"), "{}", reply.text);
}

/// Counts.
#[tool(effect = "read_only")]
async fn count(#[serde(default)] from: u8) -> Result<u8, breakfall::Failure> {
    Ok(from)
}

#[tokio::test]
async fn what_the_schema_accepts_and_the_type_does_not_is_still_answered() {
    let guard = Guard::builder().tool(count()).build().unwrap();
    let reply = guard.handle(Call::new("1", "count", r#"{"from": 256}"#)).await;
    assert_eq!(reply.kind(), Some(FailureKind::InvalidArguments));
    assert_eq!(guard.handle(Call::new("1", "count", "")).await.text, "0");
}

/// In which order.
#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Order {
    Newest,
    Oldest,
}

/// Fields of every sort.
#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Sorts {
    query: String,
    limit: Option<u32>,
    #[serde(default)]
    paths: Vec<String>,
    order: Option<Order>,
    score: Option<f64>,
    within: Option<Box<Self>>,
    anything: Option<Value>,
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

#[tokio::test]
async fn a_text_says_to_a_typed_tool_what_its_value_says() {
    let guard = || {
        let tool = |sorts: Sorts| async move { Ok::<_, breakfall::Failure>(json!(sorts)) };
        Guard::builder().tool(function("sorts", "", tool)).build().unwrap()
    };
    for (text, is_error) in [
        (r#"{"query":"a"}"#, false),
        (r#" { "query" : "ü" , "limit" : 7, "order":"oldest" } "#, false),
        (r#"{"limit":null,"query":"","paths":["b","c"],"score":0.1,"order":null}"#, false),
        (r#"{"query":"a","score":-12.50,"anything":{"a":[1,{"b":null}],"c":"d"}}"#, false),
        (r#"{"query":"a","within":{"query":"b","within":{"query":"c","limit":1}}}"#, false),
        (r#"{"query":"a","colour":"red","page":1}"#, false),
        // Of names that are there twice, the last counts.
        (r#"{"query":"a","query":"b"}"#, false),
        (r#"{"query":"a","colour":"red","colour":"blue"}"#, false),
        (r#"{"qu\u0065ry":"\u0061","paths":["\n"]}"#, false),
        (r#"{"query":"a","score":1e3,"anything":123456789012345678901234567890}"#, false),
        (r#"{"query":"a","limit":-1}"#, true),
        (r#"{"query":"a","limit":4294967296}"#, true),
        (r#"{"query":"a","order":"biggest"}"#, true),
        (r#"{"query":7,"paths":"b"}"#, true),
        (r#"{"limit":7}"#, true),
    ] {
        let value: Value = serde_json::from_str(text).unwrap();
        let told = guard().handle(Call::new("1", "sorts", text)).await;
        let same = guard().handle(Call::new("1", "sorts", value)).await;
        assert_eq!((told.is_error, &told.text), (is_error, &same.text), "{text}");
    }
}

#[tokio::test]
async fn arguments_that_nobody_read_are_there_for_who_asks() {
    struct Twice;
    impl Tool for Twice {
        fn call<'a>(&'a self, arguments: &'a Arguments, _: Context<'a>) -> BoxFuture<'a, Outcome> {
            let (text, value) = (arguments.text().map(ToOwned::to_owned), arguments.value());
            Box::pin(async move { Ok(Output::json(json!([text, value, arguments.text()]))) })
        }
    }
    let schema = json!({ "type": "object", "properties": { "a": { "type": "integer" } } });
    let entry = ToolSpec::new("t", "").schema(schema).tool(Twice);
    for entry in [entry.clone(), entry.isolated()] {
        let guard = Guard::builder().tool(entry).build().unwrap();
        let reply = guard.handle(Call::new("1", "t", r#"{ "a": 1 }"#)).await;
        assert_eq!(reply.text, r#"["{ \"a\": 1 }",{"a":1},"{ \"a\": 1 }"]"#);
    }
}

/// Reads numbers as octal texts, whatever its schema says.
struct Octal;

impl Tool for Octal {
    fn call<'a>(&'a self, arguments: &'a Arguments, _: Context<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async move { Ok(Output::json(arguments.value().clone())) })
    }

    fn accepts(&self, arguments: &Value) -> bool {
        arguments["mode"].as_str().is_some_and(|mode| i32::from_str_radix(mode, 8).is_ok())
    }
}

#[tokio::test]
async fn what_a_tool_reads_itself_is_neither_refused_nor_mended() {
    let schema = json!({ "type": "object", "properties": { "mode": { "type": "integer" } } });
    for checking in [Checking::Strict, Checking::Diagnose, Checking::Warn] {
        let spec = ToolSpec::new("chmod", "").schema(schema.clone()).effect(Effect::Idempotent);
        let guard = Guard::builder()
            .tool(spec.tool(Octal))
            .policy(Policy { checking, ..Policy::default() })
            .build()
            .unwrap();
        let reply = guard.handle(Call::new("1", "chmod", r#"{"mode":"755"}"#)).await;
        assert_eq!((reply.is_error, &*reply.text), (false, r#"{"mode":"755"}"#), "{checking:?}");
        let reply = guard.handle(Call::new("2", "chmod", r#"{"mode":true}"#)).await;
        assert_eq!(reply.is_error, checking == Checking::Strict, "{}", reply.text);
    }
}

/// The validator tells of one of them, and not of its name.
#[tokio::test]
async fn arguments_of_a_tool_that_takes_none_are_told_by_their_names() {
    for fields in [json!({}), json!({ "properties": {} })] {
        let mut schema = json!({ "type": "object", "additionalProperties": false });
        schema.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let reply = answer(schema, r#"{"n": 1, "ms": 5}"#).await;
        for told in ["- `ms`: expected no arguments, got `5`", "- `n`: expected no arguments"] {
            assert!(reply.text.contains(told), "{told}\n{}", reply.text);
        }
        assert_eq!(correction(&reply), Some((json!({}), Vec::new())));
    }
}

#[tokio::test]
async fn an_argument_that_accepts_nothing_is_told_so() {
    let reply = answer(json!({ "properties": { "x": { "enum": [] } } }), r#"{"x": 1}"#).await;
    assert!(reply.text.contains("`x`: expected no value at all, got `1`"), "{}", reply.text);
}
