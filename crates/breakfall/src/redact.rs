//! An outcome becomes a [`Report`]: the safe account of a call that both audiences read.
//!
//! Nothing leaves a call but through here. Secrets go first, then length.

mod account;
mod clean;
mod columns;
mod entropy;
mod headers;
mod judge;
mod keys;
mod marks;
mod memory;
mod names;
mod payload;
mod places;
mod problems;
mod report;
mod shapes;
mod stream;
mod variables;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clean::Seen;
pub use clean::is_hidden;
pub use headers::secret_in_header;
use marks::{GONE, MARK, fingerprint, keep_outside_of_marks, replaced};
pub use report::{FailureReport, InsteadReport, ItemReport, OutputReport, Report};
pub use shapes::{Allowlist, SecretRule};
use shapes::{BUILT_IN, Shapes};
pub use stream::RedactingStream;
pub(crate) use variables::SHORTEST;
pub use variables::secrets_in_variable;

use crate::Error;
use crate::config::Dispositions;

/// The most bytes of one text of a failure that are kept for the developer.
const KEPT: usize = 8 << 10;

/// The largest text that is redacted whole.
const LARGE: usize = 512 << 10;

/// How often a redacted text is looked at again.
const ROUNDS: usize = 8;

/// Removes secrets: by shape, by place, and by value.
///
/// ```
/// let redactor = breakfall::Redactor::default();
/// let text = redactor.redact("connect to postgres://bob:hunter2@db failed");
/// assert_eq!(text, "connect to postgres://bob:[redacted:url-password#1dd2]@db failed");
/// ```
#[derive(Clone, Default)]
pub struct Redactor {
    values: Vec<String>,
    rules: Vec<SecretRule>,
    own: Option<Arc<Shapes>>,
    /// Tells redactors apart that look for other secrets; 0 for those that have none of their own.
    number: u64,
}

/// How often a redactor was given something of its own to look for.
static NUMBERED: AtomicU64 = AtomicU64::new(0);

/// A secret found in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span<'s> {
    /// Its first byte.
    pub start: usize,
    /// The byte behind its last.
    pub end: usize,
    /// What kind of secret it is.
    pub name: &'s str,
}

/// What the guard decided for one call: needed to report it.
pub(crate) struct Terms<'a> {
    pub(crate) tool: &'a str,
    pub(crate) dispositions: &'a Dispositions,
    pub(crate) max_output_bytes: usize,
    /// Whether secrets go out of what tools return, too.
    pub(crate) redacts_outputs: bool,
}

impl Redactor {
    /// Removes this exact value wherever it stands. Values of fewer than four bytes are left:
    /// they would tear every text apart. Whether it is looked for.
    pub fn add_value(&mut self, value: impl Into<String>) -> bool {
        let value = value.into();
        if value.len() < 4 {
            return false;
        }
        // The same value as it stands within JSON.
        let written = serde_json::Value::from(value.as_str()).to_string();
        let inside = &written[1..written.len() - 1];
        if inside != value {
            self.values.push(inside.to_owned());
        }
        self.values.push(value);
        self.renumber();
        true
    }

