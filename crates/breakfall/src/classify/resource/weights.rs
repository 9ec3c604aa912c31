//! How much each sign weighs, learned from the corpus (`cargo run -p breakfall-corpus -- learn
//! signs`), and which candidate weighs most.

use std::sync::LazyLock;

use super::About;
use super::candidates::{Candidate, Stage, candidates};
use super::letters::{DIGIT, DOT, UNDERSCORE, sorts};
use super::signs::{LOOKS, SIGNS, STANDS, Sign};
use super::vocabulary::{Known, Place, known};
use crate::FailureKind;

/// What sort of word stands before a name: what is known of none of them is known of its like.
const SORTS: [&str; 4] = ["plain word", "word", "capital word", "name"];

/// How much the heaviest candidate weighs, and how much more than the next one, where none that is
/// looked for later was seen to matter in any text of the corpus: by a wide margin.
fn is_enough(most: f32, next: f32, stage: Stage) -> bool {
    let (enough, apart) = match stage {
        Stage::Quoted => (5.0, 1.5),
        Stage::Decisive => (3.0, 1.0),
    };
    most > enough && most - next > apart
}

struct Weights {
    signs: [f32; 64],
    /// Of what sort of word stands before a name.
    sorts: [f32; SORTS.len()],
    /// Of a look, by where the name stands.
    looks: [[f32; LOOKS.len()]; STANDS.len()],
    /// Of a look, where a type says no more than the name.
    said: [f32; LOOKS.len()],
    none: Vec<(&'static str, f32)>,
}

static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| {
    let mut weights = Weights {
        signs: [0.0; 64],
        sorts: [0.0; SORTS.len()],
        looks: [[0.0; LOOKS.len()]; STANDS.len()],
        said: [0.0; LOOKS.len()],
        none: Vec::new(),
    };
    let lines = include_str!("weights.tsv").lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let Some((sign, weight)) = line.split_once('\t') else { continue };
        let Ok(weight) = weight.parse() else { continue };
        match sign.split_once(": ") {
            Some((place, word)) => weights.insert(place, word, weight),
            None => {
                if let Some(index) = SIGNS.iter().position(|(_, name)| *name == sign) {
                    weights.signs[index] = weight;
                }
            }
        }
    }
    weights
});

/// The candidate that weighs most, if it weighs more than that there is none.
pub(super) fn heaviest(about: &About) -> Option<String> {
    let none: f32 = none(about).iter().map(|(_, word)| WEIGHTS.none(word)).sum();
    let weight = |candidate: &Candidate| {
        if candidate.is_type { f32::NEG_INFINITY } else { WEIGHTS.of(candidate, about.kind) }
    };
    let enough = |found: &[Candidate], stage: Stage| {
        let all: Vec<f32> = found.iter().map(weight).collect();
        let (mut most, mut best) = (none, "");
        for (candidate, weight) in found.iter().zip(&all) {
            if *weight > most {
                (most, best) = (*weight, candidate.text);
            }
        }
        let others = found.iter().zip(&all).filter(|(candidate, _)| candidate.text != best);
        let next = others.map(|(_, weight)| *weight).fold(none, f32::max);
        is_enough(most, next, stage)
    };
    let all = candidates(about, enough);
    let mut best: Option<(f32, &str)> = None;
    for candidate in &all {
        let weight = weight(candidate);
        if weight > best.map_or(none, |(most, _)| most) {
            best = Some((weight, candidate.text));
        }
    }
    best.map(|(_, text)| text.to_owned())
}

/// Every candidate with the names of its signs, and first what speaks for none.
pub(super) fn signs(about: &About) -> Vec<(String, Vec<String>)> {
    let named = |(place, word): (&str, &str)| format!("{place}: {}", word.to_ascii_lowercase());
    let mut all = vec![(String::new(), none(about).into_iter().map(named).collect())];
    for candidate in candidates(about, |_, _| false) {
        let mut signs: Vec<String> =
            candidate.signs.each().map(|index| SIGNS[index].1.to_owned()).collect();
        signs.extend(candidate.words(about.kind).into_iter().map(named));
        all.push((candidate.text.to_owned(), signs));
    }
    all
}

/// What speaks for a failure that is about nothing that it names.
fn none(about: &About) -> [(&'static str, &'static str); 3] {
    [
        ("none", about.kind.name()),
        ("none", if about.places.is_empty() { "unspoken" } else { "spoken" }),
        ("none", if about.body.is_some() { "body" } else { "text" }),
    ]
}

/// What sort of word this is.
fn sort_of(word: &str, known: &Known) -> usize {
    let (first, rest) = word.as_bytes().split_at(word.len().min(1));
    match first.first() {
        Some(b'a'..=b'z' | b'A'..=b'Z') if known.is_plain => 0,
        Some(b'a'..=b'z') if rest.iter().all(u8::is_ascii_lowercase) => 1,
        Some(b'A'..=b'Z') if rest.iter().all(u8::is_ascii_lowercase) => 2,
        _ => 3,
    }
}

/// Whether the word before a name is weighed as such: not another name.
fn is_said(word: &str) -> bool {
    sorts(word) & (DIGIT | DOT | UNDERSCORE) == 0 && !word.contains('/')
}

