//! The guard between a client and a real process that misbehaves in every way.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

mod talking;

use std::path::{Path, PathBuf};
use std::time::Duration;

use breakfall::{GuardBuilder, Policy, SilentRule};
use breakfall_mcp::{Command, Reach, Server};
use serde_json::{Value, json};
use talking::{Client, counts_file, guard, scripted};
use tokio::io::AsyncWriteExt;

fn started(key: &str, program: &str, arguments: Vec<String>) -> Server {
    let command = Command { program: program.to_owned(), arguments, ..Command::default() };
    Server { key: key.to_owned(), reach: Reach::Command(command), is_trusted: true }
}

fn server(key: &str, counts: &Path) -> Server {
    let mut server = scripted(key, "wild.py", counts, &[]);
    if let Reach::Command(command) = &mut server.reach {
        command.variables.insert("DECLARED".to_owned(), "yes".to_owned());
    }
    server
}

async fn client_of(servers: Vec<Server>, guard: GuardBuilder, counts: PathBuf) -> Client {
    let mut client = Client::of(servers, guard, counts);
    client.greet("2025-06-18", json!({ "roots": {} })).await;
    client
}

async fn client(policy: Policy) -> Client {
    let counts = counts_file();
    client_of(vec![server("wild", &counts)], guard(policy), counts).await
}

/// What is still to be heard of a client that leaves in the same breath.
async fn last(mut client: Client, method: &str) -> Value {
    let id = client.start(method, json!({})).await;
    client.write.shutdown().await.unwrap();
    client.answer(id).await
}

#[tokio::test]
async fn what_nobody_needs_to_understand_passes_untouched() {
    let mut client = client(Policy::default()).await;
    let listed = client.ask("tools/list", json!({})).await;
    assert_eq!(listed["result"]["_meta"]["odd"], 1);
    assert_eq!(listed["result"]["tools"][0]["icons"][0]["src"], "x");
    let odd = client.ask("odd/method", json!({ "a": [1, { "b": null }] })).await;
    assert_eq!(odd["result"]["odd"], json!({ "a": [1, { "b": null }] }));
    let called = client.ask("tools/call", json!({ "name": "echo", "arguments": { "n": 1 } })).await;
    assert_eq!(called["result"]["odd"], "kept");
    assert_eq!(called["result"]["structuredContent"]["big"], 1e300);
    let refused = client.ask("resources/list", json!({})).await;
    assert_eq!(refused["error"]["code"], -32601);
    client.leave().await;
}

#[tokio::test]
async fn every_shape_of_failure_is_a_result_that_the_model_can_act_on() {
    let mut client = client(Policy { silent: SilentRule::Fail, ..Policy::default() }).await;
    let mut texts = Vec::new();
    for (tool, arguments) in [
        ("ehco", json!({})),
        ("fail", json!({})),
        ("rpc_error", json!({})),
        ("silent", json!({})),
        ("write_then_die", json!({})),
        ("flood", json!({})),
    ] {
        let (text, is_error) = client.call(tool, arguments).await;
        assert!(is_error, "{tool}: {text}");
        texts.push(text);
    }
    insta::assert_snapshot!(texts.join("\n\n"));
    client.leave().await;
}

#[tokio::test]
async fn a_tool_that_a_client_sees_can_be_called_whatever_its_name_is() {
    let mut client = client(Policy::default()).await;
    let listed = client.ask("tools/list", json!({})).await;
    assert!(listed.to_string().contains("with space"), "{listed}");
    assert_eq!(client.call("with space", json!({})).await, ("spaced".to_owned(), false));
    client.leave().await;
}

/// Some servers tell of their tools only to who searches for them.
#[tokio::test]
async fn a_tool_that_its_server_takes_and_does_not_list_is_called() {
    let mut client = client(Policy::default()).await;
    assert_eq!(client.call("unlisted", json!({})).await, ("ran".to_owned(), false));
    let (text, is_error) = client.call("unlisted", json!({ "fail": true })).await;
    assert!(is_error && text.starts_with("`unlisted` failed. It said:\n> ran"), "{text}");
    // The second is told of as if it were what a tool says.
    for name in ["unlitsed", "unilsted"] {
        let (text, is_error) = client.call(name, json!({})).await;
        assert!(is_error && text.starts_with(&format!("`{name}` is not a tool.")), "{text}");
    }
    let listed = client.ask("tools/list", json!({})).await;
    assert!(!listed.to_string().contains("unlisted"), "{listed}");
    client.leave().await;
}

