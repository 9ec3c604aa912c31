//! Tokens that begin with a prefix of their own: the prefix is what the scan finds, and the rest is
//! read letter by letter, so that none of them needs an expression.

use std::ops::RangeInclusive;

use super::entropy;

/// The longest of these tokens.
const LONGEST: usize = 16 << 10;

/// How a token goes on behind its prefix.
pub(super) struct Beginning {
    /// As they are written.
    prefixes: Vec<String>,
    pieces: Vec<Piece>,
    /// Only where it has small and capital letters and digits: a short prefix begins many names.
    mixed: bool,
}

enum Piece {
    /// So many letters of a class.
    Run(Class, RangeInclusive<usize>),
    /// What stands between two runs.
    Between(String),
}

/// Whether a letter is of a class.
type Class = fn(u8) -> bool;

/// The classes of letters.
const CLASSES: &[(&str, Class)] = &[
    ("digit", |byte| byte.is_ascii_digit()),
    ("hex", |byte| byte.is_ascii_hexdigit()),
    ("uuid", |byte| byte.is_ascii_hexdigit() || byte == b'-'),
    ("upper", |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()),
    ("alnum", |byte| byte.is_ascii_alphanumeric()),
    ("word", is_word),
    ("url", |byte| is_word(byte) || byte == b'-'),
    ("dotted", |byte| is_word(byte) || b"-.=".contains(&byte)),
    ("base", |byte| is_word(byte) || b"-+/=".contains(&byte)),
    ("encoded", |byte| byte.is_ascii_alphanumeric() || byte == b'%'),
];

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl Beginning {
    /// From the columns of the table.
    pub(super) fn read(keywords: &str, names: &str, shape: &str) -> Self {
        Self {
            prefixes: keywords.split(',').map(ToOwned::to_owned).collect(),
            pieces: shape.split(' ').map(piece).collect(),
            mixed: names == "mixed",
        }
    }

    /// Where the token ends whose prefix stands here, if it is one.
    pub(super) fn end(&self, text: &str, start: usize, behind: usize) -> Option<usize> {
        let bytes = &text.as_bytes()[..text.len().min(behind + LONGEST)];
        if !begins_here(&bytes[..start])
            || !self.prefixes.iter().any(|it| *it == text[start..behind])
        {
            return None;
        }
        let mut end = behind;
        for piece in &self.pieces {
            let rest = &bytes[end..];
            end += match piece {
                Piece::Run(class, lengths) => {
                    Some(rest.iter().take_while(|byte| class(**byte)).count())
                        .filter(|length| lengths.contains(length))?
                }
                Piece::Between(between) => {
                    rest.starts_with(between.as_bytes()).then_some(between.len())?
                }
            };
        }
        if bytes.get(end).is_some_and(|byte| is_word(*byte)) {
            return None;
        }
        let tail = text[behind..end].trim_end_matches('.');
        is_irregular(tail, self.mixed).then_some(behind + tail.len())
    }
}

/// Whether a token may begin behind this: nothing of a word stands before it, but for the letter of
/// a line break that is written out.
fn begins_here(before: &[u8]) -> bool {
    match before {
        [.., b'\\', b'n' | b'r' | b't'] | [] => true,
        [.., last] => !is_word(*last),
    }
}

/// Whether it was drawn and not written by hand.
fn is_irregular(tail: &str, mixed: bool) -> bool {
    let has = |class: fn(&u8) -> bool| tail.as_bytes().iter().any(class);
    let (digits, both) =
        (has(u8::is_ascii_digit), has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase));
    if mixed { digits && both && entropy(tail) >= 3.5 } else { digits || both }
}

fn piece(written: &str) -> Piece {
    let (run, most) = written.split_once("..").unwrap_or((written, ""));
    let class = run.trim_end_matches(|c: char| c.is_ascii_digit());
    let least = run[class.len()..].parse().ok();
    let known = CLASSES.iter().find(|(name, _)| *name == class);
    match known.zip(least) {
        Some(((_, class), least)) => Piece::Run(*class, least..=most.parse().unwrap_or(usize::MAX)),
        None => Piece::Between(written.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_piece_by_piece() {
        let token = Beginning::read("Ab_,cd.", "-", "hex4 . alnum6");
        for (text, end) in [
            ("Ab_12ef.Zz9999", Some(14)),
            ("x Ab_12ef0.Zz99999, y", Some(18)),
            ("\\nAb_12ef.Zz9999\\n", Some(16)),
            ("Ab_12ef.Zz9999.", Some(14)),
            ("xAb_12ef.Zz9999", None),
            ("ab_12ef.Zz9999", None),
            ("Ab_12e.Zz9999", None),
            ("Ab_12ef-Zz9999", None),
            ("Ab_12ef.Zz9999_", None),
        ] {
            let start = text.to_ascii_lowercase().find("ab_").unwrap_or_default();
            assert_eq!(token.end(text, start, start + 3), end, "{text}");
        }
    }

    #[test]
    fn a_run_may_have_a_longest_length() {
        let token = Beginning::read("s.", "-", "alnum4..6");
        let end = |text: &str| token.end(text, 0, 2);
        let ends = ["s.a1b", "s.a1b2", "s.a1b2c3", "s.a1b2c3d"].map(end);
        assert_eq!(ends, [None, Some(6), Some(8), None]);
    }

    #[test]
    fn a_short_prefix_begins_many_names() {
        let token = Beginning::read("re_", "mixed", "word20");
        let end = |text: &str| token.end(text, 0, 3);
        assert_eq!(end("re_run_failed_jobs_attempt_2"), None);
        assert_eq!(end("re_qX7mK2vXw9Lr4TbNqX7m"), Some(23));
    }
}
