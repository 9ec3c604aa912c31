//! What the provider receives next, and what the person sees, when tools fail: one test for each
//! way, in every provider's shape, over real HTTP.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use breakfall::{
    BoxFuture, Call, Effect, Failure, Guard, GuardBuilder, Policy, Reply, ToolSpec, function,
};
use breakfall_chat::{Shape, Stop, Tools};
use breakfall_mcp::{Command, Servers, Session, files};
use breakfall_test::{Script, Step};
use serde_json::{Value, json};
use support::{Act, SHAPES, Seen, Server, answer, rules, say};
use tokio::sync::Notify;

/// The calls of the model's one answer: id, tool, arguments.
type Calls<'c> = &'c [(&'c str, &'c str, &'c str)];

/// The history part of a request's body.
fn messages(shape: Shape, body: &Value) -> Vec<Value> {
    let key = if shape == Shape::Responses { "input" } else { "messages" };
    body[key].as_array().unwrap().clone()
}

/// The ids that have a reply in a request.
fn answered(shape: Shape, body: &Value) -> Vec<String> {
    let (holder, id) = match shape {
        Shape::Chat => ("tool", "tool_call_id"),
        Shape::Responses => ("function_call_output", "call_id"),
        Shape::Anthropic => ("tool_result", "tool_use_id"),
    };
    let all = messages(shape, body);
    let blocks = all.iter().flat_map(|message| match message["content"].as_array() {
        Some(blocks) => blocks.clone(),
        None => vec![message.clone()],
    });
    let replies = blocks.filter(|it| it["type"] == holder || it["role"] == holder);
    replies.map(|it| it[id].as_str().unwrap().to_owned()).collect()
}

/// Plays one answer with calls against tools in every shape: what the provider received next, and
/// what the person saw. A run that stops is gone on with when the person says so.
async fn played<T: Tools + 'static>(
    calls: Calls<'_>,
    tools: impl AsyncFn() -> T,
) -> (String, Vec<Stop>) {
    let mut account = String::new();
    let mut stops = Vec::new();
    for shape in SHAPES {
        let acts = vec![
            Act::Stream(answer(shape, "Let me see.", calls)),
            Act::Stream(answer(shape, "That is all.", &[])),
        ];
        let server = Server::start(acts).await;
        let mut conversation = server.conversation(shape, tools().await);
        let (stop, mut seen) = say(&mut conversation, "Do it.").await;
        if !stop.is_done() {
            assert_eq!(server.asked().len(), 1, "nothing is asked behind a stop");
            let (next, more) = say(&mut conversation, "It is mended.").await;
            assert_eq!(next, Stop::Done);
            write!(seen, "> It is mended.\n{more}").unwrap();
        }
        stops.push(stop);
        tell(&mut account, shape, &server, calls, &seen);
    }
    (account, stops)
}

fn tell(account: &mut String, shape: Shape, server: &Server, calls: Calls<'_>, seen: &str) {
    let next = &server.asked()[1];
    rules::accepts(shape, next).unwrap();
    let ids: Vec<&str> = calls.iter().map(|(id, ..)| *id).collect();
    assert_eq!(answered(shape, next), ids, "every call has its reply, in its order");
    if shape == Shape::Chat {
        writeln!(account, "what the person saw:\n{}\n", seen.trim_end()).unwrap();
    }
    writeln!(account, "what the provider received next, {shape:?}:").unwrap();
    for message in messages(shape, next) {
        writeln!(account, "{message}").unwrap();
    }
    account.push('\n');
}

fn guard(guard: GuardBuilder) -> Guard {
    guard.build().unwrap()
}

/// A directory of our own with one file.
fn directory(name: &str) -> PathBuf {
    let here = std::env::temp_dir().join(format!("breakfall-chat-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&here).unwrap();
    std::fs::write(here.join("notes.md"), "Buy milk.").unwrap();
    here
}

fn files_of(name: &str) -> Guard {
    guard(Guard::builder().tools(files(&directory(name)).unwrap()))
}

#[tokio::test]
async fn an_unknown_tool_is_answered_with_those_that_exist() {
    let calls: Calls<'_> = &[("call_1", "raed_file", r#"{"path": "notes.md"}"#)];
    let (account, stops) = played(calls, async || files_of("unknown")).await;
    assert_eq!(stops, [Stop::Done, Stop::Done, Stop::Done]);
    insta::assert_snapshot!(account);
}

#[tokio::test]
async fn bad_arguments_are_answered_with_the_call_corrected() {
    let calls: Calls<'_> = &[("call_1", "read_file", r#"{"pth": "notes.md"}"#)];
    let (account, _) = played(calls, async || files_of("arguments")).await;
    insta::assert_snapshot!(account);
}

#[tokio::test]
async fn a_missing_file_is_told() {
    let calls: Calls<'_> = &[("call_1", "read_file", r#"{"path": "nots.md"}"#)];
    let (account, _) = played(calls, async || files_of("missing")).await;
    insta::assert_snapshot!(account);
}

#[tokio::test]
async fn a_tool_that_hangs_is_answered_in_its_time() {
    let tools = async || {
        let policy = Policy { attempt_timeout: Duration::from_millis(30), ..Policy::default() };
        let tool = Script::new("run_query").effect(Effect::Once).hangs().tool();
        guard(Guard::builder().policy(policy).tool(tool))
    };
    let (account, _) = played(&[("call_1", "run_query", "{}")], tools).await;
    insta::assert_snapshot!(account);
}

#[tokio::test]
async fn a_tool_that_panics_shows_none_of_it() {
    let tools = async || {
        let tool = Script::new("run_query").panics("password=hunter2 out of bounds").tool();
        guard(Guard::builder().tool(tool))
    };
    let (account, _) = played(&[("call_1", "run_query", "{}")], tools).await;
    assert!(!account.contains("hunter2"));
    insta::assert_snapshot!(account);
}

#[tokio::test]
async fn what_is_not_permitted_is_told() {
    let calls: Calls<'_> = &[("call_1", "read_file", r#"{"path": "../.."}"#)];
    let (account, _) = played(calls, async || files_of("permission")).await;
    insta::assert_snapshot!(account);
}

fn github() -> breakfall::Entry {
    function("github", "Lists issues.", |_: Value| async {
        Err::<String, _>(Failure::authentication("GITHUB_TOKEN"))
    })
}

#[tokio::test]
async fn a_tool_that_cannot_authenticate_stops_the_run_with_the_true_reason() {
    let tools = async || guard(Guard::builder().tool(github()));
    let (account, stops) = played(&[("call_1", "github", "{}")], tools).await;
    for stop in stops {
        let words = "`github` could not authenticate. Check GITHUB_TOKEN.";
        assert_eq!(stop.words().as_deref(), Some(words));
        assert!(matches!(stop, Stop::Fatal(_)));
    }
    insta::assert_snapshot!(account);
}

#[tokio::test]
async fn a_service_that_cannot_be_reached_is_told() {
    let tools = async || {
        let tool = function("fetch", "Fetches a page.", |_: Value| async {
            // Nobody listens on the port that was free a moment ago.
            let free = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
            let fetched = std::net::TcpStream::connect(free).map(|_| String::new());
            fetched.map_err(Failure::from)
        });
        guard(Guard::builder().policy(Policy::bare()).tool(tool))
    };
    let (account, _) = played(&[("call_1", "fetch", "{}")], tools).await;
    insta::assert_snapshot!(account);
}

/// A server that ends in the middle of a call.
const CRASHES: &str = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "crashes", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "send", "description": "Sends a message.",
                             "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        sys.exit(7)
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)
"#;

/// Tools of MCP servers.
struct Servants(Arc<Session>);

impl Tools for Servants {
    fn callable(&self) -> BoxFuture<'_, Vec<ToolSpec>> {
        Box::pin(self.0.tools())
    }

    fn answer<'a>(
        &'a self,
        calls: Vec<Call>,
        stop: BoxFuture<'a, ()>,
        tell: &'a mut (dyn FnMut(&Reply) + Send),
    ) -> BoxFuture<'a, Vec<Reply>> {
        Box::pin(self.0.call_tools(calls, stop, tell))
    }

    fn end_run(&self, run: &str) {
        self.0.guard().end_run(run);
    }
}

