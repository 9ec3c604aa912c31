//! What `breakfall guard`, `call` and `chat` tell a collector, and what its servers are told of traces.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

#[path = "../../breakfall-telemetry/tests/collector/mod.rs"]
mod collector;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use collector::{Collector, Mood, hex, told};
use serde_json::{Value, json};

/// A server whose only tool tells what `_meta` it was given; the first call of the flaky one finds
/// nobody.
const ECHO: &str = r#"
import json, sys
seen = []
for line in sys.stdin:
    message = json.loads(line)
    method, id, params = message.get("method"), message.get("id"), message.get("params", {})
    answer = {"result": {}}
    if method == "initialize":
        answer = {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "echo", "version": "1"}}}
    elif method == "tools/list":
        hints = {"readOnlyHint": True}
        answer = {"result": {"tools": [
            {"name": name, "inputSchema": {"type": "object"}, "annotations": hints} for name in ["echo", "flaky"]]}}
    elif method == "tools/call":
        seen.append(params.get("_meta"))
        if params["name"] == "flaky" and len(seen) == 1:
            answer = {"error": {"code": -32603, "message": "connect ECONNREFUSED 127.0.0.1:5432"}}
        else:
            answer = {"result": {"content": [{"type": "text", "text": json.dumps(seen)}]}}
    elif id is None:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": id, **answer}), flush=True)
"#;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER: &str = "b7ad6b7169203331";

fn breakfall() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_breakfall"));
    command.env("BREAKFALL_STORE__KEEP", "false");
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("OTEL_")) {
        command.env_remove(name);
    }
    command
}

/// Calls a tool with this `_meta`, ends the guard, and gives every `_meta` that its server saw.
fn called(command: &mut Command, tool: &str, meta: &Value) -> Vec<Value> {
    let mut guard = command
        .args(["guard", "--", "python3", "-c", ECHO])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = guard.stdin.take().unwrap();
    let mut output = BufReader::new(guard.stdout.take().unwrap());
    let mut ask = |method: &str, params: Value| -> Value {
        writeln!(
            input,
            "{}",
            json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })
        )
        .unwrap();
        loop {
            let mut line = String::new();
            assert!(output.read_line(&mut line).unwrap() > 0, "the guard ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message.get("id").is_some() {
                return message;
            }
        }
    };
    ask("initialize", json!({ "protocolVersion": "2025-11-25", "capabilities": {} }));
    let answer = ask("tools/call", json!({ "name": tool, "arguments": {}, "_meta": meta }));
    drop(input);
    assert!(guard.wait().unwrap().success());
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    serde_json::from_str(text).unwrap_or_else(|_| panic!("{answer}"))
}

fn parent(flags: &str) -> String {
    format!("00-{TRACE}-{CALLER}-{flags}")
}

#[test]
fn a_server_stands_below_the_attempt_and_the_call_below_its_client() {
    let collector = Collector::start();
    let meta = json!({ "traceparent": parent("01"), "tracestate": "vendor=1", "baggage": "user=7", "progressToken": 3 });
    let seen =
        called(breakfall().env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url), "flaky", &meta);
    let spans = collector.spans();
    let [call, first, second] = spans.as_slice() else { panic!("three spans: {spans:?}") };
    assert_eq!((call.name.as_str(), hex(&call.trace_id).as_str()), ("execute_tool flaky", TRACE));
    assert_eq!(hex(&call.parent_span_id), CALLER);
    assert_eq!(call.trace_state, "vendor=1");
    assert_eq!(seen.len(), 2);
    for (span, seen) in [first, second].into_iter().zip(&seen) {
        assert_eq!((span.name.as_str(), &span.parent_span_id), ("tools/call flaky", &call.span_id));
        assert_eq!(seen["traceparent"], format!("00-{TRACE}-{}-01", hex(&span.span_id)));
        assert_eq!((&seen["tracestate"], &seen["baggage"]), (&json!("vendor=1"), &json!("user=7")));
        assert_eq!(told(&span.attributes)["network.transport"], "pipe");
    }
    assert_eq!(told(&first.attributes)["error.type"], "network");
    assert!(!told(&second.attributes).contains_key("error.type"));
    let call = told(&call.attributes);
    assert_eq!((call["breakfall.recovered_by"].as_str(), call.get("error.type")), ("retry", None));
    assert!(collector.metrics().contains_key("gen_ai.execute_tool.duration"));
}

#[test]
fn a_trace_that_nobody_can_read_begins_anew_and_one_that_is_not_recorded_is_only_passed_on() {
    let collector = Collector::start();
    let with = || {
        let mut command = breakfall();
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url);
        command
    };
    let seen =
        called(&mut with(), "echo", &json!({ "traceparent": "00-nonsense", "tracestate": "a=1" }));
    let span = collector.spans().remove(0);
    assert!(span.parent_span_id.is_empty());
    let passed_on = seen[0]["traceparent"].as_str().unwrap();
    assert!(passed_on.starts_with(&format!("00-{}-", hex(&span.trace_id))), "{passed_on}");
    assert_eq!(seen[0].get("tracestate"), None);
    let before = collector.spans().len();
    let seen = called(&mut with(), "echo", &json!({ "traceparent": parent("00") }));
    let passed_on = seen[0]["traceparent"].as_str().unwrap();
    assert!(
        passed_on.starts_with(&format!("00-{TRACE}-")) && passed_on.ends_with("-00"),
        "{passed_on}"
    );
    assert!(!passed_on.contains(CALLER));
    assert_eq!(collector.spans().len(), before);
}

