//! A client that may speak either way, and a server that takes its time to say how it does.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

mod talking;

use std::time::Duration;

use breakfall::Policy;
use serde_json::{Value, json};
use talking::{Client, counts_file, guard, scripted};

/// A client of a server that starts after so many seconds.
fn client(seconds: &str) -> Client {
    let counts = counts_file();
    let server = scripted("both", "both.py", &counts, &[seconds]);
    Client::of(vec![server], guard(Policy::default()), counts)
}

/// Parameters that say everything themselves.
fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "client", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

fn call() -> Value {
    json!({ "name": "era", "arguments": {} })
}

fn words(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("words: {answer}"))
}

/// It was told after five seconds that its server speaks otherwise.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_starts_late_is_spoken_to_as_its_client_speaks() {
    let mut client = client("6");
    let answer = client.ask("server/discover", modern(json!({}))).await;
    assert_eq!(answer["result"]["supportedVersions"][0], "2026-07-28", "{answer}");
    let answer = client.ask("tools/call", modern(call())).await;
    assert_eq!(words(&answer), "modern");
    client.leave().await;
}

/// The second way was tried with a server that had read the first, and refused all that came then.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_tries_the_other_way_while_its_server_starts_is_understood() {
    let mut client = client("1.5");
    client.start("server/discover", modern(json!({}))).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let greeting = client.greet("2025-11-25", json!({})).await;
    assert_eq!(greeting["result"]["serverInfo"]["name"], "both", "{greeting}");
    let listed = client.ask("tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"][0]["name"], "era", "{listed}");
    assert_eq!(words(&client.ask("tools/call", call()).await), "legacy");
    client.leave().await;
}

/// It was taken for one that speaks otherwise for ever.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_answers_after_it_was_given_up_is_there() {
    let mut client = client("10.5");
    let answer = client.ask("server/discover", modern(json!({}))).await;
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    tokio::time::sleep(Duration::from_secs(3)).await;
    let answer = client.ask("tools/call", modern(call())).await;
    assert_eq!(words(&answer), "modern");
    client.leave().await;
}
