//! A text as names are looked for in it: its words, lines and clauses, and where it speaks of the
//! kind. Found in one pass, so that a name is weighed without reading the text around it again.

use std::ops::Range;

use super::About;
use super::letters::{MARK, sorts};
use super::signs::REACH;
use crate::FailureKind;
use crate::stretch::{self, MASK};

/// How many words of a text are looked at.
const WORDS: usize = 1_500;

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
    pub(super) start: usize,
    pub(super) end: usize,
    /// The sorts of its letters.
    pub(super) sorts: u16,
}

impl Word {
    pub(super) fn range(self) -> Range<usize> {
        self.start..self.end
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
        text: &'t str,
        places: &[Range<usize>],
        outside: bool,
    ) -> Self {
        let mut scene = Self {
            text,
            words: Vec::with_capacity(64),
            advice: Vec::new(),
            breaks: Vec::new(),
            clauses: Vec::new(),
            places: Vec::new(),
            near: near(places, text.len()),
            trimmed: text.trim().len(),
            kind: about.kind,
            status: about.status.is_some(),
            outside,
            code: about.code,
        };
        scene.read();
        scene.places = places.iter().map(|place| scene.spot(place)).collect();
        scene
    }

    /// Finds words, lines and clauses where names are looked for, and around.
    fn read(&mut self) {
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
            self.read_part(cut..end, ascii);
        }
    }

    fn read_part(&mut self, part: Range<usize>, ascii: bool) {
        let (text, first) = (&self.text[part.clone()], part.start);
        let mut start = 0;
        if ascii {
            for (nth, stretch) in text.as_bytes().chunks(MASK).enumerate() {
                for at in stretch::bits(stretch::mask(stretch, is_ascii_space)) {
                    let space = stretch[at];
                    let at = nth * MASK + at;
                    self.space(first + start, first + at, space);
                    start = at + 1;
                }
            }
        } else {
            for (at, c) in text.char_indices() {
                if is_space(c) {
                    self.space(first + start, first + at, u8::try_from(c).unwrap_or(0));
                    start = at + c.len_utf8();
                }
            }
        }
        self.space(first + start, part.end, 0);
    }

    /// Adds what ends at a space.
    fn space(&mut self, start: usize, at: usize, space: u8) {
        if let Some(word) = self.text.as_bytes().get(start..at).filter(|word| !word.is_empty()) {
            if self.words.len() < WORDS {
                if matches!(word.len(), 3 | 4) && is_advice(word) && self.advice.len() < ADVICE {
                    self.advice.push(start);
                }
                self.words.push(Word { start, end: at, sorts: sorts(word) });
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
        let before = self.words.partition_point(|word| word.start < range.start);
        let behind = self.words[before.saturating_sub(1)..]
            .iter()
            .take_while(|word| word.end <= range.end)
            .count();
        Spot { range: range.clone(), before, behind: before.saturating_sub(1) + behind }
    }

    /// Where a part of a word stands, of which the number is known.
    pub(super) fn spot_in(&self, nth: usize, range: &Range<usize>) -> Spot {
        let word = self.words[nth];
        Spot {
            range: range.clone(),
            before: nth + usize::from(word.start < range.start),
            behind: nth + usize::from(word.end <= range.end),
        }
    }

    /// Whether something stands near to a place or to an end of the text.
    pub(super) fn in_reach(&self, range: &Range<usize>) -> bool {
        self.near.iter().any(|near| near.start < range.end && range.start < near.end)
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
        let on_line = word.start >= line.start && word.end <= line.end;
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

#[expect(clippy::needless_bitwise_bool, reason = "many bytes are compared at once so")]
fn is_ascii_space(byte: u8) -> bool {
    (byte == b' ') | (byte == b'\n') | (byte == b'\t') | (byte == b'\r') | (byte == 0x0c)
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || c == '：'
}

/// Where the next space stands, or the end.
fn next_space(text: &str, from: usize) -> usize {
    text[from..].find(is_space).map_or(text.len(), |at| from + at)
}

fn is_advice(word: &[u8]) -> bool {
    matches!(word, b"mean" | b"try" | b"Try" | b"see" | b"See" | b"run" | b"Run" | b"use" | b"Use")
}
