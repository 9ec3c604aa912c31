//! Instructions of a call of the same tool: bare, from a table, through our guard and through what
//! people use instead, counted in one run. What each needs for a call beside name and arguments (an
//! id, a request's context) is made inside; what it gives is dropped outside.

use std::hint::black_box;
use std::sync::Arc;

use breakfall::{Call, Guard, RawArguments, Reply};
use breakfall_counts::{AT_HAND, Boxed, bare, bare_greeting, boxed, settle_heap, tools};
use breakfall_peers::{Case, Connection, Rig, Router, asked, object};
use futures_util::FutureExt;
use gungraun::prelude::*;
use rig_agent::tool::ToolResult;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, JsonObject};
use rmcp::service::ServiceError;
use serde_json::Value;

/// How many calls warm up what is only made once.
const WARM: u32 = 8;
/// The call that is counted.
const COUNTED: u32 = 100;

/// What is ready to be counted, with the heap that all others have.
fn settled<T>(ready: T) -> T {
    settle_heap();
    ready
}

type Answered = Option<Result<String, serde_json::Error>>;

fn from_table(case: Case) -> (Boxed, Value) {
    let tool = boxed().remove(case.tool()).unwrap_or_else(|| panic!("no `{}`", case.tool()));
    let _ = tool(&case.arguments(1)).now_or_never();
    settled((tool, case.arguments(COUNTED)))
}

/// What our guard is asked: in which run, and with which arguments.
type Guarded = (Box<Guard>, Case, Arc<str>, RawArguments);

/// A guard as most have it, warmed up; no two calls are a repetition.
fn guarded(case: Case, text: bool) -> Guarded {
    let guard = Guard::builder().tools(tools()).build().unwrap_or_else(|error| panic!("{error}"));
    let given = |n: u32| {
        let value = case.arguments(n);
        if text { value.to_string().into() } else { RawArguments::from(value) }
    };
    for n in 0..WARM {
        let reply = ask(&guard, case, format!("run {n}").into(), given(n));
        let reply = reply.unwrap_or_else(|| panic!("it is answered at once"));
        assert_eq!(reply.is_error, case.answer(n).is_none(), "{}", reply.text);
        assert!(case.is_answered(n, &reply.text), "{}", reply.text);
    }
    let run: Arc<str> = "counted".into();
    let _ = ask(&guard, case, Arc::clone(&run), given(WARM));
    settled((Box::new(guard), case, run, given(COUNTED)))
}

fn ask(guard: &Guard, case: Case, run: Arc<str>, given: RawArguments) -> Option<Reply> {
    let call = Call::new("call_100", case.tool(), given).in_run(run);
    guard.handle(call).now_or_never()
}

fn rig(case: Case) -> (Box<Rig>, Case, String) {
    let mut rig = Box::new(Rig::default());
    for n in 0..WARM {
        for served in [false, true] {
            let text = case.arguments(n).to_string();
            let given = if served {
                rig.call_served(case.tool(), &text)
            } else {
                rig.call(case.tool(), &text)
            };
            let said = given.as_ref().and_then(|given| given.output().as_text());
            let said = said.unwrap_or_default();
            assert!(case.is_answered(n, said), "{said}");
        }
    }
    settled((rig, case, case.arguments(COUNTED).to_string()))
}

type Routed = (Box<Router>, Case, JsonObject);

fn router(case: Case) -> Routed {
    let router = Box::new(Router::default());
    for n in 0..WARM {
        let given = router.call(n, asked(case.tool(), object(case.arguments(n))));
        let given = format!("{given:?}");
        assert!(case.is_answered(n, &given), "{given}");
    }
    settled((router, case, object(case.arguments(COUNTED))))
}

fn connection(case: Case) -> (Box<Connection>, CallToolRequestParams) {
    let connection = Box::new(Connection::default());
    for n in 0..WARM {
        let given = connection.call(asked(case.tool(), object(case.arguments(n))));
        let given = format!("{given:?}");
        assert!(case.is_answered(n, &given), "{given}");
    }
    settled((connection, asked(case.tool(), object(case.arguments(COUNTED)))))
}

