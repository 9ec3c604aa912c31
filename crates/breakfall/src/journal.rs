//! The developer's half: one record for each call, counts that are exact, logs.
//!
//! Recording never makes a call fail: a sink that panics is counted and passed over.

mod calendar;
mod lines;
mod log;
mod memory;
mod record;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

pub use calendar::Calendar;
pub use lines::LogLines;
pub(crate) use log::{batch_done, batch_starts, breaker_turned, is_silent, late_result};
pub use memory::{Counts, Memory};
pub use record::{Ending, Record};

use crate::attempt::{Rare, Trail, panics};
use crate::check::Tamed;
use crate::dice::Dice;
use crate::redact::{Redactor, bounded};
use crate::{Call, RawArguments, Reply, Report, Trace};

/// The most bytes of arguments and of an output that a record keeps.
const KEPT: usize = 4 << 10;

/// Takes records. Called on the path of a call: hand over and return.
pub trait Sink: Send + Sync {
    /// Takes the record of a call that ended.
    fn take(&self, record: &Record);
}

/// Opens records and gives them to the sinks.
pub(crate) struct Journal {
    pub(crate) memory: Memory,
    pub(crate) sinks: Vec<Arc<dyn Sink>>,
    pub(crate) keeps_arguments: bool,
    pub(crate) keeps_outputs: bool,
    /// Draws the ids of spans, where calls are traced.
    pub(crate) traces: Option<Box<Dice>>,
    pub(crate) lost: AtomicU64,
}

impl Journal {
    /// Opens the record of a call. Dropped before it is closed, it is written as abandoned.
    pub(crate) fn open<'a>(
        &'a self,
        call: &'a Call,
        started: Instant,
        raw: Option<&Tamed<'_>>,
        redactor: &'a Redactor,
    ) -> OpenRecord<'a> {
        log::starts(call);
        let arguments = raw.filter(|_| self.keeps_arguments).map(|raw| {
            let text = match raw.as_ref().map(|measured| &*measured.raw) {
                Ok(RawArguments::Json(value)) => value.to_string(),
                Ok(RawArguments::Text(text) | RawArguments::CutOff(text)) => text.clone(),
                Err(_) => "(nested too deeply)".to_owned(),
            };
            redactor.clean(text, KEPT)
        });
        let own = |dice: &Dice| Box::new(Trace::under(call.trace.as_deref(), dice));
        let found = call.is_recovered.then_some("the call was found in the model's text");
        let mut trail = Trail::default();
        trail.trace = self.traces.as_deref().map(own);
        if arguments.is_some() || found.is_some() {
            let repairs = found.into_iter().collect();
            *trail.rare_mut() = Rare { repairs, arguments, ..Rare::default() };
        }
        OpenRecord { journal: self, redactor, call, started, made: started, trail, open: true }
    }

    /// Counts a success that nobody reads: without sinks it has no record.
    pub(crate) fn succeeded(&self) {
        self.memory.count(Ending::Succeeded);
    }

    /// Whether nothing is told of a success.
    pub(crate) fn only_counts(&self) -> bool {
        self.sinks.is_empty()
            && self.traces.is_none()
            && !self.keeps_arguments
            && !self.keeps_outputs
    }

    fn take(&self, record: Record) {
        let record = Arc::new(record);
        self.memory.take(Arc::clone(&record));
        for sink in &self.sinks {
            if panics::catch(|| sink.take(&record)).is_err() {
                self.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// A record of a call that runs.
pub(crate) struct OpenRecord<'a> {
    journal: &'a Journal,
    redactor: &'a Redactor,
    pub(crate) call: &'a Call,
    /// What was tried.
    pub(crate) trail: Trail,
    pub(crate) started: Instant,
    /// When the model made it: with all others of its batch.
    pub(crate) made: Instant,
    open: bool,
}

impl OpenRecord<'_> {
    /// Writes what came of the call.
    pub(crate) fn close(&mut self, mut reply: Reply, ended: Instant) -> Reply {
        self.open = false;
        reply.attempts = self.trail.attempts;
        log::ends(self.call, reply.report(), &self.trail);
        let ending = match reply.report() {
            Report::Output(output) if output.instead.is_some() => Ending::Substituted,
            Report::Output(output) if output.problems.is_empty() => Ending::Succeeded,
            Report::Output(_) => Ending::Partial,
            Report::Failure(_) => Ending::Failed,
        };
        let is_plain =
            self.trail.rare().is_none_or(|rare| rare.fault.is_none() && rare.silent.is_none());
        if ending == Ending::Succeeded && is_plain && self.journal.sinks.is_empty() {
            self.journal.succeeded();
        } else {
            let record = self.record(ending, Some(&reply), ended);
            self.journal.take(record);
        }
        reply
    }

    /// Leaves the record of a call that nobody is told of, as one that is dropped does.
    pub(crate) fn leave(&mut self, mut reply: Reply, ended: Instant) -> Reply {
        reply.attempts = self.trail.attempts;
        self.abandon(ended);
        reply
    }

    fn abandon(&mut self, ended: Instant) {
        self.open = false;
        log::abandoned(self.call);
        let record = self.record(Ending::Abandoned, None, ended);
        self.journal.take(record);
    }

    /// What the model got of an output, where it is kept.
    fn output(&self, reply: &Reply) -> Option<String> {
        let is_output = matches!(reply.report(), Report::Output(_));
        let is_kept = is_output && self.journal.keeps_outputs;
        is_kept.then(|| self.redactor.clean(reply.text.clone(), KEPT))
    }

    fn record(&mut self, ending: Ending, reply: Option<&Reply>, ended: Instant) -> Record {
        let took = ended.saturating_duration_since(self.started);
        let mut trail = std::mem::take(&mut self.trail);
        let rare = trail.take_rare();
        let failure = reply.and_then(|reply| reply.report().cause());
        let (own_attempts, substitute_upstream) = rare.substitute.unwrap_or((trail.attempts, None));
        Record {
            id: self.call.id.clone(),
            run: self.call.run.clone(),
            tool: failure.map_or_else(
                || bounded(&self.call.tool, 128).to_owned(),
                |failure| failure.tool.clone(),
            ),
            upstream: trail.upstream,
            started: SystemTime::now() - took,
            took,
            trace: trail.trace,
            is_found: trail.is_found,
            ending,
            failure: failure.map(Arc::clone),
            substitute: reply.and_then(|reply| reply.report().substitute().map(ToOwned::to_owned)),
            substitute_upstream,
            attempts: trail.attempts,
            own_attempts,
            last_began: trail.last_began.map_or(Duration::ZERO, |at| at - self.started),
            tries: trail.tries,
            turned: rare.turned,
            fault: rare.fault,
            silent: rare.silent,
            told: reply.filter(|_| ending != Ending::Succeeded).map(|reply| reply.text.clone()),
            arguments: rare.arguments,
            output: reply.and_then(|reply| self.output(reply)),
            repairs: rare.repairs,
            output_bytes: reply.and_then(|reply| match reply.report() {
                Report::Output(output) => Some(output.bytes),
                Report::Failure(_) => None,
            }),
        }
    }
}

impl Drop for OpenRecord<'_> {
    fn drop(&mut self) {
        if self.open {
            self.abandon(Instant::now());
        }
    }
}
