//! Real servers, played again from what they once said: what the client reads through the guard.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use breakfall::{Checking, Guard, Policy};
use breakfall_mcp::{Command, Reach, Server, Servers, Session};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

fn recordings() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings");
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|it| it == "jsonl")).collect();
    files.sort();
    files
}

/// The calls of a recording, in order.
fn calls(recording: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(recording).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let calls = lines.filter(|line| line["to"]["method"] == "tools/call");
    calls.map(|line| line["to"]["params"].clone()).collect()
}

/// What the client reads of a whole recording, as text.
async fn played(recording: &Path) -> String {
    let is_modern = recording.to_string_lossy().contains("modern");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/replay.py");
    let command = Command {
        program: "python3".to_owned(),
        arguments: vec![script.to_owned(), recording.display().to_string()],
        variables: BTreeMap::new(),
        ..Command::default()
    };
    let server =
        Server { key: "real".to_owned(), reach: Reach::Command(command), is_trusted: true };
    let servers = Servers { servers: vec![server], ..Servers::default() };
    let policy = Policy { checking: Checking::Diagnose, ..Policy::default() };
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(theirs);
    let guard = Guard::builder().policy(policy);
    let serve = Session::serve(servers, guard, None, BufReader::new(read), write);
    let session = tokio::spawn(async move { serve.await.unwrap() });
    let (read, mut write) = tokio::io::split(ours);
    let mut read = BufReader::new(read).lines();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let hello = if is_modern {
        json!({ "jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": { "_meta": meta } })
    } else {
        let said = json!({ "protocolVersion": "2025-11-25", "capabilities": {} });
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": said })
    };
    let mut requests = vec![hello];
    for (number, mut params) in calls(recording).into_iter().enumerate() {
        if is_modern {
            params["_meta"] = meta.clone();
        }
        let id = number + 1;
        requests
            .push(json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
    }
    let mut told = String::new();
    for request in requests {
        write.write_all(format!("{request}\n").as_bytes()).await.unwrap();
        let answer = loop {
            let line = read.next_line().await.unwrap().expect("an answer");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == request["id"] {
                break answer;
            }
        };
        if request["method"] != "tools/call" {
            assert!(answer["result"]["capabilities"].is_object(), "{answer}");
            continue;
        }
        assert!(answer.get("error").is_none(), "no client should raise: {answer}");
        assert_eq!(answer["result"]["resultType"] == "complete", is_modern, "{answer}");
        let params = &request["params"];
        let arguments = params.get("arguments").map_or("nothing".to_owned(), Value::to_string);
        let is_error = answer["result"]["isError"] == true;
        let blocks = answer["result"]["content"].as_array().unwrap();
        let name = params["name"].as_str().unwrap_or("?");
        let outcome = if is_error { "error" } else { "success" };
        writeln!(told, "# {name} with {arguments}: {outcome}").unwrap();
        for block in blocks {
            let said = block["text"].as_str().or_else(|| block["type"].as_str());
            writeln!(told, "{}", said.unwrap_or("?")).unwrap();
        }
        told.push('\n');
    }
    drop((read, write));
    session.await.unwrap();
    told
}

#[tokio::test]
async fn what_clients_read_of_real_servers() {
    let recordings = recordings();
    assert!(recordings.len() >= 11, "{recordings:?}");
    for recording in recordings {
        let told = played(&recording).await;
        let name = recording.file_stem().unwrap().to_string_lossy().into_owned();
        insta::assert_snapshot!(name, told);
    }
}

#[tokio::test]
async fn both_eras_say_the_same_of_the_same_failures() {
    for server in ["git", "fetch", "time"] {
        let of = |era: &str| {
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join(format!("tests/recordings/{server}-{era}.jsonl"))
        };
        let (legacy, modern) = (of("legacy"), of("modern"));
        let common: Vec<Value> = calls(&modern);
        assert!(common.iter().all(|call| calls(&legacy).contains(call)));
        let (legacy, modern) = (played(&legacy).await, played(&modern).await);
        // What the time was is not the same.
        let failures = modern.split("\n\n").filter(|part| part.contains(": error\n"));
        assert!(failures.clone().count() >= 5);
        for failure in failures {
            assert!(legacy.contains(failure), "{server}: {failure}");
        }
    }
}
