//! A log of JSON lines: every event whole, escaped, once.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use breakfall::{Call, FailureKind, Guard, LogLines};
use breakfall_test::Script;
use serde_json::{Value, json};
use tracing::Level;
use tracing::subscriber::with_default;

/// Keeps what each write wrote.
#[derive(Clone, Default)]
struct Writes(Arc<Mutex<Vec<Vec<u8>>>>);

impl Write for Writes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Writes {
    /// Each write is one line; without its time, which is checked to be one.
    fn lines(&self) -> Vec<Value> {
        let line = |bytes: &Vec<u8>| {
            let text = std::str::from_utf8(bytes).unwrap();
            assert_eq!(text.find('\n'), Some(text.len() - 1), "{text}");
            let mut line: Value = serde_json::from_str(text).unwrap();
            let time = line.as_object_mut().unwrap().remove("time").unwrap();
            // Where the environment asks for it.
            if let Some(fields) = line.get_mut("fields").and_then(Value::as_object_mut) {
                fields.remove("backtrace");
            }
            let time = time.as_str().unwrap();
            let shape: String =
                time.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
            assert_eq!(shape, "0000-00-00T00:00:00.000Z");
            line
        };
        self.0.lock().unwrap().iter().map(line).collect()
    }
}

/// What is written of what is logged.
fn logged(level: Level, log: impl FnOnce()) -> Vec<Value> {
    let writes = Writes::default();
    with_default(LogLines::new(writes.clone()).at_least(level), log);
    writes.lines()
}

fn answer(guard: &Guard, tool: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(guard.handle(Call::new("c1", tool, "{}")));
}

#[test]
fn a_failure_is_a_line_with_its_facts() {
    let tool = Script::new("t").errs("gromf \"glimp\"\tgrarf").tool();
    let guard = Guard::builder().tool(tool).build().unwrap();
    let lines = logged(Level::INFO, || answer(&guard, "t"));
    let samples = guard.journal().samples();
    let failure = samples[0].failure.as_ref().unwrap();
    assert_eq!(failure.kind, FailureKind::Execution);
    assert_eq!(
        lines,
        [
            json!({
                "level": "INFO",
                "target": "breakfall::journal::log",
                "message": "Executing tool",
                "fields": { "tool_name": "t", "call_id": "c1" },
            }),
            json!({
                "level": "ERROR",
                "target": "breakfall::journal::log",
                "message": "Tool execution failed",
                "fields": {
                    "tool_name": "t",
                    "call_id": "c1",
                    "kind": "execution",
                    "disposition": "Recoverable",
                    "reference": failure.reference.to_string(),
                    "error_type": "IoError",
                    "error_message": "gromf \"glimp\"\tgrarf",
                    "attempts": 1,
                    "causes": "[]",
                },
            }),
        ]
    );
}

#[test]
fn every_value_keeps_its_type() {
    let lines = logged(Level::TRACE, || {
        tracing::trace!(
            target: "a \"target\"",
            less = -7_i64,
            most = u64::MAX,
            least = i64::MIN,
            wide = u128::MAX,
            deep = i128::MIN,
            part = 2.5_f64,
            whole = 3.0_f64,
            none = f64::NAN,
            yes = true,
            no = false,
            empty = "",
            text = "back\\slash \u{1b}[31m ünïcode 💥\r",
            debug = ?["a\"b", "c"],
            display = %"plain",
            missing = None::<&str>,
            "a {} message", "made"
        );
    });
    let mut expected = json!({
        "level": "TRACE",
        "target": "a \"target\"",
        "message": "a made message",
        "fields": {
            "less": -7,
            "most": u64::MAX,
            "least": i64::MIN,
            "part": 2.5,
            "whole": 3.0,
            "none": null,
            "yes": true,
            "no": false,
            "empty": "",
            "text": "back\\slash \u{1b}[31m ünïcode 💥\r",
            "debug": r#"["a\"b", "c"]"#,
            "display": "plain",
        },
    });
    for (name, digits) in [("wide", u128::MAX.to_string()), ("deep", i128::MIN.to_string())] {
        expected["fields"][name] = serde_json::from_str(&digits).unwrap();
    }
    assert_eq!(lines, [expected]);
}

#[test]
fn what_matters_less_is_left_out() {
    let guard = Guard::builder().tool(Script::new("t").answers("a").tool()).build().unwrap();
    assert_eq!(logged(Level::WARN, || answer(&guard, "t")), [] as [Value; 0]);
    let lines = logged(Level::WARN, || answer(&guard, "u"));
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["message"], "Tool not available");
}

#[test]
fn an_event_without_fields_has_none() {
    let lines = logged(Level::INFO, || tracing::info!(target: "t", "hello"));
    assert_eq!(lines, [json!({ "level": "INFO", "target": "t", "message": "hello" })]);
}

#[test]
fn spans_are_not_written_and_events_within_them_are() {
    let lines = logged(Level::TRACE, || {
        let outer = tracing::info_span!("outer", a = 1);
        let inner = tracing::info_span!("inner", b = tracing::field::Empty);
        assert_ne!(outer.id(), inner.id());
        inner.record("b", 2);
        inner.follows_from(&outer);
        let _within = (outer.entered(), inner.entered());
        tracing::info!(target: "t", "within");
    });
    assert_eq!(lines, [json!({ "level": "INFO", "target": "t", "message": "within" })]);
}

/// Logs while it is written.
struct Talks;

impl fmt::Debug for Talks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        tracing::info!(target: "inside", "before");
        f.write_str("said")
    }
}

#[test]
fn a_value_that_logs_while_it_is_written_does_not_stand_in_its_own_way() {
    let lines = logged(Level::INFO, || tracing::info!(target: "outside", said = ?Talks));
    // What it says while an event is on its way may be dropped by `tracing`, never mixed in.
    let outside = json!({ "level": "INFO", "target": "outside", "fields": { "said": "said" } });
    let inside = json!({ "level": "INFO", "target": "inside", "message": "before" });
    assert_eq!(lines.last(), Some(&outside));
    assert!(lines[..lines.len() - 1].iter().all(|line| *line == inside), "{lines:?}");
}

/// Refuses every second write.
struct Full(u32);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += 1;
        if self.0.is_multiple_of(2) { Err(io::Error::other("full")) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_writer_that_fails_is_counted_and_costs_no_call_its_answer() {
    let log = Arc::new(LogLines::new(Full(0)));
    let guard = Guard::builder().tool(Script::new("t").answers("a").tool()).build().unwrap();
    with_default(Arc::clone(&log), || {
        (0..3).for_each(|_| answer(&guard, "t"));
    });
    assert_eq!(guard.journal().counts().succeeded, 3);
    assert_eq!(log.lost(), 3, "each call has two lines");
}

#[test]
fn lines_of_many_threads_are_whole() {
    let writes = Writes::default();
    let log = Arc::new(LogLines::new(writes.clone()));
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let log = Arc::clone(&log);
            scope.spawn(move || {
                with_default(log, || {
                    for n in 0..200 {
                        let text = "x".repeat(n);
                        tracing::info!(target: "t", thread, n, text, "line");
                    }
                });
            });
        }
    });
    let lines = writes.lines();
    assert_eq!(lines.len(), 1_600);
    for thread in 0..8 {
        let own = lines.iter().filter(|line| line["fields"]["thread"] == thread);
        let numbers: Vec<u64> = own.map(|line| line["fields"]["n"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (0..200).collect::<Vec<_>>());
    }
}
