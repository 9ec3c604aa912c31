//! Who may come in, and what is said to who may not.

use std::net::SocketAddr;

use breakfall::{Guard, Policy};
use breakfall_mcp::{Error, Front, Reach, Servers};
use serde_json::{Value, json};

use crate::guarded::{ACCEPT, Client, Counts, Guarded, JSON, MODERN, NEWEST, OLD, local};
use crate::wire::{Response, request, sent};

/// A guard without any server: its tools are not needed to knock at the door.
async fn nobody() -> Guarded {
    Guarded::new(Vec::new()).await
}

fn hello() -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": NEWEST, "capabilities": {} } })
    .to_string()
}

async fn knock(at: SocketAddr, headers: &[(&str, &str)], body: &[u8]) -> Response {
    sent(at, &request("POST", "/mcp", headers, body)).await
}

async fn code(response: &mut Response) -> Value {
    response.answer().await["error"]["code"].clone()
}

#[tokio::test]
async fn a_session_begins_with_a_hello_and_ends_when_the_client_says_so() {
    let guarded = nobody().await;
    let client = guarded.client(NEWEST).await;
    let session = client.session.clone().unwrap();
    assert!(session.len() >= 32 && session.bytes().all(|it| it.is_ascii_graphic()), "{session}");
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
    let nameless = Client { session: None, next: 1.into(), ..client };
    assert_eq!(nameless.start("ping", json!({})).await.status, 400);
    assert_eq!(nameless.listen(None).await.status, 400);
    assert_eq!(nameless.leave().await, 404);
    let unknown = Client { session: Some("f".repeat(32)), ..nameless };
    assert_eq!(unknown.start("ping", json!({})).await.status, 404);
    assert_eq!(unknown.listen(None).await.status, 404);
    let client = Client { session: Some(session), ..unknown };
    assert_eq!(client.leave().await, 200);
    assert_eq!(client.start("ping", json!({})).await.status, 404);
    assert_eq!(client.leave().await, 404);
    guarded.end().await;
}

#[tokio::test]
async fn a_hello_that_the_only_server_refuses_opens_no_session() {
    let counts = Counts::new();
    let mut server = local("rough", &counts);
    if let Reach::Command(command) = &mut server.reach {
        command.arguments.extend(["s", "old"].map(str::to_owned));
    }
    let guarded = Guarded::new(vec![server]).await;
    let mut refused = knock(guarded.at, &[ACCEPT, JSON], hello().as_bytes()).await;
    assert_eq!(refused.header("mcp-session-id"), None);
    assert_eq!(code(&mut refused).await, -32602);
    let client = guarded.client("2024-11-05").await;
    assert_eq!(client.call("write_file", json!({ "content": "abc" })).await.0, "wrote 3");
    guarded.end().await;
}

#[tokio::test]
async fn sites_and_names_that_are_not_this_machines_are_kept_out() {
    let guarded = nobody().await;
    let port = guarded.at.port();
    let (here, there) = (format!("localhost:{port}"), format!("http://localhost:{port}"));
    for (headers, status) in [
        (vec![("Host", &*here)], 200),
        (vec![("Host", "[::1]:80")], 200),
        (vec![("Host", &*here), ("Origin", &*there)], 200),
        (vec![("Host", &*here), ("Origin", "http://127.0.0.1:3000")], 200),
        (vec![("Host", "evil.example.com")], 403),
        (vec![("Host", "localhost.evil.example.com")], 403),
        (vec![("Host", "127.0.0.1.evil.example.com:80")], 403),
        (vec![("Host", "evil.example.com"), ("Origin", "http://evil.example.com")], 403),
        (vec![("Host", &*here), ("Origin", "http://evil.example.com")], 403),
        (vec![("Host", &*here), ("Origin", "https://localhost.evil.example.com")], 403),
        (vec![("Host", &*here), ("Origin", "null")], 403),
        (vec![("Host", "")], 403),
    ] {
        let all: Vec<_> = headers.iter().copied().chain([JSON, ACCEPT]).collect();
        let response = knock(guarded.at, &all, hello().as_bytes()).await;
        assert_eq!(response.status, status, "{headers:?}");
        // Neither may they listen or end what others began.
        if status == 403 {
            for method in ["GET", "DELETE", "OPTIONS"] {
                let response = sent(guarded.at, &request(method, "/mcp", &headers, b"")).await;
                assert_eq!(response.status, status, "{method} {headers:?}");
            }
        }
    }
    guarded.end().await;
}

