//! What a call brings along (a program, an address, half of its arguments) and its tool only uses.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use breakfall::{
    Arguments, BoxFuture, Call, Checking, Context, Effect, Entry, Failure, FailureKind, Guard,
    Outcome, Output, Policy, Reply, Tool, ToolSpec, function,
};
use serde_json::{Value, json};

/// Says what it is told to say, as a server does.
struct Says;

impl Tool for Says {
    fn call<'a>(&'a self, arguments: &'a Arguments, _: Context<'a>) -> BoxFuture<'a, Outcome> {
        let said = arguments.value()["says"].as_str().unwrap_or_default();
        Box::pin(std::future::ready(match said {
            "" => Ok(Output::text("fine")),
            said => Err(Failure::told(said)),
        }))
    }
}

fn tool(schema: Value) -> Entry {
    ToolSpec::new("run", "Runs something.").schema(schema).tool(Says)
}

fn guard(schema: Value) -> Guard {
    // As servers are guarded.
    let policy = Policy { checking: Checking::Diagnose, ..Policy::default() };
    Guard::builder().tool(tool(schema)).policy(policy).build().unwrap()
}

async fn call(guard: &Guard, arguments: Value) -> Reply {
    guard.handle(Call::new("1", "run", arguments)).await
}

const TRACEBACK: &str = "Traceback (most recent call last):\n  File \"x.py\", line 2, in <module>\n\
                         KeyError: 'missing'";

