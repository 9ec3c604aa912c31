//! How random a text is, and what only stands in for a secret.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind};

/// Bits a character, by Shannon.
pub(super) fn entropy(text: &str) -> f32 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "a text is short")]
    let length = text.len() as f32;
    let mut bits = 0.0;
    for &count in counts.iter().filter(|count| **count > 0) {
        #[expect(clippy::cast_precision_loss, reason = "a text is short")]
        let share = count as f32 / length;
        bits -= share * share.log2();
    }
    bits
}

/// Words that stand where a secret would.
const WORDS: &[&str] = &[
    "null",
    "none",
    "nil",
    "true",
    "false",
    "undefined",
    "empty",
    "missing",
    "required",
    "requires",
    "expects",
    "needs",
    "cannot",
    "option",
    "flag",
    "argument",
    "invalid",
    "expired",
    "revoked",
    "string",
    "str",
    "text",
    "number",
    "integer",
    "boolean",
    "object",
    "array",
    "hidden",
    "masked",
    "redacted",
    "secret",
    "password",
    "passwd",
    "token",
    "bearer",
    "basic",
    "oauth",
    "error",
    "unknown",
    "denied",
    "optional",
    "blank",
    "set",
    "unset",
    "not",
    "is",
    "was",
    "has",
    "must",
    "the",
    "a",
    "for",
    "in",
    "and",
    "or",
    "of",
    "to",
    "yes",
    "no",
    "ok",
    "changeme",
    "example",
    "test",
    "your",
    "value",
    "default",
    "key",
    "auth",
    "sha256",
    "sha512",
    "md5",
    "on",
    "off",
    "strong",
    "weak",
    // In code.
    "await",
    "async",
    "new",
    "function",
    "lambda",
    "yield",
    "return",
    "typeof",
];

/// Whether a text of a secret's shape is none: a variable, a mask, one character.
pub(super) fn is_mask(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return true };
    let masked = text
        .chars()
        .filter(|c| matches!(c, '*' | '#' | 'x' | 'X' | '.' | '\u{2022}' | '-' | '_'))
        .count();
    matches!(first, '$' | '<' | '{')
        || first == '%' && !begins_encoded(text)
        || first == '[' && !text.starts_with(super::MARK)
        || text.contains("****")
        || text.contains("xxxxxx")
        || text.chars().all(|c| c == first)
        || masked * 10 >= text.chars().count() * 7
}

/// Whether a text begins with a sign that is written as `%2B`, and is no variable such as `%ADDRESS%`.
fn begins_encoded(text: &str) -> bool {
    let digits = text.as_bytes().get(1..3);
    digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) && !text.ends_with('%')
}

/// What stands in what is no secret, wherever.
static STAND_INS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(["your_", "your-", "placeholder", "abcdefghijklmnop", "changeme", "<", "${", "{{"])
        .ok()
});

/// Whether a text in a secret's place only stands in for one: also a word or an example.
pub(super) fn is_placeholder(text: &str) -> bool {
    let text = text.trim_matches(|c: char| matches!(c, '"' | '\'' | '`' | '(' | ')' | '.' | ','));
    let text = text.trim_end_matches(']');
    let begins = |with: &str| {
        text.as_bytes().get(..with.len()).is_some_and(|b| b.eq_ignore_ascii_case(with.as_bytes()))
    };
    let ending = text.len().checked_sub("example".len()).and_then(|at| text.as_bytes().get(at..));
    is_mask(text)
        || WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
        || ["process.env", "os.environ", "env.", "os.getenv"].iter().any(|with| begins(with))
        || STAND_INS.as_ref().is_some_and(|stand_ins| stand_ins.is_match(text))
        || ending.is_some_and(|ending| ending.eq_ignore_ascii_case(b"example"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_that_of_shannon() {
        assert!(entropy("aaaa").abs() < 0.001);
        assert!((entropy("abcd") - 2.0).abs() < 0.001);
        assert!((entropy("aabb") - 1.0).abs() < 0.001);
    }

    #[test]
    fn stand_ins_are_no_secrets() {
        for text in [
            "",
            "null",
            "${TOKEN}",
            "<token>",
            "****",
            "xxxxxxxx",
            "your_api_key",
            "sk_test_****1234",
            "$(cat x)",
        ] {
            assert!(is_placeholder(text), "{text}");
        }
        for text in ["hunter2", "correct horse", "p4ss-word"] {
            assert!(!is_placeholder(text), "{text}");
        }
    }
}