#[test]
fn without_telemetry_everything_passes_as_it_is() {
    let meta = json!({ "traceparent": "00-nonsense", "tracestate": [1], "baggage": "x" });
    assert_eq!(called(&mut breakfall(), "echo", &meta), std::slice::from_ref(&meta));
    let mut off = breakfall();
    off.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9").env("OTEL_SDK_DISABLED", "true");
    assert_eq!(called(&mut off, "echo", &meta), std::slice::from_ref(&meta));
    // What is said to every program does not stop this one.
    let mut grpc = breakfall();
    grpc.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    assert_eq!(called(&mut grpc, "echo", &meta), std::slice::from_ref(&meta));
}

#[test]
fn clients_over_http_share_one_exporter_which_sends_what_is_left_at_the_end() {
    let collector = Collector::start();
    let mut guard = breakfall()
        .args(["guard", "--listen", "127.0.0.1:0", "--", "python3", "-c", ECHO])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(guard.stderr.take().unwrap()).lines();
    let welcome = lines.next().unwrap().unwrap();
    let address = welcome.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let post = |session: &str, message: Value| {
        let (message, mut stream) = (message.to_string(), TcpStream::connect(&address).unwrap());
        let length = message.len();
        write!(stream, "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{session}\r\n{message}").unwrap();
        std::io::read_to_string(stream).unwrap()
    };
    for id in 0..2 {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {} });
        let hello = post(
            "",
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }),
        );
        let session = hello.lines().find(|line| line.starts_with("mcp-session-id: ")).unwrap();
        let params = json!({ "name": "echo", "arguments": {} });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        let answer = post(&format!("{session}\r\n"), call);
        assert!(answer.contains("traceparent"), "{answer}");
    }
    let kill = Command::new("kill").arg(guard.id().to_string()).status().unwrap();
    assert!(kill.success() && guard.wait().unwrap().success());
    let names: Vec<_> = collector.spans().into_iter().map(|span| span.name).collect();
    let one = ["execute_tool echo", "tools/call echo"];
    assert_eq!(names, [one, one].concat());
    assert_eq!(collector.metrics().len(), 3);
}

#[test]
fn a_call_that_is_tried_and_those_of_a_chat_are_told_of_too() {
    let collector = Collector::start();
    let tried = breakfall()
        .args(["call", "echo", "{}", "--", "python3", "-c", ECHO])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)
        .output()
        .unwrap();
    assert!(tried.status.success(), "{tried:?}");
    let names = || collector.spans().into_iter().map(|span| span.name).collect::<Vec<_>>();
    assert_eq!(names(), ["execute_tool echo", "tools/call echo"]);
    let folder = std::env::temp_dir().join(format!("breakfall-told-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut chat = breakfall()
        .args(["chat", "--model", "m", "--base-url", &model(), "--", "python3", "-c", ECHO])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)
        .env("XDG_STATE_HOME", &folder)
        .env_remove("OPENAI_API_KEY")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    chat.stdin.take().unwrap().write_all(b"Call it.\n").unwrap();
    assert!(chat.wait().unwrap().success());
    let one = ["execute_tool echo", "tools/call echo"];
    assert_eq!(names(), [one, one].concat());
    std::fs::remove_dir_all(folder).unwrap();
}

/// The address of a model that calls the tool once and is done.
fn model() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let call = json!({ "index": 0, "id": "a", "function": { "name": "echo", "arguments": "{}" } });
    let answers = [json!({ "tool_calls": [call] }), json!({ "content": "Done." })];
    std::thread::spawn(move || {
        for (delta, stream) in answers.into_iter().zip(listener.incoming()) {
            let mut stream = stream.unwrap();
            let mut input = BufReader::new(stream.try_clone().unwrap());
            let (mut line, mut length) = (String::new(), 0);
            while input.read_line(&mut line).unwrap() > 2 {
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            input.read_exact(&mut vec![0; length]).unwrap();
            let choice = json!({ "delta": delta, "finish_reason": "stop" });
            let body = format!("data: {}\n\n", json!({ "choices": [choice] }));
            let head = "HTTP/1.1 200 OK\r\nconnection: close\r\n";
            write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
        }
    });
    address
}

#[test]
fn a_collector_that_is_not_there_costs_the_client_nothing() {
    let mut command = breakfall();
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");
    assert_eq!(called(&mut command, "echo", &json!({})).len(), 1);
}

#[test]
fn the_doctor_says_whether_the_collector_takes_what_is_sent() {
    let secret = ["hun", "ter2"].concat();
    let collector = Collector::start();
    let doctor = |protocol: &str| {
        let output = breakfall()
            .args(["doctor", "--", "python3", "-c", ECHO])
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)
            .env("OTEL_EXPORTER_OTLP_HEADERS", format!("x-key={secret}"))
            .env("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains(&secret) && !text.contains(&collector.url), "{text}");
        text
    };
    let text = doctor("http/protobuf");
    assert!(text.contains("ok    telemetry: the collector takes what is sent\n"), "{text}");
    assert!(collector.sent().iter().all(|sent| sent.headers.contains(&secret)));
    collector.is(Mood::Refuses("401 Unauthorized"));
    let text = doctor("http/protobuf");
    assert!(
        text.contains("warn  telemetry: the collector does not take spans: HTTP status 401\n"),
        "{text}"
    );
    let text = doctor("grpc");
    assert!(text.contains("warn  telemetry is off: `OTEL_EXPORTER_OTLP_PROTOCOL` is `grpc`: only `http/protobuf` is spoken"), "{text}");
}
