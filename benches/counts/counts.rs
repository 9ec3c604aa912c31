//! Instructions of the hot paths, counted by callgrind: the same on any day. `cargo xtask counts`
//! compares them to those on record. What is made for a call and what it gives are dropped outside.

#![allow(missing_docs, reason = "the macros make items without")]

use std::collections::HashMap;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use breakfall::{Call, FailureKind, GateRules, Guard, LogLines, Policy, Reply};
use breakfall_counts::{
    AT_HAND, Boxed, Search, arguments, bad_arguments, bare, bare_greeting, boxed, greeted, panics,
    panics_plainly, settle_heap, tools, with_circle,
};
use futures_util::FutureExt;
use gungraun::prelude::*;
use jsonschema::Validator;
use serde_json::{Value, json};

/// How many calls warm up what is only made once.
const WARM: u32 = 8;

/// A guard as most have it, and a call for it. Boxed, so that it is not moved while calls are counted.
struct Ready {
    guard: Guard,
    calls: Vec<Call>,
    given: Option<Reply>,
    /// Held, so that it is dropped outside.
    _run: Arc<str>,
}

fn guard() -> Guard {
    // The breaker of a tool that panics would open before the call that is counted.
    let gate = GateRules { breaker: None, ..GateRules::default() };
    let guard = Guard::builder()
        .tools(tools())
        .policy_for("panics", Policy { gate: gate.clone(), ..Policy::default() })
        .policy_for("panics_plainly", Policy { gate, ..Policy::default() })
        .build();
    guard.unwrap_or_else(|error| panic!("{error}"))
}

/// Warmed up on calls like the one that is counted, which end in this way. Each has arguments and a
/// run of its own, so that none is refused as a repetition.
fn ready(
    tool: &str,
    arguments: &dyn Fn(u32) -> Value,
    many: u32,
    kind: Option<FailureKind>,
) -> Box<Ready> {
    let guard = guard();
    let call = |n: u32| Call::new(format!("call_{n}"), tool, arguments(n));
    for n in 0..WARM {
        let run: Arc<str> = format!("run {n}").into();
        let _ = guard.handle(call(n).in_run(run)).now_or_never();
    }
    let batch: Vec<Call> = (0..10).map(call).collect();
    let _ = guard.handle_all(batch).now_or_never();
    let run: Arc<str> = "counted".into();
    let last = guard.handle(call(WARM).in_run(Arc::clone(&run))).now_or_never();
    let last = last.map(|reply| reply.kind());
    assert_eq!(last, Some(kind), "`{tool}` does not do what is to be counted");
    let calls = (0..many).map(|n| call(100 + n).in_run(Arc::clone(&run))).collect();
    let ready = Box::new(Ready { guard, calls, given: None, _run: run });
    settle_heap();
    ready
}

/// Arguments that fit every schema: a call that is refused would leave its mark on the guard.
fn good(n: u32) -> Value {
    let mut value = arguments();
    value["limit"] = json!(n + 1);
    value
}

/// Arguments of the small tool: no two calls are the same.
fn somebody(n: u32) -> Value {
    let mut value = greeted();
    value["name"] = json!(format!("Ada Lovelace {n}"));
    value
}

fn alone(value: Value) -> Value {
    settle_heap();
    value
}

fn bad(n: u32) -> Value {
    let mut value = bad_arguments();
    value["query"] = json!(n);
    value
}

fn succeeds(many: u32) -> Box<Ready> {
    ready("search", &good, many, None)
}

fn succeeds_by(tool: &str) -> Box<Ready> {
    ready(tool, &good, 1, None)
}

fn greets(many: u32) -> Box<Ready> {
    ready("greet", &somebody, many, None)
}

fn as_text(many: u32) -> Box<Ready> {
    let mut ready = succeeds(many);
    for call in &mut ready.calls {
        call.arguments = good(100).to_string().into();
    }
    settle_heap();
    ready
}

fn fails(tool: &str, kind: FailureKind) -> Box<Ready> {
    ready(tool, &good, 1, Some(kind))
}

fn logged(tool: &str) -> Box<Ready> {
    let _ = tracing::subscriber::set_global_default(LogLines::new(std::io::sink()));
    fails(tool, FailureKind::NotFound)
}

/// The same by the log that most have.
fn logged_by_tracing_subscriber(tool: &str) -> Box<Ready> {
    let log = tracing_subscriber::fmt().json().with_writer(std::io::sink).finish();
    let _ = tracing::subscriber::set_global_default(log);
    fails(tool, FailureKind::NotFound)
}

fn has_bad_arguments() -> Box<Ready> {
    ready("other_tool_7", &bad, 1, Some(FailureKind::InvalidArguments))
}

/// What a dispatcher without any guard has.
struct Table {
    tools: HashMap<String, Boxed>,
    tool: &'static str,
    asked: Vec<Value>,
    given: Vec<Option<Result<String, serde_json::Error>>>,
}

fn table(tool: &'static str, arguments: &dyn Fn(u32) -> Value, many: u32) -> Table {
    let tools = boxed();
    let _ = tools[tool](&arguments(1)).now_or_never();
    let asked = (0..many).map(|n| arguments(100 + n)).collect();
    let given = Vec::with_capacity(10);
    settle_heap();
    Table { tools, tool, asked, given }
}

/// What work that needs no waiting gives, where it stands: who awaits it does not move it, either.
fn at_once<T>(work: Pin<&mut (impl Future<Output = T> + ?Sized)>) -> Option<T> {
    match work.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(given) => Some(given),
        Poll::Pending => None,
    }
}