#[tokio::test]
async fn a_token_opens_the_door_and_nothing_else_does() {
    let token = format!("{}-{}", "opens", "the-door");
    let guarded = Guarded::with(Vec::new(), Some(&token), Policy::default()).await;
    let right = format!("Bearer {token}");
    for (shown, status) in [
        (right.clone(), 200),
        (format!("bearer {token}"), 200),
        (String::new(), 401),
        (format!("Bearer {token}x"), 401),
        (format!("Bearer {}", &token[1..]), 401),
        (format!("Basic {token}"), 401),
        (token.clone(), 401),
    ] {
        let mut headers = vec![JSON, ACCEPT];
        if !shown.is_empty() {
            headers.push(("Authorization", &shown));
        }
        let mut response = knock(guarded.at, &headers, hello().as_bytes()).await;
        assert_eq!(response.status, status, "{shown}");
        if status == 401 {
            assert_eq!(response.header("www-authenticate"), Some("Bearer"));
            assert!(!response.text().await.contains(&token));
        }
    }
    guarded.end().await;
}

#[tokio::test]
async fn nobody_listens_where_all_could_come_without_a_token() {
    let everywhere = SocketAddr::from(([0, 0, 0, 0], 0));
    let listen = |token| Front::listen(everywhere, token, Servers::default(), Guard::builder, None);
    assert!(matches!(listen(None).await, Err(Error::Open { .. })));
    assert!(matches!(listen(Some(String::new())).await, Err(Error::Open { .. })));
    assert!(listen(Some("x".repeat(20))).await.is_ok());
}

#[tokio::test]
async fn what_is_no_message_is_refused_with_the_status_that_says_why() {
    let guarded = nobody().await;
    let body = hello();
    let kind = |kind| vec![("Content-Type", kind), ACCEPT];
    let accept = |accept| vec![JSON, ("Accept", accept)];
    let usual = || vec![JSON, ACCEPT];
    for (headers, body, status) in [
        (kind("text/plain"), body.as_bytes(), 415),
        (kind("application/jsonp"), body.as_bytes(), 415),
        (kind("application/json-seq"), body.as_bytes(), 415),
        (kind("Application/JSON; charset=utf-8"), body.as_bytes(), 200),
        (vec![ACCEPT], body.as_bytes(), 415),
        (accept("text/html"), body.as_bytes(), 406),
        (accept("*/*"), body.as_bytes(), 200),
        (accept("application/json"), body.as_bytes(), 200),
        (usual(), b"", 400),
        (usual(), b"{", 400),
        (usual(), b"null", 400),
        (usual(), b"{\"jsonrpc\":\"2.0\",\"id\":1}", 400),
        (usual(), b"\xff\xfe{}", 400),
        (usual(), b"[]", 400),
        (usual(), format!("[{body},{body}]").as_bytes(), 400),
        (usual(), format!("[{body}]").as_bytes(), 400),
    ] {
        let mut response = knock(guarded.at, &headers, body).await;
        let body = String::from_utf8_lossy(body);
        assert_eq!(response.status, status, "{headers:?} {body}");
        if status != 200 {
            assert!(code(&mut response).await.is_i64(), "{body}");
        }
    }
    let deep = format!("{{\"id\":1,\"method\":\"ping\",\"params\":{}", "[".repeat(1 << 20));
    assert_eq!(knock(guarded.at, &usual(), deep.as_bytes()).await.status, 400);
    for (method, status) in [("PUT", 405), ("OPTIONS", 405), ("HEAD", 405)] {
        let response = sent(guarded.at, &request(method, "/mcp", &[], b"")).await;
        assert_eq!(response.status, status);
        assert_eq!(response.header("allow"), Some("GET, POST, DELETE"));
    }
    assert_eq!(sent(guarded.at, &request("GET", "/", &[], b"")).await.status, 404);
    let client = guarded.client(NEWEST).await;
    let session = client.session.as_deref().unwrap();
    let headers = [("Mcp-Session-Id", session), ("Accept", "application/json")];
    assert_eq!(sent(guarded.at, &request("GET", "/mcp", &headers, b"")).await.status, 406);
    guarded.end().await;
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_before_it_comes() {
    let guarded = nobody().await;
    let told = [JSON, ACCEPT, ("Content-Length", "16777217")];
    assert_eq!(knock(guarded.at, &told, b"").await.status, 413);
    // One that does not say how long it is.
    let head = request(
        "POST",
        "/mcp",
        &[JSON, ACCEPT, ("Transfer-Encoding", "chunked"), ("Content-Length", "")],
        b"",
    );
    let head = String::from_utf8(head).unwrap().replace("Content-Length: \r\n", "");
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, "x".repeat(1 << 20));
    let bytes = head + &chunk.repeat(17);
    assert_eq!(sent(guarded.at, bytes.as_bytes()).await.status, 413);
    // What is large and not too large comes in.
    let client = guarded.client(NEWEST).await;
    let long = client.start("ping", json!({ "long": "x".repeat(15 << 20) })).await;
    assert_eq!(long.status, 200);
    guarded.end().await;
}

