//! How much each sign weighs, learned from the corpus (`cargo run -p breakfall-corpus -- learn
//! signs`), and which candidate weighs most.

use std::sync::LazyLock;

use super::About;
use super::candidates::{Candidate, candidates};
use super::signs::SIGNS;
use crate::classify::keys::{ByKey, key};

struct Weights {
    signs: [f32; 64],
    words: ByKey<f32>,
}

static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| {
    let mut weights = Weights { signs: [0.0; 64], words: ByKey::default() };
    let lines = include_str!("weights.tsv").lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let Some((sign, weight)) = line.split_once('\t') else { continue };
        let Ok(weight) = weight.parse() else { continue };
        match SIGNS.iter().position(|(_, name)| *name == sign) {
            Some(index) => weights.signs[index] = weight,
            None => {
                if let Some((place, word)) = sign.split_once(": ") {
                    weights.words.insert(key(place, word), weight);
                }
            }
        }
    }
    weights
});

/// The candidate that weighs most, if it weighs more than that there is none.
pub(super) fn heaviest(about: &About) -> Option<String> {
    let none: f32 = none(about).iter().map(|(place, word)| WEIGHTS.word(place, word)).sum();
    let all = candidates(about);
    let mut best: Option<(f32, &str)> = None;
    for candidate in &all {
        let weight = WEIGHTS.of(candidate);
        if weight > best.map_or(none, |(most, _)| most) {
            best = Some((weight, candidate.text));
        }
    }
    best.map(|(_, text)| text.to_owned())
}

/// Every candidate with the names of its signs, and first what speaks for none.
pub(super) fn signs(about: &About) -> Vec<(String, Vec<String>)> {
    let named = |words: &[(&str, &str)]| -> Vec<String> {
        words
            .iter()
            .map(|(place, word)| format!("{place}: {}", word.to_ascii_lowercase()))
            .collect()
    };
    let mut all = vec![(String::new(), named(&none(about)))];
    for candidate in candidates(about) {
        let mut signs: Vec<String> =
            candidate.signs.each().map(|index| SIGNS[index].1.to_owned()).collect();
        signs.extend(named(&candidate.words));
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

impl Weights {
    fn of(&self, candidate: &Candidate) -> f32 {
        let signs: f32 = candidate.signs.each().map(|index| self.signs[index]).sum();
        signs + candidate.words.iter().map(|(place, word)| self.word(place, word)).sum::<f32>()
    }

    fn word(&self, place: &str, word: &str) -> f32 {
        self.words.get(&key(place, word)).copied().unwrap_or(0.0)
    }
}
