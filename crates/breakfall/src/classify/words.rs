//! The last resort: how much each word speaks for each kind. Asked when no rule knows a phrase of
//! the text, or only one of the vaguest; learned from the corpus (`cargo xtask corpus learn`).

use std::ops::Range;
use std::sync::LazyLock;

use super::keys::{key, pair, rank};
use super::pieces::Pieces;
use super::quotes::Quotes;
use super::spelling::{Feature, Words};
use crate::{Disposition, FailureKind};

const KINDS: usize = FailureKind::ALL.len();

/// Room for a score of each: a power of two, so that a place is in it without being looked at.
const ROOM: usize = KINDS.next_power_of_two();

/// How many words of a text must be known; the name of its type does not count.
const KNOWN: usize = 4;

/// How many, where they speak for a kind as clearly as this.
const KNOWN_AT_LEAST: usize = 2;
const CLEARLY: f32 = 0.45;

/// How likely a kind must be, and one that stops a run.
const LIKELY: f32 = 0.2;
const LIKELY_FATAL: f32 = 0.3;

/// How likely one must be that says of a call that nobody answered it: its tool is shut for such.
const LIKELY_AWAY: f32 = 0.6;

/// Every measure that a likelihood is held against, here and where a rule is vague.
const THRESHOLDS: &[f32] = &[CLEARLY, LIKELY, LIKELY_FATAL, LIKELY_AWAY, 0.35, 0.4, 0.5, 0.7, 0.8];

/// How near two numbers must be for the order of a sum to matter between them.
const DOUBT: f32 = 0.001;

/// For how many words and pairs there is room.
const WORDS: usize = 1 << 14;

/// In how many places they are looked for.
const PLACES: usize = 2 * WORDS;

struct Table {
    /// Every word and pair of words by its rank, with where its weights stand.
    words: Vec<(u64, Range<usize>)>,
    /// Their keys.
    keys: Vec<u64>,
    /// One behind their number, by the hash of their key.
    places: Vec<u32>,
    weights: Vec<(usize, f32)>,
    /// How likely each kind is before a word is read.
    before: [f32; KINDS],
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table {
        words: Vec::new(),
        keys: Vec::new(),
        places: vec![0; PLACES],
        weights: Vec::new(),
        before: [0.0; KINDS],
    };
    let lines = include_str!("words.tsv").lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let Some((word, weights)) = line.split_once('\t') else { continue };
        let start = table.weights.len();
        table.weights.extend(weights.split(' ').filter_map(|pair| {
            let (kind, weight) = pair.split_once(':')?;
            let index = FailureKind::ALL.iter().position(|known| known.name() == kind)?;
            Some((index, weight.parse().ok()?))
        }));
        if word == "(any)" {
            table.weights.drain(start..).for_each(|(kind, weight)| table.before[kind] = weight);
            continue;
        }
        let of = |key: fn(&str) -> u64| match word.split_once(' ') {
            Some((one, other)) => pair(key(one), key(other)),
            None => key(word),
        };
        table.insert(of(key), of(rank), start..table.weights.len());
    }
    table
});

impl Table {
    fn place(key: u64) -> usize {
        // The highest bits of a product depend on all the others.
        let place = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - PLACES.trailing_zeros());
        usize::try_from(place).unwrap_or_default()
    }

    fn insert(&mut self, key: u64, rank: u64, weights: Range<usize>) {
        if let Some(known) = self.find(key) {
            self.words[known].1 = weights;
            return;
        }
        let mut place = Self::place(key);
        while self.places[place] != 0 {
            place = (place + 1) % PLACES;
        }
        self.words.push((rank, weights));
        self.keys.push(key);
        self.places[place] = u32::try_from(self.words.len()).unwrap_or(0);
    }

    /// The number of a word or a pair, if it is known.
    fn find(&self, key: u64) -> Option<usize> {
        let mut place = Self::place(key);
        loop {
            let nth = (*self.places.get(place)?).checked_sub(1)? as usize;
            if *self.keys.get(nth)? == key {
                return Some(nth);
            }
            place = (place + 1) % PLACES;
        }
    }

    fn weights(&self, nth: usize) -> &[(usize, f32)] {
        &self.weights[self.words[nth].1.clone()]
    }

    /// The kind that words speak for, how likely that is, and whether it is as likely in whatever
    /// order they are added up.
    fn scores(&self, known: &[Known]) -> (usize, f32, bool) {
        #[expect(clippy::cast_precision_loss, reason = "hundreds of words")]
        let share = (known.len() as f32).sqrt().recip();
        let mut scores = [0.0; ROOM];
        scores[..KINDS].copy_from_slice(&self.before);
        for known in known {
            for (kind, weight) in self.weights(known.nth) {
                scores[kind % ROOM] += weight * share;
            }
        }
        let scores = &scores[..KINDS];
        let most = scores.iter().copied().fold(f32::MIN, f32::max);
        let all: f32 = scores.iter().map(|score| (score - most).exp()).sum();
        let mut best = 0;
        let mut near = 0;
        for (kind, score) in scores.iter().enumerate() {
            if score.total_cmp(&scores[best]).is_ge() {
                best = kind;
            }
            near += usize::from(most - score < DOUBT);
        }
        let likely = all.recip();
        let doubtful = THRESHOLDS.iter().any(|threshold| (likely - threshold).abs() < DOUBT);
        (best, likely, near == 1 && !doubtful)
    }
}

