//! What was found free of secrets last, and what was told of it: a text that comes again is not
//! looked at again. Kept for each thread, and compared to the letter; a text with a secret is never
//! kept.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

use super::account::says_no_more;
use super::{FailureReport, Redactor, Terms};
use crate::failure::{Facts, Words};
use crate::{Detail, Failure};

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

/// What was told last, each with the number of who made it.
type Accounts = RefCell<Vec<Option<(u64, Arc<FailureReport>)>>>;

thread_local! {
    static ACCOUNTS: Accounts = RefCell::new(vec![None; KEPT]);
}

impl Redactor {
    /// The account of a plain failure that was told last, in the same words and with the same facts.
    pub(super) fn told_before(
        &self,
        failure: &Failure,
        terms: &Terms,
    ) -> Option<Arc<FailureReport>> {
        let facts = failure.facts();
        let place = place(terms.tool, &facts.message);
        let known = |accounts: &Accounts| {
            let accounts = accounts.borrow();
            let (number, known) = accounts.get(place)?.as_ref()?;
            let is_same =
                *number == self.number && is_account_of(known, facts, terms) && says_no_more(facts);
            is_same.then(|| Arc::clone(known))
        };
        // A thread that ends has no memory.
        ACCOUNTS.try_with(known).ok().flatten()
    }

    /// Keeps the account of a plain failure. What is cleaned stays as it is when it is cleaned again,
    /// so that this is also the account of a failure with these facts as they stand here.
    pub(super) fn keep(&self, account: &Arc<FailureReport>) {
        let is_kept = account.removed_characters == 0
            && account.chain.is_empty()
            && account.message.len() <= LONG_BYTES
            && account.backtrace.as_ref().is_none_or(|trace| trace.len() <= LONG_BYTES);
        if is_kept {
            let _ = ACCOUNTS.try_with(|accounts| {
                let place = place(&account.tool, &account.message);
                if let Some(known) = accounts.borrow_mut().get_mut(place) {
                    *known = Some((self.number, Arc::clone(account)));
                }
            });
        }
    }
}

/// Whether a failure is little more than its words. What was wrong with arguments differs from call
/// to call.
pub(super) fn is_plain(facts: &Facts) -> bool {
    let has_little = !matches!(facts.detail, Detail::Arguments { .. });
    has_little && facts.substitute.is_none() && facts.payload.is_none()
}

/// Whether two details are surely the same: of names, where they are those of the same tools.
fn is_same(one: &Detail, other: &Detail) -> bool {
    let are = |one: &[Arc<str>], other: &[Arc<str>]| {
        one.len() == other.len()
            && one.iter().zip(other).all(|(one, other)| Arc::ptr_eq(one, other))
    };
    match (one, other) {
        (
            Detail::Names { nearest, callable, total },
            Detail::Names { nearest: near, callable: all, total: many },
        ) => total == many && are(nearest, near) && are(callable, all),
        (one, other) => one == other,
    }
}

/// Where the account of a failure is kept: many have the same words, or none.
fn place(tool: &str, message: &str) -> usize {
    let (one, other) = (slot(message), slot(tool));
    if one < SHORTS { (one + other) % SHORTS } else { SHORTS + (one + other) % LONGS }
}

