//! A text as names are looked for in it: its words, lines and clauses, and where it speaks of the
//! kind. Found in one pass, so that a name is weighed without reading the text around it again.

use std::ops::Range;

use super::About;
use super::letters::{LOWER, MARK, sort, sorts};
use super::signs::REACH;
use crate::FailureKind;
use crate::classify::pieces::Pieces;

/// How many words of a text are looked at, and for how many there is room at first.
const WORDS: usize = 1_500;
const MOSTLY: usize = 42;

/// How often it is remembered that a text tells what to do.
const ADVICE: usize = 96;

/// A text with its words, and where it speaks of the kind.
pub(super) struct Scene<'t> {
    pub(super) text: &'t str,
    pub(super) words: Vec<Word>,
    /// Where it begins to tell what to do.
    advice: Vec<usize>,
    /// Where its lines end.
    breaks: Vec<usize>,
    /// Where a clause ends with a colon and a space.
    clauses: Vec<usize>,
    pub(super) places: Vec<Spot>,
    /// What is near to a place or to an end of the text, in order.
    near: Vec<Range<usize>>,
    /// Whether that is all of the text.
    is_near: bool,
    /// How long it is without the space around it.
    pub(super) trimmed: usize,
    pub(super) kind: FailureKind,
    pub(super) status: bool,
    pub(super) outside: bool,
    /// The code that decided.
    pub(super) code: Option<&'t str>,
}

/// What stands between two spaces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    start: u32,
    end: u32,
    /// The key of its letters, where they are few, in lower case and with no mark between them;
    /// otherwise 0.
    pub(super) key: u64,
    /// The sorts of its letters.
    pub(super) sorts: u16,
}

impl Word {
    pub(super) fn start(self) -> usize {
        self.start as usize
    }

    pub(super) fn end(self) -> usize {
        self.end as usize
    }

    pub(super) fn range(self) -> Range<usize> {
        self.start()..self.end()
    }
}

/// A part of a text, and which words are around it.
#[derive(Clone, Debug, Default)]
pub(super) struct Spot {
    pub(super) range: Range<usize>,
    /// How many words begin before it.
    pub(super) before: usize,
    /// How many words end before its end.
    pub(super) behind: usize,
}

impl<'t> Scene<'t> {
    pub(super) fn of(
        about: &About<'t>,
        pieces: &Pieces<'t>,
        places: &[Range<usize>],
        outside: bool,
    ) -> Self {
        let text = pieces.text;
        let near = near(places, text.len());
        let mut scene = Self {
            text,
            words: Vec::with_capacity(MOSTLY),
            advice: Vec::new(),
            breaks: Vec::new(),
            clauses: Vec::new(),
            places: Vec::new(),
            is_near: near.len() == 1,
            near,
            trimmed: text.trim().len(),
            kind: about.kind,
            status: about.status.is_some(),
            outside,
            code: about.code,
        };
        scene.read(pieces);
        scene.places = places.iter().map(|place| scene.spot(place)).collect();
        scene
    }

    /// Finds words, lines and clauses where names are looked for, and around.
    fn read(&mut self, pieces: &Pieces) {
        let text = self.text;
        let (ascii, mut end) = (text.is_ascii(), 0);
        for nth in 0..self.near.len() {
            let near = &self.near[nth];
            let from = text.floor_char_boundary(near.start.saturating_sub(2 * REACH).max(end));
            let until =
                text.floor_char_boundary(near.end.saturating_add(2 * REACH).min(text.len()));
            // A word that begins before is none of these, and one that goes on is.
            let cut = if from > end { next_space(text, from) } else { from };
            end = next_space(text, until.max(cut));
            if ascii {
                self.read_plain(pieces, cut..end);
            } else {
                self.read_part(cut..end);
            }
        }
    }

    /// A part of a text in ASCII, by its pieces of letters.
    fn read_plain(&mut self, pieces: &Pieces, part: Range<usize>) {
        let bytes = &self.text.as_bytes()[..part.end];
        let (mut start, mut at, mut made) = (part.start, part.start, Made::default());
        for piece in pieces.within(&part) {
            let (begin, end) = (piece.start().max(part.start), piece.end().min(part.end));
            // Mostly no more than a space stands between two of them.
            while at < begin {
                self.sign(&mut start, at, bytes[at], &mut made);
                at += 1;
            }
            if piece.is_lower {
                made.sorts |= LOWER;
                made.key = if made.pieces == 0 { piece.key } else { 0 };
            } else {
                made.sorts |= sorts(&bytes[begin..end]);
                made.key = 0;
            }
            made.pieces += 1;
            at = end;
        }
        while let Some(sign) = bytes.get(at) {
            self.sign(&mut start, at, *sign, &mut made);
            at += 1;
        }
        self.space(start, part.end, made, 0);
    }

    /// What stands between two pieces: it ends a word, or is a part of it.
    #[inline]
    fn sign(&mut self, start: &mut usize, at: usize, sign: u8, made: &mut Made) {
        if is_ascii_space(sign) {
            self.space(*start, at, *made, sign);
            (*start, *made) = (at + 1, Made::default());
        } else {
            made.sorts |= sort(sign);
        }
    }

    fn read_part(&mut self, part: Range<usize>) {
        let (text, first) = (&self.text[part.clone()], part.start);
        let mut start = 0;
        for (at, c) in text.char_indices() {
            if is_space(c) {
                let made = Made { sorts: sorts(&text[start..at]), ..Made::default() };
                self.space(first + start, first + at, made, u8::try_from(c).unwrap_or(0));
                start = at + c.len_utf8();
            }
        }
        let made = Made { sorts: sorts(&text[start..]), ..Made::default() };
        self.space(first + start, part.end, made, 0);
    }

