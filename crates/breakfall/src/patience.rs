//! Whether who waits for something quick stays awake for it: to be woken takes a processor that rests
//! longer than most functions and servers take, but where they take their time, or other programs
//! want the processor, staying awake is a waste.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long something is looked for without falling asleep: what a call may cost in processor time.
const AWAKE: Duration = Duration::from_micros(100);

/// Between two looks that are further apart another program had the processor.
const TAKEN: Duration = Duration::from_micros(20);

/// From how much on it is not looked for any more, and the most that is held against it.
const ENOUGH: u32 = 6;
const MOST: u32 = 12;

/// How often it is tried again all the same, where the most is held against it; twice as often for
/// each time in vain less.
const AGAIN: u32 = 64;

/// Whether anything can happen while somebody looks. To yield instead would hand the processor to
/// whatever else the machine does, for far longer than what is waited for takes.
static HAS_ROOM: LazyLock<bool> =
    LazyLock::new(|| std::thread::available_parallelism().is_ok_and(|many| many.get() > 1));

/// What was learned of something that is waited for: how much it was looked for in vain, lately.
/// For doors that wait for a function or a server.
#[derive(Debug, Default)]
pub struct Patience {
    in_vain: AtomicU32,
    turns: AtomicU32,
}

impl Patience {
    /// Looks for something for up to 0.1 ms, where that has been of use; then who waits may sleep.
    pub fn look(&self, is_there: impl FnMut() -> bool) {
        if *HAS_ROOM && self.is_worth_it() {
            self.learn(look(Instant::now, is_there));
        }
    }

    fn is_worth_it(&self) -> bool {
        let in_vain = self.in_vain.load(Ordering::Relaxed);
        in_vain < ENOUGH || {
            let again = AGAIN >> (MOST.saturating_sub(in_vain) / 2);
            self.turns.fetch_add(1, Ordering::Relaxed) % again == again - 1
        }
    }

    fn learn(&self, is_of_use: bool) {
        let in_vain = self.in_vain.load(Ordering::Relaxed);
        // Once in vain outweighs twice of use: most of the time it must be.
        let learned = if is_of_use { in_vain.saturating_sub(1) } else { (in_vain + 2).min(MOST) };
        self.in_vain.store(learned, Ordering::Relaxed);
    }
}

/// Looks until something is there, and tells whether that was of use: it came soon, and nobody else
/// wanted the processor.
fn look(mut now: impl FnMut() -> Instant, mut is_there: impl FnMut() -> bool) -> bool {
    let began = now();
    let mut last = began;
    loop {
        let is_there = is_there();
        let at = now();
        if at - last >= TAKEN || at - began >= AWAKE {
            return false;
        }
        if is_there {
            return true;
        }
        last = at;
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Duration = Duration::from_micros(1);

    /// Looks for what is there after so long, on a processor that is gone once for so long.
    fn looked(comes: Duration, gone: Duration) -> (bool, Duration) {
        let began = Instant::now();
        let passed = std::cell::Cell::new(Duration::ZERO);
        let now = || {
            let before = passed.get();
            let away = if before == 10 * STEP { gone } else { Duration::ZERO };
            passed.set(before + STEP + away);
            began + before
        };
        let is_of_use = look(now, || passed.get() > comes);
        (is_of_use, passed.get())
    }

    #[test]
    fn it_is_looked_for_as_long_as_it_may_come_soon_and_nobody_wants_the_processor() {
        let micros = Duration::from_micros;
        for (comes, gone, is_of_use, longest) in [
            (0, 0, true, 3),
            (50, 0, true, 53),
            (300, 0, false, 103),
            (300, 50, false, 65),
            // It is there, but only because another program ran meanwhile.
            (30, 1_000, false, 1_015),
        ] {
            let (was, took) = looked(micros(comes), micros(gone));
            assert_eq!(was, is_of_use, "{comes} {gone}");
            assert!(took <= micros(longest), "{comes} {gone}: {took:?}");
        }
    }

    #[test]
    fn what_is_looked_for_in_vain_is_left_alone_but_tried_again() {
        let patience = Patience::default();
        let looks = |is_of_use| {
            let looks = patience.is_worth_it();
            if looks {
                patience.learn(is_of_use);
            }
            looks
        };
        assert!((0..100).all(|_| looks(true)));
        // Ever more seldom.
        let tried: Vec<u32> = (0..200).filter(|_| looks(false)).collect();
        assert_eq!(tried, [0, 1, 2, 10, 18, 34, 66, 130, 194]);
        // Soon it is of use again: as often as it is tried, until it is believed.
        let tried = (0..AGAIN * MOST).filter(|_| looks(true)).count();
        assert!(tried > 100, "{tried}");
    }
}
