//! Which of many words stand in a text, wherever: one pass over it, a step for each byte.

use std::collections::VecDeque;

/// Words behind one scan.
pub(crate) struct Keywords {
    /// What the bytes are told apart by; those that stand in no word are all alike.
    classes: [u8; 256],
    /// Where a class leads from a state: the place of the next state in this table.
    next: Vec<u32>,
    /// From which place on states are the ends of words.
    ends: u32,
    /// How many classes there are: so many places a state has.
    stride: u32,
    /// The words that end in each of these states, the longest first.
    found: Vec<Box<[u16]>>,
    lengths: Vec<usize>,
}

/// A state while the words are read.
#[derive(Default)]
struct State {
    /// By class, where words go on.
    on: Vec<(u8, usize)>,
    ends: Vec<u16>,
    /// The state of the longest part that is behind and goes on, too.
    fallback: usize,
}

impl Keywords {
    /// Words as they stand, or whatever their case.
    pub(crate) fn new<'w>(words: impl Iterator<Item = &'w str>, any_case: bool) -> Self {
        let fold = |byte: u8| if any_case { byte.to_ascii_lowercase() } else { byte };
        let words: Vec<Vec<u8>> = words.map(|word| word.bytes().map(fold).collect()).collect();
        let mut classes = [0_u8; 256];
        let mut stride = 1_u8;
        for &byte in words.iter().flatten() {
            if classes[usize::from(byte)] == 0 {
                classes[usize::from(byte)] = stride;
                stride = stride.saturating_add(1);
            }
        }
        if any_case {
            for byte in b'A'..=b'Z' {
                classes[usize::from(byte)] = classes[usize::from(byte.to_ascii_lowercase())];
            }
        }
        let mut states = vec![State::default()];
        for (nth, word) in words.iter().enumerate() {
            let mut at = 0;
            for byte in word {
                let class = classes[usize::from(*byte)];
                let known = states[at].on.iter().find(|(known, _)| *known == class);
                at = match known {
                    Some((_, next)) => *next,
                    None => {
                        states.push(State::default());
                        let new = states.len() - 1;
                        states[at].on.push((class, new));
                        new
                    }
                };
            }
            states[at].ends.push(u16::try_from(nth).unwrap_or(u16::MAX));
        }
        let lengths = words.iter().map(Vec::len).collect();
        Self::compiled(states, classes, u32::from(stride), lengths)
    }

    fn compiled(
        mut states: Vec<State>,
        classes: [u8; 256],
        stride: u32,
        lengths: Vec<usize>,
    ) -> Self {
        let wide = stride as usize;
        // Where each class leads from each state; level by level, so that a fallback is complete.
        let mut leads = vec![0_usize; states.len() * wide];
        let mut waiting = VecDeque::from([0]);
        while let Some(at) = waiting.pop_front() {
            let fallback = states[at].fallback;
            let behind = states[fallback].ends.clone();
            if at != 0 {
                states[at].ends.extend(behind);
                leads.copy_within(fallback * wide..(fallback + 1) * wide, at * wide);
            }
            for (class, next) in std::mem::take(&mut states[at].on) {
                let lead = &mut leads[at * wide + usize::from(class)];
                states[next].fallback = if at == 0 { 0 } else { *lead };
                *lead = next;
                waiting.push_back(next);
            }
        }
        // The states in which words end come last.
        let mut order: Vec<usize> = (0..states.len()).collect();
        order.sort_by_key(|state| !states[*state].ends.is_empty());
        let mut places = vec![0_u32; states.len()];
        for (place, state) in (0_u32..).zip(&order) {
            places[*state] = place * stride;
        }
        let ended = order.partition_point(|state| states[*state].ends.is_empty());
        let next = order.iter().flat_map(|state| &leads[state * wide..(state + 1) * wide]);
        Self {
            classes,
            next: next.map(|state| places[*state]).collect(),
            ends: u32::try_from(ended).unwrap_or(u32::MAX).saturating_mul(stride),
            stride,
            found: order[ended..]
                .iter()
                .map(|state| states[*state].ends.as_slice().into())
                .collect(),
            lengths,
        }
    }

    /// Every word that stands in a text, by its number, and where it begins and ends: in the order
    /// of their ends, and of those that end together the longest first.
    pub(crate) fn each(&self, text: impl AsRef<[u8]>, mut then: impl FnMut(usize, usize, usize)) {
        let text = text.as_ref();
        // The first state has the first place; where a word without letters ends in it, all do.
        let (mut state, mut at) = (0, 0);
        if state >= self.ends {
            self.found_in(state, at, &mut then);
        }
        while at < text.len() {
            let steps;
            (state, steps) = self.run(state, &text[at..]);
            at += steps;
            if state >= self.ends {
                self.found_in(state, at, &mut then);
            }
        }
    }

    /// From a state to the next one in which a word ends, or to the end of the text; and how many
    /// steps that took. Apart from what is done there, so that it has the machine for itself.
    #[inline(never)]
    fn run(&self, mut state: u32, bytes: &[u8]) -> (u32, usize) {
        let (next, classes, ends) = (self.next.as_slice(), &self.classes, self.ends);
        let step =
            |state: u32, byte: u8| next[(state + u32::from(classes[usize::from(byte)])) as usize];
        let (chunks, rest) = bytes.as_chunks::<8>();
        for (nth, chunk) in chunks.iter().enumerate() {
            for (at, byte) in chunk.iter().enumerate() {
                state = step(state, *byte);
                if state >= ends {
                    return (state, 8 * nth + at + 1);
                }
            }
        }
        for (at, byte) in rest.iter().enumerate() {
            state = step(state, *byte);
            if state >= ends {
                return (state, bytes.len() - rest.len() + at + 1);
            }
        }
        (state, bytes.len())
    }

    fn found_in(&self, state: u32, end: usize, then: &mut impl FnMut(usize, usize, usize)) {
        let found = self.found.get(((state - self.ends) / self.stride) as usize);
        for word in found.into_iter().flatten() {
            let word = usize::from(*word);
            then(word, end - self.lengths[word], end);
        }
    }
}

#[cfg(test)]
mod tests {
    use aho_corasick::AhoCorasick;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_word_without_letters_stands_everywhere() {
        let mut found = Vec::new();
        let words = Keywords::new(["", "b"].into_iter(), false);
        words.each("ab", |word, start, end| found.push((word, start, end)));
        assert_eq!(found, [(0, 0, 0), (0, 1, 1), (1, 1, 2), (0, 2, 2)]);
    }

    proptest! {
        #[test]
        fn every_word_is_found_in_order(
            words in prop::collection::vec("[abA_é]{1,4}", 1..12),
            text in "[abABc_é]{0,60}",
            any_case: bool,
        ) {
            let mut found = Vec::new();
            Keywords::new(words.iter().map(String::as_str), any_case)
                .each(&text, |word, start, end| found.push((word, start, end)));
            let peer = AhoCorasick::builder().ascii_case_insensitive(any_case).build(&words).unwrap();
            let all = peer.find_overlapping_iter(&text);
            let all: Vec<_> =
                all.map(|hit| (hit.pattern().as_usize(), hit.start(), hit.end())).collect();
            prop_assert_eq!(found, all);
        }
    }
}
