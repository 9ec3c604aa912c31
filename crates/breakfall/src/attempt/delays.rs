//! The waits between attempts.

use std::time::Duration;

use super::policy::Retry;

/// The waits between attempts: each drawn from nought to its longest, which doubles. It ends when
/// no attempt is left.
pub(crate) struct Delays {
    left: u32,
    longest: Duration,
    max: Duration,
}

impl Delays {
    pub(crate) fn new(retry: &Retry) -> Self {
        Self {
            left: retry.attempts.saturating_sub(1),
            longest: retry.first_delay,
            max: retry.max_delay,
        }
    }

    /// The next wait. `draw` draws a number from 0 to 1.
    pub(crate) fn next(&mut self, draw: impl FnOnce() -> f64) -> Option<Duration> {
        self.left = self.left.checked_sub(1)?;
        let longest = self.longest.min(self.max);
        self.longest = self.longest.saturating_mul(2);
        let drawn = longest.as_secs_f64() * draw().clamp(0.0, 1.0);
        // The longest times there are do not survive the way through a float.
        Some(Duration::try_from_secs_f64(drawn).unwrap_or(longest))
    }
}
