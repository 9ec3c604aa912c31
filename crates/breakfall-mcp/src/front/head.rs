//! What a request says of itself before it says anything, and the text that it brings.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, StatusCode};

/// The largest body that is taken.
const LARGEST: usize = crate::message::LONGEST;

/// How long a body may take to come.
const COMING: Duration = Duration::from_secs(30);

pub(super) fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The host of `host:port` or of `scheme://host:port`.
pub(super) fn host(authority: &str) -> &str {
    let authority = authority.split_once("://").map_or(authority, |(_, rest)| rest);
    if authority.starts_with('[') {
        return authority.split_inclusive(']').next().unwrap_or_default();
    }
    authority.split(':').next().unwrap_or_default()
}

/// A body as text, or why it is none.
pub(super) async fn whole(
    body: Body,
    length: Option<usize>,
) -> Result<String, (StatusCode, i64, &'static str)> {
    let too_large = || (StatusCode::PAYLOAD_TOO_LARGE, -32600, "a message has at most 16 MiB");
    if length.is_some_and(|length| length > LARGEST) {
        return Err(too_large());
    }
    let coming = axum::body::to_bytes(body, LARGEST);
    let Ok(bytes) = tokio::time::timeout(COMING, coming).await else {
        return Err((
            StatusCode::REQUEST_TIMEOUT,
            -32600,
            "the body took longer than 30 s to come",
        ));
    };
    let no_text = |_| (StatusCode::BAD_REQUEST, -32700, "this body is not UTF-8");
    String::from_utf8(bytes.map_err(|_| too_large())?.into()).map_err(no_text)
}

/// Whether two secrets are the same, in a time that does not tell where they differ.
pub(super) fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_told_from_ports_and_schemes() {
        for (authority, is) in [
            ("localhost:80", "localhost"),
            ("http://127.0.0.1:80", "127.0.0.1"),
            ("[::1]:80", "[::1]"),
            ("evil.example.com", "evil.example.com"),
            ("", ""),
        ] {
            assert_eq!(host(authority), is);
        }
    }
}
