//! Streams that break, and are taken up again.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::guarded::{Client, Counts, Guarded, NEWEST, OLD, Remote, local, said};
use crate::wire::sent;

/// An answer as a server writes it into a stream.
fn answer(words: &str) -> String {
    let text = json!([{ "type": "text", "text": words }]);
    format!("data: {{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{{\"content\":{text}}}}}\n\n")
}

#[tokio::test]
async fn a_call_goes_on_without_its_client_and_the_answer_is_kept_for_it() {
    let counts = Counts::new();
    let guarded = Guarded::new(vec![local("talker", &counts)]).await;
    let client = guarded.client(NEWEST).await;
    let params = json!({ "name": "slow", "arguments": {}, "_meta": { "progressToken": 1 } });
    let mut call = client.start("tools/call", params).await;
    let first = call.event().await.unwrap();
    assert_eq!((first.data.as_str(), first.retry), ("", Some(500)));
    let first = first.id.unwrap();
    drop(call);
    counts.reach("slow is done", 1).await;
    assert_eq!(counts.of("cancelled"), 0);
    let mut again = client.listen(Some(&first)).await;
    let mut ids = Vec::new();
    for step in 1..=3 {
        let event = again.event().await.unwrap();
        assert!(event.data.contains(&format!("\"progress\":{step}")), "{event:?}");
        ids.push(event.id.unwrap());
    }
    assert_eq!(said(&again.answer().await).0, "done slowly");
    assert!(again.event().await.is_none());
    // As often as it is needed: nobody knows what arrived of what was sent.
    let mut again = client.listen(Some(&ids[2])).await;
    assert_eq!(said(&again.message().await.unwrap()).0, "done slowly");
    guarded.end().await;
}

#[tokio::test]
async fn an_answer_that_was_sent_and_never_arrived_is_still_there() {
    let counts = Counts::new();
    let guarded = Guarded::new(vec![local("talker", &counts)]).await;
    let client = guarded.client(NEWEST).await;
    let mut call = client.calling("slow", json!({})).await;
    let first = call.event().await.unwrap().id.unwrap();
    // The answer is on its way, and then the connection is gone.
    counts.reach("slow is done", 1).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    drop(call);
    let mut again = client.listen(Some(&first)).await;
    let message = tokio::time::timeout(Duration::from_secs(2), again.message()).await;
    assert_eq!(said(&message.unwrap().unwrap()).0, "done slowly");
    guarded.end().await;
}

#[tokio::test]
async fn what_belongs_to_no_request_is_kept_and_said_once() {
    let counts = Counts::new();
    let guarded = Guarded::new(vec![local("talker", &counts)]).await;
    let client = guarded.client(NEWEST).await;
    client.call("talk_later", json!({ "times": 3 })).await;
    counts.reach("talked", 1).await;
    let mut listening = client.listen(None).await;
    let first = listening.event().await.unwrap();
    assert!(first.data.contains("x://0"), "{first:?}");
    let second = listening.event().await.unwrap();
    drop(listening);
    let mut listening = client.listen(second.id.as_deref()).await;
    assert!(listening.event().await.unwrap().data.contains("x://2"));
    // A second connection takes over from the first, which ends.
    let mut newer = client.listen(None).await;
    assert!(listening.event().await.is_none());
    client.call("talk_later", json!({ "times": 1 })).await;
    assert!(newer.event().await.unwrap().data.contains("x://0"));
    // A place that never was is none to wait at.
    let mut far = client.listen(Some("0-99999999")).await;
    client.call("talk_later", json!({ "times": 1 })).await;
    let event = tokio::time::timeout(Duration::from_secs(2), far.event()).await.unwrap();
    assert!(event.unwrap().data.contains("x://0"));
    guarded.end().await;
}

#[tokio::test]
async fn a_stream_that_the_server_breaks_is_taken_up_for_every_client() {
    let remote = Remote::start("").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    for (version, accept) in [
        (OLD, "application/json, text/event-stream"),
        (NEWEST, "application/json, text/event-stream"),
        (OLD, "application/json"),
        (NEWEST, "application/json"),
    ] {
        for breaks in [false, true] {
            let client = guarded.client(version).await;
            let arguments = json!({ "breaks": breaks,
                "events": ["id: e1\nretry: 60\ndata:\n\n"], "later": { "e1": [answer("later")] } });
            let params = json!({ "name": "events", "arguments": arguments });
            let message = client.request(&json!(1), "tools/call", params);
            let bytes = client.bytes(&message, &[("Accept", accept)]);
            let mut call = sent(guarded.at, &bytes).await;
            let answer = if version == NEWEST && call.is_events() {
                taken_up(&client, call).await
            } else {
                call.answer().await
            };
            assert_eq!(said(&answer), ("later".to_owned(), false), "{version} {accept} {breaks}");
        }
    }
    assert_eq!(remote.counts.of("resumed e1"), 8);
    guarded.end().await;
}

#[tokio::test]
async fn a_large_answer_that_is_there_is_no_event() {
    let remote = Remote::start("").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    let client = guarded.client(NEWEST).await;
    for (size, is_event) in [(10, true), (1 << 20, false)] {
        let mut call = client.calling("echo", json!({ "text": "x".repeat(size) })).await;
        assert_eq!(call.is_events(), is_event, "{size}");
        let (text, is_error) = said(&call.answer().await);
        assert!(text.len() > size && !is_error, "{}", text.len());
    }
    guarded.end().await;
}

