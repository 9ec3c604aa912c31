//! The journal in memory: exact counts for ever, the newest samples in a ring, both bounded.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Ending, Record};

/// How many `tool:type` pairs are told apart; a model that invents names fills no memory.
const PAIRS: usize = 4096;

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
    pairs: BTreeMap<String, u64>,
    samples: VecDeque<Arc<Record>>,
    bytes: usize,
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

    pub(crate) fn take(&self, record: &Record) {
        self.count(record.ending);
        if record.ending == Ending::Succeeded {
            return;
        }
        let weight = record.weight();
        let sample = (weight <= self.max_bytes).then(|| Arc::new(record.clone()));
        let pair = format!("{}:{}", record.tool, record.error_type());
        let mut kept = self.kept();
        if kept.pairs.len() >= PAIRS && !kept.pairs.contains_key(&pair) {
            *kept.pairs.entry(format!("{OTHERS}:{}", record.error_type())).or_default() += 1;
        } else {
            *kept.pairs.entry(pair).or_default() += 1;
        }
        if let Some(sample) = sample {
            kept.bytes += weight;
            kept.samples.push_back(sample);
        }
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
        self.kept().pairs.clone()
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