#[tokio::test]
async fn headers_beyond_all_bounds_are_refused() {
    let guarded = nobody().await;
    let long = "x".repeat(1 << 20);
    let status = knock(guarded.at, &[JSON, ACCEPT, ("X-Long", &long)], b"{}").await.status;
    assert_eq!(status, 431);
    let many: Vec<_> = (0..500).map(|n| format!("X-{n}")).collect();
    let many: Vec<_> = many.iter().map(|name| (name.as_str(), "x")).collect();
    assert_eq!(knock(guarded.at, &many, b"{}").await.status, 431);
    guarded.end().await;
}

#[tokio::test]
async fn what_is_no_http_harms_nobody() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let guarded = nobody().await;
    let whole = request("POST", "/mcp", &[JSON, ACCEPT], hello().as_bytes());
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc"[..],
        b"GET",
        b"GET /mcp HTTP/9.9\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\nContent-Length: 8\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        &whole[..whole.len() / 2],
        &whole[..whole.len() - 1],
    ] {
        let mut stream = tokio::net::TcpStream::connect(guarded.at).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
        assert!(!rest.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&rest));
    }
    // Two in one breath are two.
    let mut stream = tokio::net::TcpStream::connect(guarded.at).await.unwrap();
    stream.write_all(&[&whole[..], &whole[..]].concat()).await.unwrap();
    let mut stream = tokio::io::BufReader::new(stream);
    for _ in 0..2 {
        let mut response = Response::of(stream).await;
        assert_eq!((response.status, response.answer().await["id"].clone()), (200, json!(1)));
        stream = response.rest();
    }
    guarded.end().await;
}

#[tokio::test]
async fn a_request_that_says_everything_must_say_it_in_its_headers_too() {
    let counts = Counts::new();
    let guarded = Guarded::new(vec![local("talker", &counts)]).await;
    let client = guarded.client(MODERN).await;
    let echo = json!({ "name": "echo", "arguments": { "n": 1 } });
    let message = client.request(&json!(1), "tools/call", echo);
    let mut response = client.post(&message).await;
    assert_eq!((response.status, response.answer().await["id"].clone()), (200, json!(1)));
    let other = [("Mcp-Name", "other")];
    let bytes = String::from_utf8(client.bytes(&message, &[])).unwrap();
    let bytes = bytes.replace("Mcp-Name: echo", &format!("{}: {}", other[0].0, other[0].1));
    let mut response = sent(guarded.at, bytes.as_bytes()).await;
    assert_eq!((response.status, code(&mut response).await), (400, json!(-32020)));
    let mut response = client.start("no/such", json!({})).await;
    assert_eq!((response.status, code(&mut response).await), (404, json!(-32601)));
    let bare = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping", "params": {} });
    let mut response = client.post(&bare).await;
    assert_eq!((response.status, code(&mut response).await), (400, json!(-32602)));
    guarded.end().await;
}

#[tokio::test]
async fn a_client_that_takes_only_events_gets_only_events() {
    let counts = Counts::new();
    let guarded = Guarded::new(vec![local("talker", &counts)]).await;
    let client = guarded.client(OLD).await;
    let message = client.request(&json!(1), "ping", json!({}));
    let bytes = client.bytes(&message, &[("Accept", "text/event-stream")]);
    let mut response = sent(guarded.at, &bytes).await;
    assert!(response.is_events());
    assert_eq!(response.answer().await["id"], 1);
    guarded.end().await;
}