    /// Adds what ends at a space, and of what it is made.
    #[inline]
    fn space(&mut self, start: usize, at: usize, made: Made, space: u8) {
        if let Some(word) = self.text.as_bytes().get(start..at).filter(|word| !word.is_empty()) {
            if self.words.len() < WORDS {
                if matches!(word.len(), 3 | 4) && is_advice(word) && self.advice.len() < ADVICE {
                    self.advice.push(start);
                }
                let index = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
                let Made { sorts, key, .. } = made;
                self.words.push(Word { start: index(start), end: index(at), key, sorts });
            }
            if word.last() == Some(&b':') && space == b' ' {
                self.clauses.push(at - 1);
            }
        }
        if space == b'\n' {
            self.breaks.push(at);
        }
    }

    pub(super) fn spot(&self, range: &Range<usize>) -> Spot {
        let before = self.words.partition_point(|word| word.start() < range.start);
        let behind = self.words[before.saturating_sub(1)..]
            .iter()
            .take_while(|word| word.end() <= range.end)
            .count();
        Spot { range: range.clone(), before, behind: before.saturating_sub(1) + behind }
    }

    /// Where a part of a word stands, of which the number is known.
    pub(super) fn spot_in(&self, nth: usize, range: &Range<usize>) -> Spot {
        let word = self.words[nth];
        Spot {
            range: range.clone(),
            before: nth + usize::from(word.start() < range.start),
            behind: nth + usize::from(word.end() <= range.end),
        }
    }

    /// Whether something stands near to a place or to an end of the text.
    #[inline]
    pub(super) fn in_reach(&self, range: &Range<usize>) -> bool {
        // In a text that is not long, everything does.
        self.is_near
            || self.near.iter().any(|near| near.start < range.end && range.start < near.end)
    }

    /// Whether something stands beside words that speak of the kind.
    pub(super) fn is_beside(&self, range: &Range<usize>, margin: usize) -> bool {
        let next = self.places.partition_point(|place| place.range.end + margin <= range.start);
        self.places.get(next).is_some_and(|place| place.range.start < range.end + margin)
    }

    /// Whether a line ends in a part of the text.
    #[inline]
    pub(super) fn breaks(&self, part: &Range<usize>) -> bool {
        if self.breaks.is_empty() {
            return false;
        }
        let next = self.breaks.partition_point(|at| *at < part.start);
        self.breaks.get(next).is_some_and(|at| *at < part.end)
    }

    /// Whether a clause ends in a part of the text.
    #[inline]
    pub(super) fn is_other_clause(&self, part: &Range<usize>) -> bool {
        if self.clauses.is_empty() {
            return false;
        }
        let next = self.clauses.partition_point(|at| *at < part.start);
        self.clauses.get(next).is_some_and(|at| at + 2 <= part.end)
    }

    /// Whether it is told what to do between two places.
    pub(super) fn advises(&self, part: &Range<usize>) -> bool {
        self.advice.iter().any(|at| part.contains(at))
    }

    /// The line on which something stands, as far as it matters.
    pub(super) fn line(&self, range: &Range<usize>) -> Range<usize> {
        let text = self.text;
        let from = text.ceil_char_boundary(range.start.saturating_sub(REACH));
        let until = text.floor_char_boundary((range.end + REACH).min(text.len()));
        let next = self.breaks.partition_point(|at| *at < range.start);
        let last = next.checked_sub(1).and_then(|last| self.breaks.get(last));
        let end = self.breaks[next..].iter().find(|at| **at >= range.end);
        let start = last.filter(|at| **at >= from).map_or(from, |at| at + 1);
        start..end.filter(|at| **at < until).copied().unwrap_or(until)
    }

    /// A word of a line without the marks around it, and of which sorts of letters it is made with
    /// them.
    pub(super) fn word(&self, at: Option<usize>, line: &Range<usize>) -> Option<(&'t str, u16)> {
        let word = self.words.get(at?)?;
        let on_line = word.start() >= line.start && word.end() <= line.end;
        on_line.then(|| (MARK.trim(&self.text[word.range()]), word.sorts))
    }
}

/// What is near to places or to an end of a text, in order; parts that overlap are one.
fn near(places: &[Range<usize>], length: usize) -> Vec<Range<usize>> {
    let mut all = Vec::with_capacity(places.len() + 2);
    all.push(0..REACH);
    all.extend(places.iter().map(|place| place.start.saturating_sub(REACH)..place.end + REACH));
    all.push(length.saturating_sub(REACH)..usize::MAX);
    all.sort_unstable_by_key(|part| part.start);
    all.dedup_by(|next, part| {
        let overlaps = next.start <= part.end;
        if overlaps {
            part.end = part.end.max(next.end);
        }
        overlaps
    });
    all
}

/// What a word is made of so far.
#[derive(Clone, Copy, Default)]
struct Made {
    sorts: u16,
    key: u64,
    pieces: u32,
}

#[inline]
fn is_ascii_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r' | 0x0c)
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || c == '：'
}

/// Where the next space stands, or the end.
fn next_space(text: &str, from: usize) -> usize {
    text[from..].find(is_space).map_or(text.len(), |at| from + at)
}

fn is_advice(word: &[u8]) -> bool {
    // Most words tell by their first letter.
    let begins =
        matches!(word.first(), Some(b'm' | b't' | b'T' | b's' | b'S' | b'r' | b'R' | b'u' | b'U'));
    begins
        && matches!(
            word,
            b"mean" | b"try" | b"Try" | b"see" | b"See" | b"run" | b"Run" | b"use" | b"Use"
        )
}