/// What the words of an error speak for.
pub(super) struct Guess<'t> {
    pub(super) kind: FailureKind,
    /// How likely that is.
    pub(super) likely: f32,
    best: usize,
    known: Vec<Known>,
    words: Words<'t>,
}

/// A word or a pair of words that is known: the first of its kind in the text.
#[derive(Clone, Copy)]
struct Known {
    /// Its number in the table.
    nth: usize,
    feature: Feature,
}

/// The kind that the words of an error speak for, if they speak for any.
pub(super) fn guess<'t>(
    pieces: &Pieces<'t>,
    quotes: &Quotes,
    type_name: Option<&'t str>,
) -> Option<Guess<'t>> {
    let table = &*TABLE;
    let words = Words::of(pieces, quotes, type_name);
    let mut seen = [0_u64; WORDS / 64];
    let mut known: Vec<Known> = Vec::with_capacity(64);
    let mut told = 0;
    words.features(|key, feature, of_type| {
        let Some(nth) = table.find(key) else { return };
        let (word, bit) = (nth / 64 % seen.len(), 1 << (nth % 64));
        if seen[word] & bit == 0 {
            seen[word] |= bit;
            told += usize::from(!of_type);
            known.push(Known { nth, feature });
        }
    });
    if told < KNOWN_AT_LEAST {
        return None;
    }
    let (mut best, mut likely, sure) = table.scores(&known);
    if !sure {
        // The sum of many depends on their order, by very little: here it may matter.
        known.sort_unstable_by_key(|known| table.words[known.nth].0);
        (best, likely, _) = table.scores(&known);
    }
    let kind = FailureKind::ALL[best];
    let fatal = kind.disposition() == Disposition::Fatal;
    let away = matches!(kind, FailureKind::Timeout | FailureKind::Upstream | FailureKind::Network);
    let enough = match (told < KNOWN, fatal) {
        _ if away => LIKELY_AWAY,
        (true, _) => CLEARLY,
        (false, true) => LIKELY_FATAL,
        (false, false) => LIKELY,
    };
    (likely >= enough).then_some(Guess { kind, likely, best, known, words })
}

impl Guess<'_> {
    /// The words that speak loudest.
    pub(super) fn loudest(mut self) -> String {
        let table = &*TABLE;
        let speaks = |nth: usize| {
            let mut weights = table.weights(nth).iter();
            weights.find(|(of, _)| *of == self.best).map_or(0.0, |(_, weight)| *weight)
        };
        let mut loud: Vec<(f32, u64, Feature)> = self
            .known
            .drain(..)
            .map(|Known { nth, feature }| (speaks(nth), table.words[nth].0, feature))
            .collect();
        let mut loudest: Vec<String> = Vec::with_capacity(3);
        // Few are asked for: the next one is looked for among all.
        while loudest.len() < 3 {
            let places = 0..loud.len();
            let next = places.min_by(|one, other| {
                let ((one, rank, _), (other, of_other, _)) = (&loud[*one], &loud[*other]);
                other.total_cmp(one).then_with(|| rank.cmp(of_other))
            });
            let Some(next) = next else { break };
            let word = self.words.spell(loud.swap_remove(next).2);
            if !loudest.contains(&word) {
                loudest.push(word);
            }
        }
        loudest.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::classify::decide::VAGUE;

    fn table() -> Vec<&'static str> {
        let lines = include_str!("words.tsv").lines().skip(2);
        lines.filter_map(|line| line.split('\t').next()).collect()
    }

    proptest! {
        #[test]
        fn what_is_sure_is_so_in_whatever_order(
            words in prop::collection::vec(select(table()), 2..60),
            type_name in prop::option::of(select(vec!["KeyError", "TimeoutError", "Foo"])),
        ) {
            let text = words.join(" ");
            let words = Words::of(&Pieces::of(&text), &Quotes::of(&text), type_name);
            let mut known = Vec::new();
            words.features(|key, feature, _| {
                known.extend(TABLE.find(key).map(|nth| Known { nth, feature }));
            });
            let (best, likely, sure) = TABLE.scores(&known);
            known.sort_by_key(|known| TABLE.words[known.nth].0);
            let (same, as_likely, _) = TABLE.scores(&known);
            let above = |likely: f32| THRESHOLDS.iter().filter(|least| likely > **least).count();
            prop_assert!(!sure || best == same && above(likely) == above(as_likely));
        }
    }

    #[test]
    fn the_table_has_room_and_every_measure_is_listed() {
        assert!(TABLE.words.len() < WORDS, "{}", TABLE.words.len());
        for (rule, measure) in VAGUE {
            assert!(THRESHOLDS.contains(measure), "{rule}");
        }
    }
}