    /// The same, and these values.
    pub(crate) fn and(&self, values: &[String]) -> Cow<'_, Self> {
        let mut all = Cow::Borrowed(self);
        for value in values {
            all.to_mut().add_value(value);
        }
        all
    }

    /// What was found clean before is looked at again.
    fn renumber(&mut self) {
        self.number = NUMBERED.fetch_add(1, Ordering::Relaxed) + 1;
    }

    /// Removes the value of an environment variable wherever it stands, if it is set.
    pub fn add_variable(&mut self, name: &str) {
        if let Ok(value) = std::env::var(name) {
            self.add_value(value);
        }
    }

    /// Adds a rule of the user's own.
    pub fn add_rule(&mut self, rule: SecretRule) -> Result<(), Error> {
        self.add_rules([rule])
    }

    /// Adds rules of the user's own. They are compiled together, once.
    pub fn add_rules(&mut self, rules: impl IntoIterator<Item = SecretRule>) -> Result<(), Error> {
        self.rules.extend(rules);
        if self.rules.is_empty() {
            return Ok(());
        }
        let announced = self.rules.iter().map(SecretRule::announced);
        self.own = Some(Arc::new(Shapes::new(announced.collect::<Result<_, _>>()?, &[])));
        self.renumber();
        Ok(())
    }

    /// Every secret in a text, in order; two rules may find the same one.
    pub fn find(&self, text: &str) -> Vec<Span<'_>> {
        let (mut found, is_encoded) = self.find_as_it_stands(text);
        // What colours or hidden characters part is one where it is read, as is what is written as
        // addresses and pages have it.
        if let Some(seen) = Seen::of(text) {
            self.find_as_seen(text, &seen, &mut found);
        }
        if is_encoded && let Some(decoded) = Seen::decoded(text) {
            self.find_as_seen(text, &decoded, &mut found);
        }
        found.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
        found
    }

    /// The same by what is seen of it.
    fn find_as_seen<'s>(&'s self, text: &str, seen: &Seen, found: &mut Vec<Span<'s>>) {
        found.extend(self.find_as_it_stands(&seen.text).0.into_iter().map(|span| {
            let (start, end) = seen.within(span.start, span.end);
            Span { start, end, ..span }
        }));
        found.retain_mut(|span| keep_outside_of_marks(text, span));
    }

    /// The same by what is written, and whether letters of it may be written otherwise.
    fn find_as_it_stands(&self, text: &str) -> (Vec<Span<'_>>, bool) {
        let mut found = Vec::new();
        for value in &self.values {
            let places = text.match_indices(value.as_str());
            found.extend(places.map(|(at, _)| Span {
                start: at,
                end: at + value.len(),
                name: "value",
            }));
        }
        if let Some(own) = &self.own {
            own.find(text, &mut found, |_, _| {});
        }
        let mut places = places::Search::new(text);
        BUILT_IN.find(text, &mut found, |mark, start| places.look(mark, start));
        found.extend(places.found);
        found.retain_mut(|span| keep_outside_of_marks(text, span));
        (found, places.is_encoded)
    }

    /// The text without its secrets. Equal secrets have equal replacements.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let found = self.find(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut text = replaced(text, &found);
        // Where secrets stand in one another's place, what is left may have a secret's place now.
        let mut rounds = 0;
        loop {
            let found = self.find(&text);
            if found.is_empty() {
                break;
            }
            rounds += 1;
            if rounds > ROUNDS {
                // Made to have no end: nothing of it is worth keeping.
                let whole = Span { start: 0, end: text.len(), name: "text" };
                text = replaced(&text, &[whole]);
                break;
            }
            text = replaced(&text, &found);
        }
        self.without_values(&mut text);
        Cow::Owned(text)
    }

    /// Whether nothing was registered.
    pub(crate) fn has_no_values(&self) -> bool {
        self.values.is_empty()
    }

    /// What was registered goes in any case, even out of what looks like a replacement.
    fn without_values(&self, text: &mut String) {
        for value in &self.values {
            if text.contains(value.as_str()) {
                *text = text.replace(value.as_str(), GONE);
            }
        }
    }

    /// Without secrets, then bounded. Of a very large text only what may be kept is looked at,
    /// and far more on each side of it than a secret is long.
    pub(crate) fn clean(&self, text: String, max: usize) -> String {
        if text.len() > LARGE && max < LARGE / 4 {
            let head = self.redact(bounded(&text, LARGE / 2)).into_owned();
            let tail =
                self.redact(&text[text.ceil_char_boundary(text.len() - LARGE / 2)..]).into_owned();
            let (head, tail) = (
                bounded(&head, max - max / 3),
                &tail[tail.ceil_char_boundary(tail.len().saturating_sub(max / 3))..],
            );
            return format!("{head}{}{tail}", note(text.len()));
        }
        let text = match self.redact_again(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(redacted) => redacted,
        };
        cut_middle(text, max)
    }
}

