//! The names that were asked for last and that no tool has, with what was answered. A model that has
//! a wrong name in mind asks for it again, and so do others: it is not looked for again.

use std::sync::{Mutex, TryLockError};

use crate::Detail;

/// How many names are kept, and how long they are.
const KEPT: usize = 8;
const LONGEST: usize = 128;

/// The names that were asked for last.
#[derive(Default)]
pub(super) struct Asked(Mutex<Vec<Answered>>);

struct Answered {
    name: Box<str>,
    /// How often a tool had been blocked, or was no more: what holds now may be something else.
    turns: usize,
    detail: Detail,
}

impl Asked {
    /// What was answered to this name, or is now. Nobody waits for another's answer.
    pub(super) fn again(
        &self,
        name: &str,
        turns: usize,
        answer: impl FnOnce() -> Detail,
    ) -> Detail {
        if name.len() > LONGEST {
            return answer();
        }
        let mut kept = match self.0.try_lock() {
            Ok(kept) => kept,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return answer(),
        };
        let known = |answered: &Answered| answered.turns == turns && *answered.name == *name;
        if let Some(answered) = kept.iter().find(|answered| known(answered)) {
            return answered.detail.clone();
        }
        let detail = answer();
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push(Answered { name: name.into(), turns, detail: detail.clone() });
        detail
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(total: usize) -> Detail {
        Detail::Names { nearest: Vec::new(), callable: Vec::new(), total }
    }

    #[test]
    fn a_name_is_looked_for_once_as_long_as_nothing_turns() {
        let asked = Asked::default();
        let again = |name: &str, turns, total| asked.again(name, turns, || answer(total));
        assert_eq!(again("a", 0, 1), answer(1));
        assert_eq!(again("a", 0, 2), answer(1));
        assert_eq!(again("a", 1, 3), answer(3));
        assert_eq!(again("a", 1, 4), answer(3));
    }

    #[test]
    fn few_names_are_kept_and_no_long_ones() {
        let asked = Asked::default();
        let long = "a".repeat(LONGEST + 1);
        let again = |name: &str, total| asked.again(name, 0, || answer(total));
        assert_eq!((again(&long, 1), again(&long, 2)), (answer(1), answer(2)));
        for number in 0..=KEPT {
            assert_eq!(again(&number.to_string(), number), answer(number));
        }
        assert_eq!(again("0", 100), answer(100));
        assert_eq!(again("8", 100), answer(8));
        assert_eq!(asked.0.lock().map(|kept| kept.len()).ok(), Some(KEPT));
    }
}
