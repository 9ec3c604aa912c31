//! The journal in memory: exact counts for ever, the newest samples in a ring, both bounded.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Ending, Record};

/// How many `tool:type` pairs are told apart; a model that invents names fills no memory.
const PAIRS: usize = 4096;

/// How many more types are, of whatever tool; nor does a server that invents types.
const MORE: usize = PAIRS + 1024;

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
    /// By tool and type, and how many pairs that are.
    pairs: BTreeMap<String, BTreeMap<String, u64>>,
    told_apart: usize,
    samples: VecDeque<Arc<Record>>,
    bytes: usize,
}

impl Kept {
    fn count(&mut self, tool: &str, named: &str) {
        if let Some(count) = self.pairs.get_mut(tool).and_then(|types| types.get_mut(named)) {
            *count += 1;
            return;
        }
        let (tool, named) = match self.told_apart {
            ..PAIRS => (tool, named),
            PAIRS..MORE => (OTHERS, named),
            MORE.. => (OTHERS, OTHERS),
        };
        let types = self.pairs.entry(tool.to_owned()).or_default();
        self.told_apart += usize::from(!types.contains_key(named));
        *types.entry(named.to_owned()).or_default() += 1;
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
