//! The program as a person or a script uses it.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

fn breakfall(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_breakfall"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn an_error_is_explained_to_a_person() {
    let output = breakfall(
        &["explain", "cat: notes/today.md: No such file or directory", "--exit-code", "1"],
        b"",
    );
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap(), @r"
    kind         not_found
    disposition  recoverable
    resource     notes/today.md
    may pass     no
    rule         text.missing-file on `No such file or directory`

    for the model
      `tool` did not find `notes/today.md`.
      Check the name, or find out what exists, before calling it again. (ref 1n3tbf)

    for the developer
      cat: notes/today.md: No such file or directory
    ");
    assert!(output.status.success());
}

#[test]
fn a_text_from_standard_input_is_explained_as_json() {
    let output = breakfall(
        &["explain", "-", "--json"],
        b"HTTP/1.1 429 Too Many Requests\nRetry-After: 17\n\npassword=hunter2",
    );
    let explained: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(explained["kind"], "rate_limited");
    assert_eq!(explained["retry_after_s"], 17.0);
    assert_eq!(explained["http_status"], 429);
    assert_eq!(explained["may_pass"], true);
    assert!(!explained.to_string().contains("hunter2"));
}

#[test]
fn lines_are_explained_in_order_and_a_bad_one_stops_nothing() {
    let input = [
        json!({ "id": 1, "text": "x", "type_name": "FileNotFoundError" }).to_string(),
        "not json".to_owned(),
        json!({ "id": "two" }).to_string(),
        String::new(),
        json!({ "id": 3, "text": "x", "http_status": 503 }).to_string(),
    ]
    .join("\n");
    let answers = lines(&breakfall(&["explain", "--jsonl"], input.as_bytes()));
    assert_eq!(answers.len(), 4);
    assert_eq!((&answers[0]["id"], &answers[0]["kind"]), (&json!(1), &json!("not_found")));
    assert!(answers[1]["error"].is_string() && answers[1].get("id").is_none());
    assert_eq!(answers[2]["id"], "two");
    assert!(answers[2]["error"].as_str().unwrap().contains("text"));
    assert_eq!((&answers[3]["id"], &answers[3]["kind"]), (&json!(3), &json!("upstream")));
    for key in [
        "disposition",
        "resource",
        "http_status",
        "retry_after_s",
        "may_pass",
        "rule",
        "model_text",
    ] {
        assert!(answers[0].get(key).is_some(), "{key}");
    }
}

#[test]
fn silent_failures_are_told_by_structure() {
    let outputs = [
        (json!({ "ok": false, "error": "channel_not_found" }).to_string(), true),
        (json!({ "success": true, "error": null, "errors": [] }).to_string(), false),
        (json!({ "isError": true, "content": [] }).to_string(), true),
        ("Error: could not read the file".to_owned(), true),
        ("checked 404 files, 0 errors".to_owned(), false),
        ("The docs say: Error: x means y".to_owned(), false),
        (json!({ "data": { "error": "a column" }, "rows": 3 }).to_string(), false),
    ];
    let lines_in: Vec<String> =
        outputs.iter().map(|(text, _)| json!({ "id": 0, "text": text }).to_string()).collect();
    let input = lines_in.join(
        "
",
    );
    let answers = lines(&breakfall(&["explain", "--jsonl", "--outputs"], input.as_bytes()));
    for ((text, expected), answer) in outputs.iter().zip(answers) {
        assert_eq!(answer["silent"], *expected, "{text}: {answer}");
    }
}

#[test]
fn a_stream_loses_its_secrets_and_nothing_else() {
    let secret = ["ghp", &"aB3dE5gH7jK9".repeat(3)].join("_");
    let filler = "an honest line of a log without anything in it\n".repeat(3_000);
    let input = format!("{filler}token: {secret}\n{filler}");
    let output = breakfall(&["redact"], input.as_bytes());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains(&secret) && text.contains("token: [redacted:"));
    assert_eq!(text.matches("an honest line").count(), 6_000);
}

