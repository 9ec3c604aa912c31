//! Learns how often each word stands in errors of each kind.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::Labelled;

/// How often a word must be seen before it is kept.
const SEEN: usize = 3;

/// The table of words, as `classify/words.tsv` has it.
pub fn table(errors: &[Labelled]) -> String {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let mut words: BTreeMap<String, BTreeMap<&str, usize>> = BTreeMap::new();
    for error in errors {
        *kinds.entry(&error.kind).or_default() += 1;
        for word in breakfall::features(&error.text, error.type_name.as_deref()) {
            *words.entry(word).or_default().entry(&error.kind).or_default() += 1;
        }
    }
    words.retain(|word, counts| counts.values().sum::<usize>() >= SEEN && word.len() < 60);
    let counts = |counts: &BTreeMap<&str, usize>| {
        counts.iter().map(|(kind, count)| format!("{kind}:{count}")).collect::<Vec<_>>().join(" ")
    };
    let mut table = String::from(
        "# How many errors of each kind hold a word or a pair of words; learned from the corpus.\n",
    );
    let _ = writeln!(table, "(errors)\t{}", counts(&kinds));
    for (word, seen) in &words {
        let _ = writeln!(table, "{word}\t{}", counts(seen));
    }
    table
}