/// Reads a stream as a client does that comes back for what it missed.
async fn taken_up(client: &Client, mut call: crate::wire::Response) -> serde_json::Value {
    let mut last = None;
    for _ in 0..10 {
        while let Some(event) = call.event().await {
            last = event.id.or(last);
            if !event.data.is_empty() {
                return serde_json::from_str(&event.data).unwrap();
            }
        }
        call = client.listen(last.as_deref()).await;
    }
    panic!("an answer before the tenth time")
}

#[tokio::test]
async fn streams_are_read_however_they_are_written() {
    let remote = Remote::start("").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    let client = guarded.client(NEWEST).await;
    let pretty = "data: {\ndata:   \"jsonrpc\": \"2.0\",\ndata:   \"id\": $ID,\ndata: \"result\":\
        {\"content\":[{\"type\":\"text\",\"text\":\"pretty\"}]}\r\ndata: }\r\n\r\n";
    let garbage = ": x\n\nevent: ping\ndata: {broken\n\ndata\n\nid: \n\ndata: [1,2]\n\n\
        data: {\"id\":424242,\"result\":{}}\n\nretry: -1\n\nretry: 99999999999999999999\n\nx\n\n";
    for (events, text) in [
        (vec![pretty.to_owned()], "pretty"),
        (vec![garbage.to_owned(), answer("after garbage")], "after garbage"),
        (vec![format!("data: [{}]\n\n", &answer("in a batch")[6..].trim_end())], "in a batch"),
        (answer("byte by byte").split_inclusive(':').map(str::to_owned).collect(), "byte by byte"),
    ] {
        let (said, is_error) = client.call("events", json!({ "events": events })).await;
        assert_eq!((said.as_str(), is_error), (text, false));
    }
    assert_eq!(client.call("pretty", json!({})).await, ("pretty".to_owned(), false));
    guarded.end().await;
}

#[tokio::test]
async fn a_stream_without_an_answer_is_answered_for() {
    let remote = Remote::start("").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    for version in [OLD, NEWEST] {
        let client = guarded.client(version).await;
        for arguments in [
            json!({ "events": [] }),
            json!({ "events": ["data: {}\n\n"], "breaks": true }),
            // It can be taken up, and nothing is there.
            json!({ "events": ["id: lost\nretry: 1\ndata:\n\n"] }),
        ] {
            let began = Instant::now();
            let params = json!({ "name": "events", "arguments": arguments });
            let call = client.start("tools/call", params).await;
            let (text, is_error) = said(&taken_up_or_whole(&client, call).await);
            assert!(is_error && text.contains("may have taken effect"), "{arguments} {text}");
            assert!(began.elapsed() < Duration::from_secs(3), "{arguments}");
        }
        assert_eq!(client.call("echo", json!({})).await.0, "{}");
    }
    assert_eq!(remote.counts.of("events"), 6);
    guarded.end().await;
}

async fn taken_up_or_whole(client: &Client, mut call: crate::wire::Response) -> serde_json::Value {
    if client.version == NEWEST && call.is_events() {
        taken_up(client, call).await
    } else {
        call.answer().await
    }
}

#[tokio::test]
async fn an_event_over_all_bounds_is_told_and_what_comes_behind_it_is_heard() {
    let remote = Remote::start("").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    let client = guarded.client(NEWEST).await;
    for arguments in [json!({}), json!({ "last": "id" }), json!({ "last": "nothing" })] {
        let (text, is_error) = client.call("big", arguments).await;
        assert!(is_error && text.contains("longer than 16 MiB"), "{text}");
    }
    assert_eq!(client.call("echo", json!({})).await.0, "{}");
    guarded.end().await;
}

#[tokio::test]
async fn a_server_that_drops_its_stream_again_and_again_is_not_besieged() {
    let remote = Remote::start("dropping").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    let client = guarded.client(NEWEST).await;
    client.call("echo", json!({})).await;
    tokio::time::sleep(Duration::from_millis(600)).await;
    let gets = remote.counts.of("get");
    assert!(gets <= 8, "{gets}");
    // Nor who wants no wait at all.
    let spin = json!({ "events": ["id: e\nretry: 0\ndata:\n\n"],
        "later": { "e": ["id: f\nretry: 0\ndata:\n\n"], "f": ["id: e2\nretry: 0\ndata:\n\n"] } });
    client.calling("events", spin).await;
    guarded.end().await;
}

#[tokio::test]
async fn who_cancelled_a_call_is_not_brought_back_for_its_answer() {
    let counts = Counts::new();
    let guarded = Guarded::new(vec![local("talker", &counts)]).await;
    let client = guarded.client(NEWEST).await;
    let mut listening = client.listen(None).await;
    let hang = json!({ "name": "hang", "arguments": {} });
    let mut call = client.post(&client.request(&json!("mine"), "tools/call", hang)).await;
    let first = call.event().await.unwrap().id.unwrap();
    client.tell("notifications/cancelled", json!({ "requestId": "mine" })).await;
    assert!(call.event().await.is_none());
    // This is how a client understands that there is no such stream. An empty one it would take up
    // again without an id, beside the one on which it listens.
    assert_eq!(client.listen(Some(&first)).await.status, 405);
    client.call("talk_later", json!({ "times": 1 })).await;
    assert_eq!(listening.message().await.unwrap()["params"]["uri"], "x://0");
    guarded.end().await;
}
