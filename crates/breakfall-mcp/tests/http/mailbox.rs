//! Servers that answer on one stream, as the first revision had it.

use futures_util::future::join_all;
use serde_json::json;

use crate::guarded::{Guarded, NEWEST, OLD, Remote, said};

#[tokio::test]
async fn a_server_with_a_mailbox_is_asked_there_and_heard_on_its_stream() {
    let remote = Remote::start("mailbox").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    for revision in [OLD, NEWEST] {
        let client = guarded.client(revision).await;
        let calls = (0..20).map(|n| client.call("once", json!({ "n": n })));
        for (n, said) in join_all(calls).await.into_iter().enumerate() {
            assert_eq!(said, (format!("{{\"n\": {n}}}"), false));
        }
        let mut slow = client.calling("slow", json!({})).await;
        assert_eq!(said(&slow.answer().await), ("done slowly".to_owned(), false));
    }
    assert_eq!(remote.counts.of("once"), 40);
    // Each client has its own.
    assert_eq!(remote.counts.of("initialize"), 2, "{:?}", remote.counts.lines());
    assert_eq!(remote.counts.of("get"), 2);
    guarded.end().await;
}

#[tokio::test]
async fn who_waits_hears_that_the_stream_ended_and_the_next_is_answered_on_another() {
    let remote = Remote::start("mailbox").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    let client = guarded.client(NEWEST).await;
    let (text, is_error) = client.call("drop", json!({})).await;
    assert!(is_error && text.contains("may have taken effect"), "{text}");
    assert_eq!(client.call("once", json!({})).await, ("{}".to_owned(), false));
    assert_eq!((remote.counts.of("drop"), remote.counts.of("once")), (1, 1));
    assert_eq!(remote.counts.of("initialize"), 2);
    guarded.end().await;
}

#[tokio::test]
async fn a_mailbox_at_another_place_is_never_told_anything() {
    let other = Remote::start("").await;
    let place = format!("mailbox=http://localhost:{}/mcp", other.port);
    let remote = Remote::start(&place).await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    let client = guarded.client(NEWEST).await;
    assert!(client.call("once", json!({})).await.1);
    assert_eq!(other.counts.lines(), Vec::<String>::new());
    guarded.end().await;
}
