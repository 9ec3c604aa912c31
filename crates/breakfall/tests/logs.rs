//! Logs: the levels and fields of the four systems, proven by a subscriber.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use breakfall::{Call, FailureKind, Guard};
use breakfall_test::Script;
use tracing::field::{Field, Visit};
use tracing::subscriber::with_default;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// An event: level, message, fields.
#[derive(Clone, Debug, Default)]
struct Line {
    level: String,
    fields: BTreeMap<String, String>,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let mut text = String::new();
        let _ = write!(text, "{value:?}");
        self.fields.insert(field.name().to_owned(), text);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name().to_owned(), value.to_owned());
    }
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<Line>>>);

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut line = Line { level: event.metadata().level().to_string(), ..Line::default() };
        event.record(&mut line);
        self.0.lock().unwrap().push(line);
    }
}

/// The log of these calls.
fn log(guard: &Guard, calls: Vec<Call>, batch: bool) -> Vec<Line> {
    let lines = Lines::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    with_default(tracing_subscriber::registry().with(lines.clone()), || {
        runtime.block_on(async {
            if batch {
                guard.handle_all(calls).await;
            } else {
                for call in calls {
                    guard.handle(call).await;
                }
            }
        });
    });
    let lines = lines.0.lock().unwrap();
    lines.iter().filter(|line| line.fields.contains_key("message")).cloned().collect()
}

#[track_caller]
fn assert_line(line: &Line, level: Level, fields: &[(&str, &str)]) {
    assert_eq!(line.level, level.to_string(), "{line:?}");
    for (name, value) in fields {
        assert_eq!(line.fields.get(*name).map(String::as_str), Some(*value), "{name} in {line:?}");
    }
}

#[test]
fn start_and_success_are_informed_of() {
    let guard = Guard::builder().tool(Script::new("t").answers("sunny").tool()).build().unwrap();
    let lines = log(&guard, vec![Call::new("c1", "t", "{}")], false);
    assert_eq!(lines.len(), 2);
    assert_line(
        &lines[0],
        Level::INFO,
        &[("message", "Executing tool"), ("tool_name", "t"), ("call_id", "c1")],
    );
    assert_line(
        &lines[1],
        Level::INFO,
        &[("message", "Tool succeeded"), ("tool_name", "t"), ("result_length", "5")],
    );
}

#[test]
fn availability_is_warned_of_with_the_reason_told_apart() {
    let guard = Guard::builder().tool(Script::new("t").tool()).build().unwrap();
    guard.toolbox().disable("t").unwrap();
    let calls = vec![Call::new("c1", "t", "{}"), Call::new("c2", "x", "{}")];
    let lines = log(&guard, calls, false);
    assert_line(
        &lines[1],
        Level::WARN,
        &[
            ("message", "Tool not available"),
            ("tool_name", "t"),
            ("kind", "unavailable"),
            ("reason", "Blocked(Disabled)"),
        ],
    );
    assert_line(&lines[3], Level::WARN, &[("tool_name", "x"), ("kind", "unknown_tool")]);
    assert_eq!(lines.len(), 4, "each failure is logged once");
}

#[test]
fn a_failure_is_an_error_with_type_message_chain_and_reference() {
    let long = "gromf ".repeat(100);
    let tool = Script::new("t").errs(&long).tool();
    let guard = Guard::builder().tool(tool).build().unwrap();
    let lines = log(&guard, vec![Call::new("c1", "t", "{}")], false);
    let reference = guard.journal().samples()[0].failure.as_ref().unwrap().reference.to_string();
    assert_line(
        &lines[1],
        Level::ERROR,
        &[
            ("message", "Tool execution failed"),
            ("tool_name", "t"),
            ("call_id", "c1"),
            ("kind", "execution"),
            ("error_type", "IoError"),
            ("error_message", &long[..200]),
            ("reference", &reference),
            ("attempts", "1"),
        ],
    );
    assert!(lines[1].fields.contains_key("causes"));
    assert_eq!(lines.len(), 2, "each failure is logged once");
}

#[test]
fn the_whole_cause_chain_is_logged() {
    #[derive(Debug, thiserror::Error)]
    #[error("could not load the settings")]
    struct Settings(#[source] std::io::Error);

    let guard = Guard::builder()
        .tool(breakfall::function("t", "", |_: serde_json::Value| async {
            Err::<String, _>(Settings(std::io::Error::other("the disk is on fire")))
        }))
        .build()
        .unwrap();
    let lines = log(&guard, vec![Call::new("c1", "t", "{}")], false);
    assert_line(
        &lines[1],
        Level::ERROR,
        &[
            ("error_type", "Settings"),
            ("error_message", "could not load the settings"),
            ("causes", r#"["the disk is on fire"]"#),
        ],
    );
}

#[test]
fn no_log_line_holds_a_secret() {
    let secret = ["hunter2", "correct", "horse"].join("-");
    let tool = Script::new("t").leaks(&secret).panics(format!("token={secret}")).tool();
    let guard = Guard::builder().tool(tool).build().unwrap();
    let calls = vec![Call::new("c1", "t", "{}"), Call::new("c2", "t", "{}")];
    for line in log(&guard, calls, false) {
        assert!(!format!("{line:?}").contains(&secret), "{line:?}");
    }
}

#[test]
fn a_batch_is_framed_by_its_start_and_its_end() {
    let guard = Guard::builder()
        .tool(Script::new("t").answers("a").fails(FailureKind::NotFound).answers("b").tool())
        .build()
        .unwrap();
    let calls = (0..3).map(|id| Call::new(id.to_string(), "t", "{}")).collect();
    let lines = log(&guard, calls, true);
    assert_line(
        &lines[0],
        Level::INFO,
        &[("message", "Processing 3 tool call(s)"), ("total", "3")],
    );
    assert_line(
        lines.last().unwrap(),
        Level::INFO,
        &[("message", "Tool execution batch completed"), ("successful", "2"), ("total", "3")],
    );
}

#[tokio::test]
async fn an_abandoned_call_is_warned_of() {
    let guard = Guard::builder().tool(Script::new("t").hangs().tool()).build().unwrap();
    let lines = Lines::default();
    let subscriber = tracing_subscriber::registry().with(lines.clone());
    let call = Box::pin(guard.handle(Call::new("c1", "t", "{}")));
    with_default(subscriber, || drop(futures_util::FutureExt::now_or_never(call)));
    let lines = lines.0.lock().unwrap();
    assert_line(lines.last().unwrap(), Level::WARN, &[("message", "Tool call abandoned")]);
}

/// A subscriber that cannot write.
struct Broken;

impl<S: Subscriber> Layer<S> for Broken {
    fn on_event(&self, _: &tracing::Event<'_>, _: Context<'_, S>) {
        panic!("the log is full");
    }
}

#[test]
fn a_log_that_panics_costs_no_call_its_answer() {
    with_default(tracing_subscriber::registry().with(Broken), || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let guard = Guard::builder()
            .tool(breakfall_test::Script::new("fails").fails(FailureKind::NotFound).tool())
            .build()
            .unwrap();
        let reply = runtime.block_on(guard.handle(Call::new("1", "fails", "{}")));
        assert_eq!((reply.id.as_str(), reply.kind()), ("1", Some(FailureKind::NotFound)));
        let none = runtime.block_on(guard.handle(Call::new("2", "nothing", "{}")));
        assert_eq!(none.kind(), Some(FailureKind::UnknownTool));
    });
}
