//! Which of two pieces of evidence is believed where they tell of different kinds.

use super::decide::{Verdict, is_unauthorized, is_vague};
use crate::FailureKind;

/// Words that are believed against the name of a type.
pub(super) fn stronger(phrase: Option<&Verdict>, sure: Option<&Verdict>) -> Option<Verdict> {
    use FailureKind as K;
    let (phrase, sure) = (phrase?, sure?);
    let believed = match sure.kind {
        // `QueryCanceled` for a statement that took too long, `PermissionError` for a key.
        K::Cancelled => matches!(phrase.kind, K::Timeout),
        // Java has one exception for every file that it cannot open, and says why in brackets.
        K::NotFound => {
            phrase.kind == K::Permission && matches!(&*phrase.rule, "text.denied" | "text.errno")
        }
        K::RateLimited => matches!(phrase.kind, K::QuotaExceeded),
        K::Permission => {
            matches!(phrase.kind, K::RateLimited | K::QuotaExceeded)
                || phrase.rule == "text.password" && !is_unauthorized(phrase)
                || phrase.rule == "text.not-loaded"
        }
        K::Network => {
            matches!(phrase.kind, K::Timeout)
                && phrase.rule == "text.timed-out"
                && sure
                    .words
                    .as_deref()
                    .is_some_and(|w| w.contains("Connection") || w == "ECONNABORTED")
        }
        K::InvalidArguments => {
            // What has one name for every bad argument may say that it is missing or there.
            let argument = sure.words.as_deref().is_some_and(|name| name.contains("Argument"));
            matches!(phrase.kind, K::QuotaExceeded | K::System)
                || argument
                    && matches!(
                        &*phrase.rule,
                        "text.exists" | "text.missing" | "text.missing-file" | "text.no-such"
                    )
        }
        K::Upstream => matches!(phrase.kind, K::RateLimited | K::QuotaExceeded),
        _ => false,
    };
    believed.then(|| phrase.clone())
}

/// A code that services use for every fault of the caller's, or what exactly is at fault.
pub(super) fn specific(code: Verdict, phrase: Option<&Verdict>) -> Verdict {
    let vague = code.rule == "code"
        && code.words.as_deref().is_some_and(|name| {
            is_vague(name) || name.starts_with("InvalidParameter") || name.starts_with("BadRequest")
        });
    let says = phrase.filter(|phrase| {
        matches!(&*phrase.rule, "text.exists" | "text.missing" | "text.missing-file" | "text.spent")
    });
    match says {
        Some(phrase) if vague => phrase.clone(),
        _ => code,
    }
}

/// A phrase, unless it is one of the vaguest and a name tells as much.
pub(super) fn weaker(phrase: Option<Verdict>, otherwise: Option<Verdict>) -> Option<Verdict> {
    match (phrase, otherwise) {
        (Some(phrase), Some(otherwise))
            if matches!(&*phrase.rule, "text.value" | "text.bug" | "text.exit")
                && otherwise.kind == FailureKind::Internal =>
        {
            let argument = phrase.words.as_deref().is_some_and(|w| w.contains("argument must be"));
            Some(if argument { phrase } else { otherwise })
        }
        (phrase, otherwise) => phrase.or(otherwise),
    }
}
