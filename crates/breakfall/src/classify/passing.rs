//! Whether the same call may succeed later, by the words of its error.

use super::decide::Verdict;
use crate::{FailureKind, MayPass};

/// Whether a word begins there, and no longer one that only begins alike: `block`, `in users`.
fn begins_there(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let rest = &text[at..];
    !before.is_some_and(char::is_alphanumeric)
        && !["in user", "lockout", "locker"].iter().any(|longer| rest.starts_with(longer))
}

/// Whether a code tells in every language that something is held for a while: `Aborted` of gRPC,
/// and files that another process of Windows has open.
fn comes_free(verdict: &Verdict) -> bool {
    let words = verdict.words.as_deref().unwrap_or_default();
    match &*verdict.rule {
        "grpc" => words.eq_ignore_ascii_case("aborted"),
        "errno" => matches!(words, "32" | "33"),
        _ => false,
    }
}

/// Could the same call succeed if it were simply repeated?
pub(super) fn may_pass(verdict: &Verdict, text: &str) -> MayPass {
    use FailureKind as K;
    let says = |words: &[&str]| {
        let lower = text.to_ascii_lowercase();
        words.iter().any(|words| lower.match_indices(words).any(|(at, _)| begins_there(&lower, at)))
    };
    match verdict.kind {
        K::Conflict if comes_free(verdict) => MayPass::Yes,
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
            ]) =>
        {
            MayPass::Yes
        }
        K::Network if says(&["temporary failure"]) => MayPass::Yes,
        K::Network
            if says(&[
                "certificate",
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
