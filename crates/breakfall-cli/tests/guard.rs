//! `breakfall guard` as a client starts it.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// A server that ends neither when its input does nor when it is asked to, and that has a child of
/// the same kind; it tells the numbers of both.
const STUBBORN: &str = r#"
import json, os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
other = subprocess.Popen([sys.executable, "-c",
    "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"])
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {},
                  "serverInfo": {"name": "stubborn", "version": "1"},
                  "instructions": f"{os.getpid()} {other.pid}"}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
time.sleep(600)
"#;

struct Guarded {
    guard: Child,
    _input: ChildStdin,
    _output: BufReader<ChildStdout>,
    servers: Vec<u32>,
}

fn start() -> Guarded {
    let mut guard = Command::new(env!("CARGO_BIN_EXE_breakfall"))
        .args(["guard", "--", "python3", "-c", STUBBORN])
        .env("BREAKFALL_STORE__KEEP", "false")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = guard.stdin.take().unwrap();
    let mut output = BufReader::new(guard.stdout.take().unwrap());
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}"#;
    writeln!(input, "{hello}").unwrap();
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    let answer: serde_json::Value = serde_json::from_str(&line).unwrap();
    let numbers = answer["result"]["instructions"].as_str().unwrap();
    let servers = numbers.split(' ').map(|number| number.parse().unwrap()).collect();
    Guarded { guard, _input: input, _output: output, servers }
}

/// Whether a process runs; one that only waits to be reaped does not.
fn runs(process: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{process}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().starts_with(" Z"))
}

fn gone_within(servers: &[u32], limit: Duration) -> bool {
    let began = Instant::now();
    while began.elapsed() < limit {
        if servers.iter().all(|server| !runs(*server)) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

#[test]
fn no_server_outlives_a_guard_that_is_killed() {
    for _ in 0..3 {
        let mut guarded = start();
        assert!(guarded.servers.iter().all(|server| runs(*server)));
        guarded.guard.kill().unwrap();
        guarded.guard.wait().unwrap();
        assert!(gone_within(&guarded.servers, Duration::from_secs(3)), "{:?}", guarded.servers);
    }
}

#[test]
fn no_server_outlives_a_client_that_leaves() {
    let Guarded { mut guard, _input: input, _output: output, servers } = start();
    drop((input, output));
    assert!(gone_within(&servers, Duration::from_secs(4)), "{servers:?}");
    assert!(guard.wait().unwrap().success());
}

#[test]
fn a_machine_without_servers_has_files_to_read() {
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_breakfall"))
            .args(arguments)
            .env("BREAKFALL_STORE__KEEP", "false")
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        (String::from_utf8(output.stdout).unwrap(), output.status.code())
    };
    let (tools, status) = run(&["tools", "--store", "no-such-file.db"]);
    assert_eq!(status, Some(0));
    let names: Vec<_> = tools.lines().skip(1).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, ["list_files", "read_file", "search_files"]);
    let (text, status) = run(&["call", "read_file", r#"{"path": "Cargo.toml"}"#]);
    assert!(text.starts_with("[package]") && status == Some(0), "{text}");
    let (text, status) = run(&["call", "read_file", r#"{"path": "../../Cargo.toml"}"#]);
    assert!(text.starts_with("`read_file` is not permitted to use `../../Cargo.toml`."), "{text}");
    assert_eq!(status, Some(1));
}

/// A server that stops listening when it has answered a call, and dies a moment later; started
/// anew, it goes on.
const MORTAL: &str = r#"
import json, os, sys, time
try:
    os.mkdir(sys.argv[1])
    is_mortal = True
except FileExistsError:
    is_mortal = False
for line in sys.stdin:
    message = json.loads(line)
    result = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "mortal", "version": "1"}},
        "tools/list": {"tools": [{"name": "read_file", "inputSchema": {"type": "object"},
                                  "annotations": {"readOnlyHint": True}}]},
        "tools/call": {"content": [{"type": "text", "text": f"read by {os.getpid()}"}]},
    }.get(message.get("method"))
    if "id" in message:
        dies = is_mortal and message["method"] == "tools/call"
        if dies:
            os.close(0)
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
        if dies:
            time.sleep(0.3)
            os._exit(1)
"#;

/// Calls that came while their server died were told at once that it is not there.
#[test]
fn calls_that_a_dying_server_does_not_hear_wait_for_the_next() {
    let place = std::env::temp_dir().join(format!("breakfall-mortal-{}", std::process::id()));
    let words = ["--", "python3", "-c", MORTAL, place.to_str().unwrap()];
    let (mut guard, mut input, mut output) = guarding(&words, Stdio::null());
    let answer = asks(&mut input, &mut output, 1);
    assert!(answer.contains("read by "), "{answer}");
    for id in 2..=6 {
        write_call(&mut input, id);
    }
    let answers =
        output.by_ref().lines().map(Result::unwrap).filter(|line| line.contains("result"));
    for answer in answers.take(5) {
        assert!(answer.contains("read by "), "{answer}");
    }
    drop(input);
    assert!(guard.wait().unwrap().success());
    std::fs::remove_dir(place).unwrap();
}

/// A server that says its password in an error.
const TELLING: &str = r#"
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    result = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "telling", "version": "1"}},
        "tools/list": {"tools": [{"name": "read_file", "inputSchema": {"type": "object"}}]},
        "tools/call": {"isError": True, "content": [
            {"type": "text", "text": "login refused for svc / " + os.environ["DB_PASSWORD"]}]},
    }.get(message.get("method"))
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

