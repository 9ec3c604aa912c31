//! The guard between a client on lines and servers that do what real ones do and few expect.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

mod talking;

use std::time::{Duration, Instant};

use breakfall::{Config, GuardBuilder, Policy};
use serde_json::{Value, json};
use talking::{Client, counts_file, guard, scripted};
use tokio::io::AsyncWriteExt;

/// A client of servers, each given as its key and how it is, which has said nothing yet.
fn silent(servers: &[&str], guard: GuardBuilder) -> Client {
    let counts = counts_file();
    let server = |told: &&str| {
        let words: Vec<&str> = told.split(' ').collect();
        scripted(words[0], "odd.py", &counts, &words)
    };
    Client::of(servers.iter().map(server).collect(), guard, counts.clone())
}

async fn client_with(servers: &[&str], guard: GuardBuilder) -> Client {
    let mut client = silent(servers, guard);
    client.greet("2025-11-25", json!({ "sampling": {} })).await;
    client
}

/// A client of these servers that said hello.
async fn client_of(servers: &[&str]) -> Client {
    client_with(servers, guard(Policy::default())).await
}

/// What is in a list of several.
fn all(answer: &Value, list: &str, field: &str) -> Vec<String> {
    let items = answer["result"][list].as_array().unwrap_or_else(|| panic!("a list: {answer}"));
    items.iter().map(|item| item[field].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_says_before_its_answer_reaches_the_client_before_it() {
    let mut client = client_of(&["odd"]).await;
    for _ in 0..50 {
        let id = client.start("tools/call", json!({ "name": "chatter", "arguments": {} })).await;
        let (_, before) = client.heard_before(id).await;
        let numbers: Vec<&Value> = before.iter().map(|it| &it["params"]["data"]).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
    }
    client.leave().await;
}

#[tokio::test]
async fn half_a_character_takes_no_words_with_it() {
    let mut client = client_of(&["odd deep"]).await;
    for tool in ["half_described", "half_schema", "deep_schema"] {
        assert_eq!(
            client.call(tool, json!({ "a": "b" })).await,
            (r#"{"a": "b"}"#.to_owned(), false)
        );
    }
    for tool in ["half_fails", "half_rpc", "deep_rpc"] {
        let (text, is_error) = client.call(tool, json!({})).await;
        assert!(is_error && text.contains("did not find `/x/"), "{text}");
    }
    let arguments = r#"{"a":"b\ud83d"}"#;
    let params = format!(r#"{{"name":"echo","arguments":{arguments}}}"#);
    client.write_line(&format!(r#"{{"id":99,"method":"tools/call","params":{params}}}"#)).await;
    let answer = client.heard_before(99).await.0;
    assert_eq!(answer["result"]["content"][0]["text"], r#"{"a": "b\ufffd"}"#);
    let answer = client.ask("resources/read", json!({ "uri": "half" })).await;
    let error = json!({ "code": -32002, "message": "cannot read abc\u{fffd}",
        "data": { "password": "[redacted:value#0000]" } });
    assert_eq!(answer["error"], error);
    client.leave().await;
}

#[tokio::test]
async fn a_result_with_half_a_character_is_passed_on_without_its_secrets() {
    let config = Config::from_toml("[guard]\nredact_results = true", "breakfall.toml").unwrap();
    let mut client = client_with(&["odd"], guard(Policy::default()).config(config)).await;
    let answer = client.ask("tools/call", json!({ "name": "half_leaks", "arguments": {} })).await;
    let text =
        answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(
        text.starts_with("at postgres://u:[redacted:") && text.ends_with(" abc\u{fffd}"),
        "{text}"
    );
    assert!(!answer.to_string().contains("hunter2"), "{answer}");
    client.leave().await;
}

#[tokio::test]
async fn every_page_of_every_server_is_in_a_list() {
    let mut client = client_of(&["a", "b logs"]).await;
    let listed = client.ask("resources/list", json!({})).await;
    let expected: Vec<String> =
        ["a", "b"].iter().flat_map(|key| (0..5).map(move |n| format!("{key}://{n}"))).collect();
    assert_eq!(all(&listed, "resources", "uri"), expected);
    let listed = client.ask("prompts/list", json!({})).await;
    assert_eq!(all(&listed, "prompts", "name").len(), 10);
    client.leave().await;
}

#[tokio::test]
async fn what_is_asked_of_a_resource_goes_to_the_server_that_has_it() {
    let mut client = client_of(&["a", "b"]).await;
    for uri in ["b://4", "b-t://x"] {
        let read = client.ask("resources/read", json!({ "uri": uri })).await;
        assert_eq!(read["result"]["contents"][0]["text"], "of b", "{uri}");
    }
    let about = json!({ "type": "ref/resource", "uri": "b-t://{id}" });
    let told = client.ask("completion/complete", json!({ "ref": about })).await;
    assert_eq!(told["result"]["completion"]["values"], json!(["of b"]));
    client.ask("resources/subscribe", json!({ "uri": "b://4" })).await;
    for (tool, told) in [("a__touch", 0), ("b__touch", 1)] {
        let id = client.start("tools/call", json!({ "name": tool, "arguments": {} })).await;
        assert_eq!(client.heard_before(id).await.1.len(), told, "{tool}");
    }
    client.leave().await;
}

#[tokio::test]
async fn a_level_of_logging_that_one_server_takes_is_taken() {
    for servers in [["a", "b logs"], ["a logs", "b"]] {
        let mut client = client_of(&servers).await;
        let answer = client.ask("logging/setLevel", json!({ "level": "info" })).await;
        assert_eq!(answer["result"], json!({}), "{servers:?}");
        client.leave().await;
    }
}

#[tokio::test]
async fn a_server_that_stands_still_does_not_hold_up_what_is_asked_of_the_others() {
    let mut client = client_of(&["a", "b"]).await;
    client.ask("tools/list", json!({})).await;
    client.call("a__stand_still", json!({})).await;
    let began = Instant::now();
    let listed = client.ask("resources/list", json!({})).await;
    assert_eq!(all(&listed, "resources", "uri").len(), 5);
    let read = client.ask("resources/read", json!({ "uri": "b://1" })).await;
    assert_eq!(read["result"]["contents"][0]["text"], "of b");
    let other = client.ask("other/method", json!({ "works": "b" })).await;
    assert_eq!(other["result"]["of"], "b");
    assert!(began.elapsed() < Duration::from_secs(18), "{:?}", began.elapsed());
    client.leave().await;
}

#[tokio::test]
async fn arguments_that_nobody_gave_are_not_given() {
    let mut client = client_of(&["odd"]).await;
    for (params, given) in [
        (json!({ "name": "given" }), "\"nothing\""),
        (json!({ "name": "given", "arguments": {} }), "{}"),
    ] {
        let answer = client.ask("tools/call", params).await;
        assert_eq!(answer["result"]["content"][0]["text"], given, "{answer}");
    }
    client.leave().await;
}

#[tokio::test]
async fn a_tool_that_has_just_appeared_can_be_called() {
    let mut client = client_of(&["odd"]).await;
    client.call("nope", json!({})).await;
    for number in 0..3 {
        for quiet in [false, true] {
            let name = format!("new_{number}_{quiet}");
            client.call("add", json!({ "name": name, "quiet": quiet })).await;
            assert_eq!(client.call(&name, json!({})).await, ("{}".to_owned(), false), "{name}");
        }
    }
    // A model that goes on with a name that is nobody's does not make the server list for ever.
    let before = client.counted("odd tools/list");
    for _ in 0..10 {
        assert!(client.call("nobodys", json!({})).await.1);
    }
    assert!(client.counted("odd tools/list") <= before + 2);
    client.leave().await;
}

#[tokio::test]
async fn a_tool_that_the_client_saw_in_a_list_can_be_called() {
    let mut client = client_of(&["odd"]).await;
    assert!(client.call("seen", json!({})).await.1);
    client.call("add", json!({ "name": "seen", "quiet": true })).await;
    let listed = client.ask("tools/list", json!({})).await;
    assert!(all(&listed, "tools", "name").contains(&"seen".to_owned()));
    assert_eq!(client.call("seen", json!({})).await, ("{}".to_owned(), false));
    client.leave().await;
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_told_to_who_waits_for_it_and_nobody_else() {
    let mut client = client_of(&["odd"]).await;
    let slow = json!({ "name": "slow", "arguments": { "seconds": 2 } });
    let slow = client.start("tools/call", slow).await;
    let mut seen = Vec::new();
    // The guard's number for the call is one of these.
    for other in 3..6 {
        let big = json!({ "name": "big", "arguments": { "other": other } });
        let id = client.start("tools/call", big).await;
        let (answer, before) = client.heard_before(id).await;
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("longer than 16 MiB"), "{text}");
        seen.extend(before);
    }
    if seen.is_empty() {
        seen.push(client.heard_before(slow).await.0);
    }
    assert_eq!(seen[0]["result"]["content"][0]["text"], "done slowly");
    client.leave().await;
}

#[tokio::test]
async fn a_question_that_is_too_long_is_refused_to_the_server_that_asks() {
    let mut client = client_of(&["odd"]).await;
    let (text, _) = client.call("big_question", json!({})).await;
    assert!(text.starts_with("answered: {\"code\""), "{text}");
    client.leave().await;
}

#[tokio::test]
async fn a_request_that_is_too_long_is_answered_under_its_id() {
    let mut client = client_of(&["odd"]).await;
    let long = "y".repeat(17 << 20);
    for line in [
        format!(
            r#"{{"jsonrpc":"2.0","id":"x-1","method":"tools/call","params":{{"id":7,"a":"{long}"}}}}"#
        ),
        format!(
            r#"{{"method":"tools/call","params":{{"id":7,"a":"{long}"}}, "jsonrpc": "2.0", "id": "x-1" }}"#
        ),
    ] {
        client.write_line(&line).await;
        let answer = client.hear().await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("x-1"), &json!(-32600)));
    }
    client.leave().await;
}

#[tokio::test]
async fn a_task_that_does_not_begin_is_an_error_as_its_client_expects_it() {
    let mut client = client_of(&["odd"]).await;
    for (tool, arguments, code) in
        [("task", json!({ "fails": 1 }), -32603), ("nope", json!({}), -32602)]
    {
        let params = json!({ "name": tool, "arguments": arguments, "task": { "ttl": 1000 } });
        let answer = client.ask("tools/call", params).await;
        let words = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(words.starts_with(&format!("`{tool}` ")), "{words}");
        assert_eq!(answer["error"]["code"], code);
    }
    client.leave().await;
}

#[tokio::test]
async fn a_task_tells_how_far_it_is_after_its_call_was_answered() {
    let mut client = client_of(&["odd"]).await;
    let params = json!({ "name": "task", "arguments": {}, "task": {}, "_meta": { "progressToken": "mine" } });
    assert_eq!(client.ask("tools/call", params).await["result"]["task"]["taskId"], "t");
    for step in 0..3 {
        let told = client.hear().await;
        assert_eq!(told["params"], json!({ "progressToken": "mine", "progress": step }));
    }
    client.leave().await;
}

#[tokio::test]
async fn an_error_is_told_in_the_words_of_its_embedded_resource() {
    let mut client = client_of(&["odd"]).await;
    let (text, is_error) = client.call("embedded", json!({})).await;
    assert!(is_error && text.contains("> no such file: /x/y.txt"), "{text}");
    client.leave().await;
}

#[tokio::test]
async fn a_result_that_is_nothing_is_an_answer() {
    let mut client = client_of(&["odd"]).await;
    for (method, params) in [("null", json!({})), ("tools/call", json!({ "name": "null" }))] {
        let answer = client.ask(method, params).await;
        assert_eq!(answer.get("result"), Some(&Value::Null), "{answer}");
    }
    client.leave().await;
}

#[tokio::test]
async fn requests_of_a_client_that_leaves_are_answered_though_it_takes_a_while() {
    let mut client = silent(&["odd late"], guard(Policy::default()));
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {} });
    client.start("initialize", hello).await;
    let id = client.start("tools/call", json!({ "name": "slow", "arguments": {} })).await;
    client.write.shutdown().await.unwrap();
    let answer = client.heard_before(id).await.0;
    assert_eq!(answer["result"]["content"][0]["text"], "done slowly");
}

/// A list of several servers had those that were there after five seconds; clients that ask once never
/// heard of the others.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_list_waits_for_servers_that_start_late() {
    let mut client = client_of(&["early", "later fetched"]).await;
    let tools = all(&client.ask("tools/list", json!({})).await, "tools", "name");
    assert!(["early__echo", "later__echo"].iter().all(|tool| tools.iter().any(|it| it == tool)));
    client.leave().await;
}

/// A client that had heard of no tools was not told when there were some.
#[tokio::test(flavor = "multi_thread")]
async fn tools_that_come_after_an_empty_list_are_told() {
    let mut client = client_of(&["odd stumbles"]).await;
    let tools = all(&client.ask("tools/list", json!({})).await, "tools", "name");
    if tools.is_empty() {
        let told = client.hear().await;
        assert_eq!(told["method"], "notifications/tools/list_changed");
    }
    assert!(!all(&client.ask("tools/list", json!({})).await, "tools", "name").is_empty());
    client.leave().await;
}
