//! What servers at addresses say, and do not say.

use std::time::{Duration, Instant, SystemTime};

use breakfall::{Policy, Retry};
use breakfall_mcp::Session;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::guarded::{Counts, Guarded, MODERN, NEWEST, OLD, Remote, guard, local, said};
use crate::wire::Response;

#[tokio::test]
async fn a_server_that_wants_to_hear_that_the_client_is_ready_hears_it_first() {
    let remote = Remote::start("strict").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    let client = guarded.client(NEWEST).await;
    assert_eq!(client.call("echo", json!({ "n": 1 })).await, ("{\"n\": 1}".to_owned(), false));
    assert_eq!(remote.counts.of("tools/list"), 1);
    guarded.end().await;
}

#[tokio::test]
async fn a_server_that_answers_what_wants_no_answer_is_not_waited_for() {
    let remote = Remote::start("chatty").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    let began = Instant::now();
    let client = guarded.client(NEWEST).await;
    assert_eq!(client.call("echo", json!({})).await.0, "{}");
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    guarded.end().await;
}

#[tokio::test]
async fn an_address_without_a_server_is_no_fault_of_the_call() {
    let remote = Remote::start("elsewhere").await;
    let (text, is_error) = said(&over_lines(remote.server(), "echo", json!({})).await);
    assert!(is_error && text.starts_with("`echo` cannot be used now."), "{text}");
}

#[tokio::test]
async fn a_session_that_ends_in_a_call_ends_the_call() {
    let remote = Remote::start("").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    let client = guarded.client(NEWEST).await;
    let began = Instant::now();
    let mut hanging = client.calling("hang", json!({})).await;
    remote.counts.reach("hang", 1).await;
    assert_eq!(client.leave().await, 200);
    assert!(hanging.message().await.is_none());
    assert_eq!(remote.counts.of("delete"), 1);
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    guarded.end().await;
}

#[tokio::test]
async fn refusals_are_words_that_a_model_can_act_on() {
    let remote = Remote::start("").await;
    let policy = Policy { retry: Retry::never(), ..Policy::default() };
    let guarded = Guarded::with(vec![remote.server()], None, policy).await;
    let client = guarded.client(OLD).await;
    let html = format!("<html><body>{}</body></html>", "<p>500</p>".repeat(2000));
    let rpc = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32603, "message": "no" } });
    let mut texts = Vec::new();
    for refusal in [
        json!({ "status": 500, "body": html, "kind": "text/html" }),
        json!({ "status": 503, "body": "" }),
        json!({ "status": 429, "headers": { "retry-after": "7" }, "body": "slow down" }),
        json!({ "status": 400, "body": rpc.to_string(), "kind": "application/json" }),
        json!({ "status": 404, "body": "<h1>not here</h1>" }),
        json!({ "status": 200, "body": "<html>a login page</html>", "kind": "text/html" }),
        json!({ "status": 204 }),
        json!({ "status": 202 }),
    ] {
        let (text, is_error) = client.call("refuse", refusal.clone()).await;
        assert!(is_error, "{refusal} {text}");
        assert!(!text.contains("<p>") && text.len() < 2000, "{refusal} {text}");
        texts.push(format!("{}: {text}", refusal["status"]));
    }
    insta::assert_snapshot!(texts.join("\n\n"));
    guarded.end().await;
}

#[tokio::test]
async fn who_is_told_to_come_back_later_does() {
    let remote = Remote::start("").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    let client = guarded.client(NEWEST).await;
    let began = Instant::now();
    let refusal = json!({ "status": 429, "times": 1, "headers": { "retry-after": "1" } });
    let (text, is_error) = client.call("refuse_to_read", refusal).await;
    assert_eq!((text.as_str(), is_error), ("at last", false));
    assert!(began.elapsed() >= Duration::from_secs(1));
    guarded.end().await;
}

#[tokio::test]
async fn a_date_to_come_back_at_is_a_wait() {
    let remote = Remote::start("").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    let client = guarded.client(NEWEST).await;
    let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_hours(2));
    let refusal = json!({ "status": 429, "headers": { "retry-after": date } });
    let (text, is_error) = client.call("refuse", refusal).await;
    assert!(is_error && text.contains("\nWait ") && text.contains(" before calling"), "{text}");
    guarded.end().await;
}

