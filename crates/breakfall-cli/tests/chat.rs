//! `breakfall chat` as a person has it.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A directory of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("breakfall-cli-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("notes.md"), "Buy milk.").unwrap();
    folder
}

fn breakfall(name: &str) -> Command {
    let folder = folder(name);
    let mut command = Command::new(env!("CARGO_BIN_EXE_breakfall"));
    command
        .arg("chat")
        .current_dir(&folder)
        .env("XDG_STATE_HOME", folder.join("state"))
        .env("XDG_DATA_HOME", folder.join("data"))
        .stdin(Stdio::null());
    for name in ["OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"] {
        command.env_remove(name);
    }
    command
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_demonstration_survives_every_kind_of_failure_without_anything_installed() {
    let output = breakfall("demo").arg("--demo").env("PATH", "").output().unwrap();
    let (seen, errors) = texts(&output);
    assert!(output.status.success() && errors.is_empty(), "{seen}{errors}");
    for line in [
        "· `raed_file` is not a tool. Nearest: `read_file`.",
        "· `read_file` did not accept its arguments.",
        "· `read_file` did not find `nots.md`.",
        "· `read_file` is not permitted to use `../../etc/shadow`.",
        "· `read_file` did not run: its arguments were cut off after 15 bytes.",
        "· `run_query` failed because of a fault inside it; it may have taken effect.",
        "· `wait_for_ever` gave no answer within 800 ms; it may have taken effect.",
        "· `weather` was refused: too many requests.",
        "· `prices` failed: its remote service answered with HTTP 503 (3 attempts).",
        "· `calendar` answered with something unreadable (2 attempts).",
        "· `make_notes` could not go ahead because of `notes.md`.",
        "· `remove_folder` cannot do this yet: something must be done first.",
        "· `check_notes` failed.",
        "· `old_search` cannot be used now.",
        "· `read_file` failed 4 times with these arguments and was not run again.",
        "`translate` has used up its quota. Raise its limit, or wait until it is renewed.",
        "`save_report` failed: the machine is out of memory, disk or handles. Free memory, disk or \
         handles on its machine.",
        "· `send_mail` lost its server; it may have taken effect.",
        "· The model wrote calls into its text (run: list_files).",
        "· The model's provider is overloaded. Asking again.",
        "· The model answered nothing. Asking again.",
        "`github` could not authenticate. Check GITHUB_TOKEN.",
        "Open are the milk, and issue 7: the conversation goes on.",
        "· `make_report` was stopped before it finished; it may have taken effect.",
        "Stopped.",
        "As you like. I left the report where it was.",
    ] {
        assert!(seen.lines().any(|seen| seen == line), "{line}\n\n{seen}");
    }
    assert!(
        seen.contains("29 calls, 29 replies, every one under the id of its call: yes."),
        "{seen}"
    );
    assert!(!seen.contains("API key") && !seen.contains("index out of bounds"), "{seen}");
}

#[test]
fn what_is_missing_is_told_before_anything_is_asked() {
    for (arguments, expected) in [
        (
            &[][..],
            "error: `--model` does not say which model\n\nhint: name one, or see what this is \
             without any: `breakfall chat --demo`\n",
        ),
        (
            &["--model", "gpt-5"],
            "error: there is no key in OPENAI_API_KEY\n\nhint: set it, name a server that needs none \
             with `--base-url`, or see `breakfall chat --demo`\n",
        ),
        (
            &["--model", "claude-x"],
            "error: there is no key in ANTHROPIC_API_KEY\n\nhint: set it, name a server that needs \
             none with `--base-url`, or see `breakfall chat --demo`\n",
        ),
        (
            &["--model", "x", "--base-url", "127.0.0.1:80"],
            "error: `127.0.0.1:80` is no address\n\nhint: an address begins with `http://` or \
             `https://`\n",
        ),
        (
            &["--model", "x", "--base-url", "http://127.0.0.1:9", "--resume"],
            "error: no conversation was saved yet\n",
        ),
    ] {
        let output = breakfall("missing").args(arguments).output().unwrap();
        assert_eq!(texts(&output), (String::new(), expected.to_owned()));
        assert_eq!(output.status.code(), Some(1));
    }
}

/// Reads a request; what it asks.
fn request(stream: &mut TcpStream) -> serde_json::Value {
    let mut input = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        input.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).unwrap();
    serde_json::from_slice(&body).unwrap()
}

