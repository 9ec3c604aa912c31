//! What was found free of secrets last: a text that comes again is not looked at again. Kept for
//! each thread, and compared to the letter; a text with a secret is never kept.

use std::borrow::Cow;
use std::cell::RefCell;

use super::Redactor;
use crate::{FailureKind, Reference};

/// How many short texts are kept, and how long they are.
const SHORTS: usize = 64;
const SHORT_BYTES: usize = 256;

/// How many longer ones, and the longest that is kept.
const LONGS: usize = 16;
const LONG_BYTES: usize = 8 << 10;

const KEPT: usize = SHORTS + LONGS;

thread_local! {
    static CLEAN: RefCell<Vec<(u64, Box<str>)>> =
        RefCell::new(vec![(u64::MAX, Box::default()); KEPT]);
}

/// A failure and its reference.
struct Referred {
    kind: FailureKind,
    tool: Box<str>,
    message: Box<str>,
    reference: Reference,
}

thread_local! {
    static REFERRED: RefCell<Vec<Option<Referred>>> =
        RefCell::new(std::iter::repeat_with(|| None).take(KEPT).collect());
}

/// The reference of a failure of which the words are free of secrets; one that comes again is not
/// hashed again.
pub(super) fn reference(kind: FailureKind, tool: &str, message: &str) -> Reference {
    let slot = slot(message);
    let known = |referred: &RefCell<Vec<Option<Referred>>>| {
        let referred = referred.borrow();
        let known = referred.get(slot)?.as_ref()?;
        let same = known.kind == kind && *known.tool == *tool && *known.message == *message;
        same.then_some(known.reference)
    };
    // A thread that ends has no memory.
    if let Some(reference) = REFERRED.try_with(known).ok().flatten() {
        return reference;
    }
    let reference = Reference::of(kind, tool, message);
    if message.len() <= LONG_BYTES {
        let _ = REFERRED.try_with(|referred| {
            if let Some(known) = referred.borrow_mut().get_mut(slot) {
                let (tool, message) = (tool.into(), message.into());
                *known = Some(Referred { kind, tool, message, reference });
            }
        });
    }
    reference
}

impl Redactor {
    /// [`Redactor::redact`], which does not look again at what it found clean last.
    pub(super) fn redact_again<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if text.len() > LONG_BYTES {
            return self.redact(text);
        }
        let slot = slot(text);
        let is_known = |clean: &RefCell<Vec<(u64, Box<str>)>>| {
            let clean = clean.borrow();
            let known = clean.get(slot);
            known.is_some_and(|(number, known)| *number == self.number && **known == *text)
        };
        // A thread that ends has no memory.
        if CLEAN.try_with(is_known).unwrap_or(false) {
            return Cow::Borrowed(text);
        }
        let redacted = self.redact(text);
        if let Cow::Borrowed(text) = redacted {
            let _ = CLEAN.try_with(|clean| {
                if let Some(known) = clean.borrow_mut().get_mut(slot) {
                    *known = (self.number, text.into());
                }
            });
        }
        redacted
    }
}

/// Where a text is kept: by its length and some of its letters.
fn slot(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mixed = |hash: u64, letters: u64| {
        (hash ^ letters).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
    };
    let eight = |from: usize| {
        let chunk = bytes.get(from..).and_then(|rest| rest.first_chunk::<8>());
        chunk.map_or(0, |chunk| u64::from_le_bytes(*chunk))
    };
    let hash = match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        // Names of arguments are short, and many are of one length.
        (Some(first), Some(last)) if bytes.len() < 8 => {
            let letters = u64::from(u32::from_le_bytes(*first)) << 32;
            mixed(bytes.len() as u64, letters | u64::from(u32::from_le_bytes(*last)))
        }
        _ => [0, bytes.len() / 2, bytes.len().saturating_sub(8)]
            .iter()
            .fold(bytes.len() as u64, |hash, from| mixed(hash, eight(*from))),
    };
    let (first, many) = if bytes.len() <= SHORT_BYTES { (0, SHORTS) } else { (SHORTS, LONGS) };
    first + usize::try_from(hash % many as u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_that_of_its_failure() {
        for _ in 0..2 {
            for kind in [FailureKind::Timeout, FailureKind::Network] {
                for tool in ["a", "b"] {
                    for message in ["x", "y", "one word and another", "one word and yet another"] {
                        let known = reference(kind, tool, message);
                        assert_eq!(known, Reference::of(kind, tool, message));
                    }
                }
            }
        }
    }

    #[test]
    fn what_was_clean_stays_so_until_there_is_another_secret() {
        let mut redactor = Redactor::default();
        for _ in 0..3 {
            assert!(matches!(redactor.redact_again("the word is swordfish"), Cow::Borrowed(_)));
        }
        let other = redactor.clone();
        redactor.add_value("swordfish");
        for _ in 0..3 {
            assert!(!redactor.redact_again("the word is swordfish").contains("sword"));
            assert!(other.redact_again("the word is swordfish").contains("sword"));
        }
    }
}
