//! A text as pieces of letters, digits and underscores: found in one pass, for all that look for
//! words in it.

use std::ops::Range;

use super::keys::{EACH, lower};
use crate::stretch::{self, MASK};

/// Where the words of a text stand.
pub(super) struct Pieces<'t> {
    pub(super) text: &'t str,
    pub(super) all: Vec<Piece>,
}

/// Letters, digits and underscores with none of them before or behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    start: u32,
    end: u32,
    /// The key of its letters where they are one word and few; otherwise 0.
    pub(super) key: u64,
    /// Whether they are few, and all in lower case.
    pub(super) is_lower: bool,
}

/// Whether a byte is a part of a word.
pub(super) fn is_wordy(byte: u8) -> bool {
    #[expect(clippy::needless_bitwise_bool, reason = "many bytes are compared at once so")]
    let wordy = byte.is_ascii_alphanumeric() | (byte == b'_');
    wordy
}

impl<'t> Pieces<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let bytes = text.as_bytes();
        let mut all = Vec::with_capacity(8 + bytes.len() / 6);
        // Whether a word goes on from the bytes before, and where it began.
        let (mut goes_on, mut start) = (0, 0);
        for (nth, part) in bytes.chunks(MASK).enumerate() {
            let words = stretch::mask(part, is_wordy);
            let before = words << 1 | goes_on;
            let mut begins = words & !before;
            if goes_on == 0 {
                start = index(nth * MASK) + begins.trailing_zeros();
                begins &= begins.wrapping_sub(1);
            }
            goes_on = words >> (MASK - 1);
            for end in stretch::bits(before & !words) {
                all.push(Piece::of(bytes, start, index(nth * MASK + end)));
                start = index(nth * MASK) + begins.trailing_zeros();
                begins &= begins.wrapping_sub(1);
            }
        }
        if goes_on != 0 {
            all.push(Piece::of(bytes, start, index(bytes.len())));
        }
        Self { text, all }
    }

    /// Which of them are in a part of the text, or reach into it.
    pub(super) fn within(&self, part: &Range<usize>) -> &[Piece] {
        let (all, last) = (self.all.as_slice(), self.text.len());
        let first =
            if part.start == 0 { 0 } else { all.partition_point(|r| r.end() <= part.start) };
        let until = if part.end == last {
            all.len()
        } else {
            all.partition_point(|piece| piece.start() < part.end)
        };
        if part.is_empty() { &[] } else { all.get(first..until).unwrap_or_default() }
    }
}

impl Piece {
    #[inline]
    fn of(bytes: &[u8], start: u32, end: u32) -> Self {
        let length = (end - start) as usize;
        let letters = first_letters(bytes, start as usize, end as usize);
        let all = (0x80 * EACH) & only(length);
        let (lower, upper) = cases(letters);
        // A capital letter behind a small one begins another word.
        let is_one = lower | upper == all && lower << 8 & upper == 0;
        // Capital letters lack a bit that small ones have.
        let key = if is_one { (letters | upper >> 2).wrapping_mul(MIXED) } else { 0 };
        let few = Self { start, end, key, is_lower: lower == all };
        if length > 8 { few.longer(bytes) } else { few }
    }

    /// The same of more than eight letters: where there are so many, mostly in lower case.
    fn longer(self, bytes: &[u8]) -> Self {
        let rest = &bytes[self.start() + 8..self.end()];
        let is_lower = self.is_lower && rest.len() <= 8 && rest.iter().all(u8::is_ascii_lowercase);
        let key = if is_lower { key_of(bytes, self.start(), self.end()) } else { 0 };
        Self { key, is_lower, ..self }
    }

    pub(super) fn start(self) -> usize {
        self.start as usize
    }

    pub(super) fn end(self) -> usize {
        self.end as usize
    }
}

