//! What failed, as a person or a pipeline asks for it.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;

use breakfall::{Call, FailureKind, Guard, Sink};
use breakfall_store::{Keep, Store};
use breakfall_test::Script;
use serde_json::Value;

fn directory(name: &str) -> PathBuf {
    let directory =
        std::env::temp_dir().join(format!("breakfall-errors-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// A guard's calls: nine work, then some fail, each with another id.
async fn fail(file: &Path, times: u32) {
    let place = file.to_str().unwrap();
    let keeper = Arc::new(Store::keeper(place, "here", Keep::default()).unwrap());
    let tools = [
        Script::new("works").answers("fine").tool().upstream("files"),
        Script::new("fails").fails(FailureKind::NotFound).tool().upstream("files"),
    ];
    let sink = Arc::clone(&keeper) as Arc<dyn Sink>;
    let guard = Guard::builder().tools(tools).sink(sink).build().unwrap();
    for id in 0..9 {
        guard.handle(Call::new(format!("a{id}"), "works", "{}")).await;
    }
    for id in 0..times {
        guard.handle(Call::new(format!("b{id}"), "fails", "{}")).await;
    }
}

fn command(file: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_breakfall"));
    command.args(arguments).arg("--store").arg(file);
    command.env_remove("NO_COLOR").current_dir(file.parent().unwrap()).stdin(Stdio::null());
    command
}

fn run(file: &Path, arguments: &[&str]) -> Output {
    command(file, arguments).output().unwrap()
}

fn said(output: &Output) -> (String, String, Option<i32>) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[tokio::test]
async fn where_nothing_was_kept_that_is_said_and_nothing_is_made() {
    let directory = directory("missing");
    let file = directory.join("breakfall/breakfall.db");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_breakfall"));
        command.args(arguments).current_dir(&directory).stdin(Stdio::null());
        said(&command.env("XDG_DATA_HOME", &directory).output().unwrap())
    };
    for (arguments, expected) in [
        (&["errors"][..], 0),
        (&["report"], 0),
        (&["errors", "show", "abc123"], 1),
        (&["errors", "resolve", "abc123"], 1),
        (&["errors", "--fail-over", "5%"], 1),
        (&["report", "--fail-over", "5%"], 1),
    ] {
        let (_, error, status) = run(arguments);
        assert!(error.starts_with("Nothing was kept yet in "), "{error}");
        assert_eq!(status, Some(expected), "{arguments:?}");
    }
    let empty: Value = serde_json::from_str(&run(&["errors", "--json"]).0).unwrap();
    assert_eq!((&empty["calls"], &empty["groups"]), (&Value::from(0), &Value::Array(vec![])));
    assert!(!file.exists());

    // A file that somebody made, and nobody wrote to.
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "").unwrap();
    assert!(run(&["errors"]).1.starts_with("Nothing was kept yet in "));
    assert_eq!(std::fs::metadata(&file).unwrap().len(), 0);
    // One that is something else.
    std::fs::write(&file, "not a database, but long enough to be taken for one".repeat(50))
        .unwrap();
    let (_, error, status) = run(&["errors"]);
    assert!(error.starts_with("error: ") && status == Some(1), "{error}");
    std::fs::remove_dir_all(directory).unwrap();
}

/// A path that was mistyped passed every gate.
#[test]
fn a_store_that_is_named_and_not_there_is_an_error() {
    let directory = directory("named");
    let file = directory.join("typo.db");
    for arguments in
        [&["errors"][..], &["errors", "--fail-over", "5%"], &["report"], &["errors", "show", "a"]]
    {
        let (told, error, status) = said(&run(&file, arguments));
        assert!(error.starts_with("error: there is no store in "), "{arguments:?}: {error}");
        assert_eq!((told.as_str(), status), ("", Some(1)), "{arguments:?}");
    }
    assert!(!file.exists());
    std::fs::remove_dir_all(directory).unwrap();
}

/// Who could not be reached was told as a pool that timed out.
#[test]
fn a_database_that_refuses_is_told_as_that() {
    let began = std::time::Instant::now();
    let place = Path::new("postgres://bob:hunter2hunter2@127.0.0.1:1/x");
    let mut command = Command::new(env!("CARGO_BIN_EXE_breakfall"));
    let output = command.args(["errors", "--store"]).arg(place).output().unwrap();
    let (_, error, status) = said(&output);
    assert!(error.contains("refused") && !error.contains("hunter2"), "{error}");
    assert!(status == Some(1) && began.elapsed().as_secs() < 4, "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_pipeline_is_told_by_the_exit_status() {
    let directory = directory("gate");
    let file = directory.join("a.db");
    fail(&file, 1).await;
    for (arguments, expected) in [
        (&["errors", "--fail-over", "10%"][..], 0),
        (&["errors", "--fail-over", "9.9%"], 2),
        (&["errors", "--fail-over", "5", "--tool", "works"], 0),
        (&["errors", "--fail-over", "5", "--tool", "fails"], 2),
        (&["errors", "--fail-over", "5", "--kind", "timeout"], 0),
        (&["errors", "--fail-over", "5", "--json"], 2),
        (&["report", "--fail-over", "10%"], 0),
        (&["report", "--fail-over", "1%", "--format", "html"], 2),
        (&["report", "--fail-over", "much"], 2),
    ] {
        let (_, error, status) = said(&run(&file, arguments));
        assert_eq!(status, Some(expected), "{arguments:?}: {error}");
    }
    let (_, error, _) = said(&run(&file, &["errors", "--fail-over", "5%"]));
    assert_eq!(error, "error: 1 of 10 calls failed: 10.0 %, and at most 5.0 % may\n");
    std::fs::remove_dir_all(directory).unwrap();
}

#[tokio::test]
async fn a_group_is_opened_resolved_and_opens_again_when_it_comes_back() {
    let directory = directory("states");
    let file = directory.join("a.db");
    fail(&file, 2).await;
    let listed = json(&run(&file, &["errors", "--json"]));
    let reference = listed["groups"][0]["reference"].as_str().unwrap().to_owned();
    let shown = json(&run(&file, &["errors", "show", &reference, "--json"]));
    assert_eq!(shown["groups"][0]["count"], 2);
    let (text, _, status) = said(&run(&file, &["errors", "show", &reference]));
    assert!(text.contains("what the model was told") && status == Some(0), "{text}");

    let (text, _, _) = said(&run(&file, &["errors", "resolve", &reference]));
    let fact = "`fails`, not_found";
    assert_eq!(
        text,
        format!("{reference}: {fact} is resolved. It opens again when it comes back.\n")
    );
    let count = |state: &str| {
        let found = json(&run(&file, &["errors", "--state", state, "--json"]));
        found["found"].as_u64().unwrap()
    };
    assert_eq!([count("open"), count("resolved"), count("all")], [0, 1, 1]);
    fail(&file, 1).await;
    assert_eq!([count("open"), count("resolved")], [1, 0]);
    let (text, _, _) = said(&run(&file, &["errors"]));
    assert!(text.contains("  back  "), "{text}");

    let fingerprint = listed["groups"][0]["fingerprint"].as_str().unwrap();
    let changed = json(&run(&file, &["errors", "ignore", &fingerprint[..8], "--json"]));
    assert_eq!(changed["changed"]["state"], "ignored");
    assert_eq!(count("ignored"), 1);
    assert_eq!(said(&run(&file, &["errors", "reopen", &reference])).2, Some(0));
    assert_eq!(count("open"), 1);

    let (_, error, status) = said(&run(&file, &["errors", "resolve", "zzzzzz"]));
    assert!(error.contains(&format!("the newest: {reference} (`fails`, not_found)")), "{error}");
    assert_eq!(status, Some(1));
    std::fs::remove_dir_all(directory).unwrap();
}

#[tokio::test]
async fn a_reference_of_two_groups_shows_both_and_changes_none() {
    let directory = directory("two");
    let file = directory.join("a.db");
    // The same failure of the same tool behind two servers.
    for upstream in ["one", "two"] {
        let keeper =
            Arc::new(Store::keeper(file.to_str().unwrap(), "here", Keep::default()).unwrap());
        let tool = Script::new("fails").fails(FailureKind::NotFound).tool().upstream(upstream);
        let sink = Arc::clone(&keeper) as Arc<dyn Sink>;
        let guard = Guard::builder().tool(tool).sink(sink).build().unwrap();
        guard.handle(Call::new("1", "fails", "{}")).await;
    }
    let listed = json(&run(&file, &["errors", "--json"]));
    let reference = listed["groups"][0]["reference"].as_str().unwrap();
    assert_eq!(listed["groups"][1]["reference"], reference);
    let (text, _, status) = said(&run(&file, &["errors", "show", reference]));
    assert!(text.starts_with(&format!("`{reference}` names 2 groups.\n")), "{text}");
    assert!(text.contains("of `one`") && text.contains("of `two`") && status == Some(0), "{text}");
    let (_, error, status) = said(&run(&file, &["errors", "resolve", reference]));
    assert!(error.contains("names 2 groups: 1-") && error.contains("hint: "), "{error}");
    assert_eq!(status, Some(1));
    assert_eq!(json(&run(&file, &["errors", "--json"]))["found"], 2);
    let exact = listed["groups"][1]["fingerprint"].as_str().unwrap();
    assert_eq!(said(&run(&file, &["errors", "resolve", exact])).2, Some(0));
    assert_eq!(json(&run(&file, &["errors", "--json"]))["found"], 1);
    std::fs::remove_dir_all(directory).unwrap();
}

#[tokio::test]
async fn what_goes_into_a_file_has_no_colours_and_fits_the_columns_asked_for() {
    let directory = directory("plain");
    let file = directory.join("a.db");
    fail(&file, 3).await;
    for arguments in [&["errors"][..], &["errors", "show", "1-"], &["tools"], &["report"]] {
        for columns in ["50", "200", "nonsense"] {
            let output = command(&file, arguments).env("COLUMNS", columns).output().unwrap();
            assert!(!output.stdout.contains(&0x1b), "{arguments:?}");
        }
    }
    let output = command(&file, &["errors"]).env("COLUMNS", "50").output().unwrap();
    let (text, _, _) = said(&output);
    assert!(text.lines().all(|line| line.chars().count() <= 50), "{text}");
    std::fs::remove_dir_all(directory).unwrap();
}

#[tokio::test]
async fn what_fails_is_followed_as_it_fails() {
    let directory = directory("tail");
    let file = directory.join("a.db");
    fail(&file, 1).await;
    let mut child = Followed(
        command(&file, &["errors", "tail", "--json", "--since", "1h"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let mut next = move || {
        let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        line["call"].as_str().unwrap().to_owned()
    };
    assert_eq!(next(), "b0");
    fail(&file, 2).await;
    // Two of one millisecond are in no order.
    let mut both = [next(), next()];
    both.sort();
    assert_eq!(both, ["b0", "b1"]);
    drop(child);
    std::fs::remove_dir_all(directory).unwrap();
}

/// Ends with the test, however that ends.
struct Followed(Child);

impl Drop for Followed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server with two tools, one of which always fails.
const SERVER: &str = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method, answer = message.get("method"), {"jsonrpc": "2.0", "id": message.get("id")}
    if method == "initialize":
        answer["result"] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                            "serverInfo": {"name": "two", "version": "1"}}
    elif method == "tools/list":
        answer["result"] = {"tools": [{"name": name, "description": "Does it.",
                                       "inputSchema": {"type": "object"}} for name in ("one", "two")]}
    elif method == "tools/call":
        answer["result"] = {"isError": True, "content": [{"type": "text", "text": "file not found"}]}
    if message.get("id") is not None:
        print(json.dumps(answer), flush=True)
"#;

#[test]
fn the_tools_of_a_server_stand_beside_what_became_of_their_calls() {
    let directory = directory("tools");
    let file = directory.join("a.db");
    let config = format!("[store]\nplace = {:?}\n", file.to_str().unwrap());
    std::fs::write(directory.join("breakfall.toml"), config).unwrap();
    let run = |arguments: &[&str]| {
        let server = ["--", "python3", "-c", SERVER];
        let mut command = Command::new(env!("CARGO_BIN_EXE_breakfall"));
        command.args(arguments).args(server).current_dir(&directory).stdin(Stdio::null());
        command.output().unwrap()
    };
    for _ in 0..3 {
        assert_eq!(said(&run(&["call", "two"])).2, Some(1));
    }
    let listed = json(&run(&["tools", "--json"]));
    let told = listed["tools"].as_array().unwrap().iter().map(|tool| {
        let of = |name: &str| tool[name].to_string();
        [of("tool"), of("offered"), of("calls"), of("failed"), of("rate")].join(" ")
    });
    let told: Vec<String> = told.collect();
    assert_eq!(told, ["\"one\" true 0 0 null", "\"two\" true 3 3 1.0"]);
    let (text, _, status) = said(&run(&["tools"]));
    assert!(text.contains("100.0 %") && text.contains("Does it.") && status == Some(0), "{text}");
    std::fs::remove_dir_all(directory).unwrap();
}

#[tokio::test]
async fn a_report_is_one_file() {
    let directory = directory("report");
    let file = directory.join("a.db");
    fail(&file, 3).await;
    let page = directory.join("report.html");
    let page = page.to_str().unwrap();
    let (text, _, status) = said(&run(&file, &["report", "--format", "html", "--output", page]));
    assert_eq!((text.as_str(), status), ("", Some(0)));
    assert!(std::fs::read_to_string(page).unwrap().starts_with("<!DOCTYPE html>"));
    let report = json(&run(&file, &["report", "--json"]));
    assert_eq!((&report["calls"], &report["failed"]), (&Value::from(12), &Value::from(3)));
    let (_, error, status) = said(&run(&file, &["report", "--output", "/no/such/place.md"]));
    assert!(error.starts_with("error: could not write") && status == Some(1), "{error}");
    std::fs::remove_dir_all(directory).unwrap();
}
