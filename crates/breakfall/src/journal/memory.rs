//! The journal in memory: exact counts for ever, the newest samples, both bounded.

mod pairs;
mod shelf;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use pairs::Pairs;
use shelf::{SHELVES, Sample, Shelf, own};

use super::{Ending, Record};

/// Counts and the newest samples of failures.
pub struct Memory {
    shelves: Box<[Shelf; SHELVES]>,
    pairs: Pairs,
    /// How many samples came, how many are held, and in about how many bytes.
    came: AtomicU64,
    held: AtomicUsize,
    bytes: AtomicUsize,
    max_samples: usize,
    max_bytes: usize,
}

/// How many calls there were, by how they ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// All was done.
    pub succeeded: u64,
    /// Some was done.
    pub partial: u64,
    /// A substitute did it.
    pub substituted: u64,
    /// Nothing came of it.
    pub failed: u64,
    /// Nobody waited for the end.
    pub abandoned: u64,
}

impl Counts {
    /// All calls that ended.
    pub fn calls(&self) -> u64 {
        self.succeeded + self.partial + self.substituted + self.failed + self.abandoned
    }
}

impl Memory {
    pub(crate) fn new(max_samples: usize, max_bytes: usize) -> Self {
        Self {
            shelves: Box::default(),
            pairs: Pairs::default(),
            came: AtomicU64::new(0),
            held: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            max_samples,
            max_bytes,
        }
    }

    #[inline]
    fn shelf(&self) -> &Shelf {
        &self.shelves[own() % SHELVES]
    }

