//! The words of an error in lower case, without quotations, paths and numbers, each with its key.

use std::borrow::Cow;

use super::keys::{PRIME, key, pair};
use super::quotes::Quotes;

/// How much of a text is read at each end.
const READ: usize = 800;

/// The words of an error.
pub(super) struct Words<'t> {
    /// Both ends of the text, without what stands in quotes, and the name of the type.
    parts: [Cow<'t, str>; 3],
    pub(super) said: Vec<Word>,
    /// The words of the type's name.
    named: Vec<Word>,
}

/// Where a word stands, and its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    key: u64,
    part: u32,
    start: u32,
    end: u32,
}

/// A word, or two that follow each other.
#[derive(Clone, Copy)]
pub(super) struct Feature {
    first: Option<Word>,
    word: Word,
}

/// Which part is the name of the type.
const NAME: u32 = 2;

impl<'t> Words<'t> {
    /// The words of a text with its quotations, and of the name of a type.
    pub(super) fn of(text: &'t str, quotes: &Quotes, type_name: Option<&'t str>) -> Self {
        let (head, tail) = if text.len() > 2 * READ {
            let (head, tail) =
                (text.floor_char_boundary(READ), text.ceil_char_boundary(text.len() - READ));
            (&text[..head], &text[tail..])
        } else {
            (text, "")
        };
        let name = Cow::Borrowed(type_name.unwrap_or_default());
        let parts = if tail.is_empty() {
            [unquoted(head, quotes), Cow::Borrowed(tail), name]
        } else {
            [unquoted(head, &Quotes::of(head)), unquoted(tail, &Quotes::of(tail)), name]
        };
        let mut said = Vec::with_capacity(64);
        for (part, text) in (0..NAME).zip(&parts) {
            each_word(text, part, &mut said);
        }
        let mut named = Vec::new();
        split(&parts[2], 0, NAME, &mut named);
        Self { parts, said, named }
    }

    /// Every word and every pair of neighbours; the words of the type's name also as such. With
    /// whether it is of the type's name.
    pub(super) fn features(&self, mut then: impl FnMut(u64, Feature, bool)) {
        let mut last: Option<Word> = None;
        for &word in &self.said {
            then(word.key, Feature { first: None, word }, false);
            if let Some(first) = last {
                then(pair(first.key, word.key), Feature { first: Some(first), word }, false);
            }
            last = Some(word);
        }
        for &word in &self.named {
            then(word.key, Feature { first: None, word }, true);
            then(pair(key("", "type"), word.key), Feature { first: None, word }, true);
        }
    }

    fn text(&self, word: Word) -> &str {
        &self.parts[word.part as usize][word.start as usize..word.end as usize]
    }

    /// A feature as the table has it.
    pub(super) fn spell(&self, Feature { first, word }: Feature) -> String {
        let mut spelled = match first {
            Some(first) => format!("{} {}", self.text(first), self.text(word)),
            None => self.text(word).to_owned(),
        };
        spelled.make_ascii_lowercase();
        spelled
    }

    /// Everything spelled out, as the table has it.
    pub(super) fn spelled(&self) -> Vec<String> {
        let mut all = Vec::new();
        self.features(|_, feature, _| all.push(self.spell(feature)));
        let named = self.named.iter().map(|word| format!("type {}", self.text(*word)));
        all.extend(named.map(|name| name.to_ascii_lowercase()));
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Without what stands in quotes, unless little else is said.
fn unquoted<'t>(part: &'t str, quotes: &Quotes) -> Cow<'t, str> {
    if quotes.0.is_empty() {
        return Cow::Borrowed(part);
    }
    let mut plain = String::with_capacity(part.len());
    let mut at = 0;
    for quote in &quotes.0 {
        plain.push_str(&part[at..quote.start]);
        at = quote.end;
    }
    plain.push_str(&part[at..]);
    if plain.trim().len() > 20 { Cow::Owned(plain) } else { Cow::Borrowed(part) }
}

/// The words of a text; what holds a slash is a path and has none.
fn each_word(text: &str, part: u32, words: &mut Vec<Word>) {
    if text.is_ascii() {
        plain_words(text.as_bytes(), part, words);
        return;
    }
    let mut at = 0;
    for token in text.split(char::is_whitespace) {
        if !token.contains(['/', '\\']) {
            split(token, at, part, words);
        }
        let behind = text[at + token.len()..].chars().next();
        at += token.len() + behind.map_or(0, char::len_utf8);
    }
}

/// What an ASCII character means within a token.
const LOWER: u8 = 1;
const UPPER: u8 = 1 << 1;
const APOSTROPHE: u8 = 1 << 2;
const SLASH: u8 = 1 << 3;
const SPACE: u8 = 1 << 4;
const OTHER: u8 = 1 << 5;

static CLASSES: [u8; 256] = {
    let mut classes = [OTHER; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'\'' => APOSTROPHE,
            b'/' | b'\\' => SLASH,
            b'\t'..=b'\r' | b' ' => SPACE,
            _ => OTHER,
        };
        byte += 1;
    }
    classes
};

/// FNV-1a of nothing, as of `key`.
const EMPTY: u64 = 0xcbf2_9ce4_8422_2325_u64.wrapping_mul(PRIME);