/// The words before a candidate, apart for the kinds in which they mean other things.
fn by_kind(kind: FailureKind) -> Place {
    match kind {
        FailureKind::Permission => Place::BeforeDenied,
        FailureKind::Conflict | FailureKind::Precondition => Place::BeforeInConflict,
        FailureKind::UnknownTool => Place::BeforeTool,
        _ => Place::BeforeMissing,
    }
}

impl Candidate<'_> {
    /// Whether a type says no more than this name.
    fn is_said_by_type(&self) -> bool {
        self.signs.has(Sign::BehindType) && self.signs.has(Sign::LineEnd)
    }

    /// The words beside it, each with where it stands; in the order in which they are weighed.
    fn words(&self, kind: FailureKind) -> Vec<(&'static str, &str)> {
        let beside = &self.beside;
        let mut words = Vec::new();
        words.extend(beside.field.map(|field| (Place::Field.name(), field)));
        words.extend(beside.key.map(|key| (Place::Key.name(), key)));
        if let Some(before) = beside.before {
            words.push(("behind a", SORTS[sort_of(before, known(before))]));
            if is_said(before) {
                words.push((Place::Before.name(), before));
                words.push((by_kind(kind).name(), before));
            }
        }
        words.extend(beside.ago.map(|ago| (Place::Ago.name(), ago)));
        words.extend(beside.after.map(|after| (Place::After.name(), after)));
        let look = LOOKS[self.signs.first_of(&LOOKS)].1;
        words.push((STANDS[self.signs.first_of(&STANDS)].1, look));
        words.extend(self.is_said_by_type().then_some(("type says", look)));
        words
    }
}

impl Weights {
    fn insert(&mut self, place: &str, word: &'static str, weight: f32) {
        // Two looks have one name.
        let looks = |row: &mut [f32; LOOKS.len()]| {
            for (known, (_, name)) in row.iter_mut().zip(&LOOKS) {
                if *name == word {
                    *known = weight;
                }
            }
        };
        if place == "none" {
            self.none.push((word, weight));
        } else if place == "type says" {
            looks(&mut self.said);
        } else if let Some(stands) = STANDS.iter().position(|(_, name)| *name == place) {
            looks(&mut self.looks[stands]);
        } else if place == "behind a"
            && let Some(sort) = SORTS.iter().position(|name| *name == word)
        {
            self.sorts[sort] = weight;
        }
    }

    fn none(&self, word: &str) -> f32 {
        self.none.iter().find(|(known, _)| *known == word).map_or(0.0, |(_, weight)| *weight)
    }

    fn of(&self, candidate: &Candidate, kind: FailureKind) -> f32 {
        let signs: f32 = candidate.signs.each().map(|index| self.signs[index]).sum();
        let beside = &candidate.beside;
        let weight = |word: Option<&str>, place| word.map_or(0.0, |word| known(word).weight(place));
        let mut words = weight(beside.field, Place::Field) + weight(beside.key, Place::Key);
        if let Some(before) = beside.before {
            let known = known(before);
            words += self.sorts[sort_of(before, known)];
            if is_said(before) {
                words += known.weight(Place::Before);
                words += known.weight(by_kind(kind));
            }
        }
        words += weight(beside.ago, Place::Ago);
        words += weight(beside.after, Place::After);
        let look = candidate.signs.first_of(&LOOKS);
        words += self.looks[candidate.signs.first_of(&STANDS)][look];
        words += if candidate.is_said_by_type() { self.said[look] } else { 0.0 };
        signs + words
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::classify::phrases::BUILT_IN;
    use crate::classify::quotes::Quotes;

    #[test]
    fn a_candidate_weighs_what_its_signs_do() {
        let lines = include_str!("weights.tsv").lines().filter_map(|line| line.split_once('\t'));
        let table: HashMap<&str, f32> =
            lines.filter_map(|(sign, weight)| Some((sign, weight.parse().ok()?))).collect();
        let mut weighed = 0;
        for (kind, text) in [
            (FailureKind::NotFound, "open /srv/a.csv: No such file or directory (os error 2)"),
            (FailureKind::NotFound, "KeyError: 'user_id' not found in table=Orders, see \"docs\""),
            (FailureKind::Permission, "User ada may not write to <LEDGER>: permission denied"),
            (FailureKind::Conflict, "branch main already exists\nrun git branch -D main"),
            (FailureKind::UnknownTool, "no tool named serach; File \"x.py\", line 7"),
            (FailureKind::NotFound, "bucket data-7 in zone eu-1 not found, see /srv/b.log"),
        ] {
            let (quotes, spoken) = (Quotes::of(text), BUILT_IN.spoken(text));
            let about = About::new(kind, text, &quotes, &spoken).unwrap();
            let named = signs(&about).into_iter().skip(1);
            for (candidate, (_, named)) in candidates(&about, |_, _| false).iter().zip(named) {
                let expected: f32 = named.iter().filter_map(|sign| table.get(sign.as_str())).sum();
                let weight = WEIGHTS.of(candidate, kind);
                assert!((weight - expected).abs() < 1e-4, "{candidate:?}: {weight} {named:?}");
                weighed += 1;
            }
        }
        assert!(weighed > 15, "{weighed}");
    }
}
