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
        // Who closed a connection may say that it was for a token.
        K::Network if phrase.rule == "text.token" => true,
        // All that may go wrong with SSH has one name, and a bad key is no bad line.
        K::Network if sure.words.as_deref().is_some_and(|name| name.ends_with("SSHException")) => {
            matches!(&*phrase.rule, "text.format" | "text.password")
        }
        K::Network => {
            matches!(phrase.kind, K::Timeout)
                && phrase.rule == "text.timed-out"
                && sure
                    .words
                    .as_deref()
                    .is_some_and(|w| w.contains("Connection") || w == "ECONNABORTED")
        }
        K::Authentication => {
            // A file that credentials were to be read from.
            let is_file =
                matches!(&*phrase.rule, "text.missing-file" | "text.missing" | "text.no-such")
                    && sure.words.as_deref().is_some_and(|name| name.contains("Credential"));
            is_file || outspeaks(Some(phrase), sure)
        }
        K::InvalidArguments => {
            // What has one name for every bad argument may say that it is missing or there.
            let argument = sure.words.as_deref().is_some_and(|name| {
                ["Argument", "InvalidRequest", "BadRequest"]
                    .iter()
                    .any(|vague| name.contains(vague))
            });
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

/// Whether words tell what is not permitted, where a name says no more than `Unauthorized`: who did
/// not log in and who may not do a thing are both called so.
pub(super) fn outspeaks(phrase: Option<&Verdict>, name: &Verdict) -> bool {
    is_unauthorized(name)
        && phrase.is_some_and(|phrase| {
            phrase.kind == FailureKind::Permission && !is_unauthorized(phrase)
        })
}

/// How the models of answers are called.
const ANSWERS: &[&str] = &["output", "result", "response", "reply"];

/// A model that is called after an answer does not fit what the tool itself made.
pub(super) fn of_an_answer(phrase: Verdict, said: &str) -> Verdict {
    let behind = phrase.place.as_ref().filter(|_| phrase.rule == "text.schema");
    let behind = behind.and_then(|place| said.get(place.end..)).unwrap_or_default();
    let model = behind.split_whitespace().next().unwrap_or_default();
    let model = model.to_ascii_lowercase();
    if ANSWERS.iter().any(|answer| model.ends_with(answer)) {
        return Verdict { kind: FailureKind::InvalidOutput, ..phrase };
    }
    phrase
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

/// A code that says no more than that it was given up, or why it was: a client that waited too long,
/// a service that does something else first.
pub(super) fn given_up(code: Verdict, phrase: Option<&Verdict>) -> Verdict {
    let says = match code.words.as_deref() {
        Some("ECONNABORTED") => phrase.filter(|phrase| phrase.rule == "text.timed-out"),
        Some("OperationAborted") => phrase.filter(|phrase| phrase.kind == FailureKind::Conflict),
        _ => None,
    };
    says.cloned().unwrap_or(code)
}

/// A phrase, unless it is one of the vaguest and a name tells as much.
pub(super) fn weaker(
    phrase: Option<Verdict>,
    otherwise: impl FnOnce() -> Option<Verdict>,
) -> Option<Verdict> {
    let Some(phrase) = phrase else { return otherwise() };
    if !matches!(&*phrase.rule, "text.value" | "text.bug" | "text.exit") {
        return Some(phrase);
    }
    match otherwise() {
        Some(otherwise) if otherwise.kind == FailureKind::Internal => {
            let argument = phrase.words.as_deref().is_some_and(|w| w.contains("argument must be"));
            Some(if argument { phrase } else { otherwise })
        }
        _ => Some(phrase),
    }
}