/// The words of a text in ASCII, in one pass: as [`split`] has them.
fn plain_words(bytes: &[u8], part: u32, words: &mut Vec<Word>) {
    let position = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    // How many words there were before this token, and whether it is a path.
    let (mut before, mut path) = (words.len(), false);
    let mut start = 0;
    while let Some(byte) = bytes.get(start) {
        match CLASSES[usize::from(*byte)] {
            LOWER | UPPER => {
                let (mut key, mut end, mut last) = (EMPTY, start, OTHER);
                // In lower case; an apostrophe stays what it is.
                let with = |key: u64, byte: u8| (key ^ u64::from(byte | 0x20)).wrapping_mul(PRIME);
                loop {
                    let run = end;
                    while let Some(byte @ b'a'..=b'z') = bytes.get(end) {
                        (key, end) = (with(key, *byte), end + 1);
                    }
                    if end > run {
                        last = LOWER;
                    }
                    let Some(byte) = bytes.get(end) else { break };
                    let class = CLASSES[usize::from(*byte)];
                    let goes_on = class == UPPER && last != LOWER
                        || class == APOSTROPHE && last != APOSTROPHE;
                    if !goes_on {
                        break;
                    }
                    (key, end, last) = (with(key, *byte), end + 1, class);
                }
                words.push(Word { key, part, start: position(start), end: position(end) });
                start = end;
                continue;
            }
            SPACE => {
                if path {
                    words.truncate(before);
                }
                (before, path) = (words.len(), false);
            }
            SLASH => path = true,
            _ => {}
        }
        start += 1;
    }
    if path {
        words.truncate(before);
    }
}

/// From here on, a sign is a word or a syllable.
const SIGNS: char = '\u{2e80}';

/// Whether a piece is a letter or two of a word that others stand beside, as in `érvénytelen`: they
/// tell of a language, and of no error.
fn is_fragment(token: &str, from: usize, end: usize) -> bool {
    let piece = &token[from..end];
    let is_long = piece.len() > 4 || piece.chars().nth(2).is_some();
    if is_long || piece.starts_with(|c: char| c >= SIGNS) {
        return false;
    }
    let is_other =
        |c: Option<char>| c.is_some_and(|c| c.is_alphabetic() && c.is_ascii() != piece.is_ascii());
    is_other(token[..from].chars().next_back()) || is_other(token[end..].chars().next())
}

/// `connectTimeoutMS` as `connect`, `timeout`, `ms`.
fn split(token: &str, start: usize, part: u32, words: &mut Vec<Word>) {
    let mut open: Option<(usize, u64)> = None;
    let mut before = ' ';
    let mut close = |open: &mut Option<(usize, u64)>, end: usize| {
        if let Some((from, key)) = open.take().filter(|(from, _)| !is_fragment(token, *from, end)) {
            let at = |at: usize| u32::try_from(start + at).unwrap_or(u32::MAX);
            words.push(Word { key, part, start: at(from), end: at(end) });
        }
    };
    for (at, c) in token.char_indices() {
        let letter = c.is_ascii_alphabetic()
            || c == '\'' && before.is_ascii_alphabetic()
            || !c.is_ascii() && c.is_alphabetic();
        let turns = c.is_ascii_uppercase()
            && (before.is_ascii_lowercase() || before.is_ascii_digit())
            || c.is_ascii() != before.is_ascii();
        if !letter || turns {
            close(&mut open, at);
        }
        if letter {
            let (from, mut hash) = open.unwrap_or((at, EMPTY));
            let mut bytes = [0; 4];
            for byte in c.to_ascii_lowercase().encode_utf8(&mut bytes).bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(PRIME);
            }
            open = Some((from, hash));
        }
        before = c;
    }
    close(&mut open, token.len());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_taken_without_names_and_numbers() {
        let text = "Can't open 'secret name' in /a/b.c at connectTimeoutMS=30: 错误";
        let found = Words::of(text, &Quotes::of(text), Some("FooError")).spelled();
        for word in
            ["can't", "open", "connect", "timeout", "ms", "错误", "type foo", "open in", "error"]
        {
            assert!(found.iter().any(|known| known == word), "{word}: {found:?}");
        }
        assert!(!found.iter().any(|known| known.contains("secret") || known == "b"), "{found:?}");
    }

    proptest! {
        #[test]
        fn plain_words_are_those_of_every_token(text in "[aB7'/. \\n_]{0,60}") {
            let (mut quick, mut slow) = (Vec::new(), Vec::new());
            plain_words(text.as_bytes(), 0, &mut quick);
            let mut at = 0;
            for token in text.split(char::is_whitespace) {
                if !token.contains('/') {
                    split(token, at, 0, &mut slow);
                }
                at += token.len() + 1;
            }
            prop_assert_eq!(quick, slow);
        }
    }

    #[test]
    fn every_word_has_the_key_of_its_spelling() {
        let text = "Can't connectTimeoutMS=30 e.g. HTTPError it's'x' \u{b}y naïve 错误ab";
        for text in [text, &text.replace(|c: char| !c.is_ascii(), "")] {
            let words = Words::of(text, &Quotes::of(text), Some("FooBar_baz"));
            assert!(words.said.len() > 9 && words.named.len() == 3);
            for word in words.said.iter().chain(&words.named) {
                assert_eq!(word.key, key("", words.text(*word)), "{}", words.text(*word));
            }
        }
    }
}
