//! Every call is answered, whatever the tool does.

use std::sync::Arc;
use std::time::Duration;

use breakfall::{
    Arguments, BoxFuture, Call, Context, Disposition, Effect, Ending, Failure, FailureKind, Guard,
    Outcome, Output, Policy, Record, Sink, Tool, ToolSpec, Voice, require_input, tool,
};
use breakfall_test::{Recorder, Script, Step};
use serde_json::json;

fn call(tool: &str) -> Call {
    Call::new("call_1", tool, "{}")
}

#[tokio::test]
async fn answers_with_the_output_of_the_tool() {
    let guard = Guard::builder().tool(Script::new("t").answers("sunny").tool()).build().unwrap();
    let reply = guard.handle(call("t")).await;
    assert_eq!((reply.id.as_str(), reply.text.as_str()), ("call_1", "sunny"));
    assert!(reply.success() && !reply.is_error && reply.disposition().is_none());
    assert_eq!((reply.output(), reply.error()), (Some("sunny"), None));
}

#[tokio::test]
async fn answers_when_the_tool_panics_and_keeps_the_text_to_itself() {
    let recorder = Recorder::new();
    let tool = Script::new("t").panics("at password=hunter2").tool();
    let guard = Guard::builder().tool(tool).sink(recorder.sink()).build().unwrap();
    let reply = guard.handle(call("t")).await;
    assert_eq!(reply.kind(), Some(FailureKind::Internal));
    assert!(!reply.text.contains("hunter2") && !reply.text.contains("panic"), "{}", reply.text);
    let record = &recorder.records()[0];
    let failure = record.failure.as_ref().unwrap();
    assert!(failure.message.starts_with("panicked at crates"), "{}", failure.message);
    assert!(failure.message.contains("password=[redacted:password#"), "{}", failure.message);
    assert_eq!(failure.error_type, "Panic");
    recorder.assert_never_saw("hunter2");
}

/// Panics before there is a future, or when its future is dropped.
struct Rude {
    at_once: bool,
}

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

