//! The words of an error in lower case, without quotations, paths and numbers, each with its key.

use std::borrow::Cow;
use std::ops::Range;

use super::keys::{key, pair};
use super::pieces::{Pieces, key_of};
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
    start: u32,
    length: u16,
    part: u16,
}

impl Word {
    fn new(key: u64, start: usize, end: usize, part: u16) -> Self {
        // Only the name of a type may be longer, and then it is no word of the table.
        let length = u16::try_from(end - start).unwrap_or(u16::MAX);
        Self { key, start: u32::try_from(start).unwrap_or(u32::MAX), length, part }
    }

    fn range(self) -> Range<usize> {
        self.start as usize..self.start as usize + usize::from(self.length)
    }
}

/// A word of a text by its number, or two that follow each other by that of the second; or a word
/// of the type's name.
#[derive(Clone, Copy)]
pub(super) enum Feature {
    Word(u32),
    Pair(u32),
    Named(u32),
}

/// Which part is the name of the type.
const NAME: u16 = 2;

impl<'t> Words<'t> {
    /// The words of a text with its quotations, and of the name of a type.
    pub(super) fn of(pieces: &Pieces<'t>, quotes: &Quotes, type_name: Option<&'t str>) -> Self {
        let text = pieces.text;
        let name = Cow::Borrowed(type_name.unwrap_or_default());
        let mut words = Self {
            parts: ["".into(), "".into(), name],
            said: Vec::with_capacity(64),
            named: vec![],
        };
        if text.len() > 2 * READ {
            let head = text.floor_char_boundary(READ);
            let tail = text.ceil_char_boundary(text.len() - READ);
            words.read(0, pieces, 0..head, &Quotes::of(&text[..head]));
            words.read(1, pieces, tail..text.len(), &Quotes::of(&text[tail..]));
        } else {
            words.read(0, pieces, 0..text.len(), quotes);
        }
        split(&words.parts[2], 0, NAME, &mut words.named);
        words
    }

    /// Adds the words of a part of a text with its quotations.
    fn read(&mut self, part: u16, pieces: &Pieces<'t>, range: Range<usize>, quotes: &Quotes) {
        let text = &pieces.text[range.clone()];
        let quotes = said_quotes(text, quotes);
        let is_plain = text.is_ascii()
            && (quotes.is_empty() || memchr::memchr2(b'/', b'\\', text.as_bytes()).is_none());
        self.parts[usize::from(part)] = if is_plain {
            plain_words(pieces, range, quotes, part, &mut self.said);
            Cow::Borrowed(text)
        } else {
            let text = without(text, quotes);
            each_word(&text, part, &mut self.said);
            text
        };
    }

    /// Every word and every pair of neighbours; the words of the type's name also as such. With
    /// whether it is of the type's name.
    pub(super) fn features(&self, mut then: impl FnMut(u64, Feature, bool)) {
        let mut last: Option<u64> = None;
        for (nth, word) in (0..).zip(&self.said) {
            then(word.key, Feature::Word(nth), false);
            if let Some(first) = last {
                then(pair(first, word.key), Feature::Pair(nth), false);
            }
            last = Some(word.key);
        }
        for (nth, word) in (0..).zip(&self.named) {
            then(word.key, Feature::Named(nth), true);
            then(pair(key("type"), word.key), Feature::Named(nth), true);
        }
    }

    fn text(&self, word: Word) -> &str {
        self.parts[usize::from(word.part)].get(word.range()).unwrap_or_default()
    }

    /// A feature as the table has it.
    pub(super) fn spell(&self, feature: Feature) -> String {
        let said = |nth: u32| self.said.get(nth as usize).map_or("", |word| self.text(*word));
        let mut spelled = match feature {
            Feature::Word(nth) => said(nth).to_owned(),
            Feature::Pair(nth) => format!("{} {}", said(nth.wrapping_sub(1)), said(nth)),
            Feature::Named(nth) => {
                self.named.get(nth as usize).map_or("", |word| self.text(*word)).to_owned()
            }
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

/// The quotations without which a text says enough.
fn said_quotes<'q>(text: &str, quotes: &'q Quotes) -> &'q [Range<usize>] {
    let length: usize = quotes.0.iter().map(ExactSizeIterator::len).sum();
    // Quotes stand around each of them, so that no space at an end is quoted.
    let is_said = length > 0 && text.trim().len().saturating_sub(length) > 20;
    if is_said { &quotes.0 } else { &[] }
}

/// Without what stands in quotes.
fn without<'t>(text: &'t str, quotes: &[Range<usize>]) -> Cow<'t, str> {
    if quotes.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut at = 0;
    for quote in quotes {
        plain.push_str(&text[at..quote.start]);
        at = quote.end;
    }
    plain.push_str(&text[at..]);
    Cow::Owned(plain)
}

