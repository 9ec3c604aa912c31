//! A few names, folded once: which of them is nearest to another is found by looking at each.

use std::cell::LazyCell;

use super::distance::Pattern;
use super::letters::Letters;
use super::spelled::Spelled;
use super::{is_far, resemblance};

/// A few names that are asked for again and again.
pub(crate) struct Few {
    /// With their letters, where each has a code of its own.
    names: Vec<(Option<Letters>, Box<str>)>,
}

impl Few {
    pub(crate) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let folded = |name: &'a str| (Letters::of(name).filter(Letters::is_plain), name.into());
        Self { names: names.map(folded).collect() }
    }

    /// The name that resembles `wanted` most; of those that are as near, the first by name.
    pub(crate) fn nearest(&self, wanted: &str) -> Option<&str> {
        let letters = Letters::of(wanted);
        // Few of a few names come near enough to be compared letter by letter.
        let pattern = letters
            .as_ref()
            .map(|letters| (letters, LazyCell::new(|| Pattern::new(letters.all()))));
        let mut best: Option<(u32, &str)> = None;
        for (its, name) in &self.names {
            let score = match (&pattern, its) {
                (Some((letters, _)), Some(its)) if is_far(letters, its) => None,
                (Some((letters, pattern)), Some(its)) => resemblance(letters, pattern, its),
                _ => Spelled::new(wanted).resemblance(name),
            };
            let Some(score) = score else { continue };
            let is_nearer =
                |(most, known): (u32, &str)| score > most || score == most && **name < *known;
            if best.is_none_or(is_nearer) {
                best = Some((score, name));
            }
        }
        best.map(|(_, name)| name)
    }
}
