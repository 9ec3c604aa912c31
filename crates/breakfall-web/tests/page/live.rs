//! What is new reaches who looks.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::browser::{Failing, Folder, Shown, page};

/// A stream of events, and what came so far.
struct Listening {
    stream: TcpStream,
    text: String,
}

async fn listen(page: &Shown, cookie: &str) -> Listening {
    let mut stream = TcpStream::connect(&page.authority).await.unwrap();
    let request = format!("GET /live HTTP/1.1\r\nHost: {}\r\n{cookie}\r\n\r\n", page.authority);
    stream.write_all(request.as_bytes()).await.unwrap();
    Listening { stream, text: String::new() }
}

impl Listening {
    /// Reads until something is there.
    async fn until(&mut self, words: &str) {
        let mut part = [0; 4096];
        while !self.text.contains(words) {
            let read = tokio::time::timeout(Duration::from_secs(20), self.stream.read(&mut part));
            let read = read.await.unwrap_or_else(|_| panic!("no {words}: {}", self.text)).unwrap();
            assert_ne!(read, 0, "no {words}: {}", self.text);
            self.text += &String::from_utf8_lossy(&part[..read]);
        }
    }
}

#[tokio::test]
async fn a_new_failure_arrives_at_everybody_who_looks() {
    let folder = Folder::new();
    let page = page(&folder).await;
    let cookie = page.cookie().await;
    let mut early = listen(&page, &cookie).await;
    early.until("event: hello").await;
    assert!(early.text.starts_with("HTTP/1.1 200"), "{}", early.text);
    assert!(early.text.contains("content-type: text/event-stream"), "{}", early.text);

    // There is no store yet: it comes with the first call.
    let failing = Failing::new(&folder, "read\nevent: forged\ndata: x", "files");
    failing.fail("run", "out of luck").await;
    early.until("event: changed").await;
    early.until("\"new\":true").await;
    assert!(!early.text.contains("\nevent: forged"), "{}", early.text);

    let mut late = listen(&page, &cookie).await;
    late.until("event: hello").await;
    failing.fail("run", "out of luck").await;
    for listening in [&mut early, &mut late] {
        listening.until("\"new\":false").await;
    }
    assert!(!late.text.contains("\"new\":true"), "{}", late.text);
}

#[tokio::test]
async fn only_so_many_listen_and_a_place_is_free_when_one_goes() {
    let folder = Folder::new();
    let page = page(&folder).await;
    let cookie = page.cookie().await;
    let mut all = Vec::new();
    for _ in 0..32 {
        let mut one = listen(&page, &cookie).await;
        one.until("event: hello").await;
        all.push(one);
    }
    assert_eq!(page.ask("GET /live", &[&cookie], "").await.status, 503);
    assert_eq!(page.ask("GET /", &[&cookie], "").await.status, 200);
    drop(all.pop());
    let mut again = listen(&page, &cookie).await;
    while !again.text.contains("event: hello") {
        again = listen(&page, &cookie).await;
        again.until("\r\n\r\n").await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        if again.text.starts_with("HTTP/1.1 200") {
            again.until("event: hello").await;
        }
    }
}
