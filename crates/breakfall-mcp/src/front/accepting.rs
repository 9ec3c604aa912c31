//! Connections, within bounds: so many at once, and none that is opened and says nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// How many connections there may be at once. Who comes then waits until one is closed.
pub(super) const MOST: usize = 1024;

/// How long a request may take to say what it is, and a connection may be open between two.
pub(super) const HEAD: Duration = Duration::from_secs(30);

/// What a connection is to the guard: whoever has no session goes in circles only there.
#[derive(Clone)]
pub(super) struct Run(pub(super) Arc<str>);

impl Run {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(format!("connection {}", NEXT.fetch_add(1, Ordering::Relaxed)).into())
    }
}

/// How long it is waited where the system has no more connections to give.
const SHORT: Duration = Duration::from_millis(100);

/// Serves every connection that comes, for ever.
pub(super) async fn accept(listener: TcpListener, router: Router, most: usize, head: Duration) {
    let places = Arc::new(Semaphore::new(most));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "Connection not accepted");
                tokio::time::sleep(SHORT).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone().layer(Extension(Run::new())));
        tokio::spawn(async move {
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(head);
            let _ = http.serve_connection(TokioIo::new(stream), service).await;
            drop(place);
        });
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    #[tokio::test]
    async fn who_says_nothing_makes_room_for_who_waits() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", axum::routing::get(|| async { "hello" }));
        let serving = tokio::spawn(accept(listener, router, 2, Duration::from_millis(200)));
        let mut silent = TcpStream::connect(address).await.unwrap();
        let mut half = TcpStream::connect(address).await.unwrap();
        half.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nX-Half").await.unwrap();
        let mut third = TcpStream::connect(address).await.unwrap();
        let request = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        third.write_all(request).await.unwrap();
        let mut text = String::new();
        let read = third.read_to_string(&mut text);
        tokio::time::timeout(Duration::from_secs(5), read).await.unwrap().unwrap();
        assert!(text.starts_with("HTTP/1.1 200") && text.ends_with("hello"), "{text}");
        for stream in [&mut silent, &mut half] {
            let mut rest = Vec::new();
            let end = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut rest));
            end.await.unwrap().unwrap();
        }
        serving.abort();
    }
}