/// Who writes one line and waits for its answer, or follows a log, waited for ever.
#[test]
fn a_line_is_answered_before_the_next_one_comes() {
    for (arguments, line, answer) in [
        (&["redact"][..], "token=Abc123xyzQw one\n", "token=[redacted:token#04df] one\n"),
        (&["redact", "--jsonl"], "{\"text\": \"a\"}\n", "{\"id\":null,"),
        (&["explain", "--jsonl"], "{\"id\": 7, \"text\": \"a\"}\n", "{\"disposition\":"),
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_breakfall"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        let mut answered = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut answered).unwrap();
        assert!(answered.starts_with(answer), "{answered}");
        drop(input);
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn broken_utf8_and_binary_input_get_an_answer() {
    for arguments in
        [&["redact"][..], &["redact", "--jsonl"], &["explain", "-"], &["explain", "--jsonl"]]
    {
        let output = breakfall(arguments, b"\xff\xfe\x00password=\xc3hunter2\x1b[3\n\xf0\x9f");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }
}

#[test]
fn named_variables_are_removed_and_missing_ones_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_breakfall"))
        .args(["redact", "--jsonl", "--env", "NO_SUCH_VARIABLE_HERE"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(
        error.starts_with(
            "error: the environment variable `NO_SUCH_VARIABLE_HERE` is not set\n\nhint: "
        ),
        "{error}"
    );
}

#[test]
fn redactions_are_told_with_rule_and_place() {
    let input = json!({ "id": "a", "text": "see postgres://bob:hunter2@db/x" }).to_string();
    let answers = lines(&breakfall(&["redact", "--jsonl"], input.as_bytes()));
    assert_eq!(
        answers[0]["redactions"][0],
        json!({ "rule": "url-password", "start": 19, "end": 26 })
    );
    assert_eq!(answers[0]["text"], "see postgres://bob:[redacted:url-password#1dd2]@db/x");
}

/// `println!` panics there.
#[test]
fn a_reader_that_left_is_no_reason_to_panic() {
    for words in
        [&["explain", "no such file"][..], &["explain", "--json", "x"], &["config", "schema"]]
    {
        let mut child = Command::new(env!("CARGO_BIN_EXE_breakfall"))
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{words:?}: {output:?}");
    }
}

#[test]
fn a_reader_that_has_had_enough_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_breakfall"))
        .arg("redact")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    for _ in 0..200 {
        if stdin.write_all(&[b'x'; 4096]).is_err() {
            break;
        }
        let _ = stdin.write_all(b"\n");
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// A text beside `--outputs` was ignored, and standard input read in its place.
#[test]
fn a_text_that_would_not_be_read_is_refused() {
    for arguments in [&["explain", "--outputs", "x"][..], &["explain", "--jsonl", "--outputs", "x"]]
    {
        let output = breakfall(arguments, b"{\"text\": \"y\"}\n");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}");
    }
}

#[test]
fn an_error_in_another_encoding_is_explained_as_an_argument_too() {
    let text =
        std::os::unix::ffi::OsStrExt::from_bytes(b"cat: caf\xe9.txt: No such file or directory");
    let mut explain = Command::new(env!("CARGO_BIN_EXE_breakfall"));
    let output = explain.arg("explain").arg::<&std::ffi::OsStr>(text).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.starts_with("kind         not_found"), "{told}");
}

/// A pipe that nobody writes into was waited for.
#[test]
fn a_configuration_that_is_no_file_is_refused() {
    let pipe = std::env::temp_dir().join(format!("breakfall-pipe-{}", std::process::id()));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let output = breakfall(&["explain", "--config", pipe.to_str().unwrap(), "x"], b"");
    std::fs::remove_file(&pipe).unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("it is no file"), "{error}");
    // What a shell hands over is one.
    let shell = r#""$0" explain --config <(echo "[defaults]") timeout"#;
    let shell = Command::new("bash").args(["-c", shell, env!("CARGO_BIN_EXE_breakfall")]).output();
    assert!(shell.unwrap().status.success());
}