#[tokio::test]
async fn who_may_not_come_in_is_told_as_the_server_told_it() {
    let remote = Remote::start("").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    let challenge = "Bearer error=\"insufficient_scope\", scope=\"files:write\"";
    for version in [OLD, NEWEST] {
        for (status, after) in [(401, 0.0), (403, 0.1)] {
            let client = guarded.client(version).await;
            let refusal = json!({ "status": status, "after": after, "body": "no way",
                "headers": { "www-authenticate": challenge } });
            let mut response = client.calling("refuse", refusal).await;
            assert_eq!(response.status, status, "{version}");
            assert_eq!(response.header("www-authenticate"), Some(challenge));
            assert_eq!(response.text().await, "no way");
        }
    }
    guarded.end().await;
}

#[tokio::test]
async fn one_locked_server_costs_the_others_nothing() {
    let (counts, locked) = (Counts::new(), Remote::start("locked").await);
    let guarded = Guarded::new(vec![locked.server(), local("talker", &counts)]).await;
    let client = guarded.client(OLD).await;
    for method in ["resources/list", "prompts/list", "logging/setLevel"] {
        assert_eq!(client.start(method, json!({})).await.status, 200, "{method}");
    }
    assert_eq!(client.call("talker__echo", json!({})).await.0, "{}");
    let mut refused = client.calling("remote__echo", json!({})).await;
    assert_eq!(refused.status, 200);
    assert!(said(&refused.answer().await).1);
    guarded.end().await;
}

/// A client of standard input and output whose only server is at an address.
async fn over_lines(server: breakfall_mcp::Server, tool: &str, arguments: Value) -> Value {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(theirs);
    let servers = breakfall_mcp::Servers { servers: vec![server], ..Default::default() };
    let serve =
        Session::serve(servers, guard(Policy::default()), None, BufReader::new(read), write);
    let session = tokio::spawn(async move { serve.await.unwrap() });
    let (read, mut write) = tokio::io::split(ours);
    let mut lines = BufReader::new(read).lines();
    let hello = json!({ "protocolVersion": OLD, "capabilities": {} });
    let call = json!({ "name": tool, "arguments": arguments });
    let mut answer = Value::Null;
    for (id, method, params) in [(1, "initialize", hello), (2, "tools/call", call)] {
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        write.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        while answer["id"] != id {
            answer = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
        }
    }
    write.shutdown().await.unwrap();
    tokio::time::timeout(Duration::from_secs(5), session).await.unwrap().unwrap();
    answer
}

#[tokio::test]
async fn over_lines_who_may_not_come_in_is_told_in_a_result() {
    let remote = Remote::start("locked").await;
    let (text, is_error) = said(&over_lines(remote.server(), "echo", json!({})).await);
    assert!(is_error, "{text}");
    let open = Remote::start("").await;
    let refusal = json!({ "status": 401, "headers": { "www-authenticate": "Bearer" } });
    let (later, is_error) = said(&over_lines(open.server(), "refuse", refusal).await);
    assert!(is_error, "{later}");
    insta::assert_snapshot!(format!("{text}\n\n{later}"));
}

#[tokio::test]
async fn a_server_may_ask_the_client_in_the_stream_of_a_call() {
    let remote = Remote::start("").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    for version in [OLD, NEWEST] {
        let client = guarded.client(version).await;
        let mut call = client.calling("ask", json!({})).await;
        let question = call.message().await.unwrap();
        assert_eq!(question["method"], "elicitation/create");
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "is": "me" } });
        assert_eq!(client.post(&answer).await.status, 202);
        assert_eq!(said(&call.answer().await).0, "{\"is\": \"me\"}");
    }
    guarded.end().await;
}

#[tokio::test]
async fn a_server_that_hangs_is_answered_for_and_told_to_stop() {
    let remote = Remote::start("").await;
    let policy = Policy {
        attempt_timeout: Duration::from_millis(200),
        retry: Retry::never(),
        ..Policy::default()
    };
    let guarded = Guarded::with(vec![remote.server()], None, policy).await;
    let client = guarded.client(NEWEST).await;
    let (text, is_error) = client.call("hang", json!({})).await;
    assert!(is_error && text.starts_with("`hang` gave no answer within 200 ms"), "{text}");
    remote.counts.reach("notifications/cancelled", 1).await;
    assert_eq!(client.call("echo", json!({})).await.0, "{}");
    guarded.end().await;
}

