//! What the guard costs beside a bare boxed call: read the ratios, not the times.

use std::future::ready;
use std::hint::black_box;
use std::pin::Pin;

use breakfall::{
    Arguments, BoxFuture, Call, Context, Effect, Entry, Failure, Guard, Outcome, Output, Policy,
    Tool, ToolSpec,
};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};

/// Does next to nothing, as the bare call does.
struct Echo;

impl Tool for Echo {
    fn call<'a>(&'a self, arguments: &'a Arguments, _: Context<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(ready(Ok(work(arguments.value()))))
    }
}

struct Fails;

impl Tool for Fails {
    fn call<'a>(&'a self, _: &'a Arguments, _: Context<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async { Err(Failure::from(std::io::Error::other(message()))) })
    }
}

/// 200 bytes, as an honest error has.
fn message() -> String {
    "could not open the index of the project for reading: ".repeat(4)[..200].to_owned()
}

fn work(arguments: &Value) -> Output {
    Output::text(arguments.get("query").and_then(Value::as_str).unwrap_or_default())
}

/// The same work with nothing around it but the box.
fn bare(arguments: &Value) -> Pin<Box<dyn Future<Output = Output> + Send + '_>> {
    Box::pin(ready(work(arguments)))
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "minLength": 1 },
            "limit": { "type": "integer", "minimum": 1 },
            "order": { "enum": ["newest", "oldest"] },
        },
        "required": ["query"],
        "additionalProperties": false,
    })
}

fn arguments() -> Value {
    json!({ "query": "where is the error", "limit": 10, "order": "newest" })
}

fn tools() -> Vec<Entry> {
    let spec = |name: &str| ToolSpec::new(name, "").effect(Effect::ReadOnly);
    let mut tools = vec![
        spec("plain").schema(true).tool(Echo),
        spec("checked").schema(schema()).tool(Echo),
        spec("fails").schema(true).tool(Fails),
    ];
    tools.extend((0..100).map(|n| spec(&format!("other_tool_{n}")).tool(Echo)));
    tools
}

fn spine(criterion: &mut Criterion) {
    // The tool that fails is to be called every time, not only until the loop guard or the breaker
    // steps in.
    let guard = Guard::builder()
        .tools(tools())
        .policy_for("fails", Policy::bare())
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    let mut group = criterion.benchmark_group("spine");

    group.bench_function("bare boxed call", |bencher| {
        bencher.iter_batched(
            arguments,
            |arguments| runtime.block_on(async { black_box(bare(&arguments).await) }),
            BatchSize::SmallInput,
        );
    });
    for (name, tool) in [
        ("guarded success, any schema", "plain"),
        ("guarded success, schema checked", "checked"),
        ("guarded failure, 200 bytes", "fails"),
        ("unknown tool among 100", "other_tol_7"),
    ] {
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                || Call::new("call_1", tool, arguments()),
                |call| runtime.block_on(async { black_box(guard.handle(call).await) }),
                BatchSize::SmallInput,
            );
        });
    }
    group.bench_function("ten bare boxed calls", |bencher| {
        bencher.iter_batched(
            || (0..10).map(|_| arguments()).collect::<Vec<_>>(),
            |all| {
                runtime.block_on(async {
                    for arguments in &all {
                        black_box(bare(arguments).await);
                    }
                });
            },
            BatchSize::SmallInput,
        );
    });
    for (name, tool) in [("batch of 10", "plain"), ("batch of 10, schema checked", "checked")] {
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                || (0..10).map(|id| Call::new(id.to_string(), tool, arguments())).collect(),
                |calls| runtime.block_on(async { black_box(guard.handle_all(calls).await) }),
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, spine);
criterion_main!(benches);
