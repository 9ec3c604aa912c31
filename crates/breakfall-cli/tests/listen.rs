//! `breakfall guard` as a person starts it, `breakfall doctor`, and what a recording keeps.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

/// A server that answers one tool, and one that dies at its start.
const SERVER: &str = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "small", "version": "7"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "tell", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": "at postgres://bob:hunter2@db"}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)
"#;

fn breakfall() -> Command {
    let mut breakfall = Command::new(env!("CARGO_BIN_EXE_breakfall"));
    breakfall.env("BREAKFALL_STORE__KEEP", "false");
    breakfall
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("breakfall-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

struct Listening {
    guard: Child,
    address: String,
    welcome: String,
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.guard.kill();
        let _ = self.guard.wait();
    }
}

fn listen(command: &mut Command) -> Listening {
    let mut guard = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(guard.stderr.take().unwrap()).lines();
    let mut welcome = String::new();
    while !welcome.contains("Ctrl-C") {
        welcome += &lines.next().unwrap().unwrap();
        welcome.push('\n');
    }
    let (_, rest) = welcome.split_once("http://").unwrap();
    let address = rest.split('/').next().unwrap().to_owned();
    Listening { guard, address, welcome }
}

impl Listening {
    /// The whole response to a message.
    fn post(&self, headers: &str, message: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let (host, length) = (&self.address, message.len());
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n{headers}\r\n{message}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }
}

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#;

#[test]
fn a_person_is_told_where_the_guard_is_and_what_to_paste() {
    let folder = folder("listen");
    std::fs::write(folder.join("note.txt"), "found me").unwrap();
    let guard = listen(breakfall().current_dir(&folder).args(["guard", "--listen", "127.0.0.1:0"]));
    let welcome = &guard.welcome;
    assert!(welcome.starts_with("Guarding the files of this directory at http://127"), "{welcome}");
    for words in ["\"url\": \"http://127", "\"command\": \"", "breakfall call list_files '{}'"] {
        assert!(welcome.contains(words), "{welcome}");
    }
    let hello = guard.post("", HELLO);
    assert!(hello.starts_with("HTTP/1.1 200") && hello.contains("breakfall"), "{hello}");
    let session = hello.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
    let call = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"read_file","arguments":{"path":"note.txt"}}}"#;
    let answer = guard.post(&format!("Mcp-Session-Id: {session}\r\n"), call);
    assert!(answer.contains(r#""id":"a""#) && answer.contains("found me"), "{answer}");
    let stranger = guard.post("Origin: http://evil.example.com\r\n", HELLO);
    assert!(stranger.starts_with("HTTP/1.1 403"), "{stranger}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_secret_of_a_servers_command_is_not_printed() {
    let secret = ["sk-proj-", "a1B2c3D4e5F6g7H8", "i9J0k1L2m3N4o5P6"].concat();
    let password = format!("--password={}", ["hun", "ter2hunter2"].concat());
    let url = ["postgres://bob:", "pa55w0rd@db/x"].concat();
    let typed = ["guard", "--listen", "127.0.0.1:0", "--", "serve", "--api-key", &secret];
    let guard = listen(breakfall().args(typed).args([&password, &url]));
    let welcome = &guard.welcome;
    for secret in [&secret, "hunter2", "pa55w0rd"] {
        assert!(!welcome.contains(secret), "{welcome}");
    }
    for words in
        ["\"serve\", \"--api-key\", \"[redacted:", "put your own there", "-- serve --api-key "]
    {
        assert!(welcome.contains(words), "{words} {welcome}");
    }
}

#[test]
fn others_need_a_token() {
    let mut open = breakfall();
    open.args(["guard", "--listen", "0.0.0.0:0"]).env_remove("BREAKFALL_TOKEN");
    let refused = open.stdin(Stdio::null()).output().unwrap();
    let words = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && words.contains("hint: put a token"), "{words}");
    let token = format!("secret-of-the-guard-{}", std::process::id());
    let guard = listen(
        breakfall().args(["guard", "--listen", "127.0.0.1:0"]).env("BREAKFALL_TOKEN", &token),
    );
    assert!(!guard.welcome.contains(&token), "{}", guard.welcome);
    assert!(guard.post("", HELLO).starts_with("HTTP/1.1 401"));
    assert!(guard.post("Authorization: Bearer wrong\r\n", HELLO).starts_with("HTTP/1.1 401"));
    let shown = guard.post(&format!("Authorization: Bearer {token}\r\n"), HELLO);
    assert!(shown.starts_with("HTTP/1.1 200"), "{shown}");
}

/// A token of one letter opened a guard to others; the page had asked for sixteen.
#[test]
fn a_token_that_can_be_guessed_is_refused() {
    for (token, length) in [("x", 1), ("", 0), (" ", 1), ("fifteen-letters", 15)] {
        let mut open = breakfall();
        open.args(["guard", "--listen", "0.0.0.0:0"]).env("BREAKFALL_TOKEN", token);
        let (refused, words) = run(&mut open);
        let expected = format!(
            "error: the token has {length} characters: expected at least 16, of letters, digits, \
             `-`, `_`, `.`, `~`\n\nhint: unset BREAKFALL_TOKEN to serve this machine without a \
             token\n"
        );
        assert_eq!((words, refused.status.code()), (expected, Some(1)));
    }
}

fn run(command: &mut Command) -> (Output, String) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let failed = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, told + &failed)
}

