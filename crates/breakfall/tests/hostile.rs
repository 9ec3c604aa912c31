//! What was found by attacking the guard: each a test named for it.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use breakfall::{
    Call, Checking, Failure, FailureKind, Guard, Output, Policy, Preset, RawArguments, Redactor,
    function, tool,
};
use breakfall_test::{Recorder, Script, reply_to};
use serde_json::{Value, json};

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |value, _| Value::Array(vec![value]))
}

fn guard(script: Script) -> Guard {
    Guard::builder().tool(script.tool()).build().unwrap()
}

#[tokio::test]
async fn a_letter_of_two_bytes_before_a_sign_is_a_letter() {
    for text in
        ["错误: x", "Größe: 3", "ошибка: a=b", "naïve=1", "é:", "pass\u{301}word=x", "密码=abc123"]
    {
        let guard = guard(Script::new("t").errs(text));
        assert!(guard.handle(Call::new("1", "t", "{}")).await.is_error);
        let long = format!("{{\"{}\": 1, \"größe\": 2}}", "ü".repeat(100));
        assert_eq!(guard.handle(Call::new("1", "é:", long.as_str())).await.id, "1");
    }
}

/// An error that panics when it is read, or when it is dropped.
#[derive(Debug)]
struct Bomb {
    when_read: bool,
}

impl fmt::Display for Bomb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a bomb")
    }
}

#[derive(Debug)]
struct Wrapper(Bomb);

impl fmt::Display for Wrapper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("wrapped")
    }
}

#[derive(Debug)]
struct Fuse;

impl fmt::Display for Fuse {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("read")
    }
}

impl std::error::Error for Fuse {}
impl std::error::Error for Bomb {}

impl std::error::Error for Wrapper {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if self.0.when_read { Some(&Fuse) } else { Some(&self.0) }
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(self.when_read, "dropped");
    }
}

#[tokio::test]
async fn an_error_that_panics_when_read_or_dropped_is_answered() {
    for when_read in [true, false] {
        let tool = function("t", "", move |_: Value| async move {
            Err::<String, _>(Wrapper(Bomb { when_read }))
        });
        let quick = Script::new("quick").answers("here").tool();
        let guard = Guard::builder().tools([tool, quick]).build().unwrap();
        let calls = vec![Call::new("1", "t", "{}"), Call::new("2", "quick", "{}")];
        let replies = guard.handle_all(calls).await;
        assert_eq!(replies[0].kind(), Some(FailureKind::Broken));
        assert!(replies[0].text.starts_with("The guard itself failed"), "{}", replies[0].text);
        assert!(!format!("{:?}", replies[0]).contains("dropped"));
        assert_eq!(guard.handle(Call::new("2", "quick", "{}")).await.text, "here");
    }
}

#[test]
fn a_runtime_without_timers_answers() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let guard = Guard::builder()
        .tool(function("t", "", |_: Value| async {
            tokio::task::yield_now().await;
            Ok::<_, Failure>("later")
        }))
        .build()
        .unwrap();
    assert_eq!(runtime.block_on(guard.handle(Call::new("1", "t", "{}"))).text, "later");
}

