//! Where the beginnings of phrases stand in a text. What begins with a letter begins where a word
//! does, so that most of a text is passed over; letters are compared without case.

use std::ops::Range;

/// Texts by their letters: from a node, a letter leads to the next one.
pub(super) struct Beginnings {
    /// Every text with its number, in order; equal ones stand beside each other.
    texts: Vec<Text>,
    nodes: Vec<Node>,
    /// What may begin with a byte.
    opens: [Opens; 256],
    /// By the hash of their first letters: which texts there may be.
    may_begin: Box<[u64; MAY / 64]>,
    /// Whether one has fewer letters than that takes.
    is_short: bool,
    /// Where the first letter leads.
    first: [u32; 256],
    /// Where other letters lead: a node with a letter, then the next node.
    steps: Vec<(u32, u32)>,
    /// How many bits of a hash are left out.
    shift: u32,
}

/// A text in lower case, and its number.
pub(super) type Text = (Box<[u8]>, usize);

/// Texts with the same letters so far.
struct Node {
    /// Those that end here; or all that are left, where they are equal.
    ends: Range<usize>,
    /// Only equal ones are left: their other letters are compared as they stand.
    is_last: bool,
}

/// What may begin with a byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opens {
    Nothing,
    /// A text, where a word begins.
    Word,
    /// A text, wherever it stands: a sign, or a letter beyond ASCII.
    Sign,
}

const NOWHERE: u32 = u32::MAX;

/// How many hashes of first letters are told apart.
const MAY: usize = 1 << 16;

/// The hash of four letters in whatever case.
fn hash(letters: [u8; 4]) -> usize {
    let folded = u32::from_le_bytes(letters) | 0x2020_2020;
    (folded.wrapping_mul(0x9e37_79b1) >> (32 - MAY.trailing_zeros())) as usize
}