fn says(words: &str, finish: &str) -> String {
    let choice =
        format!(r#"{{"index":0,"delta":{{"content":"{words}"}},"finish_reason":{finish}}}"#);
    format!("data: {{\"choices\":[{choice}]}}\n\n")
}

const HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

#[test]
fn ctrl_c_stops_the_turn_and_not_the_chat_and_the_chat_can_be_resumed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (heard, asked) = mpsc::channel();
    std::thread::spawn(move || {
        let mut hanging = Vec::new();
        for (turn, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            heard.send(request(&mut stream)["messages"].clone()).unwrap();
            if turn == 0 {
                write!(stream, "{HEAD}{}", says("It was a dark ", "null")).unwrap();
                hanging.push(stream);
            } else {
                write!(stream, "{HEAD}{}", says("As you like.", "\"stop\"")).unwrap();
            }
        }
    });
    let mut chat = breakfall("stopped")
        .args(["--model", "m", "--base-url", &address, "--system", "Be brief."])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut typed = chat.stdin.take().unwrap();
    let mut seen = chat.stdout.take().unwrap();
    writeln!(typed, "Tell me a story.").unwrap();
    let mut text = Vec::new();
    while !text.ends_with(b"dark ") {
        let mut byte = [0];
        seen.read_exact(&mut byte).unwrap();
        text.push(byte[0]);
    }
    Command::new("kill").args(["-INT", &chat.id().to_string()]).status().unwrap();
    writeln!(typed, "/errors\nNever mind.").unwrap();
    drop(typed);
    let mut rest = String::new();
    seen.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "\nStopped.\nNothing failed in 0 calls.\nAs you like.\n");
    assert!(chat.wait().unwrap().success());
    let first = asked.recv_timeout(Duration::from_secs(5)).unwrap();
    let second = asked.recv_timeout(Duration::from_secs(5)).unwrap();
    let user = |text: &str| serde_json::json!({ "role": "user", "content": text });
    let model = |text: &str| serde_json::json!({ "role": "assistant", "content": text });
    let system = serde_json::json!({ "role": "system", "content": "Be brief." });
    assert_eq!(first, serde_json::json!([system, user("Tell me a story.")]));
    let said = [system, user("Tell me a story."), model("It was a dark "), user("Never mind.")];
    assert_eq!(second, serde_json::json!(said));

    let resumed = breakfall("stopped")
        .args(["--resume", "--model", "m", "--base-url", &address, "--system", "Be brief."])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(resumed.stdin.as_ref().unwrap(), "And now?").unwrap();
    let output = resumed.wait_with_output().unwrap();
    let expected = "going on behind 2 messages of yours\nAs you like.\n";
    assert_eq!(texts(&output).0, expected);
    let third = asked.recv_timeout(Duration::from_secs(5)).unwrap();
    let mut said = said.to_vec();
    said.extend([model("As you like."), user("And now?")]);
    assert_eq!(third, serde_json::json!(said));
}

