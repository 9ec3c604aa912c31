//! A text as names are looked for in it: its words, lines and clauses, and where it speaks of the
//! kind. Found in one pass, so that a name is weighed without reading the text around it again.

use std::ops::Range;

use super::About;
use super::letters::MARK;
use super::signs::REACH;

/// How many words of a text are looked at.
const WORDS: usize = 1_500;

/// How often it is remembered that a text tells what to do.
const ADVICE: usize = 96;

/// A text with its words, and where it speaks of the kind.
pub(super) struct Scene<'t> {
    pub(super) text: &'t str,
    pub(super) words: Vec<Range<usize>>,
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
    pub(super) status: bool,
    pub(super) outside: bool,
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
    pub(super) fn of(about: &About, text: &'t str, places: &[Range<usize>], outside: bool) -> Self {
        let mut scene = Self {
            text,
            words: Vec::with_capacity(64),
            advice: Vec::new(),
            breaks: Vec::new(),
            clauses: Vec::new(),
            places: Vec::new(),
            near: near(places, text.len()),
            trimmed: text.trim().len(),
            status: about.status.is_some(),
            outside,
        };
        scene.read();
        scene.places = places.iter().map(|place| scene.spot(place)).collect();
        scene
    }

    /// Finds words, lines and clauses.
    fn read(&mut self) {
        let text = self.text;
        let mut start = 0;
        if text.is_ascii() {
            for (at, byte) in text.bytes().enumerate() {
                if byte <= b' ' && byte.is_ascii_whitespace() {
                    self.space(start, at, byte);
                    start = at + 1;
                }
            }
        } else {
            for (at, c) in text.char_indices() {
                if c.is_whitespace() || c == '：' {
                    self.space(start, at, u8::try_from(c).unwrap_or(0));
                    start = at + c.len_utf8();
                }
            }
        }
        self.space(start, text.len(), 0);
    }

    /// Adds what ends at a space.
    fn space(&mut self, start: usize, at: usize, space: u8) {
        if let Some(word) = self.text.as_bytes().get(start..at).filter(|word| !word.is_empty()) {
            if self.words.len() < WORDS {
                if matches!(word.len(), 3 | 4) && is_advice(word) && self.advice.len() < ADVICE {
                    self.advice.push(start);
                }
                self.words.push(start..at);
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
    pub(super) fn breaks(&self, part: &Range<usize>) -> bool {
        let next = self.breaks.partition_point(|at| *at < part.start);
        self.breaks.get(next).is_some_and(|at| *at < part.end)
    }

    /// Whether a clause ends in a part of the text.
    pub(super) fn is_other_clause(&self, part: &Range<usize>) -> bool {
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

    /// A word of a line without the marks around it.
    pub(super) fn word(&self, at: Option<usize>, line: &Range<usize>) -> Option<&'t str> {
        let word = self.words.get(at?)?;
        let on_line = word.start >= line.start && word.end <= line.end;
        on_line.then(|| MARK.trim(&self.text[word.clone()]))
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

fn is_advice(word: &[u8]) -> bool {
    matches!(word, b"mean" | b"try" | b"Try" | b"see" | b"See" | b"run" | b"Run" | b"use" | b"Use")
}
