//! What a name looks like, and a name without what belongs to the sentence around it.

use super::letters::{
    AT, BEYOND, COLON, DIGIT, DOT, HYPHEN, LOWER, ODD, OTHER, PLAIN, SLASH, SPACE, UNDERSCORE,
    UPPER, sorts,
};

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
        Self::made_of(text, sorts(text))
    }

    /// The shape of a name of which the sorts of letters are known.
    pub(super) fn made_of(text: &str, sorts: u16) -> Self {
        let bytes = text.as_bytes();
        let has = |sort: u16| sorts & sort != 0;
        let inner = bytes.get(1..).unwrap_or_default();
        let inner_upper = has(UPPER) && inner.iter().any(u8::is_ascii_uppercase);
        let within = inner.split_last().map_or(&[][..], |(_, within)| within);
        let mut shape = Self {
            url: has(COLON) && has(SLASH) && text.contains("://"),
            number: sorts == DIGIT,
            digits: has(DIGIT),
            joined: has(UNDERSCORE | HYPHEN),
            dotted: has(DOT) && within.contains(&b'.'),
            camel: has(LOWER) && inner_upper,
            capital: has(LOWER) && has(UPPER) && !inner_upper,
            upper: has(UPPER) && !has(LOWER),
            mail: has(AT) && inner.contains(&b'@'),
            odd: has(ODD),
            ..Self::default()
        };
        shape.path = has(SLASH) && !shape.url;
        shape.file = shape.dotted && is_ending(text);
        shape.port = has(COLON)
            && text.rsplit_once(':').is_some_and(|(_, port)| {
                !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit())
            });
        shape.plain = !(has(OTHER | SPACE | BEYOND | COLON)
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

/// Whether what stands behind the last dot is the ending of a file's name.
fn is_ending(text: &str) -> bool {
    let behind = text.bytes().rev().take(6).position(|byte| byte == b'.');
    let ending = behind.map_or(&[][..], |length| &text.as_bytes()[text.len() - length..]);
    !ending.is_empty()
        && ending.iter().all(u8::is_ascii_alphanumeric)
        && ending.iter().any(u8::is_ascii_alphabetic)
}

/// Without what belongs to the sentence.
pub(super) fn tidy(found: &str) -> Option<&str> {
    tidy_of(found, sorts(found))
}

/// The same of a name of which the sorts of letters are known.
pub(super) fn tidy_of(found: &str, sorts: u16) -> Option<&str> {
    // Most names have nothing of it but the dot behind them.
    if sorts & !PLAIN == 0 {
        let found = if found.len() > 1 { found.trim_end_matches('.') } else { found };
        return (!found.is_empty() && found.len() <= 256).then_some(found);
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
