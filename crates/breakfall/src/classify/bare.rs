//! Errors of a word or two. A word in a sentence may speak of anything; one that is all that is said
//! speaks of what happened.

use super::codes;
use super::decide::Verdict;
use crate::FailureKind;

/// The longest of them.
const LONGEST: usize = 24;

/// The kind of an error that is nothing but a known word, or a status: those that no phrase tells,
/// because they may stand in any sentence.
pub(super) fn bare(text: &str) -> Option<Verdict> {
    let text = short(text)?;
    let lower = text.to_ascii_lowercase();
    let word = lower.strip_prefix("error: ").unwrap_or(&lower);
    let kind = of_a_status(word)
        .or_else(|| of_a_word(word))
        .or_else(|| NOTHING.contains(&word).then_some(FailureKind::Execution))?;
    Some(Verdict::new(kind, "text.bare", text))
}

/// Words that say that it went wrong, and not in which way.
const NOTHING: &[&str] = &[
    "bad", "boom", "broken", "error", "fail", "failed", "failure", "false", "ko", "no", "nok",
    "nope", "not ok", "oops", "wrong",
];

/// Whether an error says no more than that it went wrong: `bad`.
pub(super) fn says_nothing(text: &str) -> bool {
    short(text).is_some_and(|text| NOTHING.iter().any(|word| word.eq_ignore_ascii_case(text)))
}

fn short(text: &str) -> Option<&str> {
    let text = text.trim().trim_end_matches(['.', '!']);
    (!text.is_empty() && text.len() <= LONGEST).then_some(text)
}

fn of_a_status(word: &str) -> Option<FailureKind> {
    let status: u16 = word.strip_prefix("http ").unwrap_or(word).parse().ok()?;
    matches!(status, 400..=599).then(|| codes::http_status(status))
}

fn of_a_word(word: &str) -> Option<FailureKind> {
    use FailureKind as K;
    Some(match word {
        "timeout" | "time-out" => K::Timeout,
        "unauthorised" => K::Authentication,
        "denied" => K::Permission,
        "aborted" => K::Cancelled,
        "eof" | "offline" | "unreachable" | "host down" | "disconnected" => K::Network,
        "maintenance" | "not ready" | "down" => K::Unavailable,
        "busy" | "locked" => K::Conflict,
        "limit reached" => K::RateLimited,
        "killed" | "oom" => K::System,
        "segfault" | "panic" => K::Internal,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_is_all_that_is_said_tells_what_happened() {
        use FailureKind as K;
        for (text, kind) in [
            ("timeout", Some(K::Timeout)),
            ("Error: busy.", Some(K::Conflict)),
            (" 404\n", Some(K::NotFound)),
            ("HTTP 503", Some(K::Upstream)),
            ("429", Some(K::RateLimited)),
            ("200", None),
            ("busy bees", None),
            ("Bad!", Some(K::Execution)),
            ("bad date", None),
            ("", None),
        ] {
            assert_eq!(bare(text).map(|verdict| verdict.kind), kind, "{text}");
        }
    }
}
