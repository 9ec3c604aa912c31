//! Which tools exist and which may be called now: a name becomes a tool or a failure that helps.

mod nearest;
mod snapshot;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arc_swap::ArcSwap;

pub(crate) use nearest::{Few, nearest};
use snapshot::Snapshot;

use crate::attempt::{Breaker, Gate, GateRules, GateState};
use crate::check::Schema;
use crate::fallback::Fallback;
use crate::tool::Entry;
use crate::{Block, Detail, Effect, Error, Failure, FailureKind, Policy, ToolSpec};

/// Which tools exist and which may be called now. Changed from any task while calls run.
///
/// ```
/// # use breakfall::{Output, Toolbox, function};
/// # fn main() -> Result<(), breakfall::Error> {
/// # let tool = function("search", "", |_: serde_json::Value| async {
/// #     Ok::<_, breakfall::Failure>("")
/// # });
/// let toolbox = Toolbox::new();
/// toolbox.add(tool)?;
/// toolbox.pause("search")?;
/// toolbox.enable("search")?;
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct Toolbox {
    /// Readers take a snapshot; writers replace it, one at a time.
    tools: ArcSwap<Snapshot>,
    upstreams: ArcSwap<BTreeMap<String, Arc<Gate>>>,
    writing: Mutex<()>,
    fit: Option<Fit>,
    otherwise: OnceLock<Otherwise>,
}

/// Who is asked for tools that nobody told of.
type Otherwise = Box<dyn Fn(&str) -> Option<Entry> + Send + Sync>;

/// What is done to every tool that comes in, now or later, and what holds for its calls.
pub(crate) type Fit = Box<dyn Fn(Entry) -> (Entry, Rules) + Send + Sync>;

/// What holds for the calls of a tool.
#[derive(Clone, Default)]
pub(crate) struct Rules {
    pub(crate) policy: Arc<Policy>,
    /// What lets calls through to its upstream.
    pub(crate) upstream: Arc<GateRules>,
    pub(crate) fallback: Option<Arc<Fallback>>,
}

/// What a name stands for.
pub(crate) enum Found {
    /// A tool, which may be called or not.
    Tool(Arc<Slot>),
    /// Nothing; what holds for such a name.
    Nothing(Rules),
}

impl Found {
    pub(crate) fn rules(&self) -> &Rules {
        match self {
            Self::Tool(slot) => &slot.rules,
            Self::Nothing(rules) => rules,
        }
    }

    pub(crate) fn upstream(&self) -> Option<&Arc<str>> {
        match self {
            Self::Tool(slot) => slot.entry.spec.upstream.as_ref(),
            Self::Nothing(_) => None,
        }
    }

    pub(crate) fn schema(&self) -> Option<&Schema> {
        match self {
            Self::Tool(slot) => Some(&slot.schema),
            Self::Nothing(_) => None,
        }
    }
}

