//! One real failure of every kind, raised the way it is raised in earnest.

use std::sync::Mutex;
use std::time::Duration;

use breakfall::{
    Arguments, BoxFuture, Call, Context, Effect, Failure, FailureKind, Guard, GuardBuilder,
    Outcome, Output, Policy, Preset, Reply, Tool, ToolSpec, failure_of,
};
use serde_json::json;

use crate::script::Script;

/// The reply to a call that fails with this failure, in a preset's voice.
pub async fn reply_to(preset: Preset, tool: &str, failure: Failure) -> Reply {
    let entry = ToolSpec::new(tool, "").tool(Once(Mutex::new(Some(failure))));
    let guard = Guard::builder().preset(preset).policy(Policy::bare()).tool(entry);
    answer(guard, Call::new("call_1", tool, "{}")).await
}

/// The reply to a call that fails in this way, in a preset's voice.
pub async fn specimen(preset: Preset, kind: FailureKind) -> Reply {
    use FailureKind as K;
    let guard = Guard::builder().preset(preset);
    let tool = Script::new("search_files").schema(json!({
        "type": "object",
        "properties": {
            "query": { "type": "string" },
            "limit": { "type": "integer", "minimum": 1, "maximum": 100 },
        },
        "required": ["query"],
        "additionalProperties": false,
    }));
    let named = |name: &str| Script::new(name).tool();
    match kind {
        K::UnknownTool => {
            let guard = guard.tools([tool.tool(), named("list_files"), named("read_file")]);
            answer(guard, Call::new("call_1", "serach_files", r#"{"query": "x"}"#)).await
        }
        K::InvalidArguments => {
            let call = Call::new("call_1", "search_files", r#"{"qeury": "x", "limit": "many"}"#);
            answer(guard.tool(tool.tool()), call).await
        }
        K::TruncatedArguments => {
            let call = Call::new("call_1", "search_files", r#"{"query": "a long text that"#);
            answer(guard.tool(tool.tool()), call).await
        }
        K::Timeout => {
            let limit = Policy { attempt_timeout: Duration::from_millis(1), ..Policy::default() };
            let tool = tool.effect(Effect::Once).hangs().tool();
            let call = Call::new("call_1", "search_files", r#"{"query": "x"}"#);
            answer(guard.policy(limit).tool(tool), call).await
        }
        K::Unavailable => {
            let Ok(guard) = guard.tool(tool.tool()).build() else { unreachable!("a good schema") };
            let _ = guard.toolbox().disable("search_files");
            guard.handle(Call::new("call_1", "search_files", "{}")).await
        }
        K::Internal => {
            let tool = tool.panics("index out of bounds").tool();
            let call = Call::new("call_1", "search_files", r#"{"query": "x"}"#);
            answer(guard.tool(tool), call).await
        }
        K::Repeated => {
            let tool = tool.fails(K::Execution).tool();
            let Ok(guard) = guard.tool(tool).build() else { unreachable!("a good schema") };
            let call = Call::new("call_1", "search_files", r#"{"query": "x"}"#);
            for _ in 0..4 {
                guard.handle(call.clone()).await;
            }
            guard.handle(call).await
        }
        K::Broken => {
            // Raised by the guard alone: said here with the words that it uses.
            reply_to(preset, "search_files", Failure::of_kind(kind)).await
        }
        _ => reply_to(preset, "search_files", failure_of(kind)).await,
    }
}

async fn answer(guard: GuardBuilder, call: Call) -> Reply {
    match guard.build() {
        // Boxed: with the guard itself it would be a large future.
        Ok(guard) => Box::pin(guard.handle(call)).await,
        Err(error) => panic!("{error}"),
    }
}

/// Fails with the failure it holds, once.
struct Once(Mutex<Option<Failure>>);

impl Tool for Once {
    fn call<'a>(&'a self, _: &'a Arguments, _: Context<'a>) -> BoxFuture<'a, Outcome> {
        let failure = self.0.lock().ok().and_then(|mut held| held.take());
        Box::pin(async move { failure.map_or_else(|| Ok(Output::text("")), Err) })
    }
}
