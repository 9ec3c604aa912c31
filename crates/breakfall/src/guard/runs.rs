//! What is remembered of a run: the tools that are out for the rest of it, and what failed in it.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::{FixedState, RandomState};
use tokio::time::Instant;

use crate::attempt::{CallKey, Refusal, RepeatRules, Repeats, Trail, Way};
use crate::{Block, Call, Detail, Disposition, Failure, FailureKind, Outcome};

/// How many runs are remembered; of those in one part the one unused for longest is forgotten first.
const RUNS: usize = 1024;

/// In how many parts: runs that go on at the same time are not in each other's way.
const PARTS: usize = 16;

/// The runs in which something failed. A call without a run belongs to one run without a name.
#[derive(Default)]
pub(super) struct Runs {
    marks: Marks,
    parts: [Mutex<Known>; PARTS],
}

/// Where a run in which something failed may be: a run without a mark needs no lock.
struct Marks {
    places: Box<[AtomicU32]>,
    /// How many there are in all.
    all: AtomicU32,
}

impl Default for Marks {
    fn default() -> Self {
        Self { places: (0..RUNS).map(|_| AtomicU32::new(0)).collect(), all: AtomicU32::new(0) }
    }
}

/// Where a run is, of so many places.
fn place(run: Option<&str>, places: usize) -> usize {
    let Some(run) = run else { return 0 };
    let mut hasher = FixedState::default().build_hasher();
    hasher.write(run.as_bytes());
    usize::try_from(hasher.finish() % places as u64).unwrap_or_default()
}

impl Marks {
    fn of(&self, run: Option<&str>) -> &AtomicU32 {
        &self.places[place(run, RUNS)]
    }

    #[inline]
    fn has(&self, run: Option<&str>) -> bool {
        self.all.load(Ordering::Relaxed) > 0 && self.of(run).load(Ordering::Relaxed) > 0
    }

    fn add(&self, run: Option<&str>) {
        self.of(run).fetch_add(1, Ordering::Relaxed);
        self.all.fetch_add(1, Ordering::Relaxed);
    }