fn one(mut ready: Box<Ready>) -> Box<Ready> {
    if let Some(call) = black_box(&mut ready.calls).pop() {
        ready.given = at_once(pin!(ready.guard.handle(call)));
    }
    black_box(ready)
}

#[library_benchmark]
#[bench::call(alone(good(100)))]
fn bare_call(value: Value) -> Option<Result<String, serde_json::Error>> {
    black_box(at_once(pin!(bare(black_box(&value)))))
}

#[library_benchmark]
#[bench::call(alone(somebody(100)))]
fn bare_call_of_a_small_tool(value: Value) -> Option<Result<String, serde_json::Error>> {
    black_box(at_once(pin!(bare_greeting(black_box(&value)))))
}

#[library_benchmark]
#[bench::one(table("search", &good, 1))]
#[bench::ten(table("search", &good, 10))]
#[bench::one_of_a_small_tool(table("greet", &somebody, 1))]
#[bench::ten_of_a_small_tool(table("greet", &somebody, 10))]
fn boxed_call(mut tools: Table) -> Table {
    for value in tools.asked.drain(..) {
        let found = tools.tools.get(black_box(tools.tool)).map(|tool| tool(black_box(&value)));
        tools.given.push(found.and_then(|work| at_once(pin!(work))));
    }
    tools
}

/// What checks arguments where nothing else is done.
fn strict() -> (Validator, Value) {
    let validator = jsonschema::validator_for(&with_circle());
    let validator = validator.unwrap_or_else(|error| panic!("{error}"));
    let _ = validator.is_valid(&good(1));
    settle_heap();
    (validator, good(100))
}

#[library_benchmark]
#[bench::alone(strict())]
fn validator((validator, value): (Validator, Value)) -> (Validator, Value) {
    assert!(validator.is_valid(black_box(&value)), "it fits");
    (validator, value)
}

/// Work that panics.
type Panics = fn(Search) -> Pin<Box<dyn Future<Output = String>>>;

/// Nobody is told of a panic; what unwinding makes once is made.
fn quiet(panics: Panics) -> (Panics, Search) {
    std::panic::set_hook(Box::new(|_| ()));
    let asked = || Search { query: "where is the error".to_owned(), limit: 1, order: None };
    for _ in 0..WARM {
        let _ = caught(panics, asked());
    }
    let asked = asked();
    settle_heap();
    (panics, asked)
}

fn caught(panics: Panics, asked: Search) -> Option<String> {
    let mut work = black_box(panics(asked));
    catch_unwind(AssertUnwindSafe(|| at_once(work.as_mut()))).ok().flatten()
}

// What a panic takes where nothing else is done with it.
#[library_benchmark]
#[bench::alone(quiet(|asked| Box::pin(panics(asked))))]
#[bench::in_the_same_words_alone(quiet(|asked| Box::pin(panics_plainly(asked))))]
fn caught_panic((panics, asked): (Panics, Search)) -> Option<String> {
    black_box(caught(panics, asked))
}

#[library_benchmark]
#[bench::success(succeeds(1))]
#[bench::success_by_rich_schema(succeeds_by("search_richly"))]
#[bench::success_by_pattern(succeeds_by("search_spelled"))]
#[bench::success_by_pattern_of_choices(succeeds_by("search_choosily"))]
#[bench::success_on_condition(succeeds_by("search_on_condition"))]
#[bench::success_by_validator(succeeds_by("search_strictly"))]
#[bench::success_of_a_small_tool(greets(1))]
#[bench::success_from_text(as_text(1))]
#[bench::failure_200_bytes(fails("fails", FailureKind::NotFound))]
#[bench::failure_200_bytes_as_before(fails("fails_alike", FailureKind::NotFound))]
#[bench::failure_200_bytes_of_a_known_kind(fails("fails_knowingly", FailureKind::Execution))]
#[bench::failure_raised_elsewhere(fails("raises", FailureKind::NotFound))]
#[bench::failure_200_bytes_logged(logged("fails"))]
#[bench::failure_200_bytes_as_before_logged(logged("fails_alike"))]
#[bench::failure_200_bytes_logged_by_tracing_subscriber(logged_by_tracing_subscriber("fails"))]
#[bench::failure_4_kib_logged(logged("fails_at_length"))]
#[bench::failure_4_kib_as_before_logged(logged("fails_alike_at_length"))]
#[bench::five_bad_arguments(has_bad_arguments())]
#[bench::unknown_among_100(fails("other_tol_7", FailureKind::UnknownTool))]
#[bench::panic(fails("panics", FailureKind::Internal))]
#[bench::panic_in_the_same_words(fails("panics_plainly", FailureKind::Internal))]
fn guarded_call(ready: Box<Ready>) -> Box<Ready> {
    one(ready)
}

#[library_benchmark]
#[bench::ten(succeeds(10))]
#[bench::ten_of_a_small_tool(greets(10))]
fn guarded_batch(mut ready: Box<Ready>) -> (Box<Ready>, Option<Vec<Reply>>) {
    let calls = std::mem::take(&mut ready.calls);
    let replies = at_once(pin!(ready.guard.handle_all(black_box(calls))));
    (ready, black_box(replies))
}

library_benchmark_group!(
    name = calls,
    benchmarks = [
        bare_call,
        bare_call_of_a_small_tool,
        boxed_call,
        validator,
        caught_panic,
        guarded_call,
        guarded_batch
    ]
);

main!(
    config = LibraryBenchmarkConfig::default().env(AT_HAND.0, AT_HAND.1),
    library_benchmark_groups = calls
);
