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
    "failed",
    "wrong",
    "incorrect",
    "falsch",
    "ungültig",
    "erforderlich",
    "incorrecta",
    "inválida",
    "obligatoria",
    "incorreta",
    "obrigatória",
    "invalide",
    "requis",
    "неверный",
    "错误",
    // In code.
    "void",
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
    is_stand_in(text)
        || first == '[' && !text.starts_with(super::MARK)
        || text.contains("****")
        || text.contains("xxxxxx")
        || text.chars().all(|c| c == first)
        || masked * 10 >= text.chars().count() * 7
}

/// Whether a text is the name of what would stand there: `$NAME`, `${name}`, `%NAME%`, `<a name>`,
/// `{name}`. A secret may begin with such a sign, too.
fn is_stand_in(text: &str) -> bool {
    let Some(inside) = text.get(1..) else { return false };
    match text.as_bytes().first() {
        Some(b'$') => inside.starts_with(['{', '(', '[']) || is_variable(inside),
        Some(b'%') => inside.ends_with('%') || inside.starts_with(['s', 'v', 'q', 'd', '(', '{']),
        Some(b'<') => tells(inside.split('>').next().unwrap_or_default()),
        Some(b'{') => tells(inside.split('}').next().unwrap_or_default()),
        _ => false,
    }
}

/// Whether a text begins with the name of a variable, and goes on as code does if it goes on.
fn is_variable(text: &str) -> bool {
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let (name, rest) = text.split_at(text.bytes().take_while(|byte| part(byte)).count());
    // Small letters and digits in turn are drawn, or stand for letters.
    let is_mixed = name.bytes().any(|byte| byte.is_ascii_lowercase())
        && name
            .trim_end_matches(|c: char| c.is_ascii_digit())
            .contains(|c: char| c.is_ascii_digit());
    let goes_on = ["->", "[", ".", ":", "(", "{", ")"].iter().any(|sign| rest.starts_with(sign));
    !is_mixed && (rest.is_empty() || goes_on && !name.is_empty())
}

/// Whether a text is made of words and numbers, and not of both at once.
fn tells(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).all(|word| {
        let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
        letters == 0 || letters == word.len()
    })
}

/// What stands in what is no secret, wherever.
static STAND_INS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(["your_", "your-", "placeholder", "abcdefghijklmnop", "changeme", "${", "{{"])
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
        || text
            .split_once('<')
            .and_then(|(_, rest)| rest.split_once('>'))
            .is_some_and(|(it, _)| tells(it))
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
            "$PASSWORD",
            "$password",
            "$db2",
            "$config['password",
            "$this->token",
            "$env:TOKEN",
            "%PASSWORD%",
            "%s",
            "<your key 2>",
            "{db_password}",
            "{0}",
        ] {
            assert!(is_placeholder(text), "{text}");
        }
        for text in [
            "hunter2",
            "correct horse",
            "p4ss-word",
            "$ecretP4ss!9",
            "$uperS3cret",
            "$2b$12$abcdefghijklmn",
            "%Kx9mP2q!",
            "Winter2024<Xk77qz",
            "{Kx9mP2q7}",
            "<Kx9mP2q7>",
        ] {
            assert!(!is_placeholder(text), "{text}");
        }
    }
}
