//! Whether what stands in a place for secrets is one.

use super::entropy::{entropy, is_placeholder};
use super::names::PASS;

/// Whether a value may stand under a name that others have, too.
pub(super) fn fits(name: &str, value: &str) -> bool {
    match name {
        PASS => is_no_result(value),
        "pin" => value.bytes().all(|byte| byte.is_ascii_digit()),
        _ => true,
    }
}

/// Whether a value has small and capital letters and digits, and is no path.
pub(super) fn is_mixed(value: &str) -> bool {
    let has = |class: fn(&u8) -> bool| value.as_bytes().iter().any(class);
    has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
        && !value.contains(['/', '.'])
}

/// Whether what stands under `pass` is no count, and no verdict.
fn is_no_result(value: &str) -> bool {
    let has = |class: fn(&u8) -> bool| value.as_bytes().iter().any(class);
    has(u8::is_ascii_alphabetic) && (has(u8::is_ascii_digit) || value.len() >= 8)
}

/// Whether a quoted text is a few words, and no sentence about the field.
pub(super) fn is_phrase(value: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let words = value.split(' ').filter(|word| !word.is_empty()).count();
    (2..=12).contains(&words)
        && value.len() < 80
        && value.chars().all(plain)
        && !value.split(' ').any(is_placeholder)
}

/// As irregular as a key, wherever it is assigned.
pub(super) fn looks_generic(value: &str) -> bool {
    let shaped = value.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.=-+/".contains(&b));
    (10..=150).contains(&value.len())
        && shaped
        && value.bytes().any(|b| b.is_ascii_digit())
        && value.bytes().any(|b| b.is_ascii_alphabetic())
        && value.matches('.').count() < 2
        && !value.contains("SNAPSHOT")
        && !value.starts_with('/')
        && !["0123456789", "abcdefghij"].iter().any(|row| value.to_ascii_lowercase().contains(row))
        && entropy(value) >= 3.5
        && !is_placeholder(value)
}

/// Whether a value in a secret's place is one, and not a word about it.
pub(super) fn looks_secret(value: &str, quoted: bool, prose: bool) -> bool {
    let value = value.trim_end_matches(['.', ':']);
    // An address, a path or code: seen at once, however long it is.
    let is_other = value.starts_with('/') || value.starts_with("arn:") || value.contains("://");
    let is_word = !quoted || !value.contains(char::is_whitespace);
    if is_other && is_word || value.chars().count() < 3 || is_placeholder(value) {
        return false;
    }
    let has = |class: fn(&char) -> bool| value.chars().any(|c| class(&c));
    let letters = has(|c| c.is_alphabetic());
    let digits = has(char::is_ascii_digit);
    if !is_word {
        // A sentence about the field, unless it is as irregular as a passphrase.
        let is_short = value.split_whitespace().count() < 3 && value.len() >= 8;
        return quoted
            && digits
            && letters
            && value.len() < 80
            && (entropy(value) > 3.5 || is_short)
            && !value.ends_with('.');
    }
    if value.contains("()") {
        return false;
    }
    if prose {
        return (letters && digits && value.len() >= 6 && !value.contains('/'))
            || value.len() >= 20 && entropy(value) > 3.5;
    }
    letters || value.len() >= 4
}
