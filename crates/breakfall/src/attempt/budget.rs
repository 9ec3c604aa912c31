//! How many of the calls may be repeats: when everything fails, repeats must not multiply it.

use tokio::time::Instant;

use super::policy::BudgetRules;
use super::window::Window;

const CALLS: usize = 0;
const REPEATS: usize = 1;

/// Calls and repeats of the last while.
#[derive(Clone, Debug, Default)]
pub(crate) struct Budget(Window);

impl Budget {
    /// A call came.
    pub(crate) fn call(&mut self, rules: &BudgetRules, now: Instant) {
        self.0.add(CALLS, rules.window, now);
    }

    /// So many came since, in the stretch that is the newest.
    pub(crate) fn calls_came(&mut self, calls: u32) {
        self.0.add_to_newest(CALLS, calls);
    }

    /// When the newest stretch ends.
    pub(crate) fn until(&self) -> Option<Instant> {
        self.0.until()
    }

    /// Takes a repeat out of the budget; false where none is left.
    pub(crate) fn repeat(&mut self, rules: &BudgetRules, now: Instant) -> bool {
        let [calls, repeats] = self.0.counts(rules.window, now);
        let share = u64::from(calls) * u64::from(rules.percent) / 100;
        let left = u64::from(repeats) < share.max(u64::from(rules.floor));
        if left {
            self.0.add(REPEATS, rules.window, now);
        }
        left
    }
}
