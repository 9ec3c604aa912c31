//! What a server is shown reaches nobody else, whatever it does with it.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use breakfall_mcp::{Reach, Servers};
use serde_json::json;

use crate::guarded::{Client, Counts, Guarded, NEWEST, OLD, Remote, local};

/// Nothing that looks like a secret: only who knows it can find it.
fn secret() -> String {
    format!("{}{}", "plainword", "plainword")
}

async fn said(client: &Client, method: &str, params: serde_json::Value) -> String {
    let mut response = client.start(method, params).await;
    let headers = format!("{:?}", response.headers);
    headers + &response.text().await
}

#[tokio::test]
async fn what_a_server_echoes_of_its_headers_is_not_passed_on() {
    let remote = Remote::start("").await;
    let shown = format!("Bearer {}", secret());
    let guarded = Guarded::new(vec![remote.with(&[("Authorization", &shown)])]).await;
    let client = guarded.client(OLD).await;
    let called =
        |arguments: &serde_json::Value| json!({ "name": "refuse", "arguments": arguments });
    for arguments in [
        json!({ "status": 401, "body": "$SHOWN", "headers": { "www-authenticate": shown } }),
        json!({ "status": 403, "body": "$SHOWN" }),
        json!({ "status": 500, "body": "$SHOWN" }),
        json!({ "status": 200, "body": "$SHOWN" }),
    ] {
        let text = said(&client, "tools/call", called(&arguments)).await;
        assert!(!text.contains(&secret()), "{arguments} {text}");
    }
    let text = said(&client, "resources/read", json!({ "uri": "x://y" })).await;
    assert!(!text.contains(&secret()), "{text}");
    assert!(remote.counts.of("header authorization") > 0);
    guarded.end().await;
}

#[tokio::test]
async fn a_refused_greeting_tells_nobody_what_was_shown() {
    let remote = Remote::start("locked").await;
    let shown = format!("Bearer {}", secret());
    let guarded = Guarded::new(vec![remote.with(&[("Authorization", &shown)])]).await;
    let client = Client { at: guarded.at, session: None, version: NEWEST, next: 1.into() };
    let mut response = client.post(&client.hello()).await;
    assert_eq!(response.status, 401);
    let headers = format!("{:?}", response.headers);
    assert!(headers.contains("resource_metadata"), "{headers}");
    let text = headers + &response.text().await;
    assert!(!text.contains(&secret()), "{text}");
    // And the session that came to nothing is gone.
    guarded.end().await;
}

/// Keeps what is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl tracing::Subscriber for Log {
    fn enabled(&self, of: &tracing::Metadata<'_>) -> bool {
        of.target().starts_with("breakfall")
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        struct Words<'l>(&'l mut String);
        impl tracing::field::Visit for Words<'_> {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn Debug) {
                let _ = writeln!(self.0, "{field} {value:?}");
            }
        }
        event.record(&mut Words(&mut self.0.lock().unwrap()));
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test]
async fn no_log_tells_what_was_shown() {
    let log = Log::default();
    // For all tests of this program: one that is set for a thread misses what others saw first.
    tracing::subscriber::set_global_default(log.clone()).unwrap();
    let shown = format!("Bearer {}", secret());
    let (counts, remote) = (Counts::new(), Remote::start("locked").await);
    let locked = remote.with(&[("Authorization", &shown)]);
    let guarded = Guarded::new(vec![locked, local("talker", &counts)]).await;
    let client = guarded.client(OLD).await;
    assert!(client.call("remote__echo", json!({})).await.1);
    guarded.end().await;
    let remote = Remote::start("").await;
    let guarded = Guarded::new(vec![remote.with(&[("Authorization", &shown)])]).await;
    let client = guarded.client(OLD).await;
    client.call("refuse", json!({ "status": 500, "body": "$SHOWN" })).await;
    guarded.end().await;
    let log = log.0.lock().unwrap();
    assert!(log.contains("no such token") && !log.contains(&secret()), "{log}");
}

#[tokio::test]
async fn variables_stand_for_what_is_shown() {
    let remote = Remote::start(&format!("locked={}", "cargo")).await;
    let url = format!("http://127.0.0.1:{}/mcp", remote.port);
    let file = json!({ "mcpServers": { "x": { "url": url, "headers": {
        "Authorization": "Bearer ${NO_SUCH_VARIABLE:-in-cargo}" } } } });
    let servers = Servers::from_json(&file.to_string(), "a.json").unwrap();
    let Reach::Address(address) = &servers.servers[0].reach else { panic!("an address") };
    assert!(!format!("{address:?} {servers:?}").contains("in-cargo"));
    let guarded = Guarded::new(servers.servers).await;
    let client = guarded.client(NEWEST).await;
    assert_eq!(client.call("echo", json!({})).await.0, "{}");
    guarded.end().await;
}
