//! What is known of words: how much one weighs beside a name, wherever it stands there, and
//! whether it is plain. One look tells all of it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::classify::keys::lower;

/// Where a word may stand from a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the same token: `key=x`.
    Key,
    Before,
    BeforeDenied,
    BeforeInConflict,
    BeforeTool,
    BeforeMissing,
    Ago,
    After,
    /// The name of a field of a body.
    Field,
}

/// The places by name, as the table of weights has them.
const PLACES: [(Place, &str); 9] = [
    (Place::Key, "key"),
    (Place::Before, "before"),
    (Place::BeforeDenied, "before, denied"),
    (Place::BeforeInConflict, "before, in conflict"),
    (Place::BeforeTool, "before, tool"),
    (Place::BeforeMissing, "before, missing"),
    (Place::Ago, "ago"),
    (Place::After, "after"),
    (Place::Field, "field"),
];

impl Place {
    pub(super) fn name(self) -> &'static str {
        PLACES[self as usize].1
    }

    pub(super) fn of(name: &str) -> Option<Self> {
        PLACES.iter().find(|(_, known)| *known == name).map(|(place, _)| *place)
    }
}

/// What is known of a word.
#[derive(Clone, Copy, Default)]
pub(super) struct Known {
    /// Never what a failure is about, unless it is quoted.
    pub(super) is_plain: bool,
    weights: [f32; PLACES.len()],
}

impl Known {
    /// How much it weighs in a place.
    pub(super) fn weight(&self, place: Place) -> f32 {
        self.weights[place as usize]
    }
}

/// For how many words there is room, twice over.
const SLOTS: usize = 1 << 12;

struct Vocabulary {
    words: Vec<(&'static str, Known)>,
    /// The keys of words with their numbers, by the hash of the key.
    slots: Box<[(Key, usize); SLOTS]>,
    longest: usize,
}

/// The first letters of a word in lower case, the last ones where it has eight, and its length.
type Key = [u64; 3];

/// The key of no word: none is so long.
const NO_KEY: Key = [0, 0, u64::MAX];

/// What is known of a word that the tables do not have.
static NOTHING: Known = Known { is_plain: false, weights: [0.0; PLACES.len()] };

static WORDS: LazyLock<Vocabulary> = LazyLock::new(|| {
    let mut known: BTreeMap<&str, Known> = BTreeMap::new();
    for line in include_str!("weights.tsv").lines().filter(|line| !line.starts_with('#')) {
        let fields = line.split_once('\t').and_then(|(sign, weight)| {
            let (place, word) = sign.split_once(": ")?;
            Some((Place::of(place)?, word, weight.parse().ok()?))
        });
        if let Some((place, word, weight)) = fields {
            known.entry(word).or_default().weights[place as usize] = weight;
        }
    }
    for word in include_str!("plain.txt").split_whitespace() {
        known.entry(word).or_default().is_plain = true;
    }
    let longest = known.keys().map(|word| word.len()).max().unwrap_or(0);
    let words = known.into_iter().take(SLOTS / 2);
    let words: Vec<_> = words.collect();
    let mut slots = Box::new([(NO_KEY, 0); SLOTS]);
    for (nth, (word, _)) in words.iter().enumerate() {
        let key = key(word.as_bytes());
        let mut slot = slot(key);
        while slots[slot].0 != NO_KEY {
            slot = (slot + 1) % SLOTS;
        }
        slots[slot] = (key, nth);
    }
    Vocabulary { words, slots, longest }
});

/// What is known of a word, whatever its case.
pub(super) fn known(word: &str) -> &'static Known {
    let table = &*WORDS;
    if word.len() > table.longest {
        return &NOTHING;
    }
    let key = key(word.as_bytes());
    let mut slot = slot(key);
    loop {
        let (there, nth) = &table.slots[slot % SLOTS];
        if there[2] == NO_KEY[2] {
            return &NOTHING;
        }
        if *there == key {
            let Some((spelled, known)) = table.words.get(*nth) else { return &NOTHING };
            // The key holds all letters of a word that is not long.
            if word.len() <= 16 || spelled.eq_ignore_ascii_case(word) {
                return known;
            }
        }
        slot += 1;
    }
}

/// Whether a word is never what a failure is about, unless it is quoted.
pub(super) fn is_plain_word(word: &str) -> bool {
    known(word).is_plain
}

fn key(word: &[u8]) -> Key {
    let four = |letters: &[u8; 4]| u64::from(u32::from_le_bytes(*letters));
    let (first, last) = if let (Some(first), Some(last)) = (word.first_chunk(), word.last_chunk()) {
        (u64::from_le_bytes(*first), lower(u64::from_le_bytes(*last)))
    } else if let (Some(first), Some(last)) = (word.first_chunk(), word.last_chunk()) {
        (four(first) | four(last) << 32, 0)
    } else {
        (word.iter().rev().fold(0, |letters, letter| letters << 8 | u64::from(*letter)), 0)
    };
    [lower(first), last, word.len() as u64]
}

fn slot([first, last, length]: Key) -> usize {
    let mixed =
        first.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ last.rotate_left(32).wrapping_add(length);
    let slot = mixed.wrapping_mul(0xd6e8_feb8_6659_fd93) >> (64 - SLOTS.trailing_zeros());
    usize::try_from(slot).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_the_tables_is_known_in_every_place() {
        let mut lines = 0;
        for line in include_str!("weights.tsv").lines() {
            let Some((sign, weight)) = line.split_once('\t') else { continue };
            let Some((place, word)) = sign.split_once(": ") else { continue };
            let Some(place) = Place::of(place) else { continue };
            let weight: f32 = weight.parse().unwrap();
            for word in [word.to_owned(), word.to_ascii_uppercase()] {
                assert_eq!(known(&word).weight(place).to_bits(), weight.to_bits(), "{line}");
            }
            lines += 1;
        }
        assert!(lines > 1_000 && WORDS.words.len() < SLOTS / 2, "{}", WORDS.words.len());
        assert!(is_plain_word("Cannot") && !is_plain_word("nowhere-else"));
    }
}
