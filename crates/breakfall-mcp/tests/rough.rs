//! The guard between a client and servers that take the protocol roughly: what a client understands
//! without the guard it understands behind it.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

mod talking;

use std::sync::Arc;
use std::time::{Duration, Instant};

use breakfall::{Config, Policy};
use breakfall_mcp::{Reach, Recorder, Servers};
use serde_json::{Value, json};
use talking::{Client, counts_file, guard, scripted};
use tokio::io::AsyncWriteExt;

/// Servers, each given as its key and how it is.
fn rough(servers: &[&str]) -> Client {
    let counts = counts_file();
    let server = |told: &&str| {
        let words: Vec<&str> = told.split(' ').collect();
        scripted(words[0], "rough.py", &counts, &words)
    };
    let servers = servers.iter().map(server).collect();
    Client::of(servers, guard(Policy::default()), counts.clone())
}

/// A client of these servers that said hello.
async fn client_of(servers: &[&str]) -> Client {
    let mut client = rough(servers);
    client.greet("2025-11-25", json!({})).await;
    client
}

/// A password that a client's file declares for its server reached the model and the recording.
#[tokio::test]
async fn a_password_among_the_variables_of_a_server_is_told_to_nobody() {
    let password = format!("{}-otter-9921", "quixotic");
    let counts = counts_file();
    let mut server = scripted("s", "rough.py", &counts, &["s"]);
    if let Reach::Command(command) = &mut server.reach {
        let variables = [("DB_PASSWORD", password.as_str()), ("NODE_ENV", "refused")];
        command.variables =
            variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    }
    let directory = counts_file();
    let recorder = Arc::new(Recorder::new(&directory).unwrap());
    let servers = Servers {
        servers: vec![server],
        recorder: Some(Arc::clone(&recorder)),
        ..Servers::default()
    };
    let guard = servers.guard(&Config::from_toml("", "breakfall.toml").unwrap());
    let mut client = Client::with(servers, guard, counts);
    client.greet("2025-11-25", json!({})).await;
    let (text, is_error) = client.call("login", json!({})).await;
    assert!(is_error && text.contains("login refused for svc / [redacted:value#"), "{text}");
    client.leave().await;
    recorder.finish(Duration::from_secs(5));
    let files = std::fs::read_dir(&directory).unwrap();
    let kept: String =
        files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    assert!(kept.contains("login refused") && !kept.contains(&password), "{kept}");
    std::fs::remove_dir_all(directory).unwrap();
}

/// A server that answers 7 as "7" was dead behind the guard.
#[tokio::test]
async fn a_server_that_answers_under_texts_is_understood() {
    let mut client = client_of(&["s texts"]).await;
    let wrote = client.call("write_file", json!({ "content": "abc" })).await;
    assert_eq!(wrote, ("wrote 3".to_owned(), false));
    client.leave().await;
}

/// What is longer than the library's limit was refused, with advice to correct it.
#[tokio::test]
async fn arguments_that_fit_into_a_message_reach_the_server() {
    for (toml, is_refused) in [("", false), ("[defaults]\nmax_arguments = \"4MiB\"", true)] {
        let counts = counts_file();
        let servers = vec![scripted("s", "rough.py", &counts, &["s"])];
        let servers = Servers { servers, ..Servers::default() };
        let guard = servers.guard(&Config::from_toml(toml, "breakfall.toml").unwrap());
        let mut client = Client::with(servers, guard, counts);
        client.greet("2025-11-25", json!({})).await;
        let content = "x".repeat(5_000_000);
        let (text, is_error) = client.call("write_file", json!({ "content": content })).await;
        let words = if is_refused { "expected at most 4194304 bytes" } else { "wrote 5000000" };
        assert!(text.contains(words) && is_error == is_refused, "{toml}: {text}");
        client.leave().await;
    }
}

/// A refused revision was told as a success of ours, without any tool.
#[tokio::test]
async fn a_hello_that_the_only_server_refuses_is_refused_and_another_is_taken() {
    let mut client = rough(&["s old"]);
    let refused = client.greet("2025-11-25", json!({})).await;
    let data = json!({ "supported": ["2024-11-05"], "requested": "2025-11-25" });
    let error = json!({ "code": -32602, "message": "Unsupported protocol version", "data": data });
    assert_eq!(refused["error"], error, "{refused}");
    let taken = client.greet("2024-11-05", json!({})).await;
    assert_eq!(taken["result"]["serverInfo"]["name"], "s", "{taken}");
    let wrote = client.call("write_file", json!({ "content": "abc" })).await;
    assert_eq!(wrote, ("wrote 3".to_owned(), false));
    client.leave().await;
}

/// Answers that could not be read were waited for until the time of the call was up.
#[tokio::test]
async fn what_can_hardly_be_read_is_an_answer_all_the_same() {
    let mut client = client_of(&["s"]).await;
    let began = Instant::now();
    let answer = client.ask("tools/call", json!({ "name": "mean", "arguments": {} })).await;
    let structured = &answer["result"]["structuredContent"];
    assert_eq!(
        (&structured["mean"], &structured["said"]),
        (&Value::Null, &json!("NaN, -Infinity"))
    );
    for (tool, words) in [
        ("neither", "`neither` failed. It said:\n> Its answer cannot be read:\n> {}\n"),
        ("beside", "the disk is full"),
        ("broken", "Its answer cannot be read"),
        ("error_in_words", "did not find `/x/y.txt`"),
        ("code_in_words", "did not find `/x/y.txt`"),
    ] {
        let (text, is_error) = client.call(tool, json!({})).await;
        assert!(is_error && text.contains(words), "{tool}: {text}");
        assert!(!text.contains("may have taken effect"), "{tool}: {text}");
    }
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    let logged = client.call("logging", json!({})).await;
    assert_eq!(logged, ("logged".to_owned(), false));
    client.leave().await;
}

