//! One request to a collector: what it takes, and what it would take later.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};

use crate::attributes::cut;
use crate::error::Error;
use crate::settings::Target;

/// How long a connection may take.
const CONNECTING: Duration = Duration::from_secs(5);

/// The most of an answer that is read, and of it that is told.
const ANSWER: usize = 64 << 10;
const TOLD: usize = 200;

/// Why a collector did not take what it was sent.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) why: String,
    pub(crate) later: Later,
}

/// Whether a collector may take later what it does not take now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Later {
    Never,
    Perhaps,
    /// It said when.
    After(Duration),
}

/// Connections to one collector.
#[derive(Clone)]
pub(crate) struct Post {
    client: Client,
    target: Target,
}

impl Post {
    pub(crate) fn to(target: &Target, timeout: Duration) -> Result<Self, Error> {
        // The one that the program has, or ours where it has none.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut client = Client::builder()
            .connect_timeout(CONNECTING.min(timeout))
            .timeout(timeout)
            // Another place must never be told what was meant for this one.
            .redirect(Policy::none());
        if target.url.scheme() == "http" {
            // Nothing is to be verified: a machine without certificates will do.
            client = client.tls_certs_only([]);
        }
        if is_here(target.url.host_str().unwrap_or_default()) {
            client = client.no_proxy();
        }
        match client.build() {
            Ok(client) => Ok(Self { client, target: target.clone() }),
            Err(error) => Err(Error::Connection { why: told(error) }),
        }
    }

    /// Sends a message; what came back for it.
    pub(crate) async fn send(&self, body: Vec<u8>) -> Result<Vec<u8>, Refused> {
        let request = self
            .client
            .post(self.target.url.clone())
            .headers(self.target.headers.clone())
            .header(CONTENT_TYPE, "application/x-protobuf")
            .body(body);
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => return Err(Refused { why: told(error), later: Later::Perhaps }),
        };
        let status = response.status();
        if status.is_success() {
            return Ok(answer(response).await);
        }
        let wait = response.headers().get(RETRY_AFTER).and_then(|it| it.to_str().ok());
        let wait = wait.and_then(breakfall::retry_after);
        let later = match status.as_u16() {
            429 | 502 | 503 | 504 => wait.map_or(Later::Perhaps, Later::After),
            _ => Later::Never,
        };
        Err(Refused { why: format!("HTTP status {}", status.as_u16()), later })
    }
}

/// What came, as far as it is worth reading.
async fn answer(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        if body.len() + chunk.len() > ANSWER {
            return Vec::new();
        }
        body.extend_from_slice(&chunk);
    }
    body
}

/// Whether a host is this machine, to which no proxy leads.
fn is_here(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse().is_ok_and(|it: std::net::IpAddr| it.is_loopback())
}

/// What went wrong, with its causes and without the address: it may hold a secret.
fn told(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause.filter(|_| text.len() < TOLD) {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    cut(&text, TOLD).to_owned()
}

/// Words of a collector's, for a log.
pub(crate) fn words(text: &str) -> String {
    cut(text, TOLD).chars().filter(|c| !c.is_control()).collect()
}
