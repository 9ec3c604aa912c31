//! Codes that mean the same in every language.

use crate::FailureKind;

/// The kind that an HTTP status stands for, where nothing better is known.
pub(crate) fn http_status(status: u16) -> FailureKind {
    use FailureKind as K;
    match status {
        401 | 407 | 511 => K::Authentication,
        402 => K::QuotaExceeded,
        403 | 451 => K::Permission,
        404 | 410 => K::NotFound,
        408 | 504 | 522 | 524 => K::Timeout,
        409 | 423 => K::Conflict,
        412 | 424 | 428 => K::Precondition,
        425 | 429 | 529 => K::RateLimited,
        499 => K::Cancelled,
        507 => K::System,
        400..=499 => K::InvalidArguments,
        500..=599 => K::Upstream,
        _ => K::Execution,
    }
}