    #[inline]
    pub(crate) fn count(&self, ending: Ending) {
        self.shelf().endings[ending as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn take(&self, record: Arc<Record>) {
        let own = self.shelf();
        own.endings[record.ending as usize].fetch_add(1, Ordering::Relaxed);
        if record.ending == Ending::Succeeded {
            return;
        }
        self.pairs.count(&record.tool, record.error_type());
        let weight = record.weight();
        if weight > self.max_bytes {
            return;
        }
        let number = self.came.fetch_add(1, Ordering::Relaxed);
        own.put(Sample { number, weight, record });
        let mut held = self.held.fetch_add(1, Ordering::Relaxed) + 1;
        let mut bytes = self.bytes.fetch_add(weight, Ordering::Relaxed) + weight;
        while held > self.max_samples || bytes > self.max_bytes {
            let Some(oldest) = self.oldest(own, held).take_oldest() else { break };
            held = self.held.fetch_sub(1, Ordering::Relaxed) - 1;
            bytes = self.bytes.fetch_sub(oldest.weight, Ordering::Relaxed) - oldest.weight;
        }
    }

    /// Where the oldest sample is, of so many. One of its own that came about then is as old to a
    /// thread: what others hold is left to them, as long as what is newest stays.
    fn oldest<'s>(&'s self, own: &'s Shelf, held: usize) -> &'s Shelf {
        let about_then = held as u64 / 8;
        let mut oldest = (own, own.oldest().map_or(u64::MAX, |own| own.saturating_sub(about_then)));
        for shelf in self.shelves.iter() {
            if let Some(number) = shelf.oldest()
                && number < oldest.1
            {
                oldest = (shelf, number);
            }
        }
        oldest.0
    }

    /// How many calls there were, by how they ended. Exact.
    pub fn counts(&self) -> Counts {
        let [succeeded, partial, substituted, failed, abandoned] =
            [0, 1, 2, 3, 4].map(|ending: usize| {
                self.shelves.iter().map(|shelf| shelf.endings[ending].load(Ordering::Relaxed)).sum()
            });
        Counts { succeeded, partial, substituted, failed, abandoned }
    }

    /// How often each tool failed in which way: `{"tool:type": n}`. Exact.
    pub fn summary(&self) -> BTreeMap<String, u64> {
        self.pairs.summary()
    }

    /// The newest samples of a tool, oldest first.
    pub fn for_tool(&self, tool: &str) -> Vec<Arc<Record>> {
        self.those(|record| record.tool == tool)
    }

    /// The newest samples of every tool, oldest first.
    pub fn samples(&self) -> Vec<Arc<Record>> {
        self.those(|_| true)
    }

    fn those(&self, is: impl Fn(&Record) -> bool) -> Vec<Arc<Record>> {
        let mut those = Vec::new();
        for shelf in self.shelves.iter() {
            shelf.look(|sample| {
                if is(&sample.record) {
                    those.push((sample.number, Arc::clone(&sample.record)));
                }
            });
        }
        those.sort_unstable_by_key(|(number, _)| *number);
        those.into_iter().map(|(_, record)| record).collect()
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::thread::scope;
    use std::time::{Duration, UNIX_EPOCH};

    use proptest::prelude::*;

    use super::*;

    /// A call of so many letters that nobody waited for.
    fn abandoned(number: u64, letters: usize) -> Arc<Record> {
        Arc::new(Record {
            id: "x".repeat(letters),
            tool: format!("tool_{}", number % 3),
            started: UNIX_EPOCH + Duration::from_secs(number),
            took: Duration::ZERO,
            run: None,
            upstream: None,
            trace: None,
            is_found: true,
            ending: Ending::Abandoned,
            failure: None,
            substitute: None,
            substitute_upstream: None,
            attempts: 1,
            own_attempts: 1,
            last_began: Duration::ZERO,
            tries: Vec::new(),
            turned: Vec::new(),
            fault: None,
            silent: None,
            told: None,
            arguments: None,
            output: None,
            repairs: Vec::new(),
            output_bytes: None,
        })
    }

    fn number(record: &Record) -> u64 {
        record.started.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }

    proptest! {
        #[test]
        fn one_thread_keeps_the_newest(
            letters in prop::collection::vec(0_usize..400, 0..60),
            max_samples in 0_usize..12,
            more in 0_usize..2_000,
        ) {
            let max_bytes = abandoned(0, 0).weight() + more;
            let memory = Memory::new(max_samples, max_bytes);
            let mut kept: Vec<(u64, usize)> = Vec::new();
            for (nth, letters) in (0..).zip(letters) {
                let record = abandoned(nth, letters);
                let weight = record.weight();
                memory.take(record);
                if weight <= max_bytes {
                    kept.push((nth, weight));
                    while kept.len() > max_samples
                        || kept.iter().map(|(_, weight)| weight).sum::<usize>() > max_bytes
                    {
                        kept.remove(0);
                    }
                }
                let samples = memory.samples();
                let numbers = samples.iter().map(|record| number(record));
                prop_assert!(numbers.eq(kept.iter().map(|(nth, _)| *nth)));
            }
        }
    }

    #[test]
    fn threads_that_fail_at_once_are_counted_and_bounded() {
        const EACH: u64 = 3_000;
        let memory = Memory::new(100, 1 << 20);
        scope(|scope| {
            for thread in 0..2 * SHELVES as u64 {
                let memory = &memory;
                scope.spawn(move || {
                    for nth in 0..EACH {
                        memory.take(abandoned(thread * EACH + nth, 8));
                        memory.count(Ending::Succeeded);
                    }
                });
            }
        });
        let all = 2 * SHELVES as u64 * EACH;
        let counts = memory.counts();
        assert_eq!((counts.abandoned, counts.succeeded, counts.calls()), (all, all, 2 * all));
        assert_eq!(memory.summary().values().sum::<u64>(), all);
        assert_eq!(memory.summary()["tool_1:Abandoned"], all / 3);
        assert_eq!(memory.samples().len(), 100);
        let of_tools = (0..3).map(|n| memory.for_tool(&format!("tool_{n}")).len());
        assert_eq!(of_tools.sum::<usize>(), 100);
    }

    #[test]
    fn what_a_thread_left_behind_makes_room_for_what_is_new() {
        let weight = abandoned(0, 8).weight();
        // Bounded in number, and in bytes.
        for (max_samples, max_bytes) in [(80, 1 << 20), (1_000_000, 80 * weight)] {
            let memory = Memory::new(max_samples, max_bytes);
            let take = |numbers: std::ops::Range<u64>| {
                let memory = &memory;
                scope(|scope| {
                    scope.spawn(move || numbers.for_each(|nth| memory.take(abandoned(nth, 8))));
                });
                memory.samples().iter().map(|record| number(record)).collect::<Vec<u64>>()
            };
            take(0..80);
            assert_eq!(take(80..81).last(), Some(&80));
            let numbers = take(81..200);
            // A few that are older may be left.
            assert_eq!(numbers.len(), 80);
            assert!(numbers.is_sorted() && numbers.iter().all(|nth| *nth >= 110), "{numbers:?}");
            assert_eq!(numbers.last(), Some(&199));
        }
    }
}
