//! How well programs are read that were not learned from: the corpus in parts by program, each
//! read with tables learned from the others. The rules saw them all, so it flatters.

use breakfall::Reader;

use crate::Labelled;
use crate::learn::{self, Words};
use crate::signs::{self, Weights};

/// In how many parts.
const PARTS: u64 = 8;

/// What came of the errors that were left out.
#[derive(Debug, Default)]
#[expect(missing_docs, reason = "named for what they count")]
pub struct Unseen {
    pub errors: usize,
    /// Right by words alone.
    pub by_words: usize,
    pub resources: usize,
    pub resources_right: usize,
    /// What is wrong: the part, what it should be, what it was, the text.
    pub wrong: Vec<[String; 4]>,
}

/// Reads each part with what was learned from the others.
pub fn score(errors: &[Labelled]) -> Unseen {
    let reader = Reader::default();
    let mut score = Unseen::default();
    for part in 0..PARTS {
        let (test, learned): (Vec<&Labelled>, Vec<&Labelled>) =
            errors.iter().partition(|error| part_of(error) == part);
        let words = learn::learn(&learned);
        let weights = signs::learn(&learned);
        for error in test {
            score.kind(error, &words);
            score.resource(error, &reader, &weights);
        }
    }
    score
}

impl Unseen {
    fn kind(&mut self, error: &Labelled, words: &Words) {
        let (kind, likely) = words.guess(error);
        self.errors += 1;
        if error.accepts(kind.name()) {
            self.by_words += 1;
        } else {
            let answer = format!("{} {likely:.2}", kind.name());
            self.wrong.push(["kind".into(), error.kind.clone(), answer, error.text.clone()]);
        }
    }

    fn resource(&mut self, error: &Labelled, reader: &Reader, weights: &Weights) {
        let Some(label) = &error.resource else { return };
        let found = signs::choose(&reader.signs(&error.evidence()), weights);
        self.resources += 1;
        if found.as_deref() == Some(label) {
            self.resources_right += 1;
        } else {
            let found = found.unwrap_or_default();
            self.wrong.push(["resource".into(), label.clone(), found, error.text.clone()]);
        }
    }
}

/// A program is in one part with all its errors.
fn part_of(error: &Labelled) -> u64 {
    let origin = error.origin.as_deref().unwrap_or_default();
    // Errors of many programs are told apart by their texts.
    let name = match origin.split([' ', '(']).next().unwrap_or_default() {
        "" | "many" | "agent" => &error.id,
        name => name,
    };
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 7) % PARTS
}
