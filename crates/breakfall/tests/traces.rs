//! A call, its attempts and its tools stand in one trace, where the guard traces.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use breakfall::{
    Arguments, BoxFuture, Call, Context, Effect, Entry, Failure, Fallback, Guard, GuardBuilder,
    Outcome, Output, Policy, Retry, Tool, ToolSpec, Trace,
};
use breakfall_test::Recorder;

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Fails so often, and keeps where each attempt stood.
#[derive(Clone, Default)]
struct Seeing {
    failures: usize,
    seen: Arc<Mutex<Vec<Option<Trace>>>>,
}

impl Tool for Seeing {
    fn call<'a>(&'a self, _: &'a Arguments, context: Context<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let mut seen = self.seen.lock().unwrap();
            seen.push(context.trace.cloned());
            if seen.len() <= self.failures {
                return Err(Failure::network("nobody there"));
            }
            Ok(Output::text("fine"))
        })
    }
}

impl Seeing {
    fn failing(failures: usize) -> Self {
        Self { failures, ..Self::default() }
    }

    fn entry(&self, name: &str) -> Entry {
        ToolSpec::new(name, "").effect(Effect::ReadOnly).tool(self.clone())
    }

    fn seen(&self) -> Vec<Option<Trace>> {
        self.seen.lock().unwrap().clone()
    }
}

fn builder() -> GuardBuilder {
    let retry = Retry { first_delay: Duration::from_millis(1), ..Retry::default() };
    Guard::builder().policy(Policy { retry, ..Policy::default() })
}

fn caller() -> Trace {
    Trace::parse(PARENT, Some("vendor=1")).unwrap()
}

#[tokio::test]
async fn every_attempt_has_a_place_of_its_own_below_the_call() {
    for is_isolated in [false, true] {
        let (tool, recorder) = (Seeing::failing(2), Recorder::new());
        let entry = if is_isolated { tool.entry("t").isolated() } else { tool.entry("t") };
        let guard = builder().tool(entry).sink(recorder.sink()).trace(true).build().unwrap();
        guard.handle(Call::new("1", "t", "{}").traced(caller())).await;
        let record = recorder.records().remove(0);
        let trace = record.trace.unwrap();
        assert_eq!((trace.id(), trace.parent()), (caller().id(), Some(caller().span())));
        assert_eq!(trace.state(), Some("vendor=1"));
        let attempts = (1..=3).map(|number| Some(trace.attempt(number)));
        assert_eq!(tool.seen(), attempts.collect::<Vec<_>>());
        assert_eq!((record.attempts, record.own_attempts), (3, 3));
        assert!(record.last_began >= record.tries[1].began + record.tries[1].took);
    }
}

#[tokio::test]
async fn the_attempts_of_a_substitute_are_told_from_the_tools_own() {
    let (tool, spare, recorder) = (Seeing::failing(9), Seeing::default(), Recorder::new());
    let guard = builder()
        .tools([tool.entry("t"), spare.entry("spare").upstream("elsewhere")])
        .fallback("t", Fallback::tool("spare"))
        .sink(recorder.sink())
        .trace(true)
        .build()
        .unwrap();
    guard.handle(Call::new("1", "t", "{}")).await;
    let record = recorder.records().remove(0);
    assert_eq!((record.attempts, record.own_attempts), (4, 3));
    assert_eq!(record.substitute_upstream.as_deref(), Some("elsewhere"));
    assert_eq!(spare.seen(), [Some(record.trace.unwrap().attempt(4))]);
}

#[tokio::test]
async fn without_tracing_a_tool_passes_on_the_place_of_its_caller() {
    let (tool, recorder) = (Seeing::default(), Recorder::new());
    let guard = builder().tool(tool.entry("t")).sink(recorder.sink()).build().unwrap();
    guard.handle(Call::new("1", "t", "{}").traced(caller())).await;
    guard.handle(Call::new("2", "t", "{}")).await;
    assert_eq!(tool.seen(), [Some(caller()), None]);
    assert!(recorder.records().iter().all(|record| record.trace.is_none()));
    assert!(!guard.traces());
}

#[tokio::test]
async fn two_guards_of_one_seed_begin_different_traces() {
    let recorder = Recorder::new();
    for _ in 0..2 {
        let guard = builder().seed(7).sink(recorder.sink()).trace(true).build().unwrap();
        guard.handle(Call::new("1", "no_such_tool", "{}")).await;
    }
    let records = recorder.records();
    let ids: Vec<_> = records.iter().map(|record| record.trace.as_ref().unwrap().id()).collect();
    assert_ne!(ids[0], ids[1]);
    assert!(records.iter().all(|record| !record.is_found));
}

#[tokio::test]
async fn outputs_are_kept_where_they_are_wanted_without_secrets_and_cut() {
    let recorder = Recorder::new();
    let told = "postgres://bob:hunter2@db ".repeat(1_000);
    let tool = breakfall_test::Script::new("t").answers(told).tool();
    let guard = builder().tool(tool).sink(recorder.sink()).keep_outputs(true).build().unwrap();
    guard.handle(Call::new("1", "t", "{}")).await;
    let output = recorder.records().remove(0).output.unwrap();
    assert!(output.starts_with("postgres://bob:[redacted:url-password#1dd2]@db "), "{output}");
    assert!(output.len() < 5_000);
    recorder.assert_never_saw("hunter2");
}
