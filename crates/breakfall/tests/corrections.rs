//! What a refused call is answered with: only what helps, and nothing that would do harm.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::Arc;

use breakfall::{
    Arguments, BoxFuture, Call, Checking, Context, Failure, FailureKind, Guard, Outcome, Policy,
    Reply, Tool, ToolSpec,
};
use serde_json::{Value, json};

/// Refuses whatever it is given, in these words.
struct Refuses(Arc<str>);

impl Tool for Refuses {
    fn call<'a>(&'a self, _: &'a Arguments, _: Context<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async { Err(Failure::told(self.0.to_string())) })
    }
}

fn guard(tool: &str, schema: Value, words: &str) -> Guard {
    let policy = Policy { checking: Checking::Diagnose, ..Policy::default() };
    let tool = ToolSpec::new(tool, "Refuses.").schema(schema).tool(Refuses(words.into()));
    Guard::builder().policy(policy).tool(tool).build().unwrap()
}

async fn answered(tool: &str, schema: Value, words: &str, arguments: Value) -> Reply {
    guard(tool, schema, words).handle(Call::new("call", tool, arguments)).await
}

fn texts(required: &[&str], optional: &[&str]) -> Value {
    let all = required.iter().chain(optional);
    let fields: serde_json::Map<_, _> =
        all.map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
    json!({"type": "object", "properties": fields, "required": required, "additionalProperties": false})
}

#[tokio::test]
async fn a_name_is_meant_by_its_last_word() {
    let schema = texts(&["file_hash", "path"], &[]);
    let reply = answered("t", schema, "invalid", json!({"file_path": "/a.txt"})).await;
    assert!(
        reply.text.contains("`file_path` is not an argument; nearest: `path`"),
        "{}",
        reply.text
    );
    assert!(reply.text.contains(r#""path":"/a.txt""#), "{}", reply.text);
    // A slip of the finger is nearer.
    let schema = texts(&["file_pathe", "path"], &[]);
    let reply = answered("t", schema, "invalid", json!({"file_path": "/a.txt"})).await;
    assert!(reply.text.contains("nearest: `file_pathe`"), "{}", reply.text);
    let schema = texts(&["name"], &["userid"]);
    let reply = answered("t", schema, "invalid", json!({"userName": "ann"})).await;
    assert!(reply.text.contains(r#"{"name":"ann"}"#), "{}", reply.text);
}

#[tokio::test]
async fn nothing_is_near_to_null() {
    let schema = json!({"type": "object", "properties": {"level": {"enum": ["names", "full"]}}});
    let reply = answered("t", schema, "invalid", json!({"level": null})).await;
    assert!(reply.text.contains(r#"{"level":"names"}"#), "{}", reply.text);
    assert!(reply.text.contains("ade up"), "{}", reply.text);
}

#[tokio::test]
async fn nobody_confirms_for_a_model_what_it_left_out() {
    let schema = json!({"type": "object", "properties":
        {"confirm": {"enum": ["Y", "y", "yes"]}, "deep": {"anyOf": [{"type": "null"}]}},
        "required": ["confirm"]});
    for arguments in [json!({}), json!({"confirm": "zz"})] {
        let reply = answered("t", schema.clone(), "invalid", arguments).await;
        assert!(reply.text.contains("`confirm`: expected one of"), "{}", reply.text);
        assert!(!reply.text.contains(r#""confirm":"Y""#), "{}", reply.text);
    }
}

#[tokio::test]
async fn a_value_that_matches_its_pattern_keeps_it_under_another_name() {
    let schema = json!({"type": "object", "properties":
        {"fileKey": {"type": "string", "pattern": "^[a-zA-Z0-9]+$"}}, "required": ["fileKey"],
        "additionalProperties": false});
    for (given, kept) in [("abcDEF123", true), ("not it", false)] {
        let reply = answered("t", schema.clone(), "invalid", json!({"fleKey": given})).await;
        let is_kept = reply.text.contains(&format!(r#"{{"fileKey":"{given}"}}"#));
        assert_eq!(is_kept, kept, "{}", reply.text);
    }
}

#[tokio::test]
async fn what_breaks_over_an_argument_that_does_not_fit_failed_for_that() {
    let schema = texts(&["manifest"], &[]);
    for words in [
        "Error: NullPointerException at Manifest.parse(Manifest.java:17)",
        "Cannot read properties of null (reading 'trim')",
        "No such table: [object Object]",
        "no such table: \"[object Object]\" does not exist",
    ] {
        let arguments = json!({"manifest": {"kind": "Pod"}});
        let reply = answered("t", schema.clone(), words, arguments).await;
        assert_eq!(reply.kind(), Some(FailureKind::InvalidArguments), "{words}: {}", reply.text);
        assert!(reply.text.contains("`manifest`: expected a string"), "{words}: {}", reply.text);
        let reply = answered("t", schema.clone(), words, json!({"manifest": "kind: Pod"})).await;
        assert_ne!(reply.kind(), Some(FailureKind::InvalidArguments), "{words}: {}", reply.text);
    }
}

#[tokio::test]
async fn words_of_the_validators_own_and_of_the_tools_name_name_no_argument() {
    let zod = r#"Invalid input: [{"code":"invalid_type","path":["owner"],"message":"Required"}]"#;
    let schema = texts(&["owner", "path", "message"], &[]);
    let arguments = json!({"oner": "a", "path": "b", "message": "c"});
    let reply = answered("t", schema, zod, arguments).await;
    assert!(reply.text.contains(r#"{"message":"c","owner":"a","path":"b"}"#), "{}", reply.text);
    let words = "Invalid arguments for tool query-docs: `libraryId` is required";
    let schema = texts(&["libraryId", "query"], &[]);
    let arguments = json!({"lbraryId": "/a/b", "query": "hooks"});
    let reply = answered("query-docs", schema, words, arguments).await;
    assert!(reply.text.contains(r#"{"libraryId":"/a/b","query":"hooks"}"#), "{}", reply.text);
}

#[tokio::test]
async fn a_call_that_was_refused_for_something_else_is_not_shown_again_without_what_is_unknown() {
    let words = "Invalid arguments: SELECT queries are not allowed for write_query";
    let arguments = json!({"query": "select 1", "x": 1});
    let reply = answered("write_query", texts(&["query"], &[]), words, arguments).await;
    assert_eq!(reply.kind(), Some(FailureKind::InvalidArguments), "{}", reply.text);
    assert!(reply.text.contains("- `x`: expected only `query`"), "{}", reply.text);
    assert!(!reply.text.contains("Call it again like this"), "{}", reply.text);
    assert!(reply.text.contains("SELECT queries are not allowed"), "{}", reply.text);
}

#[tokio::test]
async fn how_often_it_failed_stands_behind_the_list_of_what_is_wrong() {
    let guard = guard("t", texts(&["query"], &[]), "invalid arguments");
    let mut text = String::new();
    for _ in 0..3 {
        text = guard.handle(Call::new("call", "t", json!({}))).await.text;
    }
    assert!(text.contains("it is missing\nThis is the 3rd time"), "{text}");
}