/// An answer with a byte of another encoding, or a mark of its encoding before it, was waited for
/// until the time of the call was up; a request with one was answered under no id.
#[tokio::test]
async fn a_byte_that_is_no_text_takes_no_message_with_it() {
    let mut client = client_of(&["s"]).await;
    for (tool, text) in [("latin", "a caf\u{fffd}, cut"), ("marked", "after a mark")] {
        assert_eq!(client.call(tool, json!({})).await, (text.to_owned(), false));
    }
    let line = br#"{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"write_file",
        "arguments":{"content":"caf?"}}}"#;
    let line = line.map(|byte| if byte == b'?' { 0xe9 } else { byte });
    let line: Vec<u8> = line.into_iter().filter(|byte| *byte != b'\n').collect();
    for mark in [&b""[..], b"\xef\xbb\xbf"] {
        client.write.write_all(&[mark, &line, b"\n"].concat()).await.unwrap();
        let answer = client.answer(77).await;
        assert_eq!(answer["result"]["content"][0]["text"], "wrote 4", "{answer}");
    }
    client.leave().await;
}

/// What is broken behind its id was answered under none, and its client waited for ever.
#[tokio::test]
async fn a_request_that_cannot_be_read_is_answered_under_its_id() {
    let mut client = client_of(&["s"]).await;
    for line in [
        r#"{"jsonrpc":"2.0","id":70,"method":"tools/call","params":{"name":"a\x"}}"#,
        r#"{"jsonrpc":"2.0","id":70,"method":"ping","params":{"a":"b}"#,
        r#"{"jsonrpc":"2.0","id":70,"method":5}"#,
        r#"[3,{"jsonrpc":"2.0","id":70,"method":5}]"#,
    ] {
        client.write_line(line).await;
        let answer = client.answer(70).await;
        assert_eq!(answer["error"]["code"], -32700, "{answer}");
    }
    client.leave().await;
}

/// A child of a dead server kept its output open: every call waited until its time was up, and no
/// other server was started.
#[tokio::test]
async fn a_server_that_dies_is_gone_although_its_child_keeps_its_output_open() {
    let mut client = client_of(&["s"]).await;
    let began = Instant::now();
    let (text, is_error) = client.call("leave_a_child", json!({})).await;
    assert!(is_error && text.contains("lost its server"), "{text}");
    let wrote = client.call("write_file", json!({ "content": "abc" })).await;
    assert_eq!(wrote, ("wrote 3".to_owned(), false));
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    client.leave().await;
}

/// A server that stays and hears nothing any more was of no use to any call that came after.
#[tokio::test]
async fn a_server_that_hears_nothing_any_more_is_started_anew() {
    let mut client = client_of(&["s"]).await;
    assert_eq!(client.call("deaf", json!({})).await, ("deaf".to_owned(), false));
    let wrote = client.call("write_file", json!({ "content": "abc" })).await;
    assert_eq!(wrote, ("wrote 3".to_owned(), false));
    client.leave().await;
}

/// An unknown name that a server tells under a heading was told as a tool that cannot be used.
#[tokio::test]
async fn a_name_that_is_unknown_under_a_heading_is_answered_by_what_exists() {
    let mut client = client_of(&["s"]).await;
    let (text, is_error) = client.call("browser_navigat", json!({})).await;
    let words = "`browser_navigat` is not a tool. Nearest: `browser_navigate`.";
    assert!(is_error && text.starts_with(words), "{text}");
    client.leave().await;
}

/// What a client did not read was kept without end: a gigabyte of a server's log.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_logs_to_a_client_that_does_not_read_waits_for_it() {
    let mut client = client_of(&["s"]).await;
    client.ask("tools/list", json!({})).await;
    let flood = client.start("tools/call", json!({ "name": "flood", "arguments": {} })).await;
    let mut logged = 0;
    // Until it has said nothing more for a while.
    loop {
        tokio::time::sleep(Duration::from_millis(500)).await;
        match client.counted("s logged") {
            same if same > 0 && same == logged => break,
            more => logged = more,
        }
    }
    assert!(logged < 30, "{logged} MiB");
    let (answer, before) = client.heard_before(flood).await;
    assert_eq!(answer["result"]["content"][0]["text"], "flooded");
    assert_eq!(before.len(), 60);
    client.leave().await;
}

/// Two tools of two servers had one name, and one of them could not be called.
#[tokio::test]
async fn tools_of_servers_whose_names_run_together_are_told_apart() {
    let mut client = client_of(&["a alike has=b__c", "a__b alike has=c"]).await;
    for (method, list) in [("tools/list", "tools"), ("prompts/list", "prompts")] {
        let listed = client.ask(method, json!({})).await;
        let items = listed["result"][list].as_array().unwrap().iter();
        let names: Vec<&str> = items.map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["a__b__c", "a_b__c"], "{method}");
    }
    for (name, key, own) in [("a__b__c", "a", "b__c"), ("a_b__c", "a__b", "c")] {
        assert_eq!(client.call(name, json!({})).await, (format!("{key} ran {own}"), false));
        let got = client.ask("prompts/get", json!({ "name": name })).await;
        assert_eq!(got["result"]["description"], format!("{key} has {own}"));
    }
    client.leave().await;
}