#[test]
fn commands_are_for_us_and_a_paused_tool_is_not_called() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (heard, asked) = mpsc::channel();
    std::thread::spawn(move || {
        let call = r#"{"index":0,"id":"call_1","function":{"name":"read_file","arguments":"{\"path\":\"notes.md\"}"}}"#;
        let calls = format!(
            "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{call}]}},\"finish_reason\":\"tool_calls\"}}]}}\n\n"
        );
        for (turn, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            heard.send(request(&mut stream)).unwrap();
            let words = if turn == 0 { calls.clone() } else { says("I cannot.", "\"stop\"") };
            write!(stream, "{HEAD}{words}").unwrap();
        }
    });
    let mut chat = breakfall("commands")
        .args(["--model", "m", "--base-url", &address])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let typed = "/pause read_file\n/pause\n/pause nothing\n/tools\nRead it.\n/errors\n/unpause \
                 read_file\n/what\n/quit\nnot read\n";
    chat.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    let output = chat.wait_with_output().unwrap();
    let seen = texts(&output).0;
    let expected = "\
`read_file` is paused.
/pause which tool? See /tools.
no tool is named `nothing`
list_files                       Lists the entries of a directory.
search_files                     Finds a text in the files under a directory: one line for e…
read_file                        (paused)
→ read_file {\"path\":\"notes.md\"}
· `read_file` cannot be used now.
I cannot.
";
    assert!(seen.starts_with(expected), "{seen}");
    let rest = &seen[expected.len()..];
    assert!(rest.contains("read_file            unavailable"), "{seen}");
    assert!(rest.contains("1 of 1 calls failed."), "{seen}");
    assert!(rest.contains("`read_file` can be called again.\n`/what` is no command."), "{seen}");
    let tools = asked.recv_timeout(Duration::from_secs(5)).unwrap()["tools"].clone();
    let names = tools.as_array().unwrap().iter().map(|tool| tool["function"]["name"].clone());
    assert_eq!(names.collect::<Vec<_>>(), ["list_files", "search_files"]);
}

/// A server that answers each request with one of these bodies, and tells what it was asked.
fn server(bodies: Vec<String>) -> (String, mpsc::Receiver<serde_json::Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (heard, asked) = mpsc::channel();
    std::thread::spawn(move || {
        for (body, stream) in bodies.into_iter().zip(listener.incoming()) {
            let mut stream = stream.unwrap();
            heard.send(request(&mut stream)).unwrap();
            write!(stream, "{body}").unwrap();
        }
    });
    (address, asked)
}

fn say(mut chat: Command, words: &str) -> Output {
    let chat = chat.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut chat = chat.spawn().unwrap();
    chat.stdin.take().unwrap().write_all(words.as_bytes()).unwrap();
    chat.wait_with_output().unwrap()
}

/// Every file below a directory, as text.
fn files(folder: &std::path::Path) -> String {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let text = entries.map(|path| {
        if path.is_dir() {
            return files(&path);
        }
        String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()
    });
    text.collect()
}

#[test]
fn the_key_of_the_model_is_shown_to_nobody_and_saved_nowhere() {
    let key = ["plain", "words", "as", "a", "key"].join("-");
    let (one, two) = key.split_at(7);
    // Its middle stands where what is shown of the arguments ends.
    let path = format!("{}{key}", "x".repeat(80));
    let arguments = format!(r#"{{\"path\":\"{path}\"}}"#);
    let call = format!(
        r#"{{"index":0,"id":"call_1","function":{{"name":"read_file","arguments":"{arguments}"}}}}"#
    );
    let calls = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{call}]}},\"finish_reason\":\"tool_calls\"}}]}}\n\n"
    );
    let words = says(&format!("It is {one}"), "null") + &says(two, "\"stop\"");
    let (address, asked) = server(vec![format!("{HEAD}{calls}"), format!("{HEAD}{words}")]);
    let mut chat = breakfall("key");
    chat.args(["--model", "m", "--base-url", &address]).env("OPENAI_API_KEY", &key);
    let output = say(chat, "Hello.\n/errors\n");
    let (seen, errors) = texts(&output);
    assert!(seen.contains("It is [redacted:api-key]"), "{seen}{errors}");
    asked.recv_timeout(Duration::from_secs(5)).unwrap();
    let next = asked.recv_timeout(Duration::from_secs(5)).unwrap().to_string();
    for text in [seen, errors, next, files(&folder("key"))] {
        assert!(!text.contains(two) && !text.contains("plain-w"), "{text}");
    }
}

