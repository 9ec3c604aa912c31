//! Where the beginnings of phrases stand in a text. What begins with a letter begins where a word
//! does, so that most of a text is passed over; letters are compared without case, many at a time.

use std::collections::BTreeMap;
use std::ops::Range;

use super::keys::lower;
use super::pieces::{Pieces, first_letters, is_wordy, only};

/// Texts by their letters: from a node, four letters lead to the next one.
pub(super) struct Beginnings {
    /// In the order of their groups, and in each of their letters.
    texts: Vec<Text>,
    /// The first eight letters of each, and how many it has.
    firsts: Vec<(u64, usize)>,
    /// Which signs and letters beyond ASCII a text may begin with, wherever they stand.
    is_sign: [bool; 256],
    /// Which texts of fewer than four letters begin with a byte.
    short: Vec<Range<u32>>,
    /// Which texts may begin so, by the hash of three of their letters, of four or of eight: most
    /// words begin none.
    opens: Vec<u8>,
    /// What has the same letters so far, by the hash of these.
    nodes: Vec<Node>,
    /// How many bits of a hash are left out.
    shift: u32,
}

/// A text in lower case, and its numbers.
type Text = (Box<[u8]>, Vec<usize>);

/// The first eight letters of a text; zero behind the last one.
fn first(text: &[u8]) -> u64 {
    first_letters(text, 0, text.len())
}

/// Texts that begin with the same letters: four of them, or eight, or more.
#[derive(Clone, Debug, Default)]
struct Node {
    /// The hash of the letters; 0 where there is no node.
    hash: u64,
    /// Those that are compared as they stand: all of them where they are few, or those that have
    /// no four letters more.
    ends: Range<u32>,
    goes_on: bool,
}

/// How many hashes of first letters are told apart, and what begins so: a text of fewer than four
/// letters, of fewer than eight, or of more.
const OPENS: usize = 1 << 16;
const SHORT: u8 = 1;
const MIDDLE: u8 = 1 << 1;
const LONG: u8 = 1 << 2;

/// Three of eight letters, and four.
const THIRD: u64 = 0x00ff_ffff;
const FOURTH: u64 = 0xffff_ffff;

/// How many letters are taken at a time, and at first where there are as many.
const STEP: usize = 4;
const FIRST: usize = 8;

/// How many texts are compared as they stand.
const FEW: usize = 2;

/// What the hash of four letters begins with, and that of eight: four and as many zero bytes behind
/// them are no four.
const FOUR: u64 = 1;
const EIGHT: u64 = 2;

/// The hash of letters and of more, all in lower case.
#[inline]
fn hash(before: u64, letters: u64) -> u64 {
    (before.rotate_left(23) ^ letters).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
}

fn four(letters: [u8; STEP]) -> u64 {
    u64::from(u32::from_le_bytes(letters))
}

/// The place of first letters, which are all in lower case.
#[inline]
fn opening(letters: u64) -> usize {
    let hash = letters.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    usize::try_from(hash >> (64 - OPENS.trailing_zeros())).unwrap_or(0) % OPENS
}

/// Eight letters in a case that tells nothing: some signs are taken for others.
#[inline]
fn folded(letters: u64) -> u64 {
    letters | 0x2020_2020_2020_2020
}

/// A text apart: its group, what is hashed of it, and the rest.
fn apart(text: &[u8]) -> (usize, &[u8], &[u8]) {
    let group = usize::from(text.len() >= STEP) + usize::from(text.len() >= FIRST);
    let hashed = if group == 2 { text.len() / STEP * STEP } else { group * STEP };
    let (hashed, rest) = text.split_at(hashed);
    (group, hashed, rest)
}

