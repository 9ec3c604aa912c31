//! Counts calls: one set of counts, from which OTLP and Prometheus are told. Bounded, whatever
//! names a model writes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use breakfall::{Block, Detail, Record, Sink, Turned, Whose};

use crate::names::{BOUNDS, OTHER};
use crate::spans::error;

/// How many series are told apart; the others are one.
const MOST: usize = 2_000;

/// The content type of [`Metrics::text`].
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Counts calls and how long they take. It is a sink: give it to every guard of the process.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), breakfall::Error> {
/// use std::sync::Arc;
/// use breakfall::{Call, Guard};
/// use breakfall_telemetry::Metrics;
///
/// let metrics = Arc::new(Metrics::default());
/// let guard = Guard::builder().sink(metrics.clone()).build()?;
/// guard.handle(Call::new("1", "no_such_tool", "{}")).await;
/// assert!(metrics.text().contains(
///     r#"breakfall_failures_total{tool="_OTHER",upstream="",kind="unknown_tool"} 1"#
/// ));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Metrics {
    pub(crate) started: SystemTime,
    counted: Mutex<Counted>,
    lost: AtomicU64,
}

/// What was counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted {
    /// Calls, by what tells them apart; `None` for those that are too many.
    pub(crate) calls: BTreeMap<Option<Of>, Durations>,
    /// Attempts, in the same way.
    pub(crate) attempts: BTreeMap<Option<AttemptOf>, u64>,
    /// What breakers did.
    pub(crate) breakers: BTreeMap<Option<BreakerOf>, Turns>,
}

/// What tells calls apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Of {
    pub(crate) tool: String,
    pub(crate) upstream: String,
    pub(crate) ending: &'static str,
    pub(crate) kind: Option<&'static str>,
}

/// What tells attempts apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AttemptOf {
    pub(crate) tool: String,
    pub(crate) upstream: String,
    pub(crate) kind: Option<&'static str>,
}

/// Whose breaker: a tool's, or without one its upstream's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BreakerOf {
    pub(crate) tool: String,
    pub(crate) upstream: String,
}

/// What a breaker did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turns {
    pub(crate) opened: u64,
    pub(crate) closed: u64,
    pub(crate) is_open: bool,
}

impl Turns {
    fn take(&mut self, turned: &Turned) {
        self.is_open = matches!(turned, Turned::Opened(_));
        if self.is_open {
            self.opened += 1;
        } else {
            self.closed += 1;
        }
    }
}

/// How long calls took.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Durations {
    /// How many are in each bucket; the last has no bound.
    pub(crate) buckets: [u64; BOUNDS.len() + 1],
    pub(crate) sum: f64,
}

impl Durations {
    fn take(&mut self, took: Duration) {
        let seconds = took.as_secs_f64();
        self.buckets[BOUNDS.partition_point(|bound| *bound < seconds)] += 1;
        self.sum += seconds;
    }

    pub(crate) fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self { started: SystemTime::now(), counted: Mutex::default(), lost: AtomicU64::new(0) }
    }
}

impl Metrics {
    /// The counts as Prometheus reads them.
    pub fn text(&self) -> String {
        crate::prometheus::text(&self.counted(), self.lost())
    }

    /// Records whose spans did not reach the collector.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    pub(crate) fn loses(&self, records: u64) {
        self.lost.fetch_add(records, Ordering::Relaxed);
    }

    pub(crate) fn counted(&self) -> Counted {
        self.locked().clone()
    }

    fn locked(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for Metrics {
    fn take(&self, record: &Record) {
        let tool = if exists(record) { record.tool.as_str() } else { OTHER };
        let upstream = record.upstream.as_deref().unwrap_or_default();
        let of = Of {
            tool: tool.to_owned(),
            upstream: upstream.to_owned(),
            ending: record.ending.name(),
            kind: error(record).map(breakfall::FailureKind::name),
        };
        let attempt = |of_substitute: bool, kind| AttemptOf {
            tool: if of_substitute { record.substitute.clone() } else { None }
                .unwrap_or_else(|| tool.to_owned()),
            upstream: if of_substitute {
                record.substitute_upstream.as_deref().unwrap_or_default().to_owned()
            } else {
                upstream.to_owned()
            },
            kind,
        };
        let mut counted = self.locked();
        for (whose, turned) in &record.turned {
            let tool = if *whose == Whose::Tool { tool } else { "" };
            let of = BreakerOf { tool: tool.to_owned(), upstream: upstream.to_owned() };
            of_series(&mut counted.breakers, of).take(turned);
        }
        of_series(&mut counted.calls, of).take(record.took);
        for number in 1..=record.attempts {
            let failed = record.tries.get(number as usize - 1).map(|failed| failed.kind);
            // One that is not told ended as the call did.
            let is_last = number == record.attempts;
            let kind = failed.or_else(|| error(record).filter(|_| is_last));
            let kind = kind.map(breakfall::FailureKind::name);
            *of_series(&mut counted.attempts, attempt(number > record.own_attempts, kind)) += 1;
        }
    }
}

/// The series of its own, or the one for all that are too many.
fn of_series<K: Ord, V: Default>(all: &mut BTreeMap<Option<K>, V>, key: K) -> &mut V {
    let key = Some(key);
    let key = if all.len() < MOST || all.contains_key(&key) { key } else { None };
    all.entry(key).or_default()
}

/// Whether a tool of that name exists. One that was out of order was not found, and does.
fn exists(record: &Record) -> bool {
    let is_out =
        |detail: &Detail| matches!(detail, Detail::Blocked(Block::Disabled | Block::Paused));
    record.is_found || record.failure.as_ref().is_some_and(|failure| is_out(&failure.detail))
}
