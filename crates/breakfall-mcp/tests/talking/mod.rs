//! A client that writes and reads lines, before servers that are started.
#![allow(dead_code, reason = "each test uses its part")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use breakfall::{Checking, Guard, GuardBuilder, Policy};
use breakfall_mcp::{Command, Reach, Server, Servers, Session};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;

/// A client and its session.
pub(crate) struct Client {
    pub(crate) write: WriteHalf<DuplexStream>,
    read: Lines<BufReader<ReadHalf<DuplexStream>>>,
    session: JoinHandle<()>,
    counts: PathBuf,
    next: u64,
}

/// A file of its own, in which servers count what they really do.
pub(crate) fn counts_file() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("breakfall-talking-{}-{number}", std::process::id()))
}

/// A server by its script, which is told where to count, and then this.
pub(crate) fn scripted(key: &str, script: &str, counts: &Path, told: &[&str]) -> Server {
    let script = format!("{}/tests/servers/{script}", env!("CARGO_MANIFEST_DIR"));
    let given = [script, counts.display().to_string()];
    let arguments = given.into_iter().chain(told.iter().map(ToString::to_string)).collect();
    let command = Command { program: "python3".to_owned(), arguments, ..Command::default() };
    Server { key: key.to_owned(), reach: Reach::Command(command), is_trusted: true }
}

/// A guard as servers have it.
pub(crate) fn guard(policy: Policy) -> GuardBuilder {
    Guard::builder().policy(Policy { checking: Checking::Diagnose, ..policy })
}

impl Client {
    /// A client that has said nothing yet.
    pub(crate) fn of(servers: Vec<Server>, guard: GuardBuilder, counts: PathBuf) -> Self {
        Self::with(Servers { servers, ..Servers::default() }, guard, counts)
    }

    /// The same with what is said of the door.
    pub(crate) fn with(servers: Servers, guard: GuardBuilder, counts: PathBuf) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(theirs);
        let session = tokio::spawn(async move {
            Session::serve(servers, guard, None, BufReader::new(read), write).await.unwrap();
        });
        let (read, write) = tokio::io::split(ours);
        Self { write, read: BufReader::new(read).lines(), session, counts, next: 0 }
    }

    /// Says hello, and hears what it is told.
    pub(crate) async fn greet(&mut self, revision: &str, capabilities: Value) -> Value {
        let hello = json!({ "protocolVersion": revision, "capabilities": capabilities });
        let greeting = self.ask("initialize", hello).await;
        self.say(json!({ "method": "notifications/initialized" })).await;
        greeting
    }

    pub(crate) async fn say(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        self.write_line(&message.to_string()).await;
    }

    pub(crate) async fn write_line(&mut self, line: &str) {
        self.write.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// The next line. Half a character is one that nobody can read.
    pub(crate) async fn hear(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(20), self.read.next_line()).await;
        let line = line.expect("a line in time").unwrap().expect("a line");
        serde_json::from_str(&line.replace(r"\ud83d", r"\ufffd")).unwrap()
    }

    pub(crate) async fn start(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        self.say(json!({ "id": self.next, "method": method, "params": params })).await;
        self.next
    }

    /// The answer to a request, and what came before it.
    pub(crate) async fn heard_before(&mut self, id: u64) -> (Value, Vec<Value>) {
        let mut before = Vec::new();
        loop {
            let message = self.hear().await;
            if message["id"] == id && message.get("method").is_none() {
                return (message, before);
            }
            before.push(message);
        }
    }

    /// The answer to a request; everything else on the way is passed over.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        self.heard_before(id).await.0
    }

    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.start(method, params).await;
        self.answer(id).await
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("words: {answer}")).to_owned();
        (text, result["isError"] == true)
    }

    pub(crate) fn counted(&self, what: &str) -> usize {
        let all = std::fs::read_to_string(&self.counts).unwrap_or_default();
        all.lines().filter(|line| *line == what).count()
    }

    pub(crate) async fn leave(mut self) {
        self.write.shutdown().await.unwrap();
        tokio::time::timeout(Duration::from_secs(15), self.session).await.unwrap().unwrap();
        let _ = std::fs::remove_file(&self.counts);
    }
}
