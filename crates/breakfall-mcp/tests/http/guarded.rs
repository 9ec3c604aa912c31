//! A guard that listens, the servers behind it, and clients that come.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use breakfall::{Checking, Config, Guard, GuardBuilder, Policy};
use breakfall_mcp::{Address, Command, Front, Reach, Server, Servers};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::wire::{Event, PATIENCE, Response, request, sent};

pub(crate) const OLD: &str = "2025-06-18";
pub(crate) const NEWEST: &str = "2025-11-25";
pub(crate) const MODERN: &str = "2026-07-28";

/// Where a server writes what it does.
pub(crate) struct Counts(PathBuf);

impl Counts {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("breakfall-http-{}-{number}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    pub(crate) fn of(&self, what: &str) -> usize {
        self.lines().iter().filter(|line| *line == what).count()
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let all = std::fs::read_to_string(&self.0).unwrap_or_default();
        all.lines().map(str::to_owned).collect()
    }

    /// Waits until something was done so often.
    pub(crate) async fn reach(&self, what: &str, times: usize) {
        let began = Instant::now();
        while self.of(what) < times {
            assert!(began.elapsed() < PATIENCE, "{what} not {times} times: {:?}", self.lines());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

impl Drop for Counts {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn script(name: &str) -> String {
    format!("{}/tests/servers/{name}.py", env!("CARGO_MANIFEST_DIR"))
}

/// A server of standard input and output.
pub(crate) fn local(name: &str, counts: &Counts) -> Server {
    let arguments = vec![script(name), counts.0.display().to_string()];
    let command = Command { program: "python3".to_owned(), arguments, ..Command::default() };
    Server { key: name.to_owned(), reach: Reach::Command(command), is_trusted: true }
}

/// A server at an address, in a process that can be killed and started again there.
pub(crate) struct Remote {
    pub(crate) counts: Counts,
    pub(crate) port: u16,
    modes: String,
    process: Child,
}

impl Remote {
    pub(crate) async fn start(modes: &str) -> Self {
        let counts = Counts::new();
        let (process, port) = Self::run(&counts, 0, modes).await;
        Self { counts, port, modes: modes.to_owned(), process }
    }

    async fn run(counts: &Counts, port: u16, modes: &str) -> (Child, u16) {
        let mut process = tokio::process::Command::new("python3")
            .args([&script("remote"), counts.0.to_str().unwrap(), &port.to_string(), modes])
            .stdout(std::process::Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(process.stdout.take().unwrap());
        tokio::time::timeout(PATIENCE, out.read_line(&mut line)).await.unwrap().unwrap();
        (process, line.trim().parse().unwrap())
    }

    pub(crate) async fn kill(&mut self) {
        self.process.kill().await.unwrap();
    }

    pub(crate) async fn restart(&mut self) {
        (self.process, _) = Self::run(&self.counts, self.port, &self.modes).await;
    }

    pub(crate) fn server(&self) -> Server {
        self.with(&[])
    }

    pub(crate) fn with(&self, headers: &[(&str, &str)]) -> Server {
        let url = format!("http://127.0.0.1:{}/mcp", self.port);
        let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let address = Address { url, headers: headers.collect::<BTreeMap<_, _>>() };
        Server { key: "remote".to_owned(), reach: Reach::Address(address), is_trusted: true }
    }
}

pub(crate) fn guard(policy: Policy) -> GuardBuilder {
    Guard::builder().policy(Policy { checking: Checking::Diagnose, ..policy })
}

/// A guard that listens.
pub(crate) struct Guarded {
    pub(crate) at: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
}

impl Guarded {
    pub(crate) async fn new(servers: Vec<Server>) -> Self {
        Self::with(servers, None, Policy::default()).await
    }

    pub(crate) async fn with(servers: Vec<Server>, token: Option<&str>, policy: Policy) -> Self {
        let servers = Servers { servers, ..Servers::default() };
        let given = servers.clone();
        let policy = Policy { checking: Checking::Diagnose, ..policy };
        let guard = move || given.guard(&Config::default()).policy(policy.clone());
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let front = Front::listen(any, token.map(str::to_owned), servers, guard, None);
        let front = front.await.unwrap();
        let at = front.url().strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().parse();
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(async move {
            let until = async {
                let _ = stopped.await;
            };
            front.serve(until).await.unwrap();
        });
        Self { at: at.unwrap(), stop: Some(stop), serving }
    }

    /// A client of a revision, which said hello.
    pub(crate) async fn client(&self, version: &'static str) -> Client {
        let mut client = Client { at: self.at, session: None, version, next: AtomicU64::new(1) };
        if version == MODERN {
            return client;
        }
        let mut response = client.post(&client.hello()).await;
        assert_eq!(response.status, 200);
        client.session = response.header("mcp-session-id").map(str::to_owned);
        let answer = response.answer().await;
        assert!(answer["result"].is_object(), "{answer}");
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(client.post(&told).await.status, 202);
        client
    }

    pub(crate) async fn end(mut self) {
        drop(self.stop.take());
        tokio::time::timeout(PATIENCE, self.serving).await.unwrap().unwrap();
    }
}

/// A client with or without a session.
pub(crate) struct Client {
    pub(crate) at: SocketAddr,
    pub(crate) session: Option<String>,
    pub(crate) version: &'static str,
    pub(crate) next: AtomicU64,
}

pub(crate) const ACCEPT: (&str, &str) = ("Accept", "application/json, text/event-stream");
pub(crate) const JSON: (&str, &str) = ("Content-Type", "application/json");

impl Client {
    pub(crate) fn hello(&self) -> Value {
        json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
            "protocolVersion": self.version, "capabilities": { "elicitation": {} },
            "clientInfo": { "name": "test", "version": "1" } } })
    }

    /// A request with what its era wants in it.
    pub(crate) fn request(&self, id: &Value, method: &str, mut params: Value) -> Value {
        if self.version == MODERN {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
    }

    pub(crate) fn bytes(&self, message: &Value, more: &[(&str, &str)]) -> Vec<u8> {
        let text = |of: &Value| of.as_str().unwrap_or_default().to_owned();
        let (method, name) = (text(&message["method"]), text(&message["params"]["name"]));
        let mut headers = vec![JSON];
        if !more.iter().any(|(name, _)| *name == "Accept") {
            headers.push(ACCEPT);
        }
        if self.version == MODERN {
            headers.extend([("Mcp-Method", &*method), ("Mcp-Name", &*name)]);
        }
        if self.version == MODERN || self.session.is_some() {
            headers.push(("MCP-Protocol-Version", self.version));
        }
        headers.extend(self.session.iter().map(|it| ("Mcp-Session-Id", it.as_str())));
        headers.extend(more);
        headers.retain(|(_, value)| !value.is_empty());
        request("POST", "/mcp", &headers, message.to_string().as_bytes())
    }

    pub(crate) async fn post(&self, message: &Value) -> Response {
        sent(self.at, &self.bytes(message, &[])).await
    }

    pub(crate) fn number(&self) -> Value {
        self.next.fetch_add(1, Ordering::Relaxed).into()
    }

    /// Makes a request; its answer is still to be read.
    pub(crate) async fn start(&self, method: &str, params: Value) -> Response {
        self.post(&self.request(&self.number(), method, params)).await
    }

    pub(crate) async fn ask(&self, method: &str, params: Value) -> Value {
        self.start(method, params).await.answer().await
    }

    pub(crate) async fn calling(&self, tool: &str, arguments: Value) -> Response {
        self.start("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> (String, bool) {
        said(&self.calling(tool, arguments).await.answer().await)
    }

    pub(crate) async fn tell(&self, method: &str, params: Value) {
        let told = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        assert_eq!(self.post(&told).await.status, 202);
    }

    /// Listens, from behind an event on.
    pub(crate) async fn listen(&self, last: Option<&str>) -> Response {
        let mut headers = vec![("Accept", "text/event-stream")];
        headers.extend(self.session.iter().map(|it| ("Mcp-Session-Id", it.as_str())));
        headers.extend(last.iter().map(|it| ("Last-Event-ID", *it)));
        sent(self.at, &request("GET", "/mcp", &headers, b"")).await
    }

    pub(crate) async fn leave(&self) -> u16 {
        let session = self.session.as_deref().unwrap_or_default();
        let headers = [("Mcp-Session-Id", session)];
        sent(self.at, &request("DELETE", "/mcp", &headers, b"")).await.status
    }
}

/// The words of a result, and whether it is an error.
pub(crate) fn said(answer: &Value) -> (String, bool) {
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str();
    (text.unwrap_or_else(|| panic!("words: {answer}")).to_owned(), result["isError"] == true)
}

impl Response {
    /// The next message of a stream, whatever it is.
    pub(crate) async fn message(&mut self) -> Option<Value> {
        loop {
            let Event { data, .. } = self.event().await?;
            if !data.is_empty() {
                return Some(serde_json::from_str(&data).unwrap());
            }
        }
    }

    /// The answer; everything else on the way is passed over.
    pub(crate) async fn answer(&mut self) -> Value {
        if !self.is_events() {
            let text = self.text().await;
            return serde_json::from_str(&text).unwrap_or_else(|_| panic!("JSON: {text}"));
        }
        loop {
            let message = self.message().await.expect("an answer before the end");
            if message.get("method").is_none() {
                return message;
            }
        }
    }
}
