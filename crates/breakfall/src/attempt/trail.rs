//! What was tried for a call, for its record.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::time::Instant;

use super::{CallKey, Turned, Whose};
use crate::toolbox::Slot;
use crate::{Arguments, Detail, Effect, Failure, FailureKind, Trace};

/// The most tries that are told one by one.
const TOLD: usize = 32;

/// What was tried for a call.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    /// How many attempts reached a tool.
    pub(crate) attempts: u32,
    /// Whether the tool that was called exists.
    pub(crate) is_found: bool,
    /// An attempt did not stop when its time was up.
    pub(crate) straggles: bool,
    /// An attempt runs whose end is not known; what it does.
    pub(crate) under_way: Option<Effect>,
    /// An attempt may have changed something.
    pub(crate) may_change: bool,
    /// The upstream of the tool that was called.
    pub(crate) upstream: Option<Arc<str>>,
    /// Where the call stands in a trace, where the guard traces.
    pub(crate) trace: Option<Box<Trace>>,
    /// When the last attempt began.
    pub(crate) last_began: Option<Instant>,
    /// Which call it is, where the run knows one like it.
    pub(crate) key: Option<CallKey>,
    /// Attempts that failed, one by one.
    pub(crate) tries: Vec<Try>,
    rare: Option<Box<Rare>>,
}

/// What few calls have.
#[derive(Debug, Default)]
pub(crate) struct Rare {
    /// How many attempts there were when a substitute was found, and its upstream.
    pub(crate) substitute: Option<(u32, Option<Arc<str>>)>,
    /// How long the clock stood, waiting for a person.
    pub(crate) held: Duration,
    /// The trouble made on purpose.
    pub(crate) fault: Option<&'static str>,
    /// Why the output of a success looks like a failure.
    pub(crate) silent: Option<(FailureKind, String)>,
    /// The breakers that opened or closed.
    pub(crate) turned: Vec<(Whose, Turned)>,
    /// What was mended in the arguments.
    pub(crate) repairs: Vec<&'static str>,
    /// The arguments as the model wrote them, where they are kept.
    pub(crate) arguments: Option<String>,
    /// The secrets among the arguments: a tool may repeat them.
    pub(crate) secrets: Vec<String>,
}

/// An attempt that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Try {
    /// How long after the call's beginning.
    pub began: Duration,
    /// How long it took.
    pub took: Duration,
    /// How it failed.
    pub kind: FailureKind,
    /// How long the guard waited then before it tried again; `None` when it did not.
    pub waited: Option<Duration>,
}

impl Trail {
    /// What few calls have, if it has any of it.
    pub(crate) fn rare(&self) -> Option<&Rare> {
        self.rare.as_deref()
    }

    pub(crate) fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    pub(crate) fn take_rare(&mut self) -> Rare {
        self.rare.take().map(|rare| *rare).unwrap_or_default()
    }

    /// The secrets among the arguments.
    pub(crate) fn secrets(&self) -> &[String] {
        self.rare().map_or(&[], |rare| &rare.secrets)
    }

    /// The trouble made on purpose.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        self.rare()?.fault
    }

    /// The failure of a call that was stopped from outside.
    pub(crate) fn stopped(&self) -> Failure {
        if self.attempts == 0 {
            return Failure::not_started();
        }
        let mut failure = Failure::found(FailureKind::Cancelled, Detail::None);
        let facts = failure.facts_mut();
        facts.attempts = self.attempts;
        facts.may_have_taken_effect = self.under_way.is_some_and(|effect| !effect.may_repeat());
        failure
    }

    /// A substitute is called, of this upstream.
    pub(crate) fn substitutes(&mut self, upstream: Option<&Arc<str>>) {
        self.rare_mut().substitute = Some((self.attempts, upstream.cloned()));
    }

    /// What is known of a call that was checked.
    pub(crate) fn learns(&mut self, slot: &Slot, arguments: &Arguments, known: Option<CallKey>) {
        self.key = known.or(self.key);
        let secrets = slot.schema.secrets(arguments.value());
        if !secrets.is_empty() {
            self.rare_mut().secrets.extend(secrets);
        }
        if !arguments.repairs().is_empty() {
            self.rare_mut().repairs.extend_from_slice(arguments.repairs());
        }
    }

    /// An attempt begins; gives it its place in the trace. Boxed: most calls have none, and every
    /// future that waits for one would have room for it.
    pub(crate) fn begins(&mut self, began: Instant, effect: Effect) -> Option<Box<Trace>> {
        self.attempts += 1;
        self.last_began = Some(began);
        self.under_way = Some(effect);
        self.may_change |= effect != Effect::ReadOnly;
        self.trace.as_ref().map(|trace| Box::new(trace.attempt(self.attempts)))
    }

    pub(super) fn failed(&mut self, began: Duration, took: Duration, kind: FailureKind) {
        if self.tries.len() < TOLD {
            self.tries.push(Try { began, took, kind, waited: None });
        }
    }

    pub(super) fn waits(&mut self, wait: Duration) {
        if let Some(last) = self.tries.last_mut() {
            last.waited = Some(wait);
        }
    }
}
