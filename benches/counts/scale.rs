//! What grows with what, in instructions: a call by how many tools there are, how long its text is,
//! how many calls come at once. `cargo xtask bench curves` draws it.

#![allow(missing_docs, reason = "the macros make items without")]

use std::future::ready;
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};

use breakfall::{
    Arguments, BoxFuture, Call, Context, Effect, Failure, Guard, Outcome, Output, Reply, Tool,
    ToolSpec, function,
};
use breakfall_counts::{arguments, message};
use futures_util::FutureExt;
use gungraun::prelude::*;
use serde_json::{Value, json};

/// How many calls warm up what is only made once.
const WARM: u32 = 4;

/// Answers at once.
struct Pages;

impl Tool for Pages {
    fn call<'a>(&'a self, _: &'a Arguments, _: Context<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(ready(Ok(Output::text("no pages"))))
    }
}

fn built(builder: breakfall::GuardBuilder) -> Box<Guard> {
    Box::new(builder.build().unwrap_or_else(|error| panic!("{error}")))
}

/// The n-th call, in a run of its own: none is a repetition.
fn call(tool: &str, n: u32, mut arguments: Value) -> Call {
    arguments["limit"] = json!(n);
    Call::new(format!("call_{n}"), tool, arguments).in_run(format!("run {n}"))
}

fn warmed(guard: Box<Guard>, tool: &str, arguments: &Value) -> (Box<Guard>, Call) {
    for n in 0..WARM {
        let reply = guard.handle(call(tool, n, arguments.clone())).now_or_never();
        assert!(reply.is_some(), "it is answered at once");
    }
    (guard, call(tool, WARM, arguments.clone()))
}

/// So many tools.
fn tools(many: u32) -> Box<Guard> {
    let tools = (0..many).map(|n| {
        let spec = ToolSpec::new(format!("tool_number_{n}"), "One of many.");
        spec.effect(Effect::ReadOnly).tool(Pages)
    });
    built(Guard::builder().tools(tools))
}

fn finds(many: u32) -> (Box<Guard>, Call) {
    warmed(tools(many), &format!("tool_number_{}", many / 2), &arguments())
}

fn misses(many: u32) -> (Box<Guard>, Call) {
    warmed(tools(many), &format!("tool_nmber_{}", many / 2), &arguments())
}

/// A short text as often as is warmed up, then one of so many bytes, which was not seen before.
fn texts(bytes: usize) -> impl Fn() -> String + Send + Sync {
    let (calls, long) = (AtomicU32::new(0), message(0, bytes));
    move || {
        let warms = calls.fetch_add(1, Ordering::Relaxed) < WARM;
        if warms { message(1, 100) } else { long.clone() }
    }
}

/// A tool that fails with so many bytes of text.
fn fails(bytes: usize) -> (Box<Guard>, Call) {
    let text = texts(bytes);
    let tool = function("fails", "Fails.", move |_: Value| {
        let text = text();
        async move { Err::<String, _>(std::io::Error::other(text)) }
    });
    warmed(built(Guard::builder().tool(tool)), "fails", &arguments())
}

/// A tool that answers with so many bytes of text.
fn answers(bytes: usize) -> (Box<Guard>, Call) {
    let text = texts(bytes);
    let tool = function("answers", "Answers.", move |_: Value| {
        let text = text();
        async move { Ok::<_, Failure>(text) }
    });
    warmed(built(Guard::builder().tool(tool)), "answers", &arguments())
}

/// So many calls at once.
fn at_once(many: u32) -> (Box<Guard>, Vec<Call>) {
    let (guard, _) = warmed(tools(10), "tool_number_5", &arguments());
    let some: Vec<Call> = (0..10).map(|n| call("tool_number_5", n, arguments())).collect();
    assert!(guard.handle_all(some).now_or_never().is_some(), "they are answered at once");
    let calls = (0..many).map(|n| call("tool_number_5", 100 + n, arguments())).collect();
    (guard, calls)
}

#[library_benchmark]
#[bench::at_10(finds(10))]
#[bench::at_100(finds(100))]
#[bench::at_1000(finds(1_000))]
#[bench::at_10000(finds(10_000))]
#[bench::at_100000(finds(100_000))]
fn tools_find((guard, call): (Box<Guard>, Call)) -> (Box<Guard>, Option<Reply>) {
    let reply = guard.handle(black_box(call)).now_or_never();
    (guard, black_box(reply))
}

#[library_benchmark]
#[bench::at_10(misses(10))]
#[bench::at_100(misses(100))]
#[bench::at_1000(misses(1_000))]
#[bench::at_10000(misses(10_000))]
#[bench::at_100000(misses(100_000))]
fn tools_unknown((guard, call): (Box<Guard>, Call)) -> (Box<Guard>, Option<Reply>) {
    let reply = guard.handle(black_box(call)).now_or_never();
    (guard, black_box(reply))
}

#[library_benchmark]
#[bench::at_10(tools(10))]
#[bench::at_100(tools(100))]
#[bench::at_1000(tools(1_000))]
#[bench::at_10000(tools(10_000))]
#[bench::at_100000(tools(100_000))]
fn tools_list(guard: Box<Guard>) -> (Box<Guard>, Vec<ToolSpec>) {
    let all = guard.toolbox().callable();
    (guard, black_box(all))
}

#[library_benchmark]
#[bench::at_100(fails(100))]
#[bench::at_1000(fails(1_000))]
#[bench::at_10000(fails(10_000))]
#[bench::at_100000(fails(100_000))]
#[bench::at_1000000(fails(1_000_000))]
#[bench::at_10485760(fails(10 << 20))]
fn text_failure((guard, call): (Box<Guard>, Call)) -> (Box<Guard>, Option<Reply>) {
    let reply = guard.handle(black_box(call)).now_or_never();
    (guard, black_box(reply))
}

#[library_benchmark]
#[bench::at_100(answers(100))]
#[bench::at_1000(answers(1_000))]
#[bench::at_10000(answers(10_000))]
#[bench::at_100000(answers(100_000))]
#[bench::at_1000000(answers(1_000_000))]
#[bench::at_10485760(answers(10 << 20))]
fn text_success((guard, call): (Box<Guard>, Call)) -> (Box<Guard>, Option<Reply>) {
    let reply = guard.handle(black_box(call)).now_or_never();
    (guard, black_box(reply))
}

#[library_benchmark]
#[bench::at_1(at_once(1))]
#[bench::at_10(at_once(10))]
#[bench::at_100(at_once(100))]
#[bench::at_1000(at_once(1_000))]
#[bench::at_10000(at_once(10_000))]
fn batch_calls((guard, calls): (Box<Guard>, Vec<Call>)) -> (Box<Guard>, Option<Vec<Reply>>) {
    let replies = guard.handle_all(black_box(calls)).now_or_never();
    (guard, black_box(replies))
}

library_benchmark_group!(name = tools_known, benchmarks = [tools_find, tools_unknown, tools_list]);
library_benchmark_group!(name = texts, benchmarks = [text_failure, text_success]);
library_benchmark_group!(name = batches, benchmarks = [batch_calls]);

main!(library_benchmark_groups = [tools_known, texts, batches]);
