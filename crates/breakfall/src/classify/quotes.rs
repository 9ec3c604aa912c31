//! What stands in quotes in a text: names and other people's words, which say nothing of their
//! own, and often the resource that a failure is about.

use std::ops::Range;

use crate::stretch;

/// The longest quotation.
const LONGEST: usize = 240;

/// Quoted parts of a text, without their quotes, in order.
#[derive(Debug, Default)]
pub(super) struct Quotes(pub(super) Vec<Range<usize>>);

impl Quotes {
    pub(super) fn of(text: &str) -> Self {
        let mut quotes = Vec::new();
        let mut at = 0;
        while let Some((open, mark)) = opening(text, at) {
            let inside = open + mark.len_utf8();
            at = inside;
            // An apostrophe stands behind a letter; Python's bytes are quoted behind a lone `b`.
            let before = text[..open].chars().next_back();
            let bytes = text[..open]
                .strip_suffix('b')
                .is_some_and(|rest| !rest.ends_with(|c: char| c.is_ascii_alphanumeric()));
            if mark == '\'' && before.is_some_and(|c| c.is_ascii_alphanumeric()) && !bytes {
                continue;
            }
            if let Some(end) = closing(text, inside, mark) {
                // A whole text in quotes is no name, and may have some in other quotes.
                if is_all(text, open, end) && text[inside..end].contains(['\'', '"', '`']) {
                    continue;
                }
                // A name in brackets, not a list or a remark.
                // Only a name that stands behind a word of the sentence, not a tag or a code.
                let word = text[..open]
                    .strip_suffix(' ')
                    .is_some_and(|before| before.ends_with(|c: char| c.is_ascii_alphabetic()));
                let begins = !word
                    || text[inside..end]
                        .chars()
                        .all(|c| c.is_ascii_uppercase() || "_-".contains(c));
                let listed = (mark == '[' || mark == '<')
                    && (begins
                        || text[inside..end].contains([' ', ',', '\'', '"', '=', '/', '<'])
                        || end - inside < 3);
                if listed {
                    continue;
                }
                if end > inside {
                    quotes.push(inside..end);
                }
                at = end + text[end..].chars().next().map_or(0, char::len_utf8);
            }
        }
        Self(quotes)
    }

    /// Whether words stand in quotes, and the quotation is not the whole message.
    pub(super) fn hide(&self, text: &str, words: &Range<usize>) -> bool {
        self.0.iter().any(|quote| {
            quote.start <= words.start
                && words.end <= quote.end
                && quote.len() * 5 < text.trim().len() * 4
        })
    }
}

/// Whether quotes stand around all of a text.
fn is_all(text: &str, open: usize, end: usize) -> bool {
    open == 0 && text[end..].trim_end().len() == 1 && text.starts_with(['"', '\''])
}

/// The next mark that may open a quotation.
fn opening(text: &str, mut at: usize) -> Option<(usize, char)> {
    const MARKS: [u8; 5] = [b'"', b'\'', b'`', b'[', b'<'];
    #[expect(clippy::needless_bitwise_bool, reason = "many bytes are compared at once so")]
    let may_open = |byte: u8| MARKS.iter().fold(byte > 0xc1, |is, mark| is | (byte == *mark));
    while let Some(behind) = stretch::first(&text.as_bytes()[at..], may_open) {
        at += behind;
        let mark = text[at..].chars().next()?;
        if "\"'`‘“„«「[<".contains(mark) {
            return Some((at, mark));
        }
        at += mark.len_utf8();
    }
    None
}

fn closing(text: &str, from: usize, mark: char) -> Option<usize> {
    let until = text.floor_char_boundary((from + LONGEST).min(text.len()));
    let inside = &text.as_bytes()[from..until];
    let line = &text[from..from + memchr::memchr(b'\n', inside).unwrap_or(inside.len())];
    let (one, other): (char, char) = match mark {
        '‘' => ('’', '’'),
        '“' => ('”', '”'),
        '„' => ('“', '”'),
        '«' => ('»', '»'),
        '「' => ('」', '」'),
        '[' => (']', ']'),
        '<' => ('>', '>'),
        // `make' quotes so, and so does sed.
        '`' => ('`', '\''),
        '"' => ('"', '"'),
        _ => ('\'', '\''),
    };
    let closes = |at: usize| {
        let behind = line.as_bytes().get(at + 1);
        !line[at..].starts_with('\'') || !behind.is_some_and(u8::is_ascii_alphanumeric)
    };
    if let (Ok(one), Ok(other)) = (u8::try_from(one), u8::try_from(other))
        && one.is_ascii()
    {
        let mut ends = memchr::memchr2_iter(one, other, line.as_bytes());
        return ends.find(|at| closes(*at)).map(|at| from + at);
    }
    line.find([one, other]).map(|at| from + at)
}
