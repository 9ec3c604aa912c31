//! What the user decides about the door: words for unknown tools, secrets in results, whom to trust;
//! and what passes of an error beside its words.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

use breakfall::{Config, Guard, GuardBuilder};
use breakfall_mcp::{Command, Reach, Server, Servers, Session};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

/// A server whose tool fails with a picture, returns a secret, or dies at its first call; it tells
/// how often it was started.
const SERVER: &str = r#"
import json, os, sys
path = sys.argv[1]
open(path, "a").write("start\n")
def tool(name): return {"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "s", "version": "1"}, "instructions": open(path).read()}
    elif method == "tools/list":
        result = {"tools": [tool("picture"), tool("leak"), tool("die")]}
    elif method == "tools/call" and message["params"]["name"] == "picture":
        result = {"isError": True, "_meta": {"trace": 7}, "content": [
            {"type": "text", "text": "no such file: a.png"},
            {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "x:y", "text": "words"}}]}
    elif method == "tools/call" and message["params"]["name"] == "leak":
        url = "postgres://bob:hunter2@db"
        result = {"content": [{"type": "text", "text": "at " + url}], "structuredContent": {"at": url}}
    elif method == "tools/call" and message["params"]["name"] != "die":
        result = {"isError": True, "content": [{"type": "text", "text": "no such tool"}]}
    elif method == "tools/call":
        if open(path).read().count("start") == 1: os._exit(3)
        result = {"content": [{"type": "text", "text": "alive"}]}
    elif id is None:
        continue
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "Method not found"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)
"#;

fn servers(name: &str, config: &Config) -> Servers {
    let path = std::env::temp_dir().join(format!("breakfall-{name}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let arguments = vec!["-c".to_owned(), SERVER.to_owned(), path.display().to_string()];
    let command = Command { program: "python3".to_owned(), arguments, ..Command::default() };
    let server = Server { key: "s".to_owned(), reach: Reach::Command(command), is_trusted: true };
    Servers { servers: vec![server], ..Servers::default() }.configured(config)
}

/// The answers to requests made one after the other, behind a greeting.
async fn answers(servers: Servers, guard: GuardBuilder, requests: &[(&str, Value)]) -> Vec<Value> {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(theirs);
    let serve = Session::serve(servers, guard, None, BufReader::new(read), write);
    let session = tokio::spawn(async move { serve.await.unwrap() });
    let (read, mut write) = tokio::io::split(ours);
    let mut read = BufReader::new(read).lines();
    let mut answers = Vec::new();
    for (id, (method, params)) in requests.iter().enumerate() {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        write.write_all(format!("{request}\n").as_bytes()).await.unwrap();
        let answer = loop {
            let line = read.next_line().await.unwrap().expect("an answer");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id && answer.get("method").is_none() {
                break answer;
            }
        };
        answers.push(answer);
    }
    drop((read, write));
    session.await.unwrap();
    answers
}

fn hello() -> (&'static str, Value) {
    ("initialize", json!({ "protocolVersion": "2025-11-25", "capabilities": {} }))
}

fn call(tool: &str) -> (&'static str, Value) {
    ("tools/call", json!({ "name": tool, "arguments": {} }))
}

fn of(toml: &str) -> (Config, GuardBuilder) {
    let config = Config::from_toml(toml, "breakfall.toml").unwrap();
    let guard = Guard::builder().config(config.clone());
    (config, guard)
}

#[tokio::test]
async fn a_tool_that_does_not_exist_is_a_result_or_the_protocols_error() {
    let (config, guard) = of("");
    let told = answers(servers("unknown", &config), guard, &[hello(), call("leek")]).await;
    assert_eq!(told[1]["result"]["isError"], true);
    let (config, guard) = of("[guard]\nunknown_tool = 'protocol'");
    let told = answers(servers("protocol", &config), guard, &[hello(), call("leek")]).await;
    assert_eq!(told[1]["error"]["code"], -32602);
    let words = told[1]["error"]["message"].as_str().unwrap();
    assert!(words.starts_with("`leek` is not a tool. Nearest: `leak`."), "{words}");
}

#[tokio::test]
async fn secrets_go_out_of_results_where_the_user_wants_it() {
    let (config, guard) = of("");
    let told = answers(servers("kept", &config), guard, &[hello(), call("leak")]).await;
    assert!(told[1].to_string().contains("hunter2"));
    let (config, guard) = of("[guard]\nredact_results = true");
    let told = answers(servers("redacted", &config), guard, &[hello(), call("leak")]).await;
    assert!(!told[1].to_string().contains("hunter2"), "{}", told[1]);
    let structured = told[1]["result"]["structuredContent"]["at"].as_str().unwrap();
    assert!(structured.contains("[redacted:url-password"), "{structured}");
}

#[tokio::test]
async fn what_is_not_words_of_an_error_is_kept() {
    let (config, guard) = of("");
    let told = answers(servers("picture", &config), guard, &[hello(), call("picture")]).await;
    let result = &told[1]["result"];
    assert_eq!(result["_meta"]["trace"], 7);
    let kinds: Vec<&str> = result["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["text", "image"]);
    let words = result["content"][0]["text"].as_str().unwrap();
    assert!(words.starts_with("`picture` did not find `a.png`."), "{words}");
}

#[tokio::test]
async fn who_is_not_trusted_is_not_believed_that_he_only_reads() {
    let (config, guard) = of("");
    let told = answers(servers("trusted", &config), guard, &[hello(), call("die")]).await;
    assert_eq!(told[1]["result"]["content"][0]["text"], "alive");
    let (config, guard) = of("[upstreams.s]\ntrusted = false");
    let told = answers(servers("untrusted", &config), guard, &[hello(), call("die")]).await;
    let words = told[1]["result"]["content"][0]["text"].as_str().unwrap();
    assert!(words.contains("it may have taken effect"), "{words}");
}

#[tokio::test]
async fn a_client_of_both_eras_finds_the_old_one_in_the_same_process() {
    let (config, guard) = of("");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let probe = ("server/discover", json!({ "_meta": meta }));
    let modern = ("tools/list", json!({ "_meta": meta }));
    let requests = [probe, modern, hello(), call("leak")];
    let told = answers(servers("eras", &config), guard, &requests).await;
    assert_eq!(told[0]["error"]["code"], -32601);
    assert_eq!(told[1]["error"]["code"], -32022);
    assert!(
        told[1]["error"]["data"]["supported"].as_array().unwrap().contains(&json!("2025-11-25"))
    );
    assert_eq!(told[2]["result"]["instructions"], "start\n");
    assert!(told[3]["result"]["content"][0]["text"].is_string(), "{}", told[3]);
}
