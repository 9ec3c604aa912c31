//! How many calls there were, and how many failed, from moment to moment.

use serde::Serialize;

use super::{Step, Store};
use crate::batch::HOUR;
use crate::error::Error;

/// How many moments there are at most.
const MOMENTS: i64 = 96;

/// Up to so long a time is told by minutes: they are not kept for long.
const BY_MINUTES: i64 = 3 * HOUR;

/// Calls and failures of a time, in equal parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Timeline {
    /// How long each part is, in milliseconds.
    #[serde(rename = "step_ms")]
    pub step: i64,
    /// The parts, the oldest first.
    pub moments: Vec<Moment>,
}

/// Calls and failures of a part of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Moment {
    /// When it begins, in milliseconds since 1970.
    pub at: i64,
    /// How many calls.
    pub calls: u64,
    /// How many of them failed.
    pub failed: u64,
}

impl Store {
    /// Calls and failures since a moment.
    pub async fn timeline(&self, since: i64, now: i64) -> Result<Timeline, Error> {
        let by = if now - since <= BY_MINUTES { Step::Minute } else { Step::Hour };
        let mut line = Timeline::empty(since, now, by.millis());
        let first = line.moments.first().map_or(since, |moment| moment.at);
        for span in self.over_time(first, now, by).await? {
            let place = usize::try_from((span.at - first) / line.step).unwrap_or(usize::MAX);
            let Some(moment) = line.moments.get_mut(place) else { continue };
            moment.calls = moment.calls.saturating_add(span.calls);
            moment.failed = moment.failed.saturating_add(span.failed);
        }
        Ok(line)
    }
}

impl Timeline {
    /// A time in which nothing was: parts of whole minutes or hours, as few as must be.
    fn empty(since: i64, now: i64, long: i64) -> Self {
        let first = since - since.rem_euclid(long);
        let parts = (now - first).max(0) / long + 1;
        let step = long * ((parts + MOMENTS - 1) / MOMENTS);
        let count = (now - first).max(0) / step + 1;
        let moment = |number| Moment { at: first + number * step, calls: 0, failed: 0 };
        Self { step, moments: (0..count).map(moment).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::MINUTE;

    #[test]
    fn a_time_has_few_equal_parts_that_cover_it() {
        for (long, since, now) in [
            (MINUTE, 0, 0),
            (MINUTE, 90_000, 3 * HOUR),
            (HOUR, 5 * HOUR + 1, 29 * HOUR),
            (HOUR, 0, 400 * 24 * HOUR),
            (HOUR, HOUR, 0),
        ] {
            let line = Timeline::empty(since, now, long);
            let (first, last) = (line.moments[0], line.moments[line.moments.len() - 1]);
            assert!(first.at <= since && since - first.at < long, "{line:?}");
            assert!(last.at + line.step > now && line.step % long == 0, "{line:?}");
            assert!(line.moments.len() <= usize::try_from(MOMENTS).unwrap_or(0), "{line:?}");
        }
    }
}