    fn remove(&self, run: Option<&str>) {
        self.of(run).fetch_sub(1, Ordering::Relaxed);
        self.all.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct Known {
    /// Boxed, so that the table stays small when it grows.
    runs: HashMap<Option<Arc<str>>, Box<Run>, RandomState>,
    /// The runs by when they were last used: looking for the oldest would take longer than a call.
    turns: BTreeMap<u64, Option<Arc<str>>>,
    turn: u64,
}

#[derive(Default)]
struct Run {
    /// The tools that are out, and until when: for the rest of it where that is not said.
    paused: HashMap<String, Option<Instant>, RandomState>,
    repeats: Repeats,
    used: u64,
}

impl Run {
    fn is_paused(&mut self, tool: &str) -> bool {
        match self.paused.get(tool) {
            Some(Some(until)) if *until <= Instant::now() => {
                self.paused.remove(tool);
                false
            }
            paused => paused.is_some(),
        }
    }
}

impl Runs {
    /// What is known of a run, and of others.
    fn known(&self, run: Option<&str>) -> MutexGuard<'_, Known> {
        self.parts[place(run, PARTS)].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses a tool that is paused in the call's run. Whether anything may have failed in it.
    #[inline]
    pub(super) fn admit(&self, call: &Call, tool: &str) -> Result<bool, Failure> {
        if self.marks.has(call.run.as_deref()) { self.admit_known(call, tool) } else { Ok(false) }
    }

    fn admit_known(&self, call: &Call, tool: &str) -> Result<bool, Failure> {
        let mut known = self.known(call.run.as_deref());
        let run = known.runs.get_mut(&call.run);
        if run.is_some_and(|run| run.is_paused(tool)) {
            let detail = Detail::Blocked(Block::PausedInRun);
            return Err(Failure::found(FailureKind::Unavailable, detail).not_dispatched());
        }
        Ok(true)
    }

    /// Refuses a call that failed again and again, by when the model made it and now. The key is made
    /// only where something failed.
    pub(super) fn refuse(
        &self,
        call: &Call,
        rules: &RepeatRules,
        times: (Instant, Instant),
        key: impl FnOnce() -> CallKey,
    ) -> Result<Option<CallKey>, Failure> {
        let mut known = self.known(call.run.as_deref());
        let Some(run) = known.runs.get_mut(&call.run).filter(|run| !run.repeats.is_empty()) else {
            return Ok(None);
        };
        let key = key();
        match run.repeats.refuse(key, rules, times) {
            Some(refusal) => Err(refused(refusal)),
            None => Ok(Some(key)),
        }
    }

    /// Learns what came of a call, and says where it is not the first of its kind.
    pub(super) fn settle<'a>(
        &self,
        call: &Call,
        outcome: Outcome,
        trail: &Trail,
        terms: impl FnOnce() -> RunTerms<'a>,
    ) -> Outcome {
        match outcome {
            Ok(output) => {
                if let Some(key) = trail.key
                    && let Some(run) = self.known(call.run.as_deref()).runs.get_mut(&call.run)
                {
                    run.repeats.succeeded(key, &call.tool, trail.may_change);
                }
                Ok(output)
            }
            Err(failure) => Err(self.failed(call, failure, &terms())),
        }
    }

    fn failed(&self, call: &Call, mut failure: Failure, terms: &RunTerms<'_>) -> Failure {
        let kind = failure.kind();
        let key = failure.facts().key.filter(|_| is_a_repeat(&failure));
        let pauses = terms.disposition(&failure) == Disposition::Pause;
        if key.is_none() && !pauses {
            return failure;
        }
        let mut known = self.known(call.run.as_deref());
        let refusal = known.at_run(call, &self.marks, |run| {
            if pauses {
                run.paused.insert(call.tool.clone(), None);
            }
            let key = key?;
            let (rules, ended) = (terms.rules, terms.times.1);
            let (message, is_of_program) = (failure.message(), failure.is_of_program());
            let way = Way { kind, wait: failure.wait(), message, is_of_program };
            let (times, counts) = run.repeats.failed(key, way, rules, terms.times);
            if times >= rules.warn_at {
                failure.facts_mut().times = times;
            }
            if counts
                && is_of_the_tool(&failure)
                && run.repeats.tool_failed(&call.tool, rules, terms.times)
            {
                // A run may last for days: then it is tried again.
                let until = ended.checked_add(rules.forget_after);
                run.paused.entry(call.tool.clone()).or_insert(until);
            }
            // What was refused before it ran is not even looked at any more.
            let is_in_vain = times >= rules.refuse_at && counts && !terms.was_dispatched;
            if is_in_vain { run.repeats.refuse(key, rules, (ended, ended)) } else { None }
        });
        drop(known);
        refusal.map_or(failure, refused)
    }

    pub(super) fn end(&self, run: Option<&str>) {
        let mut known = self.known(run);
        if let Some(forgotten) = known.runs.remove(&run.map(Arc::from)) {
            known.turns.remove(&forgotten.used);
            self.marks.remove(run);
        }
    }
}

/// What the guard decided that a run needs to know.
pub(super) struct RunTerms<'a> {
    pub(super) rules: &'a RepeatRules,
    pub(super) dispositions: &'a crate::config::Dispositions,
    pub(super) tool: &'a str,
    /// When the model made the call, and when it ended.
    pub(super) times: (Instant, Instant),
    /// Whether the call reached its tool.
    pub(super) was_dispatched: bool,
}

impl RunTerms<'_> {
    fn disposition(&self, failure: &Failure) -> Disposition {
        self.dispositions.of(self.tool, failure.kind(), failure.detail())
    }
}