/// What a client declares for a server that is wrapped reaches the guard as variables of its own.
#[test]
fn a_password_that_a_client_hands_to_a_wrapped_server_is_told_to_nobody() {
    let password = format!("{}-otter-9921", "quixotic");
    let mut guard = command(&["--", "python3", "-c", TELLING]);
    guard.env("DB_PASSWORD", &password).env("NODE_ENV", "refused");
    let (mut guard, mut input, mut output) = spawned(&mut guard, Stdio::piped());
    let answer = asks(&mut input, &mut output, 1);
    assert!(answer.contains("login refused for svc / [redacted:value#"), "{answer}");
    drop(input);
    let mut log = String::new();
    guard.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(log.contains("login refused") && !log.contains(&password), "{log}");
    assert!(guard.wait().unwrap().success());
}

/// The inspector drops the dashes of its command line: the server behind them did not start.
#[test]
fn a_launcher_that_drops_the_dashes_starts_the_server_all_the_same() {
    for what in [&["python3", "-c", TELLING, "--", "-x"][..], &["--", "python3", "-c", TELLING]] {
        let mut guard = command(what);
        guard.env("DB_PASSWORD", "quixotic");
        let (mut guard, mut input, mut output) = spawned(&mut guard, Stdio::null());
        let answer = asks(&mut input, &mut output, 1);
        assert!(answer.contains("login refused"), "{answer}");
        drop(input);
        assert!(guard.wait().unwrap().success());
    }
    let odd = command(&["--lissen", "127.0.0.1:0"]).output().unwrap();
    let said = String::from_utf8(odd.stderr).unwrap();
    assert!(said.contains("unexpected argument '--lissen'"), "{said}");
}

/// A guard of files, whose log goes there.
fn logging_to(stderr: impl Into<Stdio>) -> (Child, ChildStdin, BufReader<ChildStdout>) {
    guarding(&[], stderr)
}

fn guarding(
    what: &[&str],
    stderr: impl Into<Stdio>,
) -> (Child, ChildStdin, BufReader<ChildStdout>) {
    spawned(&mut command(what), stderr)
}

fn command(what: &[&str]) -> Command {
    let mut guard = Command::new(env!("CARGO_BIN_EXE_breakfall"));
    guard
        .arg("guard")
        .args(what)
        .env("BREAKFALL_STORE__KEEP", "false")
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    guard
}

fn spawned(
    guard: &mut Command,
    stderr: impl Into<Stdio>,
) -> (Child, ChildStdin, BufReader<ChildStdout>) {
    let guard = guard.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
    let mut guard = guard.spawn().unwrap();
    let mut input = guard.stdin.take().unwrap();
    let output = BufReader::new(guard.stdout.take().unwrap());
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}"#;
    writeln!(input, "{hello}").unwrap();
    (guard, input, output)
}

/// Asks for a file, and waits for the answer.
fn asks(input: &mut ChildStdin, output: &mut BufReader<ChildStdout>, id: u32) -> String {
    write_call(input, id);
    let answers = format!(r#""id":{id}"#);
    output.lines().map(Result::unwrap).find(|line| line.contains(&answers)).unwrap()
}

fn write_call(input: &mut ChildStdin, id: u32) {
    let call = serde_json::json!({
        "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": "read_file", "arguments": { "path": format!("no/such/{id}") } },
    });
    writeln!(input, "{call}").unwrap();
}

/// A log that cannot be written cost every call that failed its answer.
#[test]
fn a_call_that_fails_is_answered_when_nothing_can_be_logged() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let (mut guard, mut input, mut output) = logging_to(full);
    let answer = asks(&mut input, &mut output, 2);
    assert!(answer.contains("did not find `no/such/2`"), "{answer}");
    drop(input);
    assert!(guard.wait().unwrap().success());
}

/// Who starts a guard and does not read its log held up every call once the pipe was full.
#[test]
fn a_log_that_nobody_reads_holds_up_no_call() {
    let (mut guard, mut input, mut output) = logging_to(Stdio::piped());
    let (tell, told) = std::sync::mpsc::channel();
    let asking = std::thread::spawn(move || {
        for id in 1..=1_500 {
            asks(&mut input, &mut output, id);
            tell.send(id).unwrap();
        }
    });
    for id in 1..=1_500 {
        let answered = told.recv_timeout(Duration::from_secs(20));
        assert_eq!(answered, Ok(id), "{:?}", guard.kill());
    }
    asking.join().unwrap();
    // What it had no room for is counted, and told to who reads at last; all else is there.
    let mut log = String::new();
    guard.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(guard.wait().unwrap().success());
    let lines = log.lines().filter(|line| line.contains("call_id=")).count();
    let left_out = log
        .lines()
        .filter_map(|line| line.strip_suffix(" lines of this log are left out: nobody read it"));
    let left_out: usize = left_out.map(|number| number.parse::<usize>().unwrap()).sum();
    assert_eq!(lines + left_out, 1_500, "{log}");
}
