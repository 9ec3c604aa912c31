//! Private keys in a text, whole or cut.

use super::Span;

/// How far a key's lines are followed.
const KEY: usize = 64 << 10;

/// A private key, from its opening line to its closing one; where one of the two was cut off,
/// as far as the key reaches.
pub(super) fn private_key(text: &str, at: usize, found: &mut Vec<Span<'static>>) {
    const NAME: &str = "private-key";
    if found.last().is_some_and(|known| known.name == NAME && at < known.end) {
        return;
    }
    let near = text.ceil_char_boundary(at.saturating_sub(120));
    let rest = super::bounded(&text[at..], KEY);
    if let Some(begin) = text[near..at].rfind("-----BEGIN").map(|begin| near + begin) {
        let body = at + rest.find("-----").map_or(0, |dashes| dashes + 5);
        let rest = super::bounded(&text[body..], KEY);
        let end = match rest.find("-----END") {
            Some(end) if rest[..end].bytes().all(|b| is_key(b) || b"-:,.>'\"|#".contains(&b)) => {
                let closing = body + end + 8;
                closing
                    + super::bounded(&text[closing..], 120)
                        .find("-----")
                        .map_or(0, |dashes| dashes + 5)
            }
            _ => body + rest.bytes().take_while(|byte| is_key(*byte)).count(),
        };
        let runs =
            text[body..end].split(|c: char| !(c.is_ascii_alphanumeric() || "+/=".contains(c)));
        if runs.map(str::len).max().unwrap_or(0) >= 16 {
            found.push(Span { start: begin, end, name: NAME });
        }
    } else if let Some(closing) = text[near..at].rfind("-----END").map(|end| near + end) {
        let body = text[..closing].bytes().rev().take(KEY).take_while(|byte| is_key(*byte)).count();
        if body > 16 {
            found.push(Span { start: closing - body, end: closing, name: NAME });
        }
    }
}

/// What the body of a key is made of, also where its line breaks are escaped.
fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/= \t\r\n\\".contains(&byte)
}