#[tokio::test]
async fn an_error_without_words_says_what_its_structured_part_does() {
    let mut client = client(Policy::default()).await;
    let answer = client.ask("tools/call", json!({ "name": "rows", "arguments": {} })).await;
    let result = &answer["result"];
    assert_eq!(result["structuredContent"]["errors"][0]["row"], 5, "{answer}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("the name is too long"), "{text}");
    client.leave().await;
}

#[tokio::test]
async fn secrets_go_out_of_every_error_and_the_rest_of_it_stays() {
    let mut client = client(Policy::default()).await;
    let answer = client.ask("resources/read", json!({ "uri": "a://b" })).await;
    assert_eq!(answer["error"]["code"], -32002);
    assert_eq!(answer["error"]["data"]["uri"], "a://b");
    let text = answer["error"]["message"].as_str().unwrap();
    assert!(text.starts_with("could not reach postgres://u:[redacted:"), "{text}");
    client.leave().await;
}

#[tokio::test]
async fn a_dead_server_is_started_anew_and_only_what_may_be_repeated_is() {
    let mut client = client(Policy::default()).await;
    let (text, is_error) = client.call("read_then_die", json!({})).await;
    assert_eq!((text.as_str(), is_error), ("read", false));
    assert_eq!(client.counted("read_then_die"), 2);
    let began = std::time::Instant::now();
    let (text, is_error) = client.call("write_then_die", json!({})).await;
    assert!(began.elapsed() < Duration::from_millis(250), "{:?}", began.elapsed());
    assert!(is_error && text.contains("may have taken effect"), "{text}");
    assert_eq!(client.counted("write_then_die"), 1);
    let (text, _) = client.call("echo", json!({ "n": 2 })).await;
    assert_eq!(text, r#"{"n": 2}"#);
    assert_eq!(client.counted("initialize"), 3);
    client.leave().await;
}

#[tokio::test]
async fn a_server_that_dies_of_a_level_is_told_it_again_and_the_client_does_not_notice() {
    let mut client = client(Policy::default()).await;
    let answer = client.ask("logging/setLevel", json!({ "level": "debug" })).await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    assert_eq!(client.counted("initialize"), 2);
    client.leave().await;
}

#[tokio::test]
async fn the_first_failure_after_a_server_was_started_anew_tells_what_is_gone() {
    let mut client = client(Policy::default()).await;
    let gone = "Its server was started anew: what it held in memory is gone.";
    let (text, _) = client.call("fail", json!({})).await;
    assert!(!text.contains(gone), "{text}");
    // It died, was started anew and read: nobody noticed.
    assert_eq!(client.call("read_then_die", json!({})).await, ("read".to_owned(), false));
    let (text, _) = client.call("fail", json!({ "n": 2 })).await;
    assert!(text.contains(&format!("\n{gone}\n")), "{text}");
    let (text, _) = client.call("fail", json!({ "n": 3 })).await;
    assert!(!text.contains(gone), "{text}");
    // Who did something since works with the new one.
    let (text, _) = client.call("write_then_die", json!({})).await;
    assert!(text.contains("lost its server") && !text.contains(gone), "{text}");
    assert!(!client.call("environment", json!({})).await.1);
    let (text, _) = client.call("fail", json!({ "n": 4 })).await;
    assert!(!text.contains(gone), "{text}");
    client.leave().await;
}

#[tokio::test]
async fn a_server_that_hangs_is_answered_for_told_to_stop_and_its_late_answer_swallowed() {
    let policy = Policy {
        attempt_timeout: Duration::from_millis(200),
        retry: breakfall::Retry::never(),
        ..Policy::default()
    };
    let mut client = client(policy).await;
    let (text, is_error) = client.call("hang", json!({})).await;
    assert!(is_error && text.starts_with("`hang` gave no answer within 200 ms."), "{text}");
    let (text, _) = client.call("echo", json!({})).await;
    assert_eq!(text, "{}");
    assert_eq!(client.counted("cancelled"), 1);
    client.leave().await;
}

#[tokio::test]
async fn a_call_that_the_client_cancels_gets_no_answer_and_the_server_is_told() {
    let mut client = client(Policy::default()).await;
    let id = client.start("tools/call", json!({ "name": "hang", "arguments": {} })).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    client.say(json!({ "method": "notifications/cancelled", "params": { "requestId": id } })).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let ping = client.start("ping", json!({})).await;
    let next = client.hear().await;
    assert_eq!(next["id"], ping, "{next}");
    assert_eq!(client.counted("cancelled"), 1);
    client.leave().await;
}

#[tokio::test]
async fn progress_comes_under_the_clients_token_and_keeps_a_slow_tool_alive() {
    let policy = Policy { attempt_timeout: Duration::from_millis(250), ..Policy::default() };
    let mut client = client(policy).await;
    let params =
        json!({ "name": "slow", "arguments": {}, "_meta": { "progressToken": "mine", "odd": 1 } });
    let id = client.start("tools/call", params).await;
    let mut steps = Vec::new();
    let answer = loop {
        let message = client.hear().await;
        if message["id"] == id {
            break message;
        }
        if message["method"] == "notifications/progress" {
            assert_eq!(message["params"]["progressToken"], "mine");
            steps.push(message["params"]["progress"].as_u64().unwrap());
        }
    };
    assert_eq!(steps, [1, 2, 3]);
    assert_eq!(answer["result"]["content"][0]["text"], "done slowly");
    client.leave().await;
}

/// A repeated call began at nothing again, and the client heard of that.
#[tokio::test]
async fn progress_does_not_go_back_when_a_call_is_repeated() {
    let mut client = client(Policy::default()).await;
    let params = json!({ "name": "step_then_die", "_meta": { "progressToken": "mine" } });
    let id = client.start("tools/call", params).await;
    let (answer, before) = client.heard_before(id).await;
    assert_eq!(answer["result"]["content"][0]["text"], "stepped", "{answer}");
    let steps = before.iter().filter(|it| it["method"] == "notifications/progress");
    let steps: Vec<_> = steps.map(|it| it["params"]["progress"].as_u64()).collect();
    assert_eq!(steps, [Some(0), Some(1), Some(2), Some(3), Some(4)]);
    assert_eq!(client.counted("step_then_die"), 2);
    client.leave().await;
}

#[tokio::test]
async fn a_server_may_ask_the_client_and_the_clock_stands_meanwhile() {
    let policy = Policy {
        attempt_timeout: Duration::from_millis(300),
        total_timeout: Duration::from_millis(400),
        ..Policy::default()
    };
    let mut client = client(policy).await;
    let id = client.start("tools/call", json!({ "name": "ask", "arguments": {} })).await;
    let question = loop {
        let message = client.hear().await;
        if message["method"] == "elicitation/create" {
            break message;
        }
    };
    assert_eq!(question["params"]["message"], "who?");
    tokio::time::sleep(Duration::from_millis(900)).await;
    client.say(json!({ "id": question["id"], "result": { "action": "accept" } })).await;
    let answer = client.answer(id).await;
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(text, r#"answered: {"action": "accept"}"#);
    client.leave().await;
}

#[tokio::test]
async fn garbage_is_skipped_and_a_server_knows_only_what_it_is_told() {
    let mut client = client(Policy::default()).await;
    assert_eq!(client.call("garbage", json!({})).await.0, "after garbage");
    let (names, _) = client.call("environment", json!({})).await;
    assert!(names.contains("\"DECLARED\"") && names.contains("\"PATH\""), "{names}");
    assert!(!names.contains("CARGO"), "{names}");
    client.leave().await;
}

/// What a client that can be asked for a sample hears when it says hello to these.
async fn greeted(servers: Vec<Server>, counts: PathBuf) -> Value {
    let mut client = Client::of(servers, guard(Policy::default()), counts);
    let answer = client.greet("2025-06-18", json!({ "sampling": {} })).await;
    client.leave().await;
    answer["result"].clone()
}

#[tokio::test]
async fn the_server_is_greeted_with_the_clients_capabilities() {
    let counts = counts_file();
    let greeting = greeted(vec![server("wild", &counts)], counts).await;
    assert_eq!(greeting["instructions"], r#"{"sampling": {}}"#);
    assert_eq!(greeting["serverInfo"]["name"], "wild");
}

#[tokio::test]
async fn the_instructions_of_several_servers_reach_the_client() {
    let counts = counts_file();
    let missing = started("missing", "/no/such/program", Vec::new());
    let servers = vec![server("one", &counts), missing, server("two", &counts)];
    let greeting = greeted(servers, counts).await;
    assert_eq!(
        greeting["instructions"],
        "# one: its tools begin with `one__`\n\n{\"sampling\": {}}\n\n\
         # two: its tools begin with `two__`\n\n{\"sampling\": {}}\n"
    );
    assert_eq!(greeting["serverInfo"]["name"], "breakfall");
}

#[tokio::test]
async fn one_bad_server_costs_the_others_nothing() {
    let counts = counts_file();
    let arguments = vec!["-c".to_owned(), "import sys; sys.exit('no luck')".to_owned()];
    let bad = started("bad", "python3", arguments);
    let missing = started("missing", "/no/such/program", Vec::new());
    let servers = vec![bad, server("good", &counts), missing];
    let mut client = client_of(servers, guard(Policy::default()), counts).await;
    let listed = client.ask("tools/list", json!({})).await;
    let names: Vec<_> =
        listed["result"]["tools"].as_array().unwrap().iter().map(|t| &t["name"]).collect();
    assert!(names.iter().all(|name| name.as_str().unwrap().starts_with("good__")), "{names:?}");
    assert_eq!(client.call("good__echo", json!({ "n": 1 })).await.0, r#"{"n": 1}"#);
    let began = std::time::Instant::now();
    let (text, is_error) = client.call("bad__echo", json!({})).await;
    assert!(is_error && text.starts_with("`bad__echo` cannot be used now."), "{text}");
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    let (text, _) = client.call("echo", json!({})).await;
    assert!(text.starts_with("`echo` is not a tool. Nearest: `good__echo`."), "{text}");
    client.leave().await;
}

#[tokio::test]
async fn nothing_is_lost_of_many_calls_at_once() {
    let mut client = client(Policy::default()).await;
    let mut waiting = std::collections::BTreeSet::new();
    for n in 0..500 {
        let params = json!({ "name": "echo", "arguments": { "n": n } });
        waiting.insert(client.start("tools/call", params).await);
        if waiting.len() == 16 {
            let answer = client.hear().await;
            waiting.remove(&answer["id"].as_u64().unwrap_or_default());
        }
    }
    while !waiting.is_empty() {
        let answer = client.hear().await;
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        waiting.remove(&answer["id"].as_u64().unwrap_or_default());
    }
    client.leave().await;
}

#[tokio::test]
async fn the_last_request_of_a_client_that_leaves_is_answered() {
    let answer = last(client(Policy::default()).await, "tools/list").await;
    assert!(answer["result"]["tools"].is_array(), "{answer}");
}

/// Who pipes a single request does so; most servers answer it.
#[tokio::test]
async fn a_client_that_says_no_hello_is_answered() {
    let unmet = || {
        let counts = counts_file();
        Client::of(vec![server("wild", &counts)], guard(Policy::default()), counts)
    };
    let answer = last(unmet(), "tools/list").await;
    assert!(answer["result"]["tools"].is_array(), "{answer}");
    let mut client = unmet();
    let (text, is_error) = client.call("echo", json!({ "n": 1 })).await;
    assert_eq!((text.as_str(), is_error), (r#"{"n": 1}"#, false));
    // It may find its manners later.
    let greeting = client.greet("2025-06-18", json!({})).await;
    assert!(greeting["result"]["protocolVersion"].is_string(), "{greeting}");
    assert!(client.ask("tools/list", json!({})).await["result"]["tools"].is_array());
    client.leave().await;
}

/// A hello that comes a moment after a request is the client's all the same.
#[tokio::test]
async fn a_hello_that_comes_late_is_the_one_that_servers_hear() {
    let counts = counts_file();
    let mut client = Client::of(vec![server("wild", &counts)], guard(Policy::default()), counts);
    let listing = client.start("tools/list", json!({})).await;
    let hello = json!({ "protocolVersion": "2024-11-05", "capabilities": { "roots": {} } });
    let greeting = client.start("initialize", hello).await;
    let mut said = [client.hear().await, client.hear().await];
    said.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!((&said[0]["id"], &said[1]["id"]), (&json!(listing), &json!(greeting)));
    assert!(said[0]["result"]["tools"].is_array(), "{said:?}");
    assert_eq!(said[1]["result"]["instructions"], r#"{"roots": {}}"#, "{said:?}");
    client.leave().await;
}

/// Seen with the inspector's load, where the first kill came before the first greeting.
#[tokio::test]
async fn a_server_killed_while_it_starts_is_started_anew_and_nobody_notices() {
    let counts = counts_file();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/wild.py");
    let dies_first = "import os, runpy, signal, sys\n\
        first = not os.path.exists(sys.argv[1])\n\
        open(sys.argv[1], 'a').write('start\\n')\n\
        if first: os.kill(os.getpid(), signal.SIGKILL)\n\
        sys.argv = [sys.argv[2], sys.argv[1]]\n\
        runpy.run_path(sys.argv[0], run_name='__main__')\n";
    let arguments = ["-c", dies_first, &counts.display().to_string(), script];
    let arguments = arguments.iter().map(|&word| word.to_owned()).collect();
    let server = started("wild", "python3", arguments);
    let mut client = client_of(vec![server], guard(Policy::default()), counts).await;
    let (text, is_error) = client.call("echo", json!({ "n": 1 })).await;
    assert_eq!((text.as_str(), is_error), (r#"{"n": 1}"#, false));
    assert_eq!(client.counted("start"), 2);
    client.leave().await;
}