#[test]
fn the_key_of_the_model_is_not_given_to_servers() {
    let key = ["plain", "words", "as", "a", "key"].join("-");
    let (address, _asked) = server(vec![format!("{HEAD}{}", says("Hello.", "\"stop\""))]);
    let mut chat = breakfall("withheld");
    chat.args(["--model", "m", "--base-url", &address, "--", "sh", "-c", "env > variables"]);
    chat.env("OPENAI_API_KEY", &key).env("ANOTHER_VARIABLE", "is given");
    say(chat, "Hello.\n");
    let variables = std::fs::read_to_string(folder("withheld").join("variables")).unwrap();
    assert!(variables.contains("ANOTHER_VARIABLE=is given") && !variables.contains(&key));
}

#[test]
fn a_key_that_cannot_be_sent_or_that_all_could_read_is_told_of_and_not_sent() {
    let key = ["plain", "key"].join("-");
    let split = ["plain", "key"].join("\n");
    for (key, url, expected) in [
        (
            &key,
            "http://192.0.2.1:8000/v1",
            "error: the key in OPENAI_API_KEY would be sent to `http://192.0.2.1:8000/v1` for all \
             to read\n\nhint: use `https://`, or run it without the \
             variable\n",
        ),
        (
            &split,
            "https://192.0.2.1/v1",
            "error: the key in OPENAI_API_KEY cannot be sent\n  caused by: it has a line break, or a character \
             that is in no key\n\nhint: copy it once more\n",
        ),
    ] {
        let mut chat = breakfall("unsent");
        chat.args(["--model", "m", "--base-url", url]).env("OPENAI_API_KEY", key);
        let output = chat.output().unwrap();
        assert_eq!(texts(&output), (String::new(), expected.to_owned()));
    }
}

#[test]
fn a_server_that_wants_a_key_when_there_is_none_says_where_it_belongs() {
    let (address, _asked) =
        server(vec!["HTTP/1.1 401 X\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".to_owned()]);
    let mut chat = breakfall("keyless");
    chat.args(["--model", "m", "--base-url", &address]);
    let seen = texts(&say(chat, "Hello.\n")).0;
    let expected = "The model's provider wants an API key, and there is none in OPENAI_API_KEY. Put \
                    your API key there.\n";
    assert_eq!(seen, expected);
}

#[test]
fn a_chat_in_which_nothing_was_said_is_not_resumed() {
    let body = format!("{HEAD}{}", says("Hello.", "\"stop\""));
    let (address, _asked) = server(vec![body.clone(), body]);
    let chat = |more: &[&str]| {
        let mut chat = breakfall("empty");
        chat.args(["--model", "m", "--base-url", &address]).args(more);
        chat
    };
    say(chat(&[]), "Hello.\n");
    std::thread::sleep(Duration::from_millis(20));
    say(chat(&[]), "");
    let seen = texts(&say(chat(&["--resume"]), "And now?\n")).0;
    assert_eq!(seen, "going on behind 1 messages of yours\nHello.\n");
}

#[test]
fn a_chat_of_which_only_a_torn_line_was_saved_is_not_resumed_but_the_one_before() {
    let body = format!("{HEAD}{}", says("Hello.", "\"stop\""));
    let (address, _asked) = server(vec![body.clone(), body]);
    let chat = |more: &[&str]| {
        let mut chat = breakfall("torn");
        chat.args(["--model", "m", "--base-url", &address]).args(more);
        chat
    };
    say(chat(&[]), "Hello.\n");
    std::thread::sleep(Duration::from_millis(20));
    let chats = folder("torn").join("state/breakfall/chats");
    std::fs::write(chats.join("9999999999999-1.jsonl"), "{\"role\":\"us").unwrap();
    std::fs::write(chats.join("9999999999999-2.jsonl"), "My diary.").unwrap();
    let seen = texts(&say(chat(&["--resume"]), "And now?\n"));
    let expected = "going on behind 1 messages of yours\nHello.\n";
    assert_eq!(seen, (expected.to_owned(), String::new()));
}
