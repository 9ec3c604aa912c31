//! What a name looks like, and a name without what belongs to the sentence around it.

use std::sync::LazyLock;

use crate::classify::keys::{Keys, key};

/// What is so of a name.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Shape {
    pub(super) url: bool,
    pub(super) path: bool,
    pub(super) file: bool,
    pub(super) port: bool,
    pub(super) number: bool,
    pub(super) digits: bool,
    pub(super) joined: bool,
    pub(super) dotted: bool,
    pub(super) camel: bool,
    pub(super) capital: bool,
    pub(super) upper: bool,
    pub(super) plain: bool,
    pub(super) mail: bool,
    pub(super) odd: bool,
}

impl Shape {
    pub(super) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut lower = false;
        let mut inner_upper = false;
        let mut shape = Self { number: !text.is_empty(), ..Self::default() };
        let mut other = false;
        for (at, byte) in bytes.iter().enumerate() {
            shape.number &= byte.is_ascii_digit();
            match byte {
                b'a'..=b'z' => lower = true,
                b'A'..=b'Z' => inner_upper |= at > 0,
                b'0'..=b'9' => shape.digits = true,
                b'/' | b'\\' => shape.path = true,
                b'_' | b'-' => shape.joined = true,
                b'.' => shape.dotted |= at > 0 && at + 1 < bytes.len(),
                b'@' => shape.mail |= at > 0,
                b'(' | b')' | b'{' | b'}' | b'$' | b'<' | b'>' | b'*' | b'|' | b'=' | b'"'
                | b'\'' | b',' | b';' => shape.odd = true,
                _ => other = true,
            }
        }
        shape.url = text.contains("://");
        shape.path &= !shape.url;
        shape.upper = !lower && bytes.iter().any(u8::is_ascii_uppercase);
        shape.camel = lower && inner_upper;
        shape.capital = bytes.first().is_some_and(u8::is_ascii_uppercase) && lower && !inner_upper;
        let ending = text.rsplit('.').next().unwrap_or_default();
        shape.file = shape.dotted
            && (1..=5).contains(&ending.len())
            && ending.bytes().all(|b| b.is_ascii_alphanumeric())
            && ending.bytes().any(|b| b.is_ascii_alphabetic());
        shape.port = text
            .rsplit_once(':')
            .is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()));
        shape.plain = !(other
            || shape.digits
            || shape.path
            || shape.url
            || shape.joined
            || shape.dotted
            || shape.mail
            || shape.odd
            || shape.camel);
        shape
    }
}

static PLAIN: LazyLock<Keys> = LazyLock::new(|| {
    include_str!("plain.txt").split_whitespace().map(|word| key("", word)).collect()
});

/// A word that is never what a failure is about, unless it is quoted.
pub(super) fn is_plain_word(word: &str) -> bool {
    word.len() < 15 && PLAIN.contains(&key("", word))
}

/// Without what belongs to the sentence.
pub(super) fn tidy(found: &str) -> Option<&str> {
    // Most words have nothing of it.
    if found.len() <= 256 && found.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return (!found.is_empty()).then_some(found);
    }
    let found =
        found.trim().trim_matches(['"', '`', '<', '>', '‘', '’', '“', '”', '„', '«', '»', ',']);
    let found = found.trim_end_matches([':', ';', ',']).trim_matches('\'');
    // `file_get_contents(/srv/x)`
    let found = match found.split_once('(') {
        Some((name, inside))
            if inside.ends_with(')') && !name.is_empty() && inside.starts_with(['/', '.']) =>
        {
            &inside[..inside.len() - 1]
        }
        _ => found,
    };
    if found.starts_with('(') && !found.ends_with(')') {
        return None;
    }
    let found = match (found.chars().next(), found.chars().next_back()) {
        (Some('('), Some(')')) | (Some('['), Some(']')) if found.len() > 2 => {
            &found[1..found.len() - 1]
        }
        _ => found,
    };
    // `x)`
    let found = if found.contains('(') { found } else { found.trim_end_matches(')') };
    let found = if found.contains('[') { found } else { found.trim_end_matches(']') };
    // `No such image: x` was said by someone else.
    let found = match found.split_once(": ") {
        Some((said, rest)) if said.contains(' ') && !rest.contains(' ') => rest,
        _ => found,
    };
    // npm's way to say any version.
    let found = found.strip_suffix("@*").unwrap_or(found);
    let found =
        if found.ends_with('.') && found.len() > 1 { found.trim_end_matches('.') } else { found };
    (!found.is_empty() && found.len() <= 256 && !found.contains('\n')).then_some(found)
}