/// Whether facts are those that an account was made of.
fn is_account_of(account: &FailureReport, facts: &Facts, terms: &Terms) -> bool {
    let error_type = facts.type_name.as_deref().unwrap_or(facts.kind.type_name());
    account.kind == facts.kind
        && account.provenance == facts.provenance
        && account.status == facts.status
        && account.wait == facts.wait
        && account.attempts == facts.attempts
        && account.may_pass == facts.may_pass.unwrap_or(facts.kind.may_pass())
        && account.may_have_taken_effect == facts.may_have_taken_effect
        && account.is_anew == facts.is_anew
        && account.times == facts.times
        && account.is_of_program == (facts.words == Words::OfProgram)
        && account.disposition == terms.dispositions.of(terms.tool, facts.kind, &facts.detail)
        && account.tool == terms.tool
        && account.error_type == error_type
        && account.resource == facts.resource
        && account.message == facts.message
        && is_same(&account.detail, &facts.detail)
        && account.backtrace == facts.backtrace
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
    use crate::config::Dispositions;
    use crate::{FailureKind, Report};

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Wraps(&'static str, #[source] std::io::Error);

    fn names(callable: &str) -> Detail {
        thread_local! {
            static NAMES: [Arc<str>; 2] = ["look".into(), "seek".into()];
        }
        let known = NAMES.with(|names| names.iter().find(|name| &***name == callable).cloned());
        Detail::Names { nearest: Vec::new(), callable: known.into_iter().collect(), total: 1 }
    }

    /// Failures that differ from one another in one thing each, and one that holds a secret.
    fn failures() -> Vec<(&'static str, Failure)> {
        // Where it happened is told only where somebody asks for that.
        let without_a_trace = |mut failure: Failure| {
            failure.facts_mut().backtrace = None;
            failure
        };
        let said = |text: &'static str| without_a_trace(std::io::Error::other(text).into());
        let mut all = Vec::new();
        let changes: [fn(&mut Facts); 15] = [
            |facts| facts.kind = FailureKind::Network,
            |facts| facts.provenance = crate::Provenance::Tool,
            |facts| facts.resource = Some("a.txt".to_owned()),
            |facts| facts.status = Some(500),
            |facts| facts.wait = Some(std::time::Duration::from_secs(1)),
            |facts| facts.attempts = 2,
            |facts| facts.may_pass = Some(crate::MayPass::Later),
            |facts| facts.may_have_taken_effect = true,
            |facts| facts.is_anew = true,
            |facts| facts.times = 3,
            |facts| facts.words = Words::OfProgram,
            |facts| facts.detail = Detail::Gone,
            |facts| facts.detail = Detail::Credential("KEY".to_owned()),
            |facts| facts.detail = names("look"),
            |facts| facts.detail = names("seek"),
        ];
        for change in changes {
            let mut failure = said("it is gone");
            change(failure.facts_mut());
            all.push(("find", failure));
        }
        let wrapped =
            |text| without_a_trace(Wraps(text, std::io::Error::other("it is gone")).into());
        all.extend([
            ("find", said("it is gone")),
            ("look", said("it is gone")),
            ("find", said("it is gone, too")),
            ("find", wrapped("it is gone")),
            ("find", wrapped("while it was looked for")),
            ("find", Failure::execution("it is gone")),
            ("find", said("it is gone").saying("it is gone")),
            ("find", Failure::execution("it is gone").caused_by("why it is gone")),
            ("find", said("it is gone").traceback("line 1")),
            ("find", said("it is gone").traceback("line 2, password=hunter2-hunter2")),
            ("find", said("password=hunter2-hunter2 is wrong")),
            ("find", said("colours \u{1b}[31mare seen")),
        ]);
        all
    }

    #[test]
    fn what_was_told_before_is_what_would_be_told_now() {
        let (redactor, dispositions) = (Redactor::default(), Dispositions::default());
        let terms = |tool| Terms {
            tool,
            dispositions: &dispositions,
            max_output_bytes: 100,
            redacts_outputs: false,
        };
        let mut remembered = 0;
        // Each of them comes after each other, and twice.
        for first in 0..failures().len() {
            for nth in 0..failures().len() {
                for at in [first, nth, nth] {
                    let (tool, failure) = failures().swap_remove(at);
                    let known = redactor.told_before(&failure, &terms(tool)).is_some();
                    remembered += usize::from(known);
                    let told = redactor.report(Err(failure), &terms(tool));
                    let (tool, again) = failures().swap_remove(at);
                    let anew = redactor.anew(again, &terms(tool));
                    let Report::Failure(told) = told else { panic!("a failure") };
                    assert_eq!(format!("{told:?}"), format!("{anew:?}"), "{first}, {nth}");
                }
            }
        }
        assert!(remembered > failures().len() * failures().len() / 2, "{remembered}");
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
