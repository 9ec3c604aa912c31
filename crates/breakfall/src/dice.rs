//! Chance that can be repeated: the same seed throws the same numbers.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// Throws numbers from 0 to 1.
#[derive(Debug)]
pub(crate) struct Dice {
    seed: u64,
    thrown: AtomicU64,
}

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, thrown: AtomicU64::new(0) }
    }

    pub(crate) fn throw(&self) -> f64 {
        let mixed = self.draw();
        // 53 bits are what a float between 0 and 1 can hold.
        #[expect(clippy::cast_precision_loss, reason = "at most 53 bits")]
        let number = (mixed >> 11) as f64 / (1_u64 << 53) as f64;
        number
    }

    /// Any number.
    pub(crate) fn draw(&self) -> u64 {
        let turn = self.thrown.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        mix(self.seed.wrapping_add(turn.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }
}

/// A seed of its own for everybody who brings none.
impl Default for Dice {
    fn default() -> Self {
        Self::new(RandomState::new().hash_one(0))
    }
}

/// The last step of splitmix64.
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
