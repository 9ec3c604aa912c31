//! Whether who waits for a function stays awake: to be woken takes a processor that rests longer
//! than most functions take, but a function that takes its time, or a machine that is busy, makes it
//! a waste.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long is looked for something without falling asleep.
const AWAKE: Duration = Duration::from_micros(100);

/// From how much on it is not looked for any more, and the most that is held against it.
const ENOUGH: u32 = 6;
const MOST: u32 = 12;

/// Whether anything can happen while somebody looks. To yield instead would hand the processor to
/// whatever else the machine does, for far longer than most functions take.
static HAS_ROOM: LazyLock<bool> =
    LazyLock::new(|| std::thread::available_parallelism().is_ok_and(|many| many.get() > 1));

/// What was learned of a tool: how much it was looked for in vain, lately.
#[derive(Default)]
pub(crate) struct Patience {
    in_vain: AtomicU32,
    calls: AtomicU32,
}

impl Patience {
    /// Looks for something for a moment, where that has been of use.
    pub(crate) fn look(&self, is_there: impl Fn() -> bool) {
        let in_vain = self.in_vain.load(Ordering::Relaxed);
        // Now and then it is tried again.
        let is_turn = || self.calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(16);
        if !*HAS_ROOM || (in_vain >= ENOUGH && !is_turn()) {
            return;
        }
        let began = Instant::now();
        let is_found = loop {
            if is_there() {
                break true;
            }
            if began.elapsed() >= AWAKE {
                break false;
            }
            std::hint::spin_loop();
        };
        // Once in vain outweighs twice of use: most of the time it must be.
        let learned = if is_found { in_vain.saturating_sub(1) } else { (in_vain + 2).min(MOST) };
        self.in_vain.store(learned, Ordering::Relaxed);
    }
}
