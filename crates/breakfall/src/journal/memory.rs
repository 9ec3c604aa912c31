//! The journal in memory: exact counts for ever, the newest samples in a ring, both bounded.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Ending, Record};

/// How many `tool:type` pairs are told apart, and in how many bytes; a model that invents names
/// fills no memory.
const PAIRS: usize = 4096;
const PAIR_BYTES: usize = 640 << 10;

/// How many more types are, of whatever tool; nor does a server that invents types.
const MORE: usize = PAIRS + 1024;
const MORE_BYTES: usize = PAIR_BYTES + (128 << 10);

/// About what a pair takes beside its names.
const PAIR: usize = 100;

/// What the pairs beyond are counted under.
const OTHERS: &str = "(others)";

/// Counts and the newest samples of failures.
pub struct Memory {
    endings: [AtomicU64; 5],
    kept: Mutex<Kept>,
    max_samples: usize,
    max_bytes: usize,
}

#[derive(Default)]
struct Kept {
    /// By tool, then by type: most tools fail in few ways, and a list of one takes little.
    pairs: BTreeMap<Box<str>, Vec<(Box<str>, u64)>>,
    /// How many pairs that are, and about how many bytes.
    told_apart: usize,
    pair_bytes: usize,
    samples: VecDeque<Arc<Record>>,
    bytes: usize,
}

impl Kept {
    fn count(&mut self, tool: &str, named: &str) {
        let place = |types: &[(Box<str>, u64)], named: &str| {
            types.binary_search_by(|(known, _)| (**known).cmp(named))
        };
        if let Some(types) = self.pairs.get_mut(tool)
            && let Ok(place) = place(types, named)
        {
            types[place].1 += 1;
            return;
        }
        let (tool, named) = match (self.told_apart, self.pair_bytes) {
            (..PAIRS, ..PAIR_BYTES) => (tool, named),
            (..MORE, ..MORE_BYTES) => (OTHERS, named),
            _ => (OTHERS, OTHERS),
        };
        let types = match self.pairs.get_mut(tool) {
            Some(types) => types,
            None => self.pairs.entry(tool.into()).or_default(),
        };
        match place(types, named) {
            Ok(place) => types[place].1 += 1,
            Err(place) => {
                types.reserve_exact(usize::from(types.is_empty()));
                types.insert(place, (named.into(), 1));
                self.told_apart += 1;
                self.pair_bytes += tool.len() + named.len() + PAIR;
            }
        }
    }
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
        Self { endings: Default::default(), kept: Mutex::default(), max_samples, max_bytes }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn count(&self, ending: Ending) {
        self.endings[ending as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn take(&self, record: Arc<Record>) {
        self.count(record.ending);
        if record.ending == Ending::Succeeded {
            return;
        }
        let weight = record.weight();
        let mut kept = self.kept();
        kept.count(&record.tool, record.error_type());
        if weight > self.max_bytes {
            return;
        }
        kept.bytes += weight;
        kept.samples.push_back(record);
        while kept.samples.len() > self.max_samples || kept.bytes > self.max_bytes {
            let Some(oldest) = kept.samples.pop_front() else { break };
            kept.bytes -= oldest.weight();
        }
    }

    /// How many calls there were, by how they ended. Exact.
    pub fn counts(&self) -> Counts {
        let [succeeded, partial, substituted, failed, abandoned] =
            [0, 1, 2, 3, 4].map(|ending: usize| self.endings[ending].load(Ordering::Relaxed));
        Counts { succeeded, partial, substituted, failed, abandoned }
    }

    /// How often each tool failed in which way: `{"tool:type": n}`. Exact.
    pub fn summary(&self) -> BTreeMap<String, u64> {
        let kept = self.kept();
        let pairs = kept.pairs.iter().flat_map(|(tool, types)| {
            types.iter().map(move |(named, count)| (format!("{tool}:{named}"), *count))
        });
        pairs.collect()
    }

    /// The newest samples of a tool, oldest first.
    pub fn for_tool(&self, tool: &str) -> Vec<Arc<Record>> {
        self.kept().samples.iter().filter(|record| record.tool == tool).cloned().collect()
    }

    /// The newest samples of every tool, oldest first.
    pub fn samples(&self) -> Vec<Arc<Record>> {
        self.kept().samples.iter().cloned().collect()
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").field("counts", &self.counts()).finish_non_exhaustive()
    }
}
