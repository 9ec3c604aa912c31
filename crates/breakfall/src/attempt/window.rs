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
    cells: [Cell; CELLS as usize],
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    /// Which stretch of time it counts, from the origin on.
    stretch: u128,
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

    pub(super) fn counts(&mut self, width: Duration, now: Instant) -> [u32; 2] {
        let stretch = self.stretch(width, now);
        let recent =
            |cell: &&Cell| cell.stretch <= stretch && stretch - cell.stretch < u128::from(CELLS);
        self.cells.iter().filter(recent).fold([0; 2], |[a, b], cell| {
            [a.saturating_add(cell.counts[0]), b.saturating_add(cell.counts[1])]
        })
    }

    fn stretch(&mut self, width: Duration, now: Instant) -> u128 {
        let origin = *self.origin.get_or_insert(now);
        let cell = (width / CELLS).as_nanos().max(1);
        now.saturating_duration_since(origin).as_nanos() / cell
    }
}

fn place(stretch: u128) -> usize {
    usize::try_from(stretch % u128::from(CELLS)).unwrap_or_default()
}
