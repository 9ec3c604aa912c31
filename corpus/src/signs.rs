//! Learns how much each sign of a name speaks for its being what a failure is about.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use breakfall::Reader;

use crate::Labelled;

/// In how many errors a sign must be seen before it is kept.
const SEEN: usize = 3;
const ROUNDS: usize = 40;
const STEP: f64 = 0.05;
/// How strongly weights are drawn to nothing.
const RESTRAINT: f64 = 0.004;
/// How much an error counts that is about nothing that it names.
const NOTHING: f64 = 0.06;
/// The same for arguments, which are seldom about anything but themselves.
const ARGUMENTS: f64 = 0.25;

/// An error with its candidates: the signs of each, and which are right.
struct Case {
    candidates: Vec<Vec<usize>>,
    right: Vec<usize>,
    counts: f64,
}

/// A candidate with the names of its signs.
pub type Signed = (String, Vec<String>);

/// What was learned: each sign with its weight.
pub type Weights = BTreeMap<String, f64>;

/// Learns the weights: those under which the right candidates are the likeliest.
pub fn learn(errors: &[&Labelled]) -> Weights {
    let reader = Reader::default();
    let read: Vec<(&Labelled, Vec<Signed>)> =
        errors.iter().map(|error| (*error, reader.signs(&error.evidence()))).collect();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, candidates) in &read {
        let mut signs: Vec<&str> =
            candidates.iter().flat_map(|(_, signs)| signs).map(String::as_str).collect();
        signs.sort_unstable();
        signs.dedup();
        for sign in signs {
            *seen.entry(sign).or_default() += 1;
        }
    }
    seen.retain(|_, times| *times >= SEEN);
    let names: Vec<&str> = seen.keys().copied().collect();
    let index: HashMap<&str, usize> = names.iter().copied().zip(0..).collect();
    let cases: Vec<Case> =
        read.iter().filter_map(|(error, all)| case(error, all, &index)).collect();
    let (mut weights, mut steps) = (vec![0.0; names.len()], vec![1e-6; names.len()]);
    let mut sums = vec![0.0; names.len()];
    for round in 0..ROUNDS {
        // In another order each time, always the same: neighbours are of one program.
        for nth in 0..cases.len() {
            let at = (nth * 7919 + round * 104_729) % cases.len();
            descend(&cases[at], &mut weights, &mut steps);
        }
        if round >= ROUNDS / 2 {
            sums.iter_mut().zip(&weights).for_each(|(sum, weight)| *sum += weight);
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a handful of rounds")]
    let kept = (ROUNDS - ROUNDS / 2) as f64;
    names.into_iter().map(ToOwned::to_owned).zip(sums.into_iter().map(|sum| sum / kept)).collect()
}

fn case(error: &Labelled, all: &[Signed], index: &HashMap<&str, usize>) -> Option<Case> {
    // The first candidate is that there is none.
    let label = error.resource.as_deref().unwrap_or_default();
    let right: Vec<usize> = (0..all.len()).filter(|at| all[*at].0 == label).collect();
    let signs = |signs: &Vec<String>| {
        signs.iter().filter_map(|sign| index.get(sign.as_str()).copied()).collect()
    };
    let counts = match (label, error.kind.as_str()) {
        ("", "invalid_arguments") => ARGUMENTS,
        ("", _) => NOTHING,
        _ => 1.0,
    };
    (!right.is_empty()).then(|| Case {
        candidates: all.iter().map(|(_, all)| signs(all)).collect(),
        right,
        counts,
    })
}

/// One step towards weights under which the right candidates are likelier.
fn descend(case: &Case, weights: &mut [f64], steps: &mut [f64]) {
    let weigh = |signs: &Vec<usize>| signs.iter().map(|sign| weights[*sign]).sum::<f64>();
    let scores: Vec<f64> = case.candidates.iter().map(weigh).collect();
    let most = scores.iter().copied().fold(f64::MIN, f64::max);
    let likely: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
    let all: f64 = likely.iter().sum();
    let right: f64 = case.right.iter().map(|at| likely[*at]).sum();
    let mut slopes: BTreeMap<usize, f64> = BTreeMap::new();
    for (at, signs) in case.candidates.iter().enumerate() {
        let wanted = if case.right.contains(&at) { likely[at] / right.max(1e-12) } else { 0.0 };
        let slope = case.counts * (wanted - likely[at] / all);
        for sign in signs {
            *slopes.entry(*sign).or_default() += slope;
        }
    }
    for (sign, slope) in slopes {
        let slope = slope - RESTRAINT * weights[sign];
        steps[sign] += slope * slope;
        weights[sign] += STEP * slope / f64::sqrt(steps[sign]);
    }
}

/// The candidate that weighs most, if it weighs more than the first: that there is none.
pub fn choose(candidates: &[Signed], weights: &Weights) -> Option<String> {
    let weigh = |signs: &[String]| -> f64 {
        signs.iter().map(|sign| weights.get(sign).copied().unwrap_or_default()).sum()
    };
    let mut best: Option<(f64, &str)> = None;
    for (text, signs) in candidates {
        let weight = weigh(signs);
        if best.is_none_or(|(most, _)| weight > most) {
            best = Some((weight, text));
        }
    }
    best.map(|(_, text)| text.to_owned()).filter(|text| !text.is_empty())
}

/// The table of weights, as `classify/resource/weights.tsv` has it.
pub fn table(weights: &Weights) -> String {
    let mut table = String::from(
        "# How much each sign of a name speaks for its being what a failure is about; learned from the corpus.\n",
    );
    for (sign, weight) in weights.iter().filter(|(_, weight)| weight.abs() >= 0.1) {
        let _ = writeln!(table, "{sign}\t{weight:.2}");
    }
    table
}
