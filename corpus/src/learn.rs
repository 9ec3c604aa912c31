//! Learns how much each word of an error speaks for each kind.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use breakfall::{FailureKind, Reader};

use crate::Labelled;

/// In how many errors a word must be seen before it is kept.
const SEEN: usize = 2;
const ROUNDS: usize = 30;
const STEP: f32 = 0.5;
/// How small the first steps are.
const FIRST: f32 = 0.1;
/// How strongly weights are drawn to nothing.
const RESTRAINT: f32 = 1e-3;
/// A weight that says less is left out.
const TELLS: f32 = 0.6;

const KINDS: usize = FailureKind::ALL.len();

/// What was learned: the weights of each word, by kind.
pub struct Words {
    index: HashMap<String, usize>,
    weights: Vec<[f32; KINDS]>,
    before: [f32; KINDS],
}

/// Learns the weights: those under which the labels are the likeliest.
pub fn learn(errors: &[&Labelled]) -> Words {
    let read: Vec<Vec<String>> =
        errors.iter().map(|error| Reader::words(&error.evidence())).collect();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for word in read.iter().flatten() {
        *seen.entry(word).or_default() += 1;
    }
    seen.retain(|word, times| *times >= SEEN && word.len() < 60);
    let index: HashMap<String, usize> =
        seen.keys().map(|word| (*word).to_owned()).zip(0..).collect();
    let mut words = Words { weights: vec![[0.0; KINDS]; index.len()], before: [0.0; KINDS], index };
    let cases: Vec<(Vec<usize>, usize)> = errors
        .iter()
        .zip(&read)
        .filter_map(|(error, read)| Some((words.known(read), kind_of(&error.kind)?)))
        .collect();
    let mut steps = vec![[FIRST; KINDS]; words.weights.len()];
    let mut before = [FIRST; KINDS];
    for round in 0..ROUNDS {
        // In another order each time, always the same: neighbours are of one program.
        for nth in 0..cases.len() {
            let (case, label) = &cases[(nth * 7919 + round * 104_729) % cases.len()];
            words.descend(case, *label, &mut steps, &mut before);
        }
    }
    for weight in words.weights.iter_mut().flatten().filter(|weight| weight.abs() < TELLS) {
        *weight = 0.0;
    }
    words
}

fn kind_of(name: &str) -> Option<usize> {
    FailureKind::ALL.iter().position(|kind| kind.name() == name)
}

/// How much each of so many words counts.
#[expect(clippy::cast_precision_loss, reason = "hundreds of words")]
fn share(words: usize) -> f32 {
    (words.max(1) as f32).sqrt().recip()
}

impl Words {
    fn known(&self, words: &[String]) -> Vec<usize> {
        words.iter().filter_map(|word| self.index.get(word).copied()).collect()
    }

    fn likely(&self, known: &[usize]) -> [f32; KINDS] {
        let mut scores = self.before;
        for word in known {
            for (score, weight) in scores.iter_mut().zip(&self.weights[*word]) {
                *score += weight * share(known.len());
            }
        }
        let most = scores.iter().copied().fold(f32::MIN, f32::max);
        let all: f32 = scores.iter().map(|score| (score - most).exp()).sum();
        scores.map(|score| (score - most).exp() / all)
    }

    /// One step towards weights under which a label is likelier.
    fn descend(
        &mut self,
        known: &[usize],
        label: usize,
        steps: &mut [[f32; KINDS]],
        before: &mut [f32; KINDS],
    ) {
        let likely = self.likely(known);
        for kind in 0..KINDS {
            let slope = f32::from(u8::from(kind == label)) - likely[kind];
            before[kind] += slope * slope;
            self.before[kind] += STEP * slope / before[kind].sqrt() * 0.1;
            for word in known {
                let weight = &mut self.weights[*word][kind];
                let slope = slope * share(known.len()) - RESTRAINT * *weight;
                let step = &mut steps[*word][kind];
                *step += slope * slope;
                *weight += STEP * slope / step.sqrt();
            }
        }
    }

    /// The likeliest kind of an error, and how likely it is.
    pub fn guess(&self, error: &Labelled) -> (FailureKind, f32) {
        let likely = self.likely(&self.known(&Reader::words(&error.evidence())));
        let best = (0..KINDS).max_by(|one, other| likely[*one].total_cmp(&likely[*other]));
        best.map_or((FailureKind::Execution, 0.0), |best| (FailureKind::ALL[best], likely[best]))
    }

    /// The table of words, as `classify/words.tsv` has it.
    pub fn table(&self) -> String {
        let told = |weights: &[f32; KINDS]| {
            let all = FailureKind::ALL.iter().zip(weights);
            let told = all.filter(|(_, weight)| **weight != 0.0);
            told.map(|(kind, weight)| format!("{}:{weight:.1}", kind.name()))
                .collect::<Vec<_>>()
                .join(" ")
        };
        let mut table = String::from(
            "# How much a word or a pair of words speaks for each kind; learned from the corpus.\n",
        );
        let _ = writeln!(table, "(any)\t{}", told(&self.before));
        let words: BTreeMap<&String, &usize> = self.index.iter().collect();
        for (word, at) in words {
            let told = told(&self.weights[*at]);
            if !told.is_empty() {
                let _ = writeln!(table, "{word}\t{told}");
            }
        }
        table
    }
}