impl Beginnings {
    pub(super) fn new<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut known: BTreeMap<Box<[u8]>, Vec<usize>> = BTreeMap::new();
        for (nth, text) in texts.enumerate() {
            known.entry(text.to_ascii_lowercase().into_bytes().into()).or_default().push(nth);
        }
        let mut texts: Vec<Text> = known.into_iter().collect();
        texts.sort_by(|(one, _), (other, _)| apart(one).cmp(&apart(other)));
        let anything = texts.first().is_some_and(|(text, _)| text.is_empty());
        let mut is_sign = [false; 256];
        let mut short = vec![0..0; 256];
        let long = texts.partition_point(|(text, _)| text.len() < STEP);
        for byte in 0..=u8::MAX {
            let letter = byte.to_ascii_lowercase();
            let begins = anything || texts.iter().any(|(text, _)| text.first() == Some(&letter));
            is_sign[usize::from(byte)] = begins && !is_wordy(byte);
            let start = texts[..long].partition_point(|(text, _)| text.first() < Some(&letter));
            let end = texts[..long].partition_point(|(text, _)| text.first() <= Some(&letter));
            short[usize::from(byte)] = index(start)..index(end);
        }
        let opens = vec![0; OPENS];
        let firsts = texts.iter().map(|(text, _)| (first(text), text.len())).collect();
        let mut new = Self { texts, firsts, is_sign, short, opens, nodes: Vec::new(), shift: 0 };
        new.grow(long);
        new
    }

    /// Makes the nodes of the texts that are not short.
    fn grow(&mut self, short: usize) {
        for (text, _) in &self.texts {
            let letters = folded(first(text));
            match text.len() {
                FIRST.. => self.opens[opening(letters)] |= LONG,
                STEP.. => self.opens[opening(letters & FOURTH)] |= MIDDLE,
                3 => self.opens[opening(letters & THIRD)] |= SHORT,
                // Whatever stands behind fewer letters.
                2 => {
                    for third in 0..=u8::MAX {
                        let third = folded(u64::from(third) << 16 | letters & 0xffff) & THIRD;
                        self.opens[opening(third)] |= SHORT;
                    }
                }
                _ => self.opens.iter_mut().for_each(|opens| *opens |= SHORT),
            }
        }
        let mut nodes = Vec::new();
        let eight = self.texts.partition_point(|(text, _)| text.len() < FIRST);
        let mut waiting =
            vec![(FOUR, short..eight, 0, STEP), (EIGHT, eight..self.texts.len(), 0, FIRST)];
        while let Some((before, range, depth, step)) = waiting.pop() {
            let mut at = range.start;
            while at < range.end {
                let letters = &self.texts[at].0[depth..depth + step];
                let same = |(text, _): &Text| text[depth..].starts_with(letters);
                let end = at + self.texts[at..range.end].partition_point(same);
                let number = letters.iter().rev().fold(0, |all, one| all << 8 | u64::from(*one));
                let hash = hash(before, number);
                let reached = depth + step;
                let goes_on = step + depth > STEP && end - at > FEW;
                let ended = |(text, _): &Text| text.len() < reached + STEP;
                let ends =
                    if goes_on { self.texts[at..end].partition_point(ended) } else { end - at };
                if goes_on {
                    waiting.push((hash, at + ends..end, reached, STEP));
                }
                nodes.push(Node { hash, ends: index(at)..index(at + ends), goes_on });
                at = end;
            }
        }
        let bits = (2 * nodes.len()).next_power_of_two().trailing_zeros().max(4);
        self.shift = 64 - bits;
        self.nodes = vec![Node::default(); 1 << bits];
        for node in nodes {
            let place = self.place(node.hash);
            self.nodes[place] = node;
        }
    }

    /// Where the node of a hash stands, or would.
    fn place(&self, hash: u64) -> usize {
        let mut place = usize::try_from(hash >> self.shift).unwrap_or(0);
        while self.nodes[place].hash != hash && self.nodes[place].hash != 0 {
            place = (place + 1) & (self.nodes.len() - 1);
        }
        place
    }

    /// Every text that stands in a text, by its numbers, and where. What stands within a word and
    /// begins with a letter is left out.
    #[cfg(test)]
    fn each(&self, text: &str, then: impl FnMut(&[usize], Range<usize>)) {
        self.each_in(&Pieces::of(text), then);
    }

    /// The same of a text of which the words are known.
    pub(super) fn each_in(&self, pieces: &Pieces, mut then: impl FnMut(&[usize], Range<usize>)) {
        let bytes = pieces.text.as_bytes();
        let mut end = 0;
        for piece in &pieces.all {
            self.signs(bytes, end..piece.start(), &mut then);
            self.at(bytes, piece.start(), &mut then);
            end = piece.end();
        }
        self.signs(bytes, end..bytes.len(), &mut then);
    }

    /// Every text that begins with a sign between two words.
    #[inline]
    fn signs(
        &self,
        bytes: &[u8],
        between: Range<usize>,
        then: &mut impl FnMut(&[usize], Range<usize>),
    ) {
        for start in between {
            if self.is_sign[usize::from(bytes[start])] {
                self.at(bytes, start, then);
            }
        }
    }

    /// Every text that stands at a place.
    #[inline]
    fn at(&self, bytes: &[u8], start: usize, then: &mut impl FnMut(&[usize], Range<usize>)) {
        let rest = &bytes[start..];
        let opens = match rest.first_chunk() {
            Some(letters) => {
                let letters = folded(u64::from_le_bytes(*letters));
                self.opens[opening(letters & THIRD)] & SHORT
                    | self.opens[opening(letters & FOURTH)] & MIDDLE
                    | self.opens[opening(letters)] & LONG
            }
            None => SHORT | MIDDLE,
        };
        if opens != 0 {
            self.those_that_open(opens, rest, start, then);
        }
    }

    /// Every text that stands at a place where some may.
    #[inline(never)]
    fn those_that_open(
        &self,
        opens: u8,
        rest: &[u8],
        start: usize,
        then: &mut impl FnMut(&[usize], Range<usize>),
    ) {
        let letters = lower(first(rest));
        if opens & SHORT != 0 {
            if let Some((text, all)) = self.texts.first().filter(|(text, _)| text.is_empty()) {
                then(all, start..start + text.len());
            }
            self.those(&self.short[usize::from(rest[0])], letters, rest, start, then);
        }
        if opens & MIDDLE != 0 && rest.len() >= STEP {
            let node = &self.nodes[self.place(hash(FOUR, letters & FOURTH))];
            if !node.ends.is_empty() {
                self.those(&node.ends, letters, rest, start, then);
            }
        }
        if opens & LONG == 0 {
            return;
        }
        let mut so_far = hash(EIGHT, letters);
        let mut known = FIRST;
        loop {
            let node = &self.nodes[self.place(so_far)];
            if !node.ends.is_empty() {
                self.those(&node.ends, letters, rest, start, then);
            }
            let Some(next) = rest[known..].first_chunk().filter(|_| node.goes_on) else {
                return;
            };
            so_far = hash(so_far, lower(four(*next)));
            known += STEP;
        }
    }

    /// Which of some texts stand at a place where the first letters of theirs seem to. All of them
    /// are compared: a text may be written so that it has another's hash.
    fn those(
        &self,
        which: &Range<u32>,
        letters: u64,
        there: &[u8],
        start: usize,
        then: &mut impl FnMut(&[usize], Range<usize>),
    ) {
        for nth in which.start as usize..which.end as usize {
            let (first, length) = self.firsts[nth];
            let differs = (letters ^ first) & only(length) != 0 || length > there.len();
            if differs {
                continue;
            }
            let (text, all) = &self.texts[nth];
            if length <= FIRST || is_same(&there[FIRST..length], &text[FIRST..]) {
                then(all, start..start + length);
            }
        }
    }
}

