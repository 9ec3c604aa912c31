//! Two counts over the last while, in a few cells that are used in turn.

use std::time::Duration;

use tokio::time::Instant;

/// How many cells a window has: what is older than the window goes a cell at a time.
pub(super) const CELLS: u32 = 10;

/// Two counts over the last while. What is counted goes no later than the window says, and no
/// earlier than a cell before that.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    /// When the first cell began.
    origin: Option<Instant>,
    latest: u64,
    /// When the newest stretch ends, of such a window.
    until: Option<(Instant, Duration)>,
    cells: [Cell; CELLS as usize],
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    /// Which stretch of time it counts, from the origin on.
    stretch: u64,
    counts: [u32; 2],
}

impl Window {
    pub(super) fn add(&mut self, which: usize, width: Duration, now: Instant) {
        let stretch = self.stretch(width, now);
        let cell = &mut self.cells[place(stretch)];
        if cell.stretch != stretch {
            *cell = Cell { stretch, counts: [0; 2] };
        }
        cell.counts[which] = cell.counts[which].saturating_add(1);
    }

    /// When the newest stretch ends.
    pub(super) fn until(&self) -> Option<Instant> {
        self.until.map(|(until, _)| until)
    }

    /// Adds what was counted elsewhere in the newest stretch.
    pub(super) fn add_to_newest(&mut self, which: usize, more: u32) {
        let count = &mut self.cells[place(self.latest)].counts[which];
        *count = count.saturating_add(more);
    }

    pub(super) fn counts(&mut self, width: Duration, now: Instant) -> [u32; 2] {
        let stretch = self.stretch(width, now);
        let recent =
            |cell: &&Cell| cell.stretch <= stretch && stretch - cell.stretch < u64::from(CELLS);
        self.cells.iter().filter(recent).fold([0; 2], |[a, b], cell| {
            [a.saturating_add(cell.counts[0]), b.saturating_add(cell.counts[1])]
        })
    }

    fn stretch(&mut self, width: Duration, now: Instant) -> u64 {
        // Who read the clock first need not come first: what is earlier counts in the newest.
        if self.until.is_some_and(|(until, of)| now < until && width == of) {
            return self.latest;
        }
        let origin = *self.origin.get_or_insert(now);
        let cell = nanos(width / CELLS).max(1);
        let stretch = nanos(now.saturating_duration_since(origin)) / cell;
        self.latest = self.latest.max(stretch);
        let end = cell.checked_mul(self.latest.saturating_add(1)).map(Duration::from_nanos);
        self.until = end.and_then(|end| origin.checked_add(end)).map(|until| (until, width));
        self.latest
    }
}

/// Five hundred years fit, and what is longer is as good as they.
fn nanos(time: Duration) -> u64 {
    time.as_secs().saturating_mul(1_000_000_000).saturating_add(u64::from(time.subsec_nanos()))
}

fn place(stretch: u64) -> usize {
    usize::try_from(stretch % u64::from(CELLS)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_read_the_clock_earlier_and_comes_later_takes_nothing_away() {
        let (mut window, width) = (Window::default(), Duration::from_secs(10));
        let start = Instant::now();
        window.add(0, width, start);
        window.add(1, width, start + Duration::from_secs(10));
        window.add(0, width, start);
        assert_eq!(window.counts(width, start + Duration::from_secs(10)), [1, 1]);
    }
}
