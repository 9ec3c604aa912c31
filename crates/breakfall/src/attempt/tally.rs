//! What is counted beside a gate's lock, until the next who takes it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// What came since the lock was taken, all in the newest stretch of the windows.
pub(super) struct Tally {
    origin: Instant,
    /// When that stretch ends, as a moment since the origin.
    until: AtomicU64,
    /// How many calls came, and how many went well.
    counts: AtomicU64,
}

/// One call that came, or nothing; and one that went well.
const CAME: u64 = 1 << 32;
const WELL: u64 = 1;

/// The longest that calls are counted beside the lock: no count comes near its bounds.
const LONGEST: Duration = Duration::from_secs(1);

impl Default for Tally {
    fn default() -> Self {
        Self { origin: Instant::now(), until: AtomicU64::new(0), counts: AtomicU64::new(0) }
    }
}

impl Tally {
    /// A time as a number: a later one is greater. No second has more nanoseconds than fit.
    #[inline]
    fn moment(&self, now: Instant) -> u64 {
        let since = now.saturating_duration_since(self.origin);
        since.as_secs() << 30 | u64::from(since.subsec_nanos())
    }

    /// Counts a call that comes in the stretch; false where that has ended.
    #[inline]
    pub(super) fn comes(&self, counts: bool, now: Instant) -> bool {
        self.takes(if counts { CAME } else { 0 }, now)
    }

    /// Counts a call that went well in the stretch; false where that has ended.
    #[inline]
    pub(super) fn goes_well(&self, now: Instant) -> bool {
        self.takes(WELL, now)
    }

    /// Counts a call that came in the stretch and went well at once.
    #[inline]
    pub(super) fn goes_well_at_once(&self) {
        self.counts.fetch_add(WELL, Ordering::Relaxed);
    }

    #[inline]
    fn takes(&self, what: u64, now: Instant) -> bool {
        let is_in = self.moment(now) < self.until.load(Ordering::Relaxed);
        if is_in {
            self.counts.fetch_add(what, Ordering::Relaxed);
        }
        is_in
    }

    /// How many came since, and how many went well.
    pub(super) fn take(&self) -> Option<(u32, u32)> {
        if self.counts.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let counts = self.counts.swap(0, Ordering::Relaxed);
        Some((low(counts >> 32), low(counts)))
    }

    /// From now on calls are counted, until the first of these times.
    pub(super) fn begins(&self, now: Instant, ends: [Option<Instant>; 2]) {
        let ends = ends.into_iter().flatten().chain(now.checked_add(LONGEST));
        let until = ends.min().unwrap_or(now);
        self.until.store(self.moment(until), Ordering::Relaxed);
    }

    /// From now on nothing is counted.
    pub(super) fn stops(&self) {
        self.until.store(0, Ordering::Relaxed);
    }
}

fn low(number: u64) -> u32 {
    u32::try_from(number & u64::from(u32::MAX)).unwrap_or(u32::MAX)
}
