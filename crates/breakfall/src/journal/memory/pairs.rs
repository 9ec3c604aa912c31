//! How often each tool failed in which way: exact, and bounded in how much is told apart.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

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

/// Counts of pairs: one that is known is counted beside all others who count.
#[derive(Default)]
pub(super) struct Pairs(RwLock<Known>);

#[derive(Default)]
struct Known {
    /// By tool, then by type: most tools fail in few ways, and a list of one takes little.
    tools: BTreeMap<Box<str>, Vec<(Box<str>, AtomicU64)>>,
    /// How many pairs that are, and about how many bytes.
    told_apart: usize,
    bytes: usize,
}

impl Pairs {
    pub(super) fn count(&self, tool: &str, named: &str) {
        let is_counted = self.0.read().unwrap_or_else(PoisonError::into_inner).count(tool, named);
        if !is_counted {
            self.0.write().unwrap_or_else(PoisonError::into_inner).learn(tool, named);
        }
    }

    /// `{"tool:type": n}`.
    pub(super) fn summary(&self) -> BTreeMap<String, u64> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let pairs = known.tools.iter().flat_map(|(tool, types)| {
            let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
            types.iter().map(move |(named, all)| (format!("{tool}:{named}"), count(all)))
        });
        pairs.collect()
    }
}

fn place(types: &[(Box<str>, AtomicU64)], named: &str) -> Result<usize, usize> {
    types.binary_search_by(|(known, _)| (**known).cmp(named))
}

impl Known {
    /// Counts a pair, if it is known.
    fn count(&self, tool: &str, named: &str) -> bool {
        let Some(types) = self.tools.get(tool) else { return false };
        let Ok(place) = place(types, named) else { return false };
        types[place].1.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Counts a pair that was not known yet, by itself or with others.
    fn learn(&mut self, tool: &str, named: &str) {
        // Somebody else may have learned it meanwhile.
        if self.count(tool, named) {
            return;
        }
        let (tool, named) = match (self.told_apart, self.bytes) {
            (..PAIRS, ..PAIR_BYTES) => (tool, named),
            (..MORE, ..MORE_BYTES) => (OTHERS, named),
            _ => (OTHERS, OTHERS),
        };
        let types = match self.tools.get_mut(tool) {
            Some(types) => types,
            None => self.tools.entry(tool.into()).or_default(),
        };
        match place(types, named) {
            Ok(place) => *types[place].1.get_mut() += 1,
            Err(place) => {
                types.reserve_exact(usize::from(types.is_empty()));
                types.insert(place, (named.into(), AtomicU64::new(1)));
                self.told_apart += 1;
                self.bytes += tool.len() + named.len() + PAIR;
            }
        }
    }
}
