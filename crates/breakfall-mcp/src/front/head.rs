//! The text that a request brings.

use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;

/// The largest body that is taken.
const LARGEST: usize = crate::message::LONGEST;

/// How long a body may take to come.
const COMING: Duration = Duration::from_secs(30);

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