/// The first eight letters of a part of a text; zero behind the last one.
#[inline]
pub(super) fn first_letters(bytes: &[u8], start: usize, end: usize) -> u64 {
    // What stands behind the part is taken along and left out again: there mostly is enough.
    match bytes[start..].first_chunk() {
        Some(eight) => u64::from_le_bytes(*eight) & only(end - start),
        None => bytes[start..end].iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)),
    }
}

/// The bits of the first of eight letters, by how many they are.
static FIRST: [u64; 9] = {
    let mut first = [0; 9];
    let mut length = 1;
    while length < 9 {
        first[length] = first[length - 1] << 8 | 0xff;
        length += 1;
    }
    first
};

/// The bits of the first of eight letters.
#[inline]
pub(super) fn only(length: usize) -> u64 {
    FIRST[length.min(8)]
}

/// Which of eight bytes are letters of either case, by their highest bits.
#[inline]
fn cases(letters: u64) -> (u64, u64) {
    let low = (letters | (0x20 * EACH)) & (0x7f * EACH);
    // The highest bit of a byte tells whether it is at least `a`, and beyond `z`.
    let at_least = low + (0x80 - 0x61) * EACH;
    let beyond = low + (0x7f - 0x7a) * EACH;
    let letter = at_least & !beyond & !letters & (0x80 * EACH);
    let lower = letters << 2 & letter;
    (lower, letter ^ lower)
}

/// The key of a part of a text, in whatever case.
pub(super) fn key_of(bytes: &[u8], start: usize, end: usize) -> u64 {
    let mut key = hash(0, first_letters(bytes, start, end));
    let mut at = start + 8;
    while at < end {
        key = hash(key, first_letters(bytes, at, end));
        at += 8;
    }
    key
}

/// The key of a word that stands by itself, in whatever case.
#[inline]
pub(super) fn key_of_word(word: &[u8]) -> u64 {
    match (word.first_chunk(), word.last_chunk()) {
        // Both ends of it, which overlap.
        (Some(first), Some(last)) if word.len() <= 8 => {
            let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
            hash(0, u64::from(first) | u64::from(last) << (8 * (word.len() - 4)))
        }
        _ => key_of(word, 0, word.len()),
    }
}

/// The hash of letters and of more, in whatever case. Of one step it has no collisions.
#[inline]
fn hash(before: u64, letters: u64) -> u64 {
    (before.rotate_left(23) ^ lower(letters)).wrapping_mul(MIXED)
}

/// The highest bits of a product with this depend on all the others.
const MIXED: u64 = 0x9e37_79b9_7f4a_7c15;

fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_are_what_stands_between_other_letters(text in "[ab_Z9é :@`{\\[]{0,200}") {
            let bytes = text.as_bytes();
            let mut all = Vec::new();
            for at in (0..bytes.len()).filter(|at| is_wordy(bytes[*at])) {
                match all.last_mut() {
                    Some((_, end)) if *end == at => *end = at + 1,
                    _ => all.push((at, at + 1)),
                }
            }
            let pieces = Pieces::of(&text);
            prop_assert!(pieces.all.iter().map(|piece| (piece.start(), piece.end())).eq(all));
            for piece in pieces.all {
                let there = &bytes[piece.start()..piece.end()];
                let is_lower = there.iter().all(u8::is_ascii_lowercase) && there.len() <= 16;
                prop_assert_eq!(piece.is_lower, is_lower);
                let turns = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
                let is_one = there.iter().all(u8::is_ascii_alphabetic) && !there.windows(2).any(turns);
                prop_assert_eq!(piece.key != 0, is_lower || is_one && there.len() <= 8);
                let key = key_of(bytes, piece.start(), piece.end());
                prop_assert!(piece.key == 0 || piece.key == key);
                let other = there.to_ascii_uppercase();
                prop_assert_eq!(key, key_of(&other, 0, other.len()));
                prop_assert_eq!(key, key_of_word(&other));
            }
        }
    }
}