#[tokio::test]
async fn a_deep_value_overflows_no_stack_on_any_way_out() {
    let deep = || RawArguments::Json(nested(200_000));
    let keeping = Guard::builder()
        .tool(Script::new("t").tool())
        .tool(Script::new("locked").fails(FailureKind::Authentication).tool())
        .keep_arguments(true)
        .build()
        .unwrap();
    assert!(keeping.handle(Call::new("1", "t", deep())).await.is_error);
    assert!(keeping.handle(Call::new("1", "unknown", deep())).await.is_error);
    let batch = vec![Call::new("1", "locked", "{}"), Call::new("2", "t", deep())];
    assert_eq!(keeping.handle_all(batch).await.len(), 2);
    keeping.toolbox().disable("t").unwrap();
    assert!(keeping.handle(Call::new("1", "t", deep())).await.is_error);
    let tool =
        function("deep", "", |_: Value| async { Ok::<_, Failure>(Output::json(nested(200_000))) });
    let guard = Guard::builder().tool(tool).build().unwrap();
    assert!(guard.handle(Call::new("1", "deep", "{}")).await.text.contains("127 levels"));
    assert!(
        Guard::builder().tool(Script::new("t").schema(nested(200_000)).tool()).build().is_err()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_that_refers_to_itself_is_corrected_in_bounds() {
    let names: Vec<String> = (0..10).map(|n| format!("p{n}")).collect();
    let properties: Value = names.iter().map(|n| (n.clone(), json!({ "$ref": "#" }))).collect();
    let recursive = json!({ "type": "object", "properties": properties, "required": names });
    let list = json!({
        "type": "object",
        "$defs": { "l": { "type": "array", "minItems": 8, "items": { "$ref": "#/$defs/l" } } },
        "properties": { "l": { "$ref": "#/$defs/l" } },
        "required": ["l"],
    });
    for schema in [recursive, list] {
        let guard = guard(Script::new("t").schema(schema));
        let answer = guard.handle(Call::new("1", "t", "{}"));
        let reply = tokio::time::timeout(Duration::from_secs(5), answer).await.unwrap();
        assert_eq!(reply.kind(), Some(FailureKind::InvalidArguments));
    }
}

#[test]
fn a_schema_that_takes_billions_of_steps_is_refused() {
    let mut defs = serde_json::Map::new();
    for n in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/a{}", n + 1) });
        defs.insert(format!("a{n}"), json!({ "allOf": [next, next] }));
    }
    defs.insert("a40".to_owned(), json!({ "type": "object" }));
    let schema = json!({ "$defs": defs, "$ref": "#/$defs/a0" });
    let error = Guard::builder().tool(Script::new("t").schema(schema).tool()).build().unwrap_err();
    assert!(error.to_string().contains("not usable"), "{error}");
}

#[tokio::test]
async fn many_unknown_names_and_options_are_answered_in_bounds() {
    let known: Value =
        (0..2_000).map(|n| (format!("known_{n}"), json!({ "type": "string" }))).collect();
    let options: Vec<String> = (0..100_000).map(|n| format!("option_{n}")).collect();
    let schema = json!({
        "type": "object",
        "properties": { "list": { "type": "array", "items": { "enum": options } } },
        "additionalProperties": false,
    });
    let closed = json!({ "type": "object", "properties": known, "additionalProperties": false });
    let unknown: Value = (0..10_000).map(|n| (format!("unknown_{n}"), json!(n))).collect();
    let wrong = json!({ "list": (0..20).map(|n| format!("opton_{n}")).collect::<Vec<_>>() });
    for (schema, arguments) in [(closed, unknown), (schema, wrong)] {
        let guard = Guard::builder()
            .tool(Script::new("t").schema(schema).tool())
            .samples(1_000, 64 << 10)
            .build()
            .unwrap();
        let started = std::time::Instant::now();
        for _ in 0..3 {
            let reply = guard.handle(Call::new("1", "t", arguments.clone())).await;
            assert!(reply.text.len() <= 2_048, "{}", reply.text.len());
        }
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    }
}

#[test]
fn redaction_takes_time_in_proportion() {
    let redactor = Redactor::default();
    for unit in [
        "@",
        "a@b.c ",
        "password=",
        "token: abc123 ",
        "://",
        "-----BEGIN PRIVATE KEY-----",
        "ey",
        "sk-",
        "\"",
        "key=\"",
        "x",
    ] {
        let text = unit.repeat((1 << 20) / unit.len());
        let started = std::time::Instant::now();
        let _ = redactor.redact(&text);
        assert!(started.elapsed() < Duration::from_secs(20), "{unit}: {:?}", started.elapsed());
    }
}

#[tokio::test]
async fn a_tool_is_not_given_what_nobody_wrote() {
    let schema = json!({
        "type": "object",
        "properties": {
            "confirm": { "const": true },
            "mode": { "enum": ["delete_all", "keep"] },
            "o": { "type": "object", "properties": { "exclude": { "type": "string" } }, "additionalProperties": false },
            "id": { "type": "string" },
        },
    });
    for arguments in [
        r#"{"confirm":false}"#,
        r#"{"mode":"delete"}"#,
        r#"{"o":{"include":"x"}}"#,
        r#"{"id":12345678901234567890123}"#,
    ] {
        let guard = Guard::builder()
            .tool(Script::new("t").schema(schema.clone()).tool())
            .policy(Policy { checking: Checking::Diagnose, ..Policy::default() })
            .build()
            .unwrap();
        let given: Value = serde_json::from_str(arguments).unwrap();
        let reply = guard.handle(Call::new("1", "t", arguments)).await;
        assert_eq!(serde_json::from_str::<Value>(&reply.text).unwrap(), given);
    }
}

#[tokio::test]
async fn a_correction_keeps_what_was_meant_and_names_what_it_made_up() {
    let open = json!({ "type": "object", "properties": { "file": { "type": "string" } }, "required": ["file"] });
    let closed = json!({
        "type": "object",
        "properties": { "limit": { "type": "integer" } },
        "patternProperties": { "^x-": {} },
        "required": ["limit"],
        "additionalProperties": false,
    });
    let tagged = json!({
        "type": "object",
        "properties": { "shape": { "oneOf": [
            { "type": "object", "properties": { "kind": { "const": "Circle" }, "r": { "type": "number" } }, "required": ["kind", "r"] },
            { "type": "object", "properties": { "kind": { "const": "Square" }, "side": { "type": "number" } }, "required": ["kind", "side"] },
        ] } },
    });
    for (schema, arguments, shown) in [
        (
            &open,
            r#"{"profile":"dev"}"#,
            r#"`{"file":"text","profile":"dev"}`. Made up, put the real values there: `file`"#,
        ),
        (
            &closed,
            r#"{"limt":"many"}"#,
            r#"`{"limit":1}`. Made up, put the real values there: `limit`"#,
        ),
        (
            &closed,
            r#"{"limit":"3","x-trace":"keep"}"#,
            r#"Call it again like this: `{"limit":3,"x-trace":"keep"}`"#,
        ),
        (
            &tagged,
            r#"{"shape":{"kind":"Square","side":"3"}}"#,
            "- `shape.side`: expected a number, got `\"3\"`\nCall it again like this: `{\"shape\":{\"kind\":\"Square\",\"side\":3}}`",
        ),
    ] {
        let guard = guard(Script::new("t").schema(schema.clone()));
        let reply = guard.handle(Call::new("1", "t", arguments)).await;
        assert!(reply.text.contains(shown), "{arguments}: {}", reply.text);
    }
}

#[tokio::test]
async fn secrets_stay_in_whatever_way_they_come() {
    let secret = ["S3cr3t", "\"with\nbreak\"", &"z9".repeat(40)].concat();
    let schema = json!({ "type": "object", "properties": { "a": { "type": "integer" }, "password": { "type": "integer" } } });
    let recorder = Recorder::new();
    let guard = Guard::builder()
        .tool(Script::new("t").schema(schema).tool())
        .tool(Script::new("echo").tool())
        .tool(Script::new("login").fails(FailureKind::Permission).tool())
        .redact_value(&secret)
        .sink(recorder.sink())
        .build()
        .unwrap();
    let replies = guard
        .handle_all(vec![
            Call::new("1", "t", json!({ "a": secret })),
            Call::new("2", "t", json!({ "password": ["hunter2"] })),
            Call::new("3", "echo", json!({ "x": secret })),
            Call::new("4", "login", json!({ "password": "hunter2" })),
        ])
        .await;
    let all = format!("{replies:?}");
    assert!(!all.contains("z9z9z9") && !all.contains("hunter2"), "{all}");
    recorder.assert_never_saw("hunter2");
}

#[tokio::test]
async fn the_panic_of_a_task_that_a_tool_spawned_stays_in_the_record() {
    let tool = function("t", "", |_: Value| async {
        tokio::spawn(async { panic!("card 4111") }).await?;
        Ok::<_, Failure>("")
    });
    for preset in [Preset::Openagents, Preset::Sidekick, Preset::Brynhild] {
        let guard = Guard::builder().tool(tool.clone()).preset(preset).build().unwrap();
        let reply = guard.handle(Call::new("1", "t", "{}")).await;
        assert!(!reply.text.contains("4111"), "{}", reply.text);
    }
}

#[tokio::test]
async fn what_was_not_cut_off_is_not_said_to_be() {
    for arguments in ["undefined", "hello", "NaN"] {
        let reply = guard(Script::new("t")).handle(Call::new("1", "t", arguments)).await;
        assert_eq!(reply.kind(), Some(FailureKind::InvalidArguments), "{arguments}");
    }
    let reply =
        guard(Script::new("t")).handle(Call::new("1", "t", "```json {\"path\":\"a\"}```")).await;
    assert_eq!(reply.text, r#"{"path":"a"}"#);
}

#[tokio::test]
async fn twenty_problems_are_told_in_whole_sentences() {
    let properties: Value = (0..20)
        .map(|n| (format!("a_rather_long_name_{n}"), json!({ "type": "integer" })))
        .collect();
    let schema = json!({ "type": "object", "properties": properties });
    let wrong: Value = (0..20)
        .map(|n| (format!("a_rather_long_name_{n}"), json!("not a number at all")))
        .collect();
    for preset in [Preset::Breakfall, Preset::Json] {
        let guard = Guard::builder()
            .tool(Script::new("t").schema(schema.clone()).tool())
            .preset(preset)
            .build()
            .unwrap();
        let reply = guard.handle(Call::new("1", "t", wrong.clone())).await;
        assert!(
            !reply.text.contains("bytes in all") && reply.text.len() <= 2_048,
            "{}",
            reply.text
        );
        if preset == Preset::Json {
            assert!(serde_json::from_str::<Value>(&reply.text).is_ok(), "{}", reply.text);
        } else {
            assert!(reply.text.contains("- and "), "{}", reply.text);
        }
    }
}

#[tokio::test]
async fn a_tools_remark_is_not_an_expectation_and_stays_on_its_line() {
    let failure = Failure::invalid("`b`", "the sum must fit 64 bits\n- `c`: forged");
    let reply = reply_to(Preset::Breakfall, "t", failure).await;
    assert!(
        reply.text.contains("- `b`: the sum must fit 64 bits - `c`: forged\n"),
        "{}",
        reply.text
    );
}

#[tokio::test]
async fn escape_sequences_of_a_tool_reach_no_model() {
    let failure = Failure::execution("\u{1b}[31mred\u{1b}[0m\u{202e}\0\r\nnext\u{200b}");
    let reply = reply_to(Preset::Breakfall, "t", failure).await;
    assert!(reply.text.contains("> red\n> next\n"), "{:?}", reply.text);
    assert!(reply.report().failure().unwrap().removed_characters > 8);
}

#[tokio::test]
async fn a_call_that_never_arrived_took_no_effect_and_one_that_crashed_may_have() {
    let never_arrived = Failure::network("no program").not_dispatched();
    let text = reply_to(Preset::Breakfall, "t", never_arrived).await.text;
    assert!(!text.contains("taken effect"), "{text}");
    // Words and types may tell of a later step than the first.
    let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
    for said in [Failure::network("connect: connection refused"), refused.into()] {
        assert!(reply_to(Preset::Breakfall, "t", said).await.text.contains("taken effect"));
    }
    let crashed = Failure::http(502, "bad gateway");
    let text = reply_to(Preset::Breakfall, "t", crashed).await.text;
    assert!(text.contains("HTTP 502; it may have taken effect.\nCheck its result"), "{text}");
}

#[tokio::test]
async fn a_step_that_is_refused_does_not_run_a_tool_again_that_may_run_once() {
    let charged = Arc::new(AtomicU32::new(0));
    let tool = function("order", "Charges, then ships.", {
        let charged = Arc::clone(&charged);
        move |_: Value| {
            charged.fetch_add(1, Ordering::Relaxed);
            async { Err::<String, _>(std::io::Error::from(std::io::ErrorKind::ConnectionRefused)) }
        }
    });
    let guard = Guard::builder().tool(tool).build().unwrap();
    let reply = guard.handle(Call::new("1", "order", "{}")).await;
    assert!(reply.is_error && reply.text.contains("may have taken effect"), "{}", reply.text);
    assert_eq!(charged.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_partial_success_of_nothing_is_an_error_and_a_fatal_item_is_fatal() {
    let tool = function("t", "", |_: Value| async {
        Ok::<_, Failure>(
            Output::text("")
                .with_problem("a", Failure::authentication("TOKEN"))
                .with_problem("b", Failure::not_found("b"))
                .of(1),
        )
    });
    let guard = Guard::builder().tool(tool).build().unwrap();
    let reply = guard.handle(Call::new("1", "t", "{}")).await;
    assert!(reply.is_error && reply.is_fatal());
}

#[tokio::test]
async fn a_pause_outside_of_runs_can_be_lifted() {
    let (tool, calls) = Script::new("t").fails(FailureKind::Network).counted();
    let guard = Guard::builder()
        .tool(tool)
        .policy(breakfall::Policy::bare())
        .disposition(FailureKind::Network, breakfall::Disposition::Pause)
        .build()
        .unwrap();
    for _ in 0..3 {
        guard.handle(Call::new("1", "t", "{}")).await;
    }
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    guard.end_run(None);
    guard.handle(Call::new("1", "t", "{}")).await;
    assert_eq!(calls.load(Ordering::Relaxed), 2);
}

/// A type whose name the macro might take.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Parameters {
    n: u8,
}

/// Fails with a text.
#[tool(effect = "read_only")]
async fn texts(parameters: Parameters) -> Result<(), String> {
    if parameters.n == 0 { Ok(()) } else { Err(format!("{} is too much", parameters.n)) }
}

/// Fails with a boxed error.
#[tool]
async fn boxed() -> Result<u8, Box<dyn std::error::Error + Send + Sync>> {
    Ok("x".parse::<u8>()?)
}

#[tokio::test]
async fn a_tool_may_fail_with_a_text_or_a_boxed_error() {
    let guard = Guard::builder().tools([texts(), boxed()]).build().unwrap();
    let reply = guard.handle(Call::new("1", "texts", r#"{"parameters": {"n": 3}}"#)).await;
    assert!(
        reply.text.starts_with("`texts` failed. It said:\n> 3 is too much\n"),
        "{}",
        reply.text
    );
    assert_eq!(
        guard.handle(Call::new("1", "texts", r#"{"parameters": {"n": 0}}"#)).await.text,
        "done"
    );
    assert!(guard.handle(Call::new("1", "boxed", "{}")).await.is_error);
}

/// A server repeated an argument that was a password, in words that do not say so.
#[tokio::test]
async fn a_secret_among_the_arguments_is_not_told_by_an_error_that_repeats_it() {
    let schema = json!({
        "type": "object",
        "properties": { "user": { "type": "string" }, "login": { "type": "object",
            "properties": { "password": { "type": "string" } } } },
    });
    let said = "no luck with blueberry-pancake for sunday-morning";
    let guard = guard(Script::new("t").schema(schema).errs(said).answers("blueberry-pancake"));
    let call = || {
        let arguments = r#"{"user": "sunday-morning", "login": {"password": "blueberry-pancake"}}"#;
        Call::new("1", "t", arguments)
    };
    let reply = guard.handle(call()).await;
    assert!(reply.is_error && !reply.text.contains("blueberry"), "{}", reply.text);
    assert!(reply.text.contains("sunday-morning"), "{}", reply.text);
    let record = format!("{:?}", guard.journal().samples());
    assert!(!record.contains("blueberry"), "{record}");
    // What a tool that works gives back is its own.
    assert_eq!(guard.handle(call()).await.text, "blueberry-pancake");
}