impl Tool for Rude {
    fn call<'a>(&'a self, _: &'a Arguments, _: Context<'a>) -> BoxFuture<'a, Outcome> {
        assert!(!self.at_once, "no future for you");
        let bomb = PanicsWhenDropped;
        Box::pin(async move {
            std::future::pending::<()>().await;
            drop(bomb);
            Ok(Output::text(""))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn answers_when_the_tool_panics_before_or_after_its_future() {
    for (at_once, kind) in [(true, FailureKind::Internal), (false, FailureKind::Timeout)] {
        let tool = ToolSpec::new("t", "").tool(Rude { at_once });
        let guard = Guard::builder().tool(tool).build().unwrap();
        assert_eq!(guard.handle(call("t")).await.kind(), Some(kind));
    }
}

#[tokio::test(start_paused = true)]
async fn answers_when_the_tool_hangs() {
    let tool = Script::new("run_query").effect(Effect::Once).hangs().tool();
    let guard = Guard::builder().tool(tool).build().unwrap();
    let reply = guard.handle(call("run_query")).await;
    assert!(
        reply.text.starts_with(
            "`run_query` gave no answer within 30 s; it may have taken effect.\n\
             Check its result before calling it again."
        ),
        "{}",
        reply.text
    );
}

#[tokio::test(start_paused = true)]
async fn a_read_only_tool_that_hangs_took_no_effect() {
    let guard = Guard::builder().tool(Script::new("t").hangs().tool()).build().unwrap();
    let reply = guard.handle(call("t")).await;
    assert!(
        reply.text.starts_with("`t` gave no answer within 55 s (2 attempts).\nCall it again"),
        "{}",
        reply.text
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_ignores_its_deadline_blocks_no_sibling() {
    let limit = Policy { attempt_timeout: Duration::from_millis(50), ..Policy::default() };
    let deaf = Step::Block(Duration::from_secs(2), "late".to_owned());
    let guard = Guard::builder()
        .policy(limit)
        .tool(Script::new("deaf").step(deaf).tool().isolated())
        .tool(Script::new("quick").answers("here").tool())
        .build()
        .unwrap();
    let started = std::time::Instant::now();
    let replies = guard.handle_all(vec![call("deaf"), call("quick")]).await;
    assert!(started.elapsed() < Duration::from_secs(1), "waited for the deaf one");
    assert_eq!(replies[0].kind(), Some(FailureKind::Timeout));
    assert_eq!(replies[1].text, "here");
}

/// Sleeps on its thread.
#[tool(effect = "read_only")]
fn sleeps() -> Result<String, Failure> {
    std::thread::sleep(Duration::from_secs(2));
    Ok("late".to_owned())
}

#[tokio::test]
async fn a_function_that_blocks_is_kept_off_the_callers_thread() {
    let limit = Policy { attempt_timeout: Duration::from_millis(50), ..Policy::default() };
    let guard = Guard::builder()
        .policy(limit)
        .tool(sleeps())
        .tool(Script::new("quick").answers("here").tool())
        .build()
        .unwrap();
    let started = std::time::Instant::now();
    let replies = guard.handle_all(vec![call("sleeps"), call("quick")]).await;
    assert!(started.elapsed() < Duration::from_secs(1), "waited for the sleeper");
    assert_eq!(replies[0].kind(), Some(FailureKind::Timeout));
    assert_eq!(replies[1].text, "here");
    // The thread is left behind, and the runtime would wait for it.
    tokio::task::yield_now().await;
    std::mem::forget(guard);
}

#[tokio::test]
async fn an_output_is_bounded_with_its_size_told() {
    let guard = Guard::builder().tool(Script::new("t").floods(5_000_000).tool()).build().unwrap();
    let reply = guard.handle(call("t")).await;
    assert!(!reply.is_error);
    assert!(reply.text.len() < 100 * 1024 + 1, "{}", reply.text.len());
    assert!(reply.text.contains("…[5000000 bytes in all]…"));
}

#[tokio::test]
async fn an_error_text_is_bounded() {
    let said = Failure::execution("long ".repeat(100_000));
    let reply = breakfall_test::reply_to(breakfall::Preset::Breakfall, "t", said).await;
    assert!(reply.text.len() < 2 * 1024 + 1, "{}", reply.text.len());
    assert!(reply.text.contains("bytes in all]") && reply.text.ends_with(')'), "{}", reply.text);
}

#[tokio::test]
async fn an_error_of_unknown_origin_shows_its_facts_and_not_its_words() {
    let recorder = Recorder::new();
    let tool = Script::new("t").errs("gromf 7 of internal_customers").tool();
    let guard = Guard::builder().tool(tool).sink(recorder.sink()).build().unwrap();
    let reply = guard.handle(call("t")).await;
    assert_eq!(reply.kind(), Some(FailureKind::Execution));
    assert!(!reply.text.contains("internal_customers"), "{}", reply.text);
    let failure = recorder.records()[0].failure.clone().unwrap();
    assert_eq!(failure.message, "gromf 7 of internal_customers");
    assert_eq!(Some(failure.reference), reply.reference());
    assert!(reply.text.contains(failure.reference.as_str()));
}

#[tokio::test]
async fn a_secret_gets_out_nowhere() {
    let recorder = Recorder::new();
    let secret = ["hunter2", "correct", "horse"].join("-");
    let guard = Guard::builder()
        .tool(Script::new("t").leaks(&secret).panics(&secret).tool())
        .redact_value(&secret)
        .keep_arguments(true)
        .sink(recorder.sink())
        .build()
        .unwrap();
    for _ in 0..2 {
        let arguments = json!({ "api_key": secret, "n": 1 });
        let reply = guard.handle(Call::new("1", "t", arguments)).await;
        assert!(!format!("{reply:?}").contains(&secret));
    }
    recorder.assert_never_saw(&secret);
    assert!(!format!("{:?}", guard.journal().samples()).contains(&secret));
}

#[tokio::test]
async fn a_wrong_argument_that_is_a_secret_is_not_repeated() {
    let schema = json!({
        "type": "object",
        "properties": { "password": { "type": "integer" }, "url": { "type": "integer" } },
    });
    let guard = Guard::builder().tool(Script::new("t").schema(schema).tool()).build().unwrap();
    let arguments = json!({ "password": "hunter2", "url": "https://bob:hunter2@example.org" });
    let reply = guard.handle(Call::new("1", "t", arguments)).await;
    assert_eq!(reply.kind(), Some(FailureKind::InvalidArguments));
    assert!(reply.text.contains("`password`") && !reply.text.contains("hunter2"), "{}", reply.text);
}

#[tokio::test]
async fn a_call_that_is_dropped_leaves_an_abandoned_record() {
    let recorder = Recorder::new();
    let tool = Script::new("t").hangs().tool();
    let guard = Guard::builder().tool(tool).sink(recorder.sink()).build().unwrap();
    let answer = guard.handle(call("t"));
    assert!(tokio::time::timeout(Duration::from_millis(5), answer).await.is_err());
    recorder.assert_endings(["abandoned"]);
    assert_eq!(guard.journal().counts().abandoned, 1);
}

struct BadVoice;

impl Voice for BadVoice {
    fn failure(&self, _: &breakfall::FailureReport) -> String {
        panic!("hoarse")
    }
}

struct BadSink;

impl Sink for BadSink {
    fn take(&self, _: &Record) {
        panic!("clogged")
    }
}

#[tokio::test]
async fn a_voice_or_sink_that_panics_costs_no_answer() {
    let guard = Guard::builder()
        .tool(Script::new("t").answers("fine").fails(FailureKind::NotFound).tool())
        .voice(BadVoice)
        .sink(Arc::new(BadSink))
        .build()
        .unwrap();
    assert_eq!(guard.handle(call("t")).await.text, "fine");
    assert!(guard.handle(call("t")).await.text.starts_with("`t` did not find"));
    assert_eq!(guard.lost_records(), 2);
}

#[tokio::test]
async fn dispositions_are_the_users_to_decide() {
    let tools = |name| Script::new(name).fails(FailureKind::Network).tool();
    let guard = Guard::builder()
        .tools([tools("a"), tools("b")])
        .disposition(FailureKind::Network, Disposition::Fatal)
        .disposition_for("b", FailureKind::Network, Disposition::Recoverable)
        .strict(true)
        .build()
        .unwrap();
    assert!(guard.handle(call("a")).await.is_fatal());
    assert!(!guard.handle(call("b")).await.is_fatal());
    assert!(guard.handle(call("no_such")).await.is_fatal());
}

#[tokio::test]
async fn a_paused_tool_is_out_for_the_rest_of_its_run_alone() {
    let (tool, calls) = Script::new("t").fails(FailureKind::Network).counted();
    let guard = Guard::builder()
        .tool(tool)
        .policy(Policy::bare())
        .disposition(FailureKind::Network, Disposition::Pause)
        .build()
        .unwrap();
    let in_run = |run: &str| call("t").in_run(run);
    assert_eq!(guard.handle(in_run("one")).await.kind(), Some(FailureKind::Network));
    assert_eq!(guard.handle(in_run("one")).await.kind(), Some(FailureKind::Unavailable));
    assert_eq!(guard.handle(in_run("two")).await.kind(), Some(FailureKind::Network));
    assert_eq!(calls.load(std::sync::atomic::Ordering::Relaxed), 2);
    guard.end_run("one");
    assert_eq!(guard.handle(in_run("one")).await.kind(), Some(FailureKind::Network));
}

struct Loose;

impl Tool for Loose {
    fn call<'a>(&'a self, arguments: &'a Arguments, _: Context<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async {
            let command = require_input(arguments, "command", "shell command")?;
            Ok(Output::json(command.clone()))
        })
    }
}

#[tokio::test]
async fn a_required_field_that_is_missing_or_empty_is_asked_for_by_its_label() {
    let guard = Guard::builder()
        .tool(ToolSpec::new("bash", "").tool(Loose))
        .preset(breakfall::Preset::Brynhild)
        .build()
        .unwrap();
    for arguments in ["{}", r#"{"command": ""}"#, r#"{"command": null}"#, ""] {
        let reply = guard.handle(Call::new("1", "bash", arguments)).await;
        assert_eq!(
            reply.text,
            r#"{"success":false,"output":"","error":"No shell command provided"}"#
        );
        assert_eq!(reply.error(), Some("No shell command provided"));
    }
    let reply = guard.handle(Call::new("1", "bash", r#"{"command": "ls"}"#)).await;
    assert_eq!(reply.text, r#"{"success":true,"output":"ls","error":null}"#);
}

#[tokio::test]
async fn a_partial_success_says_k_of_n_with_each_failed_item() {
    let output = || {
        Output::text("a.txt: 12 bytes\nc.txt: 3 bytes")
            .with_problem("b.txt", Failure::not_found("b.txt"))
            .of(3)
    };
    let guard = Guard::builder()
        .tool(breakfall::function("sizes", "", move |_: serde_json::Value| {
            std::future::ready(Ok::<_, Failure>(output()))
        }))
        .build()
        .unwrap();
    let reply = guard.handle(call("sizes")).await;
    assert_eq!(
        reply.text,
        "a.txt: 12 bytes\nc.txt: 3 bytes\n\n2 of 3 done; 1 failed:\n- `b.txt`: not found"
    );
    assert!(!reply.success() && !reply.is_error);
    assert_eq!(reply.output(), Some("a.txt: 12 bytes\nc.txt: 3 bytes"));
    assert_eq!(reply.error(), Some("2 of 3 done; 1 failed:\n- `b.txt`: not found"));
    assert_eq!(guard.journal().samples()[0].ending, Ending::Partial);
}

#[test]
fn answers_without_a_runtime() {
    let guard = Guard::builder()
        .tool(Script::new("t").answers("sunny").tool())
        .tool(Script::new("apart").answers("cloudy").tool().isolated())
        .build()
        .unwrap();
    for (tool, text) in [("t", "sunny"), ("apart", "cloudy")] {
        let reply = futures_util::FutureExt::now_or_never(guard.handle(call(tool)));
        assert_eq!(reply.unwrap().text, text);
    }
}
