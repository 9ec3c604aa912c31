//! What is remembered of a run: the tools that are out for the rest of it.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Block, Call, Detail, Disposition, Failure, FailureKind, Report};

/// How many runs are remembered; the oldest is forgotten first.
const RUNS: usize = 1024;

/// Runs with paused tools. A call without a run belongs to one run without a name.
#[derive(Default)]
pub(super) struct Runs {
    any: AtomicBool,
    paused: Mutex<VecDeque<Run>>,
}

struct Run {
    id: Option<Arc<str>>,
    tools: HashSet<String>,
}

impl Runs {
    /// Refuses a tool that is paused in the call's run.
    pub(super) fn admit(&self, call: &Call) -> Result<(), Failure> {
        if !self.any.load(Ordering::Relaxed) {
            return Ok(());
        }
        let paused = self.paused.lock().unwrap_or_else(PoisonError::into_inner);
        let out = paused.iter().any(|run| run.id == call.run && run.tools.contains(&call.tool));
        if out {
            return Err(Failure::found(
                FailureKind::Unavailable,
                Detail::Blocked(Block::PausedInRun),
            ));
        }
        Ok(())
    }

    /// Pauses the tool where a failure's disposition says so.
    pub(super) fn settle(&self, call: &Call, report: &Report) {
        if report.failure().is_none_or(|failure| failure.disposition != Disposition::Pause) {
            return;
        }
        let mut paused = self.paused.lock().unwrap_or_else(PoisonError::into_inner);
        match paused.iter_mut().find(|run| run.id == call.run) {
            Some(run) => {
                run.tools.insert(call.tool.clone());
            }
            None => {
                let tools = HashSet::from([call.tool.clone()]);
                paused.push_back(Run { id: call.run.clone(), tools });
            }
        }
        if paused.len() > RUNS {
            paused.pop_front();
        }
        self.any.store(true, Ordering::Relaxed);
    }

    pub(super) fn end(&self, run: Option<&str>) {
        let mut paused = self.paused.lock().unwrap_or_else(PoisonError::into_inner);
        paused.retain(|known| known.id.as_deref() != run);
        self.any.store(!paused.is_empty(), Ordering::Relaxed);
    }
}
