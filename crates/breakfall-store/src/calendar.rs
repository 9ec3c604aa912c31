//! Moments as the store counts them, in milliseconds since 1970.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, as the store counts.
pub fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}