impl Known {
    /// Does something with a call's run, which is the one that was used last from now on.
    fn at_run<T>(&mut self, call: &Call, marks: &Marks, act: impl FnOnce(&mut Run) -> T) -> T {
        let used = match self.runs.get_mut(&call.run) {
            // Mostly it is that.
            Some(run) if run.used == self.turn => return act(run),
            run => run.map(|run| run.used),
        };
        match used {
            Some(used) => drop(self.turns.remove(&used)),
            None => {
                if self.runs.len() >= RUNS / PARTS {
                    self.forget_oldest(marks);
                }
                marks.add(call.run.as_deref());
            }
        }
        self.turn += 1;
        self.turns.insert(self.turn, call.run.clone());
        let run = self.runs.entry(call.run.clone()).or_default();
        run.used = self.turn;
        act(run)
    }

    fn forget_oldest(&mut self, marks: &Marks) {
        if let Some((_, oldest)) = self.turns.pop_first() {
            self.runs.remove(&oldest);
            marks.remove(oldest.as_deref());
        }
    }
}

fn refused(refusal: Refusal) -> Failure {
    match refusal {
        Refusal::Told { failed } => Failure::repeated(failed, false),
        Refusal::Stalled { failed } => Failure::repeated(failed, true),
    }
}

/// Whether a model that makes the call again repeats itself: not where others were in its way.
fn is_a_repeat(failure: &Failure) -> bool {
    use FailureKind::{Broken, Cancelled, Repeated};
    let is_crowded =
        matches!(failure.detail(), Detail::Blocked(Block::QueueFull | Block::UpstreamQueueFull));
    !is_crowded && !matches!(failure.kind(), Cancelled | Repeated | Broken)
}

/// Whether it tells against the tool for the rest of the run.
fn is_of_the_tool(failure: &Failure) -> bool {
    use FailureKind::{RateLimited, Unavailable, UnknownTool};
    !failure.is_of_program() && !matches!(failure.kind(), UnknownTool | Unavailable | RateLimited)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RawArguments;

    fn call(run: usize) -> Call {
        Call::new("", "find", RawArguments::none()).in_run(run.to_string())
    }

    #[test]
    fn the_run_unused_for_longest_is_forgotten_first() {
        const ROOM: usize = RUNS / PARTS;
        let runs = Runs::default();
        let part = |call: &Call| place(call.run.as_deref(), PARTS);
        // Those of one part, whatever they are called.
        let calls: Vec<Call> = (0..).map(call).filter(|it| part(it) == 0).take(ROOM + 2).collect();
        let use_run = |nth: usize| {
            runs.known(calls[nth].run.as_deref()).at_run(&calls[nth], &runs.marks, |_| ());
        };
        let is_known =
            |nth: usize| runs.known(calls[nth].run.as_deref()).runs.contains_key(&calls[nth].run);
        (0..ROOM).for_each(use_run);
        use_run(0);
        use_run(ROOM);
        assert_eq!([0, 1, 2, ROOM].map(is_known), [true, false, true, true]);
        runs.end(calls[0].run.as_deref());
        use_run(ROOM + 1);
        assert_eq!([0, 2, ROOM + 1].map(is_known), [false, true, true]);
        let known = runs.known(calls[0].run.as_deref());
        assert_eq!((known.runs.len(), known.turns.len()), (ROOM, ROOM));
        let marks = runs.marks.places.iter().map(|mark| mark.load(Ordering::Relaxed)).sum::<u32>();
        assert_eq!(marks as usize, ROOM);
    }

    #[test]
    fn hundreds_of_runs_are_remembered() {
        let runs = Runs::default();
        for run in 0..RUNS / 2 {
            let call = call(run);
            runs.known(call.run.as_deref()).at_run(&call, &runs.marks, |_| ());
        }
        let remembered = (0..RUNS / 2)
            .map(call)
            .filter(|call| runs.known(call.run.as_deref()).runs.contains_key(&call.run));
        assert_eq!(remembered.count(), RUNS / 2);
    }
}
