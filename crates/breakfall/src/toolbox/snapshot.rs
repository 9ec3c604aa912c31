//! The tools at one moment. What is made of their names is made once, when a name is first asked
//! for that no tool has: adding a tool costs nothing more, and the next wrong name next to nothing.

mod asked;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;

use asked::Asked;

use super::Slot;
use super::nearest::Names;
use crate::{Detail, Failure, FailureKind};

/// How many names an unknown tool is answered with at most.
const LISTED: usize = 10;

/// How many of them are said to be near.
const NEAR: usize = 3;

/// Up to how many tools every name is listed.
const FEW: usize = 20;

/// The tools at one moment, by name.
#[derive(Default)]
pub(super) struct Snapshot {
    pub(super) tools: BTreeMap<String, Arc<Slot>>,
    /// The same for who knows the name, made when the first is asked for.
    by_name: OnceLock<HashMap<String, Arc<Slot>, RandomState>>,
    /// How many of them cannot be called. Changed by who holds the toolbox's lock.
    blocked: AtomicUsize,
    /// How often one of them was blocked, or was no more.
    turns: AtomicUsize,
    known: OnceLock<Known>,
}

/// The names of all tools, and each tool by the number of its name.
struct Known {
    names: Names,
    slots: Vec<Arc<Slot>>,
    asked: Asked,
}

impl Snapshot {
    pub(super) fn new(tools: BTreeMap<String, Arc<Slot>>) -> Self {
        let blocked = tools.values().filter(|slot| slot.block().is_some()).count();
        Self { tools, blocked: AtomicUsize::new(blocked), ..Self::default() }
    }

    /// The tool of that exact name.
    #[inline]
    pub(super) fn get(&self, name: &str) -> Option<&Arc<Slot>> {
        self.by_name.get_or_init(|| by_name(&self.tools)).get(name)
    }

    /// Tells that a tool was blocked, or that it is no more.
    pub(super) fn turned(&self, before: bool, after: bool) {
        match (before, after) {
            (false, true) => self.blocked.fetch_add(1, Ordering::Relaxed),
            (true, false) => self.blocked.fetch_sub(1, Ordering::Relaxed),
            (true, true) | (false, false) => return,
        };
        // Who sees that it turned sees which.
        self.turns.fetch_add(1, Ordering::Release);
    }

    /// The answer to a name that no tool has.
    pub(super) fn unknown(&self, name: &str) -> Failure {
        let known = self.known.get_or_init(|| Known {
            names: Names::new(self.tools.keys().map(String::as_str)),
            slots: self.tools.values().cloned().collect(),
            asked: Asked::default(),
        });
        let turns = self.turns.load(Ordering::Acquire);
        let detail = known.asked.again(name, turns, || self.names(known, name));
        Failure::found(FailureKind::UnknownTool, detail)
    }

    /// The names that can be called instead of one.
    fn names(&self, known: &Known, name: &str) -> Detail {
        let is_callable = |number: usize| known.slots[number].block().is_none();
        let named = |number: usize| Arc::clone(known.names.name(number));
        let near = known.names.nearest::<LISTED>(name, is_callable);
        let nearest = near.numbers().take(NEAR).map(named).collect();
        let total = self.tools.len().saturating_sub(self.blocked.load(Ordering::Relaxed));
        let all = || (0..known.slots.len()).filter(|number| is_callable(*number)).map(named);
        if total <= FEW {
            let callable: Vec<_> = all().collect();
            Detail::Names { nearest, total: callable.len(), callable }
        } else if near.numbers().len() > 0 {
            Detail::Names { nearest, callable: near.numbers().map(named).collect(), total }
        } else {
            Detail::Names { nearest, callable: all().take(LISTED).collect(), total }
        }
    }
}

/// With room to spare: who asks finds it where it looks first.
fn by_name(tools: &BTreeMap<String, Arc<Slot>>) -> HashMap<String, Arc<Slot>, RandomState> {
    let mut by_name = HashMap::with_capacity_and_hasher(2 * tools.len(), RandomState::default());
    by_name.extend(tools.iter().map(|(name, slot)| (name.clone(), Arc::clone(slot))));
    by_name
}
