//! HTTP/1.1 by hand, so that nothing is done that a test does not ask for.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// How long anything may take before a test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);

/// The head of a response, and what is still to be read behind it.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    from: BufReader<TcpStream>,
    body: Body,
    /// What came of events that are not whole yet.
    text: String,
}

enum Body {
    Sized(usize),
    Chunked,
    Ended,
}

/// A server-sent event.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) retry: Option<u64>,
    pub(crate) data: String,
}

async fn in_time<T>(doing: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, doing).await.expect("something in time")
}

/// The bytes of a request.
pub(crate) fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        text += "Host: localhost\r\n";
    }
    for (name, value) in headers {
        text.extend([name, ": ", value, "\r\n"]);
    }
    if method == "POST" && !headers.iter().any(|(name, _)| *name == "Content-Length") {
        text.extend(["Content-Length: ", &body.len().to_string(), "\r\n"]);
    }
    let mut bytes = (text + "\r\n").into_bytes();
    bytes.extend(body);
    bytes
}

/// Sends bytes and reads the head of what comes back.
pub(crate) async fn sent(at: SocketAddr, bytes: &[u8]) -> Response {
    let mut stream = TcpStream::connect(at).await.unwrap();
    stream.set_nodelay(true).unwrap();
    // Who is refused early may find the door shut.
    let _ = stream.write_all(bytes).await;
    Response::of(BufReader::new(stream)).await
}

impl Response {
    pub(crate) async fn of(mut from: BufReader<TcpStream>) -> Self {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            let read = in_time(from.read_line(&mut line)).await.unwrap();
            assert!(read > 0, "the connection was closed before the head came: {lines:?}");
            if line.trim().is_empty() {
                break;
            }
            lines.push(line.trim().to_owned());
        }
        let status = lines[0].split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<(String, String)> = lines[1..]
            .iter()
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let mut response = Self { status, headers, from, body: Body::Ended, text: String::new() };
        if response.header("transfer-encoding") == Some("chunked") {
            response.body = Body::Chunked;
        } else if let Some(length) = response.header("content-length") {
            response.body = Body::Sized(length.parse().unwrap());
        }
        response
    }

    /// The connection, behind what was read.
    pub(crate) fn rest(self) -> BufReader<TcpStream> {
        self.from
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn is_events(&self) -> bool {
        self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"))
    }

    /// More of the body, as it comes; nothing at its end.
    async fn chunk(&mut self) -> Option<Vec<u8>> {
        let size = match self.body {
            Body::Sized(size) => {
                self.body = Body::Ended;
                size
            }
            Body::Chunked => {
                let mut line = String::new();
                in_time(self.from.read_line(&mut line)).await.ok()?;
                usize::from_str_radix(line.trim(), 16).ok()?
            }
            Body::Ended => return None,
        };
        let mut bytes = vec![0; size];
        in_time(self.from.read_exact(&mut bytes)).await.ok()?;
        if let Body::Chunked = self.body {
            let mut end = String::new();
            in_time(self.from.read_line(&mut end)).await.ok()?;
            if size == 0 {
                self.body = Body::Ended;
                return None;
            }
        }
        Some(bytes)
    }

    /// The whole body.
    pub(crate) async fn text(&mut self) -> String {
        let mut all = Vec::new();
        while let Some(bytes) = self.chunk().await {
            all.extend(bytes);
        }
        String::from_utf8(all).unwrap()
    }

    /// The next event; nothing at the end of the stream.
    pub(crate) async fn event(&mut self) -> Option<Event> {
        loop {
            while let Some((whole, rest)) = self.text.split_once("\n\n") {
                let (whole, rest) = (whole.to_owned(), rest.to_owned());
                self.text = rest;
                if !whole.trim_start_matches([':', '\n']).is_empty() {
                    return Some(event(&whole));
                }
            }
            let bytes = self.chunk().await?;
            self.text += std::str::from_utf8(&bytes).unwrap();
        }
    }
}

fn event(text: &str) -> Event {
    let mut event = Event::default();
    for line in text.lines() {
        match line.split_once(':').map(|(field, value)| (field, value.trim_start())) {
            Some(("id", id)) => event.id = Some(id.to_owned()),
            Some(("retry", retry)) => event.retry = retry.parse().ok(),
            Some(("data", data)) => event.data += data,
            _ => {}
        }
    }
    event
}
