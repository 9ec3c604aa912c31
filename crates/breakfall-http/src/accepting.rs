//! Connections, within bounds: so many at once, and none that is opened and says nothing, or takes
//! nothing.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::rt::{Read, Write};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

use crate::impatient::Impatient;

/// How long it is waited where the system has no more connections to give.
const SHORT: Duration = Duration::from_millis(100);

/// How much is taken from whom.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How many connections there may be at once. Who comes then waits until one is closed.
    pub most: usize,
    /// How long a request may take to say what it is, and a connection may be open between two.
    pub head: Duration,
    /// How many bytes a request may take to say what it is.
    pub head_bytes: usize,
}

/// Serves every connection that comes, for ever, each with a router of its own.
pub async fn accept(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    bounds: Bounds,
    router: impl Fn() -> Router,
) {
    let places = Arc::new(Semaphore::new(bounds.most));
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
        let (router, tls) = (router(), tls.clone());
        tokio::spawn(async move {
            match tls {
                None => serve(TokioIo::new(stream), router, bounds).await,
                Some(tls) => {
                    let greeting = tokio::time::timeout(bounds.head, tls.accept(stream));
                    if let Ok(Ok(stream)) = greeting.await {
                        serve(TokioIo::new(stream), router, bounds).await;
                    }
                }
            }
            drop(place);
        });
    }
}

async fn serve(stream: impl Read + Write + Unpin, router: Router, bounds: Bounds) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(bounds.head).max_buf_size(bounds.head_bytes);
    let stream = Impatient::new(stream, bounds.head);
    let _ = http.serve_connection(stream, TowerToHyperService::new(router)).await;
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    #[tokio::test]
    async fn who_asks_and_takes_nothing_makes_room_for_who_waits() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let large = "x".repeat(1 << 20);
        let router = Router::new().route("/", axum::routing::get(move || async move { large }));
        let bounds = Bounds { most: 1, head: Duration::from_millis(300), head_bytes: 16 << 10 };
        let serving = tokio::spawn(accept(listener, None, bounds, move || router.clone()));
        let mut greedy = TcpStream::connect(address).await.unwrap();
        for _ in 0..64 {
            greedy.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        }
        let mut other = TcpStream::connect(address).await.unwrap();
        let request = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        other.write_all(request).await.unwrap();
        let mut text = String::new();
        let read = other.read_to_string(&mut text);
        tokio::time::timeout(Duration::from_secs(10), read).await.unwrap().unwrap();
        assert!(text.starts_with("HTTP/1.1 200"), "{}", text.len());
        drop(greedy);
        serving.abort();
    }

    #[tokio::test]
    async fn who_says_nothing_makes_room_for_who_waits() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", axum::routing::get(|| async { "hello" }));
        let bounds = Bounds { most: 2, head: Duration::from_millis(200), head_bytes: 16 << 10 };
        let serving = tokio::spawn(accept(listener, None, bounds, move || router.clone()));
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
