//! Whether the same call may succeed later, by the words of its error.

use std::sync::LazyLock;

use super::decide::Verdict;
use crate::keywords::Keywords;
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

/// Words that tell whether something passes: looked for behind one scan.
struct Saying {
    words: Keywords,
}

impl Saying {
    fn new(words: &[&'static str]) -> Self {
        Self { words: Keywords::new(words.iter().copied(), true) }
    }

    /// Whether one of them stands in a text, where a word begins.
    fn is_said_in(&self, text: &str) -> bool {
        let mut lower: Option<String> = None;
        let mut is_said = false;
        self.words.each(text, |_, start, _| {
            let lower = lower.get_or_insert_with(|| text.to_ascii_lowercase());
            is_said = is_said || begins_there(lower, start);
        });
        is_said
    }
}

/// Words of what is not there yet and comes by itself, or comes back.
static COMING: LazyLock<Saying> = LazyLock::new(|| {
    Saying::new(&[
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
    ])
});

/// Who holds a name keeps it.
static NAMED: LazyLock<Saying> =
    LazyLock::new(|| Saying::new(&["rename", "different name", "another name", "reuse that name"]));

/// What is held for a while.
static HELD: LazyLock<Saying> = LazyLock::new(|| {
    Saying::new(&[
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
    ])
});

/// What is as large the next time.
static LARGE: LazyLock<Saying> = LazyLock::new(|| Saying::new(&["larger than max", "too large"]));

/// A name that nobody finds for now.
static FOR_NOW: LazyLock<Saying> = LazyLock::new(|| Saying::new(&["temporary failure"]));

/// A host that is not there, or not to be trusted.
static NOWHERE: LazyLock<Saying> = LazyLock::new(|| {
    Saying::new(&[
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
    ])
});

/// Could the same call succeed if it were simply repeated?
pub(super) fn may_pass(verdict: &Verdict, text: &str) -> MayPass {
    use FailureKind as K;
    match verdict.kind {
        K::Conflict if comes_free(verdict) || verdict.rule == "text.under-way" => MayPass::Yes,
        K::Conflict if NAMED.is_said_in(text) => MayPass::No,
        K::Conflict if HELD.is_said_in(text) => MayPass::Yes,
        K::Unavailable if verdict.rule == "text.pending" || COMING.is_said_in(text) => MayPass::Yes,
        K::RateLimited | K::Upstream if LARGE.is_said_in(text) => MayPass::No,
        K::Network if FOR_NOW.is_said_in(text) => MayPass::Yes,
        K::Network if NOWHERE.is_said_in(text) => MayPass::No,
        kind => kind.may_pass(),
    }
}
