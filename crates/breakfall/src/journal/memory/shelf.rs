//! Where a thread counts its calls and puts its samples, so that those who fail at the same time are
//! not in each other's way.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Record;

/// How many there are; threads beyond share them.
pub(super) const SHELVES: usize = 16;

/// Room for so many samples is never given back.
const ROOM: usize = 64;

/// What stands for the number of the oldest sample where there is none.
const NONE: u64 = u64::MAX;

/// A sample, with its place among all.
pub(super) struct Sample {
    pub(super) number: u64,
    pub(super) weight: usize,
    pub(super) record: Arc<Record>,
}

/// Counts and samples of few threads, mostly of one. Far enough from the next one that no core waits
/// for another.
#[repr(align(128))]
pub(super) struct Shelf {
    /// How many calls ended, by how they did.
    pub(super) endings: [AtomicU64; 5],
    /// The number of the oldest sample.
    oldest: AtomicU64,
    samples: Mutex<VecDeque<Sample>>,
}

impl Default for Shelf {
    fn default() -> Self {
        let oldest = AtomicU64::new(NONE);
        Self { endings: Default::default(), oldest, samples: Mutex::default() }
    }
}

/// The place of this thread's shelf.
#[inline]
pub(super) fn own() -> usize {
    thread_local! {
        static PLACE: Cell<usize> = const { Cell::new(SHELVES) };
    }
    let place = PLACE.get();
    if place < SHELVES { place } else { first_of(&PLACE) }
}

/// Threads get their places in turn.
#[cold]
fn first_of(place: &'static std::thread::LocalKey<Cell<usize>>) -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed) % SHELVES;
    place.set(next);
    next
}

impl Shelf {
    fn samples(&self) -> MutexGuard<'_, VecDeque<Sample>> {
        self.samples.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn put(&self, sample: Sample) {
        let mut samples = self.samples();
        if samples.is_empty() {
            self.oldest.store(sample.number, Ordering::Relaxed);
        }
        samples.push_back(sample);
    }

    /// Takes the oldest sample off.
    pub(super) fn take_oldest(&self) -> Option<Sample> {
        let mut samples = self.samples();
        let oldest = samples.pop_front();
        self.note_oldest(&samples);
        // It held more once, and another holds that now.
        let room = samples.capacity();
        if room > ROOM && samples.len() < room / 4 {
            samples.shrink_to(room / 2);
        }
        oldest
    }

    fn note_oldest(&self, samples: &VecDeque<Sample>) {
        let oldest = samples.front().map_or(NONE, |sample| sample.number);
        self.oldest.store(oldest, Ordering::Relaxed);
    }

    /// The number of its oldest sample.
    pub(super) fn oldest(&self) -> Option<u64> {
        Some(self.oldest.load(Ordering::Relaxed)).filter(|oldest| *oldest != NONE)
    }

    pub(super) fn look(&self, mut at: impl FnMut(&Sample)) {
        self.samples().iter().for_each(&mut at);
    }
}