/// A script that failed was told as a fault of the tool that ran it: "use another tool".
#[tokio::test]
async fn a_program_that_fails_is_no_fault_of_the_tool_that_runs_it() {
    let guard = guard(json!({ "type": "object" }));
    let reply = call(&guard, json!({ "command": "python3 x.py", "says": TRACEBACK })).await;
    insta::assert_snapshot!(reply.text, @r#"
    `run` failed. It said:
    > Traceback (most recent call last):
    >   File "x.py", line 2, in <module>
    > KeyError: 'missing'
    Change the call or use another tool. (ref t1xyzy)
    "#);
    let reply = call(&guard, json!({ "city": "Rome", "says": TRACEBACK })).await;
    assert_eq!(reply.kind(), Some(FailureKind::Internal));
}

/// Five dead addresses closed a shell and a browser for everything else; so did twenty failures.
#[tokio::test]
async fn what_a_call_brings_along_closes_no_tool() {
    let refused = "connect ECONNREFUSED 127.0.0.1";
    let command = |n| json!({ "command": format!("curl localhost:{n}"), "says": refused });
    let code = |n| json!({ "code": format!("sleep({n})"), "says": "it timed out after 1 s" });
    let url = |n| json!({ "url": format!("http://127.0.0.1:{n}/"), "says": refused });
    let ways: [(&dyn Fn(usize) -> Value, usize); 3] = [(&command, 25), (&code, 25), (&url, 19)];
    for (arguments, times) in ways {
        let guard = guard(json!({ "type": "object" }));
        for n in 0..times {
            let reply = call(&guard, arguments(n)).await;
            assert_ne!(reply.kind(), Some(FailureKind::Unavailable), "{n}: {}", arguments(n));
        }
        assert_eq!(call(&guard, json!({ "command": "echo" })).await.text, "fine");
    }
}

#[tokio::test]
async fn what_a_tool_needs_itself_closes_it_as_ever() {
    let guard = guard(json!({ "type": "object" }));
    let says = "connect ECONNREFUSED 10.0.0.1:5432";
    for n in 0..5 {
        let reply = call(&guard, json!({ "city": n, "says": says })).await;
        assert_eq!(reply.kind(), Some(FailureKind::Network));
    }
    let reply = call(&guard, json!({ "city": 5 })).await;
    assert_eq!(reply.kind(), Some(FailureKind::Unavailable));
}

/// An exception tells less than words: one address that fails again and again may be the tool's.
#[tokio::test]
async fn one_address_that_raises_closes_a_tool_and_others_do_not() {
    for is_closed in [true, false] {
        let fetch = function("run", "Fetches.", |_: Value| async {
            Err::<String, _>(std::io::Error::from(std::io::ErrorKind::ConnectionRefused))
        });
        let guard = Guard::builder().tool(fetch).build().unwrap();
        for n in 0..6 {
            let url = format!("http://10.0.0.{}/{n}", if is_closed { 1 } else { n });
            let reply = call(&guard, json!({ "url": url })).await;
            let is_refused = reply.kind() == Some(FailureKind::Unavailable);
            assert_eq!(is_refused, is_closed && n == 5, "{url}");
        }
    }
}

/// Four times the same error, then an edit that mends it: the fifth run was refused.
#[tokio::test]
async fn a_program_is_run_again_after_every_change() {
    let edit = function("edit", "Edits.", |_: Value| async { Ok::<_, Failure>("done") });
    let guard = Guard::builder().tools([tool(json!({ "type": "object" })), edit]).build().unwrap();
    let compile = json!({ "command": "make", "says": "it failed" });
    for turn in 1..8 {
        let reply = call(&guard, compile.clone()).await;
        assert_eq!(reply.kind(), Some(FailureKind::Execution), "{turn}");
        assert_eq!(reply.text.contains("time that this call fails"), turn > 2, "{}", reply.text);
        guard.handle(Call::new("2", "edit", json!({}))).await;
    }
    // Where nothing is changed it goes in circles.
    assert_eq!(call(&guard, compile.clone()).await.kind(), Some(FailureKind::Execution));
    assert_eq!(call(&guard, compile).await.kind(), Some(FailureKind::Repeated));
}

/// Eight of fifteen errors of a compiler were cut out, and the size told was that of the rest.
#[tokio::test]
async fn what_a_program_printed_has_more_room_and_its_true_size() {
    let guard = guard(json!({ "type": "object" }));
    let report = (0..60)
        .map(|n| format!("main.c:{n}: error: `x{n}` undeclared\n"))
        .collect::<Vec<_>>()
        .concat();
    let reply = call(&guard, json!({ "command": "gcc main.c", "says": report })).await;
    assert!((0..60).all(|n| reply.text.contains(&format!("`x{n}`"))), "{}", reply.text);
    let reply = call(&guard, json!({ "command": "gcc", "says": report.repeat(20) })).await;
    let size = report.len() * 20;
    assert!(reply.text.contains(&format!("[{size} bytes in all]")), "{}", reply.text);
    assert!(reply.text.len() <= 8 << 10);
    let reply = call(&guard, json!({ "path": "main.c", "says": report })).await;
    assert!(reply.text.len() <= 2 << 10);
}

/// A tool that only looks waited three times as long as it was told to.
#[tokio::test(start_paused = true)]
async fn who_says_how_long_to_wait_has_waited() {
    let tool = tool(json!({ "type": "object" })).effect(Effect::ReadOnly);
    let guard = Guard::builder().tool(tool).build().unwrap();
    let says = "timed out after waiting for the text";
    let reply = call(&guard, json!({ "timeout_ms": 1000, "says": says })).await;
    assert_eq!((reply.kind(), reply.attempts), (Some(FailureKind::Timeout), 1));
    let reply = call(&guard, json!({ "city": "Rome", "says": says })).await;
    assert_eq!((reply.kind(), reply.attempts), (Some(FailureKind::Timeout), 3));
}

/// `"n"` was shown as `"Y"`.
#[tokio::test]
async fn nobody_confirms_for_a_model() {
    let schema = json!({ "type": "object", "properties": { "confirm": { "enum": ["Y", "y"] } } });
    let guard = Guard::builder().tool(tool(schema)).build().unwrap();
    let reply = call(&guard, json!({ "confirm": "n" })).await;
    assert!(reply.text.contains("Correct the arguments and call it again."), "{}", reply.text);
}

/// What the schema asks for was missing, and the model was told of a fault inside the tool.
#[tokio::test]
async fn a_tool_that_fails_without_what_it_needs_failed_for_that() {
    let schema = json!({
        "type": "object",
        "properties": { "key": { "type": "string" }, "value": { "type": "string" } },
        "required": ["key", "value"],
    });
    let guard = guard(schema);
    let says = "Cannot read properties of undefined (reading 'map')";
    let reply = call(&guard, json!({ "key": "k", "says": says })).await;
    insta::assert_snapshot!(reply.text, @r#"
    `run` did not accept its arguments:
    - `value`: expected a string; it is missing
    It said:
    > Cannot read properties of undefined (reading 'map')
    Call it again in this shape: `{"key":"k","says":"Cannot read properties of undefined (reading 'map')","value":"text"}`. Made up, put the real values there: `value`. (ref 6q1zt9)
    "#);
    // Where nothing is missing it is what it was.
    let reply = call(&guard, json!({ "key": "k", "value": "v", "says": says })).await;
    assert_eq!(reply.kind(), Some(FailureKind::Internal));
    let reply = call(&guard, json!({ "key": 7, "value": "v", "says": "it failed" })).await;
    assert_eq!(reply.kind(), Some(FailureKind::Execution));
}

/// A method of a text was called on an object, and the model was told of a fault inside the tool.
#[tokio::test]
async fn a_tool_that_fails_over_what_does_not_fit_failed_for_that() {
    let schema = json!({
        "type": "object",
        "properties": { "resourceType": { "type": "string" }, "name": { "type": "string" } },
    });
    let guard = guard(schema);
    let says = "input.resourceType.toLowerCase is not a function";
    let reply = call(&guard, json!({ "resourceType": { "a": [1] }, "says": says })).await;
    assert_eq!(reply.kind(), Some(FailureKind::InvalidArguments));
    insta::assert_snapshot!(reply.text, @r#"
    `run` did not accept its arguments:
    - `resourceType`: expected a string, got `{"a":[1]}`
    It said:
    > input.resourceType.toLowerCase is not a function
    Call it again in this shape: `{"resourceType":"text","says":"input.resourceType.toLowerCase is not a function"}`. Made up, put the real values there: `resourceType`. (ref q23sw7)
    "#);
    // What does not fit and is not spoken of is no reason.
    let reply = call(&guard, json!({ "name": { "a": [1] }, "says": says })).await;
    assert_eq!(reply.kind(), Some(FailureKind::Internal));
    let reply = call(&guard, json!({ "resourceType": "pod", "says": says })).await;
    assert_eq!(reply.kind(), Some(FailureKind::Internal));
}

/// "Correct the arguments", of a call that can have none.
#[tokio::test]
async fn a_tool_without_arguments_does_not_fail_for_them() {
    struct Fails;
    impl Tool for Fails {
        fn call<'a>(&'a self, _: &'a Arguments, _: Context<'a>) -> BoxFuture<'a, Outcome> {
            let said = Failure::told("Invalid task creation result").json_rpc_code_is(-32602);
            Box::pin(std::future::ready(Err(said)))
        }
    }
    for (schema, kind) in [
        (json!({ "type": "object", "properties": {} }), FailureKind::Execution),
        (json!({ "type": "object" }), FailureKind::InvalidArguments),
    ] {
        let tool = ToolSpec::new("run", "").schema(schema).tool(Fails);
        let guard = Guard::builder().tool(tool).build().unwrap();
        assert_eq!(call(&guard, json!({})).await.kind(), Some(kind));
    }
}

/// The server's hint was lost, and the call shown had the field in it that the server refused.
#[tokio::test]
async fn what_a_server_says_of_an_argument_that_its_schema_lets_pass_is_told() {
    let schema = json!({
        "type": "object",
        "properties": { "path": { "type": "string" } },
        "required": ["path"],
    });
    let says = "invalid arguments: unknown field 'filepath'; did you mean 'path'?";
    let reply = call(&guard(schema), json!({ "filepath": "/tmp/a.xlsx", "says": says })).await;
    insta::assert_snapshot!(reply.text, @r"
    `run` did not accept its arguments:
    - `path`: expected a string; it is missing
    It said:
    > invalid arguments: unknown field 'filepath'; did you mean 'path'?
    Correct the arguments and call it again. (ref 2pv8pe)
    ");
}

/// A command in one text was shown as a list of one word, which is refused again.
#[tokio::test]
async fn a_command_in_one_text_is_shown_word_by_word() {
    let schema = json!({
        "type": "object",
        "properties": { "command": { "type": "array", "items": { "type": "string" } } },
        "required": ["command"],
        "additionalProperties": false,
    });
    let guard = Guard::builder().tool(tool(schema)).build().unwrap();
    let plain = call(&guard, json!({ "command": "ls -la" })).await;
    let quoted = call(&guard, json!({ "command": "grep 'a b' c" })).await;
    insta::assert_snapshot!([plain.text, quoted.text].join("\n\n"), @r#"
    `run` did not accept its arguments:
    - `command`: expected an array, got `"ls -la"`
    Call it again like this: `{"command":["ls","-la"]}`. (ref 5zya48)

    `run` did not accept its arguments:
    - `command`: expected an array, got `"grep 'a b' c"`
    Call it again in this shape: `{"command":["grep","'a","b'","c"]}`. Made up, put the real values there: `command`. (ref 5zya48)
    "#);
}

/// Of sixteen options ten were told.
#[tokio::test]
async fn every_option_of_a_short_list_is_told() {
    let options: Vec<String> = (0..16).map(|n| format!("chart{n}")).collect();
    let schema = json!({ "type": "object", "properties": { "kind": { "enum": options } } });
    let guard = Guard::builder().tool(tool(schema)).build().unwrap();
    let reply = call(&guard, json!({ "kind": "table" })).await;
    assert!(options.iter().all(|option| reply.text.contains(option.as_str())), "{}", reply.text);
}
