//! Whether the same call may succeed later, by the words of its error.

use super::decide::Verdict;
use crate::{FailureKind, MayPass};

/// Longer words that begin alike.
const LONGER: &[&str] = &["in user", "lockout", "locker", "to resolved"];

/// Whether a word begins there, and no longer one that only begins alike: `block`, `in users`; and
/// whether nothing is to be done before: `start it and try again`.
fn begins_there(text: &str, at: usize) -> bool {
    let (before, rest) = text.split_at(at);
    let is_within = before.ends_with(char::is_alphanumeric);
    let is_longer = LONGER.iter().any(|longer| rest.starts_with(longer));
    let is_later = rest.starts_with("try again") && before.ends_with("and ");
    !(is_within || is_longer || is_later)
}

/// Whether a code tells in every language that something is held for a while: `Aborted` of gRPC,
/// and files that another process of Windows has open.
fn comes_free(verdict: &Verdict) -> bool {
    let words = verdict.words.as_deref().unwrap_or_default();
    match &*verdict.rule {
        "grpc" | "code" => words.eq_ignore_ascii_case("aborted"),
        "errno" => matches!(words, "32" | "33"),
        _ => false,
    }
}

/// Words of what is not there yet and comes by itself, or comes back.
const COMING: &[&str] = &[
    "is loading",
    "loading the",
    "loading block",
    "loading model",
    "rebuilding",
    "warming up",
    "starting up",
    "is starting",
    "booting",
    "circuit",
    "breaker",
    "circuitbreaker",
    "short-circuited",
    "safe mode",
    "electing",
    "try again",
    "retry the",
    "again later",
];

/// Could the same call succeed if it were simply repeated?
pub(super) fn may_pass(verdict: &Verdict, text: &str) -> MayPass {
    use FailureKind as K;
    let says = |words: &[&str]| {
        let lower = text.to_ascii_lowercase();
        words.iter().any(|words| lower.match_indices(words).any(|(at, _)| begins_there(&lower, at)))
    };
    match verdict.kind {
        K::Conflict if comes_free(verdict) || verdict.rule == "text.under-way" => MayPass::Yes,
        // Who holds a name keeps it.
        K::Conflict if says(&["rename", "different name", "another name", "reuse that name"]) => {
            MayPass::No
        }
        K::Conflict
            if says(&[
                "lock",
                "locked",
                "busy",
                "deadlock",
                "in use",
                "in-progress",
                "in progress",
                "serialize",
                "another process",
                "temporarily",
                "contention",
                "another transaction",
                "another request",
                "try again",
                "retry the",
                "retry your",
            ]) =>
        {
            MayPass::Yes
        }
        K::Unavailable if verdict.rule == "text.pending" || says(COMING) => MayPass::Yes,
        // It is as large the next time.
        K::RateLimited | K::Upstream if says(&["larger than max", "too large"]) => MayPass::No,
        K::Network if says(&["temporary failure"]) => MayPass::Yes,
        K::Network
            if says(&[
                "certificate",
                "certification path",
                "trust anchor",
                "err_cert",
                "name_not_resolved",
                "unknown host",
                "unknownhost",
                "ssl: ",
                "ssl routines",
                "ssl handshake",
                "ssl error",
                "sslerror",
                "sslv",
                "wrong version number",
                "not known",
                "enotfound",
                "not resolve",
                "n't resolve",
                "to resolve",
                "resolve host",
                "resolving",
                "resolution",
                "no such host",
                "dns",
                "translate host",
            ]) =>
        {
            MayPass::No
        }
        kind => kind.may_pass(),
    }
}