#[tokio::test]
async fn a_server_that_crashes_in_the_middle_of_a_call_is_told() {
    let tools = async || {
        let words = ["python3", "-c", CRASHES].map(str::to_owned);
        let servers = Servers::one(Command::typed(&words).unwrap());
        let guard = servers.guard(&breakfall::Config::default());
        Servants(Session::alone(servers, guard, None).unwrap())
    };
    let (account, stops) = played(&[("call_1", "send", "{}")], tools).await;
    assert_eq!(stops, [Stop::Done, Stop::Done, Stop::Done]);
    insta::assert_snapshot!(account);
}

#[tokio::test]
async fn a_batch_has_a_reply_for_each_call_whatever_came_of_it() {
    let calls: Calls<'_> = &[
        ("call_1", "read_file", r#"{"path": "notes.md"}"#),
        ("call_2", "read_file", r#"{"path": "nots.md"}"#),
        ("call_3", "raed_file", r#"{"path": "notes.md"}"#),
        ("call_4", "read_file", r#"{"path": "no"#),
        ("call_5", "list_files", ""),
    ];
    let tools = async || {
        // One after the other, so that the person sees them in their order.
        guard(Guard::builder().concurrency(1).tools(files(&directory("batch")).unwrap()))
    };
    let (account, _) = played(calls, tools).await;
    insta::assert_snapshot!(account);
}

#[tokio::test]
async fn a_fatal_failure_in_the_middle_of_a_batch_leaves_no_call_without_a_reply() {
    let tools = async || {
        let read = || Script::new("read").answers("Buy milk.").tool();
        guard(Guard::builder().concurrency(1).tools([read(), github()]))
    };
    let calls: Calls<'_> =
        &[("call_1", "read", "{}"), ("call_2", "github", "{}"), ("call_3", "read", "{}")];
    let (account, stops) = played(calls, tools).await;
    assert!(stops.iter().all(|stop| matches!(stop, Stop::Fatal(_))), "{stops:?}");
    insta::assert_snapshot!(account);
}

#[tokio::test]
async fn a_turn_that_is_cancelled_keeps_what_is_done_and_answers_the_rest() {
    let mut account = String::new();
    let calls: Calls<'_> = &[("call_1", "slow", "{}"), ("call_2", "read", "{}")];
    for shape in SHAPES {
        let acts = vec![
            Act::Stream(answer(shape, "Let me see.", calls)),
            Act::Stream(answer(shape, "That is all.", &[])),
        ];
        let server = Server::start(acts).await;
        let slow = Script::new("slow").effect(Effect::Once).step(Step::Hang).tool();
        let read = Script::new("read").answers("Buy milk.").tool();
        let tools = guard(Guard::builder().tools([slow, read]));
        let mut conversation = server.conversation(shape, tools);
        let mut seen = Seen::default();
        let pressed = Notify::new();
        let hear = &mut |event: breakfall_chat::Event<'_>| {
            seen.hear(&event);
            if matches!(event, breakfall_chat::Event::ToolReply(reply) if reply.tool == "read") {
                pressed.notify_one();
            }
        };
        let stop = conversation.say("Do it.", hear, pressed.notified()).await;
        assert_eq!(stop, Stop::Cancelled);
        assert_eq!(server.asked().len(), 1);
        let (stop, more) = say(&mut conversation, "Go on.").await;
        assert_eq!(stop, Stop::Done);
        let seen = format!("{}> Go on.\n{more}", seen.0);
        tell(&mut account, shape, &server, calls, &seen);
    }
    insta::assert_snapshot!(account);
}

#[tokio::test]
async fn names_that_no_provider_takes_come_back_as_they_are() {
    let tools = async || {
        let tool = Script::new("files.read").answers("Buy milk.").tool();
        guard(Guard::builder().tool(tool))
    };
    let name = breakfall::wire::name("files.read").into_owned();
    let (account, _) = played(&[("call_1", &name, "{}")], tools).await;
    assert!(account.contains("Buy milk."), "{account}");
    for shape in SHAPES {
        let server = Server::start(vec![Act::Stream(answer(shape, "Hello.", &[]))]).await;
        say(&mut server.conversation(shape, tools().await), "Hello.").await;
        let told = &server.asked()[0]["tools"][0];
        let told = if shape == Shape::Chat { &told["function"] } else { told };
        assert_eq!(told["name"], json!(name));
    }
}