#[tokio::test]
async fn progress_keeps_a_slow_call_alive_and_comes_under_the_clients_token() {
    let remote = Remote::start("").await;
    let policy = Policy { attempt_timeout: Duration::from_millis(300), ..Policy::default() };
    let guarded = Guarded::with(vec![remote.server()], None, policy).await;
    let client = guarded.client(NEWEST).await;
    let params = json!({ "name": "slow", "arguments": { "step": 0.15 },
        "_meta": { "progressToken": "mine" } });
    let mut call = client.start("tools/call", params).await;
    for step in 0..3 {
        let message = call.message().await.unwrap();
        assert_eq!(message["params"], json!({ "progressToken": "mine", "progress": step }));
    }
    assert_eq!(said(&call.answer().await).0, "done slowly");
    guarded.end().await;
}

#[tokio::test]
async fn the_way_to_the_same_place_is_followed_and_to_another_never() {
    let secret = format!("{}-{}", "meant", "for-one-place");
    let headers = [("Authorization", &*secret), ("X-Key", &*secret)];
    let slash = Remote::start("slash").await;
    let guarded = Guarded::new(vec![slash.with(&headers)]).await;
    let client = guarded.client(NEWEST).await;
    assert_eq!(client.call("echo", json!({ "n": 1 })).await.0, "{\"n\": 1}");
    assert!(slash.counts.of("moved") > 0);
    guarded.end().await;
    let other = Remote::start("").await;
    let away = Remote::start(&format!("away={}", other.port)).await;
    let guarded = Guarded::new(vec![away.with(&headers)]).await;
    let client = guarded.client(NEWEST).await;
    let (text, is_error) = client.call("echo", json!({})).await;
    assert!(is_error && text.starts_with("`echo` cannot be used now"), "{text}");
    assert_eq!(other.counts.lines(), Vec::<String>::new());
    guarded.end().await;
    // What would be read where it should be written is not followed either.
    let found = Remote::start("found").await;
    let guarded = Guarded::new(vec![found.server()]).await;
    let client = guarded.client(NEWEST).await;
    assert!(client.call("echo", json!({})).await.1);
    assert_eq!(found.counts.of("get"), 0);
    guarded.end().await;
}

#[tokio::test]
async fn who_goes_in_circles_without_a_session_goes_alone() {
    let remote = Remote::start("modern").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    let client = guarded.client(MODERN).await;
    let params = json!({ "name": "refuse", "arguments": { "status": 500 } });
    let bytes = client.bytes(&client.request(&json!(1), "tools/call", params), &[]);
    let mut stream = tokio::net::TcpStream::connect(guarded.at).await.unwrap();
    let mut texts = Vec::new();
    for _ in 0..8 {
        stream.write_all(&bytes).await.unwrap();
        let mut response = Response::of(BufReader::new(stream)).await;
        texts.push(said(&response.answer().await).0);
        stream = response.rest().into_inner();
    }
    assert!(texts[2].contains("3rd time"), "{texts:?}");
    let ran = remote.counts.of("refuse");
    assert!(ran < 8, "{ran}");
    // Who comes for the first time is told so.
    let (text, _) = client.call("refuse", json!({ "status": 500 })).await;
    assert_eq!(text, texts[0]);
    guarded.end().await;
}

#[tokio::test]
async fn a_server_without_sessions_is_left_by_who_goes() {
    let remote = Remote::start("modern").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    let client = guarded.client(MODERN).await;
    assert_eq!(client.call("echo", json!({ "n": 1 })).await.0, "{\"n\": 1}");
    let params = json!({ "name": "slow", "arguments": { "steps": 100 },
        "_meta": { "progressToken": 1 } });
    let mut call = client.start("tools/call", params).await;
    assert_eq!(call.message().await.unwrap()["method"], "notifications/progress");
    drop(call);
    remote.counts.reach("nobody listens", 1).await;
    assert_eq!(remote.counts.of("notifications/cancelled"), 0);
    assert_eq!(remote.counts.of("initialize"), 0);
    guarded.end().await;
}

#[tokio::test]
async fn a_server_of_the_other_era_is_told_to_who_comes() {
    let remote = Remote::start("").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    let client = guarded.client(MODERN).await;
    let mut response = client.calling("echo", json!({})).await;
    assert_eq!(response.status, 400);
    let error = response.answer().await["error"].clone();
    assert_eq!(error["code"], -32022);
    guarded.end().await;
}