/// The words of a text; what holds a slash is a path and has none.
fn each_word(text: &str, part: u16, words: &mut Vec<Word>) {
    if text.is_ascii() {
        plain_words(&Pieces::of(text), 0..text.len(), &[], part, words);
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

/// The words of a part of a text in ASCII, in one pass: as [`split`] has them. It has no path, or
/// no quotations.
fn plain_words(
    pieces: &Pieces,
    range: Range<usize>,
    quotes: &[Range<usize>],
    part: u16,
    words: &mut Vec<Word>,
) {
    let mut add = |key: u64, at: Range<usize>| {
        words.push(Word::new(key, at.start - range.start, at.end - range.start, part));
    };
    let mut at = range.start;
    for quote in quotes {
        stretch(pieces, at..range.start + quote.start, &mut add);
        at = range.start + quote.end;
    }
    while let Some(path) = path(&pieces.text.as_bytes()[..range.end], at) {
        stretch(pieces, at..path.start, &mut add);
        at = path.end;
    }
    stretch(pieces, at..range.end, &mut add);
}

/// The words of a part of a text without quotations and paths.
fn stretch(pieces: &Pieces, part: Range<usize>, add: &mut impl FnMut(u64, Range<usize>)) {
    let bytes = &pieces.text.as_bytes()[..part.end];
    let mut all = pieces.within(&part).iter();
    while let Some(piece) = all.next() {
        let (start, mut end) = (piece.start().max(part.start), piece.end().min(part.end));
        // Most words are few letters, and no apostrophe stands behind them.
        let is_cut = end - start < piece.end() - piece.start();
        if piece.key != 0 && !is_cut && bytes.get(end) != Some(&b'\'') {
            add(piece.key, start..end);
            continue;
        }
        while bytes.get(end) == Some(&b'\'') {
            end += 1;
            let Some(next) = all.as_slice().first().filter(|next| next.start() == end) else {
                break;
            };
            end = next.end().min(part.end);
            all.next();
        }
        words_in(bytes, start..end, add);
    }
}

/// The words in letters, digits, underscores and apostrophes.
fn words_in(bytes: &[u8], range: Range<usize>, add: &mut impl FnMut(u64, Range<usize>)) {
    let bytes = &bytes[..range.end];
    let mut start = range.start;
    while let Some(byte) = bytes.get(start) {
        if !byte.is_ascii_alphabetic() {
            start += 1;
            continue;
        }
        let mut end = start + 1;
        while let Some(byte) = bytes.get(end) {
            let last = bytes[end - 1];
            let goes_on = match byte {
                b'a'..=b'z' => true,
                b'A'..=b'Z' => !last.is_ascii_lowercase(),
                b'\'' => last != b'\'',
                _ => false,
            };
            if !goes_on {
                break;
            }
            end += 1;
        }
        add(key_of(bytes, start, end), start..end);
        start = end;
    }
}

/// The next path of a text behind a space or its beginning: what holds a slash between two spaces.
fn path(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let is_space = |byte: &u8| matches!(byte, b'\t'..=b'\r' | b' ');
    let slash = from + memchr::memchr2(b'/', b'\\', &bytes[from..])?;
    let before = bytes[from..slash].iter().rposition(is_space);
    let behind = bytes[slash..].iter().position(is_space);
    let start = before.map_or(from, |space| from + space + 1);
    Some(start..behind.map_or(bytes.len(), |space| slash + space))
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
fn split(token: &str, start: usize, part: u16, words: &mut Vec<Word>) {
    let mut open: Option<usize> = None;
    let mut before = ' ';
    let mut close = |open: &mut Option<usize>, end: usize| {
        if let Some(from) = open.take().filter(|from| !is_fragment(token, *from, end)) {
            let key = key_of(token.as_bytes(), from, end);
            words.push(Word::new(key, start + from, start + end, part));
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
            open = open.or(Some(at));
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
        let found = Words::of(&Pieces::of(text), &Quotes::of(text), Some("FooError")).spelled();
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
            plain_words(&Pieces::of(&text), 0..text.len(), &[], 0, &mut quick);
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

    proptest! {
        #[test]
        fn words_beside_quotations_are_those_of_the_text_without(
            text in "([aB7_ b'\"]|it's |b'x' |\"c d\" |'e'f |don't){0,40}",
            cut in 0..4_usize,
        ) {
            let range = cut.min(text.len())..text.len();
            let quotes = Quotes::of(&text[range.clone()]).0;
            let plain = without(&text[range.clone()], &quotes);
            let (mut quick, mut slow) = (Vec::new(), Vec::new());
            plain_words(&Pieces::of(&text), range.clone(), &quotes, 0, &mut quick);
            plain_words(&Pieces::of(&plain), 0..plain.len(), &[], 0, &mut slow);
            let spelled = |word: &Word, text: &str| text[word.range()].to_owned();
            let quick: Vec<_> = quick.iter().map(|word| (word.key, spelled(word, &text[range.clone()]))).collect();
            let slow: Vec<_> = slow.iter().map(|word| (word.key, spelled(word, &plain))).collect();
            prop_assert_eq!(quick, slow);
        }
    }

    #[test]
    fn every_word_has_the_key_of_its_spelling() {
        let text = "Can't connectTimeoutMS=30 e.g. HTTPError it's'x' \u{b}y naïve 错误ab";
        for text in [text, &text.replace(|c: char| !c.is_ascii(), "")] {
            let words = Words::of(&Pieces::of(text), &Quotes::of(text), Some("FooBar_baz"));
            assert!(words.said.len() > 9 && words.named.len() == 3);
            for word in words.said.iter().chain(&words.named) {
                assert_eq!(word.key, key(words.text(*word)), "{}", words.text(*word));
            }
        }
    }
}