/// Whether a byte is a part of a word.
pub(super) fn is_wordy(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl Beginnings {
    pub(super) fn new<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let folded = texts.map(|text| text.to_ascii_lowercase().into_bytes().into_boxed_slice());
        let mut texts: Vec<_> = folded.enumerate().map(|(nth, text)| (text, nth)).collect();
        texts.sort_unstable();
        let empty = texts.partition_point(|(text, _)| text.is_empty());
        let mut opens = [Opens::Nothing; 256];
        for byte in 0..=u8::MAX {
            let letter = byte.to_ascii_lowercase();
            if empty > 0 || texts.iter().any(|(text, _)| text.first() == Some(&letter)) {
                opens[usize::from(byte)] = if is_wordy(byte) { Opens::Word } else { Opens::Sign };
            }
        }
        let mut may_begin = Box::new([0_u64; MAY / 64]);
        for (text, _) in &texts {
            let bits = match text.first_chunk::<4>() {
                Some(letters) => hash(*letters),
                None if text.len() > 1 => hash([text[0], text[1], 0, 0]),
                None => continue,
            };
            may_begin[bits / 64] |= 1 << (bits % 64);
        }
        let is_short = texts.iter().any(|(text, _)| text.len() < 2);
        let root = Node { ends: 0..empty, is_last: false };
        let (first, steps) = ([NOWHERE; 256], Vec::new());
        let mut new =
            Self { texts, nodes: vec![root], opens, may_begin, is_short, first, steps, shift: 0 };
        new.grow(empty);
        new
    }

    /// Grows the nodes out of the texts that have letters.
    fn grow(&mut self, from: usize) {
        let mut steps: Vec<(u32, u32)> = Vec::new();
        let mut waiting = vec![(0_u32, from..self.texts.len(), 0_usize)];
        while let Some((from, range, depth)) = waiting.pop() {
            let mut at = range.start;
            while at < range.end {
                let letter = self.texts[at].0[depth];
                let left = &self.texts[at..range.end];
                let left = &left[..left.partition_point(|(text, _)| text[depth] == letter)];
                let is_last = left[0].0 == left[left.len() - 1].0;
                let ended = left.partition_point(|(text, _)| text.len() == depth + 1);
                let end = at + left.len();
                let node = u32::try_from(self.nodes.len()).unwrap_or(NOWHERE);
                self.nodes.push(Node { ends: at..if is_last { end } else { at + ended }, is_last });
                if !is_last {
                    waiting.push((node, at + ended..end, depth + 1));
                }
                if from == 0 {
                    self.first[usize::from(letter)] = node;
                    self.first[usize::from(letter.to_ascii_uppercase())] = node;
                } else {
                    steps.push((from << 8 | u32::from(letter), node));
                }
                at = end;
            }
        }
        let bits = (2 * steps.len()).next_power_of_two().trailing_zeros().max(4);
        self.shift = 32 - bits;
        self.steps = vec![(NOWHERE, NOWHERE); 1 << bits];
        for (key, node) in steps {
            let mut place = self.place(key);
            while self.steps[place].0 != NOWHERE {
                place = (place + 1) % self.steps.len();
            }
            self.steps[place] = (key, node);
        }
    }

    fn place(&self, key: u32) -> usize {
        (key.wrapping_mul(0x9e37_79b1) >> self.shift) as usize
    }

    /// Where a letter leads from a node.
    fn step(&self, node: u32, letter: u8) -> Option<u32> {
        let key = node << 8 | u32::from(letter.to_ascii_lowercase());
        let mut place = self.place(key);
        loop {
            match *self.steps.get(place)? {
                (known, next) if known == key => return Some(next),
                (NOWHERE, _) => return None,
                _ => place = (place + 1) & (self.steps.len() - 1),
            }
        }
    }

    /// Every text that stands in a text, equal ones together by their numbers, and where. What
    /// stands within a word and begins with a letter is left out.
    pub(super) fn each(&self, text: &str, mut then: impl FnMut(&[Text], Range<usize>)) {
        let bytes = text.as_bytes();
        let mut within = false;
        for (start, &byte) in bytes.iter().enumerate() {
            match self.opens[usize::from(byte)] {
                Opens::Nothing => within = is_wordy(byte),
                Opens::Word => {
                    if !within {
                        self.at(bytes, start, &mut then);
                    }
                    within = true;
                }
                Opens::Sign => {
                    within = false;
                    self.at(bytes, start, &mut then);
                }
            }
        }
    }

    /// Whether one may stand at a place, by its first letters: most words begin none.
    fn may_stand(&self, bytes: &[u8]) -> bool {
        let Some(&[one, two, three, four]) = bytes.first_chunk::<4>() else { return true };
        let may = |hash: usize| self.may_begin[hash / 64 % (MAY / 64)] >> (hash % 64) & 1 == 1;
        self.is_short || may(hash([one, two, three, four])) || may(hash([one, two, 0, 0]))
    }

    /// Every text that stands at a place.
    fn at(&self, bytes: &[u8], start: usize, then: &mut impl FnMut(&[Text], Range<usize>)) {
        if !self.may_stand(&bytes[start..]) {
            return;
        }
        if self.is_short && !self.nodes[0].ends.is_empty() {
            then(&self.texts[self.nodes[0].ends.clone()], start..start);
        }
        let mut node = self.first[usize::from(bytes[start])];
        let mut at = start + 1;
        while let Some(Node { ends, is_last }) = self.nodes.get(node as usize) {
            if *is_last {
                let left = &self.texts[ends.start].0[at - start..];
                let there = bytes.get(at..at + left.len());
                if there.is_some_and(|there| there.eq_ignore_ascii_case(left)) {
                    then(&self.texts[ends.clone()], start..at + left.len());
                }
                return;
            }
            if !ends.is_empty() {
                then(&self.texts[ends.clone()], start..at);
            }
            let Some(next) = bytes.get(at).and_then(|letter| self.step(node, *letter)) else {
                return;
            };
            node = next;
            at += 1;
        }
    }
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

    proptest! {
        #[test]
        fn every_text_is_found_where_a_word_begins(
            texts in prop::collection::vec("[ab_é: ]{0,4}", 1..8),
            text in "[abAB_é: ]{0,40}",
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let mut found = Vec::new();
            let beginnings = Beginnings::new(texts.iter().copied());
            beginnings.each(&text, |same, at| {
                found.extend(same.iter().map(|(_, nth)| (*nth, at.clone())));
            });
            prop_assert_eq!(sorted(found), sorted(slowly(&texts, &text)));
        }
    }
}