/// Whose gate is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope<'n> {
    /// A tool's.
    Tool(&'n str),
    /// An upstream's, which all its tools share.
    Upstream(&'n str),
}

/// A tool in its place, with whether it may be called.
pub(crate) struct Slot {
    pub(crate) entry: Entry,
    pub(crate) schema: Schema,
    pub(crate) gate: Arc<Gate>,
    /// The gate of its upstream.
    pub(crate) upstream: Option<Arc<Gate>>,
    pub(crate) rules: Rules,
    state: AtomicU8,
}

const ENABLED: u8 = 0;
const DISABLED: u8 = 1;
const PAUSED: u8 = 2;

impl Slot {
    /// The gate whose budget counts, with its rules.
    pub(crate) fn budget(&self) -> (&Gate, &GateRules) {
        match &self.upstream {
            Some(gate) => (gate, &self.rules.upstream),
            None => (&self.gate, &self.rules.policy.gate),
        }
    }

    /// The tool, if it may be called now.
    #[inline]
    pub(crate) fn callable(&self) -> Result<&Self, Failure> {
        if self.state.load(Ordering::Relaxed) == ENABLED {
            return Ok(self);
        }
        match self.block() {
            None => Ok(self),
            Some(block) => Err(Failure::found(FailureKind::Unavailable, Detail::Blocked(block))),
        }
    }

    fn block(&self) -> Option<Block> {
        match self.state.load(Ordering::Relaxed) {
            DISABLED => Some(Block::Disabled),
            PAUSED => Some(Block::Paused),
            _ => None,
        }
    }
}

impl Toolbox {
    /// An empty toolbox.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty toolbox that fits every tool which comes in.
    pub(crate) fn fitting(fit: Fit) -> Self {
        Self { fit: Some(fit), ..Self::default() }
    }

    /// Adds a tool. Its schema is compiled here, once.
    pub fn add(&self, entry: Entry) -> Result<(), Error> {
        self.add_all([entry])
    }

    /// Adds tools, all or none.
    pub fn add_all(&self, entries: impl IntoIterator<Item = Entry>) -> Result<(), Error> {
        let slots: Vec<Slot> =
            entries.into_iter().map(|entry| self.slotted(entry)).collect::<Result<_, _>>()?;
        slots.iter().try_for_each(|slot| named_well(&slot.entry.spec.name))?;
        self.change(|tools| {
            for slot in slots {
                let name = slot.entry.spec.name.clone();
                if tools.insert(name.clone(), Arc::new(slot)).is_some() {
                    return Err(Error::DuplicateTool { name });
                }
            }
            Ok(())
        })
    }

    /// The tools of an upstream are these from now on. Those that were there before keep their
    /// breakers and their places, those that are gone are taken out. Gives back what cannot be
    /// used, and why; the rest is in its place.
    pub fn replace(
        &self,
        upstream: &str,
        entries: impl IntoIterator<Item = Entry>,
    ) -> Vec<(String, Error)> {
        let mut refused = Vec::new();
        let mut slots = Vec::new();
        for entry in entries {
            let name = entry.spec.name.clone();
            // Its client knows it under this name, whatever that is.
            if name.len() > LONGEST_NAME {
                let error = badly_named(&name, "it is longer than 1024 bytes");
                refused.push((name, error));
                continue;
            }
            match self.slotted(entry.upstream(upstream)) {
                Ok(slot) => slots.push(slot),
                Err(error) => refused.push((name, error)),
            }
        }
        let changed = self.change(|tools| {
            let is_its = |slot: &Slot| slot.entry.spec.upstream.as_deref() == Some(upstream);
            let mut before = BTreeMap::new();
            tools.retain(|name, slot| {
                let stays = !is_its(slot);
                if !stays {
                    before.insert(name.clone(), Arc::clone(slot));
                }
                stays
            });
            for mut slot in slots {
                let name = slot.entry.spec.name.clone();
                if tools.contains_key(&name) {
                    refused.push((name.clone(), Error::DuplicateTool { name }));
                    continue;
                }
                if let Some(old) = before.get(&name) {
                    slot.gate = Arc::clone(&old.gate);
                    slot.state = AtomicU8::new(old.state.load(Ordering::Relaxed));
                }
                tools.insert(name, Arc::new(slot));
            }
            Ok(())
        });
        debug_assert!(changed.is_ok(), "nothing in the change fails");
        refused
    }

    fn slotted(&self, entry: Entry) -> Result<Slot, Error> {
        let (mut entry, rules) = match &self.fit {
            Some(fit) => fit(entry),
            None => (entry, Rules::default()),
        };
        let schema = Schema::compile(&mut entry.spec)?;
        let upstream = entry.spec.upstream.as_deref().map(|name| self.upstream(name));
        let (gate, state) = (Arc::default(), AtomicU8::new(ENABLED));
        Ok(Slot { entry, schema, gate, upstream, rules, state })
    }

    /// Asks this for tools of names that nobody told of; what was said first holds. Such a tool is
    /// called like every other and stands in no list. Where it is none after all it fails as
    /// [`FailureKind::UnknownTool`], and the model hears which there are.
    pub fn otherwise(&self, ask: impl Fn(&str) -> Option<Entry> + Send + Sync + 'static) {
        let _ = self.otherwise.set(Box::new(ask));
    }

    /// The tool of a name that nobody told of.
    pub(crate) fn unlisted(&self, name: &str) -> Option<Arc<Slot>> {
        let entry = (self.otherwise.get()?)(name)?;
        self.slotted(entry).ok().map(Arc::new)
    }

    /// Takes a tool out. Calls that run go on.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        self.change(|tools| {
            tools.remove(name).map(drop).ok_or_else(|| Error::NoSuchTool { name: name.to_owned() })
        })
    }

    /// Lets a tool be called again.
    pub fn enable(&self, name: &str) -> Result<(), Error> {
        self.set(name, ENABLED)
    }

    /// Switches a tool off.
    pub fn disable(&self, name: &str) -> Result<(), Error> {
        self.set(name, DISABLED)
    }

    /// Pauses a tool for every run.
    pub fn pause(&self, name: &str) -> Result<(), Error> {
        self.set(name, PAUSED)
    }

    /// What a gate does now: its breaker with why it opened, how many run and wait.
    pub fn gate(&self, scope: Scope<'_>) -> Result<GateState, Error> {
        self.at_gate(scope, Gate::state)
    }

    /// Opens a breaker by hand: every call is held back until it is closed or reset.
    pub fn open_breaker(&self, scope: Scope<'_>) -> Result<(), Error> {
        self.at_gate(scope, |gate| gate.change_breaker(Breaker::hold))
    }

    /// Closes a breaker by hand: calls are let through from now on, as long as they go well.
    pub fn close_breaker(&self, scope: Scope<'_>) -> Result<(), Error> {
        self.at_gate(scope, |gate| gate.change_breaker(Breaker::close))
    }

    /// Closes a breaker and forgets why it ever opened.
    pub fn reset_breaker(&self, scope: Scope<'_>) -> Result<(), Error> {
        self.at_gate(scope, |gate| gate.change_breaker(Breaker::reset))
    }

    fn at_gate<T>(&self, scope: Scope<'_>, act: impl FnOnce(&Gate) -> T) -> Result<T, Error> {
        match scope {
            Scope::Tool(name) => Ok(act(&self.slot(name)?.gate)),
            Scope::Upstream(name) => {
                let upstreams = self.upstreams.load();
                let no_such = || Error::NoSuchUpstream { name: name.to_owned() };
                Ok(act(upstreams.get(name).ok_or_else(no_such)?))
            }
        }
    }

    /// The gate of an upstream, which is the same for all its tools.
    fn upstream(&self, name: &str) -> Arc<Gate> {
        let _one_at_a_time = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gate) = self.upstreams.load().get(name) {
            return Arc::clone(gate);
        }
        let mut upstreams = BTreeMap::clone(&self.upstreams.load());
        let gate = Arc::clone(upstreams.entry(name.to_owned()).or_default());
        self.upstreams.store(Arc::new(upstreams));
        gate
    }

    /// The specs of the tools that may be called now, by name.
    pub fn callable(&self) -> Vec<ToolSpec> {
        let tools = &self.tools.load().tools;
        tools.values().filter(|s| s.block().is_none()).map(|s| s.entry.spec.clone()).collect()
    }

    /// Whether there is a tool of that name, callable or not.
    pub fn knows(&self, name: &str) -> bool {
        self.tools.load().tools.contains_key(name)
    }

    /// Whether a tool's calls may be repeated.
    pub(crate) fn effect(&self, name: &str) -> Option<Effect> {
        self.tools.load().tools.get(name).map(|slot| slot.entry.spec.effect)
    }

    /// The upstream that a tool belongs to.
    pub(crate) fn upstream_of(&self, name: &str) -> Option<Arc<str>> {
        self.tools.load().tools.get(name).and_then(|slot| slot.entry.spec.upstream.clone())
    }

    /// The tool of that exact name. A near miss is suggested and never executed.
    pub(crate) fn get(&self, name: &str) -> Option<Arc<Slot>> {
        self.tools.load().get(name).cloned()
    }

    /// The answer to a name that no tool has.
    pub(crate) fn unknown(&self, name: &str) -> Failure {
        self.tools.load().unknown(name)
    }

    fn set(&self, name: &str, state: u8) -> Result<(), Error> {
        let _one_at_a_time = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = self.slot(name)?;
        let before = slot.block().is_some();
        slot.state.store(state, Ordering::Relaxed);
        self.tools.load().turned(before, slot.block().is_some());
        Ok(())
    }

    fn slot(&self, name: &str) -> Result<Arc<Slot>, Error> {
        let no_such = || Error::NoSuchTool { name: name.to_owned() };
        self.tools.load().tools.get(name).map(Arc::clone).ok_or_else(no_such)
    }

    fn change(
        &self,
        edit: impl FnOnce(&mut BTreeMap<String, Arc<Slot>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let _one_at_a_time = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tools = self.tools.load().tools.clone();
        edit(&mut tools)?;
        self.tools.store(Arc::new(Snapshot::new(tools)));
        Ok(())
    }
}

/// The longest name of a tool of an upstream's.
const LONGEST_NAME: usize = 1 << 10;

/// Providers accept letters, digits, `_` and `-`; MCP also `.` and `/`. Anything else would
/// come back from the model in another form.
fn named_well(name: &str) -> Result<(), Error> {
    let wrong = |why| Err(badly_named(name, why));
    if name.is_empty() {
        wrong("it is empty")
    } else if name.len() > 128 {
        wrong("it is longer than 128 bytes")
    } else if name.chars().any(|c| c.is_control() || c.is_whitespace() || c == '`') {
        wrong("it contains a space, a control character or a backtick")
    } else {
        Ok(())
    }
}

fn badly_named(name: &str, why: &'static str) -> Error {
    Error::ToolName { name: name.chars().take(80).collect(), why }
}

impl std::fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.tools.load().tools.keys()).finish()
    }
}
