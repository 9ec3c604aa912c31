//! How well errors are read, harmless texts left alone, and secrets found.

use std::collections::{BTreeMap, BTreeSet};

use breakfall::{Reader, Redactor, silent};

use crate::{Harmless, Labelled, Secret};

/// What came of a set of errors.
#[derive(Debug, Default)]
#[expect(missing_docs, reason = "named for what they count")]
pub struct Errors {
    pub all: usize,
    pub right: usize,
    pub macro_f1: f64,
    pub resources: usize,
    pub resources_right: usize,
    pub waits: usize,
    pub waits_right: usize,
    pub secrets: usize,
    pub secrets_surviving: usize,
    /// Label, answer, how often: the mistakes.
    pub confused: BTreeMap<(String, String), usize>,
}

/// Reads every error.
pub fn errors(
    set: &[Labelled],
    read: impl Fn(&Labelled) -> (String, Option<String>, Option<f64>),
) -> Errors {
    let redactor = Redactor::default();
    let mut score = Errors { all: set.len(), ..Errors::default() };
    let mut by_kind: BTreeMap<&str, [f64; 3]> = BTreeMap::new();
    let mut false_alarms: BTreeMap<String, f64> = BTreeMap::new();
    for error in set {
        let (kind, resource, wait) = read(error);
        let counts = by_kind.entry(&error.kind).or_default();
        if error.accepts(&kind) {
            score.right += 1;
            counts[0] += 1.0;
        } else {
            counts[1] += 1.0;
            *false_alarms.entry(kind.clone()).or_default() += 1.0;
            *score.confused.entry((error.kind.clone(), kind)).or_default() += 1;
        }
        if let Some(expected) = &error.resource {
            score.resources += 1;
            score.resources_right += usize::from(resource.as_ref() == Some(expected));
        }
        if let Some(expected) = error.retry_after_s {
            score.waits += 1;
            score.waits_right +=
                usize::from(wait.is_some_and(|wait| (wait - expected).abs() < 0.01));
        }
        let redacted = redactor.redact(&error.text);
        for secret in error.secrets.iter().flatten() {
            score.secrets += 1;
            score.secrets_surviving += usize::from(redacted.contains(secret.as_str()));
        }
    }
    let f1: Vec<f64> = by_kind
        .iter()
        .map(|(kind, [right, missed, _])| {
            2.0 * right / (2.0 * right + missed + false_alarms.get(*kind).unwrap_or(&0.0))
        })
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "a handful of kinds")]
    let kinds = f1.len().max(1) as f64;
    score.macro_f1 = f1.iter().sum::<f64>() / kinds;
    score
}

/// Breakfall's reading of an error.
pub fn breakfall(reader: &Reader) -> impl Fn(&Labelled) -> (String, Option<String>, Option<f64>) {
    move |error| {
        let reading = reader.read(&error.evidence());
        (
            reading.kind.name().to_owned(),
            reading.resource,
            reading.wait.map(|wait| wait.as_secs_f64()),
        )
    }
}

/// The rule that everybody writes first: the text contains "not found", "timeout", and so on.
pub fn naive(error: &Labelled) -> (String, Option<String>, Option<f64>) {
    (naive_kind(&error.text).unwrap_or("execution").to_owned(), None, None)
}

/// What that rule shouts at a text.
pub fn naive_kind(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    Some(if says(&["not found", "404", "no such"]) {
        "not_found"
    } else if says(&["timeout", "timed out"]) {
        "timeout"
    } else if says(&["permission", "forbidden", "403", "denied"]) {
        "permission"
    } else if says(&["unauthorized", "401", "authentication"]) {
        "authentication"
    } else if says(&["rate limit", "429", "too many requests"]) {
        "rate_limited"
    } else if says(&["connection", "network"]) {
        "network"
    } else if says(&["500", "502", "503", "server error"]) {
        "upstream"
    } else if says(&["invalid", "validation", "400"]) {
        "invalid_arguments"
    } else if says(&["error", "failed", "exception"]) {
        "execution"
    } else {
        return None;
    })
}

/// How many harmless texts were changed by redaction, and how many taken for a silent failure.
pub fn harmless(reader: &Reader, set: &[Harmless]) -> (usize, usize) {
    let redactor = Redactor::default();
    let changed =
        set.iter().filter(|text| redactor.redact(&text.text) != text.text.as_str()).count();
    let taken = set.iter().filter(|text| silent(reader, &text.text).is_some()).count();
    (changed, taken)
}

/// What came of the secrets: how many there are, found, not to be found, and found all the same
/// by the rule that must not.
pub fn secrets(set: &[Secret]) -> [usize; 4] {
    let redactor = Redactor::default();
    let mut counts = [0; 4];
    for secret in set.iter().filter(|secret| secret.path.is_none()) {
        let rules: BTreeSet<&str> =
            redactor.find(&secret.text).iter().map(|span| span.name).collect();
        if secret.expect_match {
            counts[0] += 1;
            counts[1] += usize::from(!rules.is_empty());
        } else {
            counts[2] += 1;
            counts[3] += usize::from(rules.contains(secret.rule.as_str()));
        }
    }
    counts
}
