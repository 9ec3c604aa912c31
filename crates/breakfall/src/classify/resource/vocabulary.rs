//! What is known of words: how much one weighs beside a name, wherever it stands there, and
//! whether it is plain. One look tells all of it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::classify::pieces::key_of_word;

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
    /// What sentences are made of: a name only where nothing else stands.
    pub(super) is_common: bool,
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
    words: Vec<(u64, &'static str, Known)>,
    /// One behind the number of a word, by its key.
    slots: Box<[u16; SLOTS]>,
    longest: usize,
}

/// What is known of a word that the tables do not have.
static NOTHING: Known = Known { is_plain: false, is_common: false, weights: [0.0; PLACES.len()] };

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
    for word in include_str!("common.txt").split_whitespace() {
        known.entry(word).or_default().is_common = true;
    }
    let longest = known.keys().map(|word| word.len()).max().unwrap_or(0);
    let words = known.into_iter().take(SLOTS / 2);
    let words: Vec<_> =
        words.map(|(word, known)| (key_of_word(word.as_bytes()), word, known)).collect();
    let mut slots = Box::new([0; SLOTS]);
    for (nth, (key, ..)) in (1..).zip(&words) {
        let mut slot = slot(*key);
        while slots[slot] != 0 {
            slot = (slot + 1) % SLOTS;
        }
        slots[slot] = nth;
    }
    Vocabulary { words, slots, longest }
});

/// What is known of a word, whatever its case.
pub(super) fn known(word: &str) -> &'static Known {
    let table = &*WORDS;
    if word.len() > table.longest {
        return &NOTHING;
    }
    let found = table.find(key_of_word(word.as_bytes()));
    // The key tells all letters of a word that is not long, and not how many zeros are behind them.
    let is_same = |spelled: &str| {
        spelled.len() == word.len() && (word.len() <= 8 || spelled.eq_ignore_ascii_case(word))
    };
    found.filter(|(spelled, _)| is_same(spelled)).map_or(&NOTHING, |(_, known)| known)
}

/// What is known of a word of which the key is known, and that it is not long.
pub(super) fn known_by(key: u64) -> &'static Known {
    let table = &*WORDS;
    table.find(key).map_or(&NOTHING, |(_, known)| known)
}

impl Vocabulary {
    #[inline]
    fn find(&self, key: u64) -> Option<(&'static str, &Known)> {
        let mut slot = slot(key);
        loop {
            let nth = usize::from(self.slots[slot % SLOTS]);
            let (there, spelled, known) = self.words.get(nth.wrapping_sub(1))?;
            if *there == key {
                return Some((spelled, known));
            }
            slot += 1;
        }
    }
}

/// Whether a word is never what a failure is about, unless it is quoted.
pub(super) fn is_plain_word(word: &str) -> bool {
    known(word).is_plain
}

/// The highest bits of a key depend on all letters.
#[inline]
fn slot(key: u64) -> usize {
    usize::try_from(key >> (64 - SLOTS.trailing_zeros())).unwrap_or(0)
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