/// Whether a text stands there, in whatever case: both are as long. What is last differs most.
fn is_same(there: &[u8], text: &[u8]) -> bool {
    let eight = |there: &[u8; 8], text: &[u8; 8]| {
        lower(u64::from_le_bytes(*there)) == u64::from_le_bytes(*text)
    };
    let (Some(last), Some(of_text)) = (there.last_chunk(), text.last_chunk()) else {
        return there.eq_ignore_ascii_case(text);
    };
    let (eights, others) = (there.as_chunks().0, text.as_chunks().0);
    eight(last, of_text) && eights.iter().zip(others).all(|(there, text)| eight(there, text))
}

fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same by looking for each text in every place.
    fn slowly(texts: &[&str], text: &str) -> Vec<(usize, Range<usize>)> {
        let mut found = Vec::new();
        let bytes = text.as_bytes();
        for (nth, one) in texts.iter().enumerate() {
            for start in 0..bytes.len() {
                let end = start + one.len();
                let within = is_wordy(bytes[start]) && start > 0 && is_wordy(bytes[start - 1]);
                let there = bytes.get(start..end);
                if there.is_some_and(|there| there.eq_ignore_ascii_case(one.as_bytes())) && !within
                {
                    found.push((nth, start..end));
                }
            }
        }
        found
    }

    fn sorted(mut found: Vec<(usize, Range<usize>)>) -> Vec<(usize, Range<usize>)> {
        found.sort_by_key(|(nth, at)| (*nth, at.start, at.end));
        found
    }

    #[test]
    fn four_letters_with_zero_bytes_behind_them_are_four_letters() {
        let beginnings = Beginnings::new(["file", "no such file or"].into_iter());
        let mut found = Vec::new();
        beginnings.each("No such file\0\0\0\0", |all, at| found.push((all.to_vec(), at)));
        assert_eq!(found, [(vec![0], 8..12)]);
    }

    proptest! {
        #[test]
        fn every_text_is_found_where_a_word_begins(
            texts in prop::collection::vec("[ab_é:\\x00 ]{0,9}", 1..8),
            text in "[abAB_é:\\x00 ]{0,150}",
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let mut found = Vec::new();
            let beginnings = Beginnings::new(texts.iter().copied());
            beginnings.each(&text, |all, at| {
                found.extend(all.iter().map(|nth| (*nth, at.clone())));
            });
            prop_assert_eq!(sorted(found), sorted(slowly(&texts, &text)));
        }
    }
}