/// Whether what stands under this name is a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    names::is_secret_name(name)
}

/// The beginning of a text.
pub(crate) fn bounded(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

/// At most `max` bytes with a note of what is missing: head and tail say more than a head alone.
pub(crate) fn cut_middle(text: String, max: usize) -> String {
    if text.len() <= max {
        return text;
    }
    let note = note(size_told(&text).unwrap_or(text.len()));
    let kept = max.saturating_sub(note.len());
    let head = text.floor_char_boundary(kept - kept / 3);
    let tail = text.ceil_char_boundary(text.len() - kept / 3);
    format!("{}{note}{}", &text[..head], &text[tail..])
}

fn note(bytes: usize) -> String {
    format!("{NOTE}{bytes}{IN_ALL}")
}

const NOTE: &str = "…[";
const IN_ALL: &str = " bytes in all]…";

/// How long a text was before it was cut for the first time.
fn size_told(text: &str) -> Option<usize> {
    let end = text.find(IN_ALL)?;
    let start = text[..end].rfind(NOTE)? + NOTE.len();
    let told: usize = text[start..end].parse().ok()?;
    (told > text.len()).then_some(told)
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("rules", &self.rules.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_keeps_head_and_tail_and_tells_the_size() {
        let text = format!("{}{}", "a".repeat(100), "ü".repeat(100));
        let cut = cut_middle(text, 60);
        assert!(cut.starts_with("aaaaaaaaaaaaaaaa") && cut.ends_with("üüüü"), "{cut}");
        assert!(cut.contains("…[300 bytes in all]…") && cut.len() <= 60, "{cut}");
    }

    /// What was cut twice told the size that it had between.
    #[test]
    fn what_is_cut_again_tells_the_size_that_it_had_at_first() {
        let first = cut_middle("a".repeat(10_000), 1_000);
        let second = cut_middle(first, 100);
        assert!(second.contains("…[10000 bytes in all]…") && second.len() <= 100, "{second}");
        let boastful = format!("…[3 bytes in all]…{}", "b".repeat(100));
        assert!(cut_middle(boastful, 60).contains("…[122 bytes in all]…"));
    }

    #[test]
    fn a_secret_that_colours_or_hidden_characters_part_is_one() {
        let mut redactor = Redactor::default();
        redactor.add_value("hunter2-hunter2");
        let token = ["ghp_", "aB3dE5gH7jK9", "\u{200b}", "mN1pQ3sT5vW7xY9zA1bC3dE5"].concat();
        for (text, secret) in [
            ("\u{1b}[1mpassword\u{1b}[0m: \u{1b}[32mTr0ub4dor-9xKqZ\u{1b}[0m no", "Tr0ub"),
            ("\u{1b}[34;1m\"password\"\u{1b}[0m: \u{1b}[0;32m\"Tr0ub4dor\"\u{1b}[0m", "Tr0ub"),
            ("pass\u{200b}word=Tr0ub4dor-9xKqZ no", "Tr0ub"),
            ("it was hunter2\u{1b}[0m-hunter2, no", "hunter2"),
            (&token, "mN1pQ3sT5vW7"),
        ] {
            let redacted = redactor.redact(text);
            assert!(redacted.contains(MARK) && !redacted.contains(secret), "{redacted:?}");
            let (readable, _) = clean::readable(redacted.into_owned());
            assert!(!readable.contains(secret), "{readable:?}");
        }
        let harmless = "\u{1b}[31merror\u{1b}[0m: no such file \u{1b}[1ma/b.c\u{1b}[0m\r\n";
        assert_eq!(redactor.redact(harmless), harmless);
    }

    #[test]
    fn registered_values_go_wherever_they_stand() {
        let mut redactor = Redactor::default();
        redactor.add_value("hunter2");
        redactor.add_value("hunter2-and-more");
        redactor.add_value("abc");
        let text = redactor.redact("x hunter2-and-more y hunter2 abc").into_owned();
        assert!(!text.contains("hunter2") && text.ends_with(" abc"), "{text}");
    }
}
