//! A page with a store behind it, and a client that says exactly what it is told to.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use breakfall::{Call, Guard, Record, Sink, function};
use breakfall_store::{Keep, Keeper, Store};
use breakfall_web::{Opening, Page, Token};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A directory that goes with the test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("breakfall-web-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn place(&self) -> String {
        self.0.join("breakfall.db").display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A guard whose one tool fails with the words that it is given, and what it keeps.
pub(crate) struct Failing {
    guard: Guard,
    kept: Arc<Renamed>,
}

/// Keeps records under names that no guard would let pass: a database may hold anything.
struct Renamed {
    keeper: Keeper,
    tool: String,
    upstream: Arc<str>,
}

impl Sink for Renamed {
    fn take(&self, record: &Record) {
        let mut record = record.clone();
        record.tool.clone_from(&self.tool);
        record.upstream = Some(Arc::clone(&self.upstream));
        self.keeper.take(&record);
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Words {
    words: String,
}

impl Failing {
    pub(crate) fn new(folder: &Folder, tool: &str, upstream: &str) -> Self {
        let keeper = Store::keeper(&folder.place(), "<b>node</b>", Keep::default()).unwrap();
        let kept = Arc::new(Renamed { keeper, tool: tool.to_owned(), upstream: upstream.into() });
        let say = function("say", "Fails.", |Words { words }| async move {
            if words.is_empty() { Ok("fine") } else { Err(std::io::Error::other(words)) }
        });
        let guard = Guard::builder()
            .tool(say)
            .policy(breakfall::Policy::bare())
            .keep_arguments(true)
            .sink(Arc::clone(&kept) as Arc<dyn Sink>)
            .build()
            .unwrap();
        Self { guard, kept }
    }

    /// Fails with words, or succeeds without any, and waits until that is kept.
    pub(crate) async fn fail(&self, run: &str, words: &str) {
        let before = self.kept.keeper.keeping().written;
        let arguments: Value = json!({ "words": words });
        self.guard.handle(Call::new("<i>call</i>", "say", arguments).in_run(run)).await;
        while self.kept.keeper.keeping().written == before {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    fn of(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or_default();
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

/// A page that is shown, and how to reach it.
pub(crate) struct Shown {
    pub(crate) authority: String,
    pub(crate) link: String,
}

pub(crate) async fn show(opening: Opening) -> Shown {
    let page = Page::listen(opening).await.unwrap();
    let shown = Shown { authority: page.address().to_string(), link: page.link().to_owned() };
    tokio::spawn(page.serve(std::future::pending()));
    shown
}

/// A page of a folder's store, with a random token.
pub(crate) async fn page(folder: &Folder) -> Shown {
    let mut opening = Opening::new(folder.place(), Token::random().unwrap());
    opening.looks = Duration::from_millis(20);
    show(opening).await
}

impl Shown {
    pub(crate) fn token(&self) -> &str {
        self.link.split_once("?token=").unwrap().1
    }

    /// A request as it is written, with `Host` where none is given.
    pub(crate) async fn ask(&self, line: &str, headers: &[&str], body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.authority).await.unwrap();
        let mut request = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|header| header.starts_with("Host:")) {
            request.extend(["Host: ", &self.authority, "\r\n"]);
        }
        for header in headers {
            request.extend([header, "\r\n"]);
        }
        request.extend(["Content-Length: ", &body.len().to_string(), "\r\n\r\n", body]);
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut text = Vec::new();
        let reading = stream.read_to_end(&mut text);
        let _ = tokio::time::timeout(Duration::from_secs(20), reading).await.unwrap();
        Answer::of(&String::from_utf8_lossy(&text))
    }

    /// The cookie that the link gives.
    pub(crate) async fn cookie(&self) -> String {
        let answer = self.ask(&format!("GET /?token={}", self.token()), &[], "").await;
        let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap();
        format!("Cookie: {cookie}")
    }

    /// A page, as a browser with the cookie sees it.
    pub(crate) async fn see(&self, path: &str) -> Answer {
        let cookie = self.cookie().await;
        self.ask(&format!("GET {path}"), &[&cookie], "").await
    }
}

/// The first fingerprint on a page.
pub(crate) fn fingerprint(page: &str) -> String {
    page.split("/groups/1-").nth(1).map(|rest| format!("1-{}", &rest[..16])).unwrap()
}