#[library_benchmark]
#[bench::success(settled(Case::Success.arguments(COUNTED)))]
fn bare_call(value: Value) -> Answered {
    black_box(bare(black_box(&value)).now_or_never())
}

#[library_benchmark]
#[bench::success(settled(Case::Small.arguments(COUNTED)))]
fn bare_small_call(value: Value) -> Answered {
    black_box(bare_greeting(black_box(&value)).now_or_never())
}

#[library_benchmark]
#[bench::success(from_table(Case::Success))]
#[bench::small(from_table(Case::Small))]
fn boxed_call((search, value): (Boxed, Value)) -> (Boxed, Answered) {
    let given = search(black_box(&value)).now_or_never();
    (search, black_box(given))
}

#[library_benchmark]
#[bench::success(guarded(Case::Success, false))]
#[bench::success_from_text(guarded(Case::Success, true))]
#[bench::small(guarded(Case::Small, false))]
#[bench::small_from_text(guarded(Case::Small, true))]
#[bench::failure(guarded(Case::Failure, false))]
#[bench::failure_from_text(guarded(Case::Failure, true))]
#[bench::unknown(guarded(Case::Unknown, false))]
fn guarded_call((guard, case, run, given): Guarded) -> (Box<Guard>, Option<Reply>) {
    let reply = ask(&guard, black_box(case), run, black_box(given));
    (guard, black_box(reply))
}

#[library_benchmark]
#[bench::success(rig(Case::Success))]
#[bench::small(rig(Case::Small))]
#[bench::failure(rig(Case::Failure))]
#[bench::unknown(rig(Case::Unknown))]
fn rig_tool_set((mut rig, case, text): (Box<Rig>, Case, String)) -> (Box<Rig>, Option<ToolResult>) {
    let given = rig.call(black_box(case.tool()), black_box(&text));
    (rig, black_box(given))
}

#[library_benchmark]
#[bench::success(rig(Case::Success))]
#[bench::small(rig(Case::Small))]
#[bench::failure(rig(Case::Failure))]
#[bench::unknown(rig(Case::Unknown))]
fn rig_tool_server(
    (mut rig, case, text): (Box<Rig>, Case, String),
) -> (Box<Rig>, Option<ToolResult>) {
    let given = rig.call_served(black_box(case.tool()), black_box(&text));
    (rig, black_box(given))
}

#[library_benchmark]
#[bench::success(router(Case::Success))]
#[bench::small(router(Case::Small))]
#[bench::failure(router(Case::Failure))]
#[bench::unknown(router(Case::Unknown))]
fn rmcp_router(
    (router, case, given): Routed,
) -> (Box<Router>, Option<Result<CallToolResponse, ErrorData>>) {
    let given = router.call(COUNTED, asked(black_box(case).tool(), black_box(given)));
    (router, black_box(given))
}

#[library_benchmark]
#[bench::success(connection(Case::Success))]
#[bench::small(connection(Case::Small))]
#[bench::failure(connection(Case::Failure))]
#[bench::unknown(connection(Case::Unknown))]
fn rmcp_connection(
    (connection, asked): (Box<Connection>, CallToolRequestParams),
) -> (Box<Connection>, Result<CallToolResult, ServiceError>) {
    let given = connection.call(black_box(asked));
    (connection, black_box(given))
}

library_benchmark_group!(
    name = calls,
    benchmarks = [
        bare_call,
        bare_small_call,
        boxed_call,
        guarded_call,
        rig_tool_set,
        rig_tool_server,
        rmcp_router,
        rmcp_connection
    ]
);

main!(
    config = LibraryBenchmarkConfig::default().env(AT_HAND.0, AT_HAND.1),
    library_benchmark_groups = calls
);