#[test]
fn the_doctor_tells_what_is_wrong_and_what_to_do() {
    let folder = folder("doctor");
    let config = serde_json::json!({ "mcpServers": {
        "small": { "command": "python3", "args": ["-c", SERVER] },
        "broken": { "command": "python3", "args": ["-c", "import sys; sys.exit('no luck')"] },
        "missing": { "command": "no-such-program" },
        "away": { "url": "http://127.0.0.1:9/mcp", "headers": { "Authorization": "Bearer hunter2-x" } },
    }});
    std::fs::write(folder.join("c.json"), config.to_string()).unwrap();
    let settings = "[tools.small__tel]\neffect = 'once'\n[upstreams.smal]\nqueue = 1\n";
    std::fs::write(folder.join("breakfall.toml"), settings).unwrap();
    let mut doctor = breakfall();
    doctor.current_dir(&folder).args(["doctor", "--mcp-config", "c.json"]);
    let (output, told) = run(&mut doctor);
    assert!(!output.status.success());
    for words in [
        "ok    the configuration can be used",
        "ok    small: small 7, 1 tool, up in ",
        "FAIL  broken: exit status: 1; it wrote:\n        no luck",
        r"next: run `python3 -c 'import sys; sys.exit('\''no luck'\'')'` by itself and mend what",
        "FAIL  missing: `no-such-program` did not start",
        "next: install `no-such-program`, or give its full path",
        "FAIL  away: ",
        "next: start it, or mend its address",
        "warn  `upstreams.smal` is configured, and there is no such server",
        "error: 3 of 4 servers cannot be used",
    ] {
        assert!(told.contains(words), "{words}\n{told}");
    }
    assert!(!told.contains("hunter2"), "{told}");
    let mut well = breakfall();
    well.current_dir(&folder).args(["doctor", "--", "python3", "-c", SERVER]);
    let (output, told) = run(&mut well);
    assert!(output.status.success(), "{told}");
    let words = "warn  `tools.small__tel` is configured, and no server has this tool";
    assert!(told.contains(words), "{told}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn servers_of_the_file_are_guarded_and_what_passes_is_kept_without_secrets() {
    let folder = folder("record");
    let toml = format!("[upstreams.small]\ncommand = 'python3'\nargs = ['-c', '''{SERVER}''']\n");
    std::fs::write(folder.join("breakfall.toml"), toml).unwrap();
    let mut guard = breakfall()
        .current_dir(&folder)
        .args(["guard", "--record", "kept"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = guard.stdin.take().unwrap();
    let mut lines = BufReader::new(guard.stdout.take().unwrap()).lines();
    let call =
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"tell","arguments":{}}}"#;
    writeln!(input, "{HELLO}\n{call}").unwrap();
    let answers: Vec<String> = lines.by_ref().take(2).map(|line| line.unwrap()).collect();
    // What a tool returns is the model's; a recording is not.
    assert!(answers.iter().any(|line| line.contains("hunter2")), "{answers:?}");
    drop(input);
    assert!(guard.wait().unwrap().success());
    let files: Vec<_> = std::fs::read_dir(folder.join("kept")).unwrap().collect();
    assert_eq!(files.len(), 1);
    let kept = std::fs::read_to_string(files[0].as_ref().unwrap().path()).unwrap();
    assert!(!kept.contains("hunter2") && kept.contains("[redacted:url-password"), "{kept}");
    for line in kept.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(line["at"].is_number(), "{line}");
        assert!(["to", "from", "note"].iter().any(|way| line.get(way).is_some()), "{line}");
    }
    let calls = kept.lines().filter(|line| line.contains(r#""method":"tools/call""#)).count();
    assert_eq!(calls, 1, "{kept}");
    std::fs::remove_dir_all(folder).unwrap();
}
