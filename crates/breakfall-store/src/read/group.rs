//! Failures that are one, and what is known of them.

use serde::Serialize;

use crate::recovery::interval;

/// From so many calls on a share of them says something.
const FLOOR: u64 = 3;

/// Whether somebody still has to look at a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is there.
    Open,
    /// It was mended; it opens again when it comes back.
    Resolved,
    /// Nobody wants to hear of it.
    Ignored,
}

/// Failures that are one: the same upstream, tool, kind and message, what differs from call to call
/// aside.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Group {
    #[serde(skip)]
    pub(super) id: i64,
    /// A reference by which the model and the log know it.
    pub reference: String,
    /// Its name, the same in every database.
    pub fingerprint: String,
    /// The upstream; empty for a tool of the program's own.
    pub upstream: String,
    /// The tool.
    pub tool: String,
    /// The kind.
    pub kind: String,
    /// The message, with what differs masked.
    pub template: String,
    /// When it was first seen, in milliseconds since 1970.
    pub first_seen: i64,
    /// When it was last seen.
    pub last_seen: i64,
    /// How often, in the time that was asked for.
    pub count: u64,
    /// How often in all.
    pub all: u64,
    /// How many runs it was seen in.
    pub runs: u64,
    /// Of how many calls of the tool, in the time that was asked for.
    pub calls: u64,
    /// The share of the calls, where there were enough to speak of one.
    pub rate: Option<f64>,
    /// How many calls of the tool succeeded by a repeat in that time: the model was not told.
    pub by_retry: u64,
    /// Whether somebody has to look at it.
    pub state: State,
    /// How often it came back after it was resolved.
    pub returned: u64,
    /// How its runs went on, since it was first seen.
    pub recovery: Recovery,
    /// How often in each of the last 24 hours, the newest last.
    pub hours: Vec<u64>,
}

/// How runs went on after failures that the model was told of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(into = "Told")]
#[non_exhaustive]
pub struct Recovery {
    /// The model called the tool again, and it worked.
    pub by_model: u64,
    /// A substitute answered.
    pub by_fallback: u64,
    /// Nothing worked within five calls.
    pub by_nobody: u64,
    /// Nobody knows.
    pub unknown: u64,
}

/// A recovery with its share.
#[derive(Serialize)]
struct Told {
    by_model: u64,
    by_fallback: u64,
    by_nobody: u64,
    unknown: u64,
    share: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
}

impl Group {
    /// The share of a tool's calls that failures are, where there were enough to speak of one.
    #[expect(clippy::cast_precision_loss, reason = "a share of a count")]
    pub fn rate_of(failures: u64, calls: u64) -> Option<f64> {
        (calls >= FLOOR).then(|| failures as f64 / calls as f64)
    }
}

impl Recovery {
    /// The share that recovered, and where the true one lies nineteen times of twenty.
    pub fn share(&self) -> Option<(f64, f64, f64)> {
        interval(self.recovered(), self.known())
    }

    /// How many recovered.
    pub fn recovered(&self) -> u64 {
        self.by_model + self.by_fallback
    }

    /// Of how many the end is known.
    pub fn known(&self) -> u64 {
        self.recovered() + self.by_nobody
    }
}

impl From<Recovery> for Told {
    fn from(recovery: Recovery) -> Self {
        let share = recovery.share();
        Self {
            by_model: recovery.by_model,
            by_fallback: recovery.by_fallback,
            by_nobody: recovery.by_nobody,
            unknown: recovery.unknown,
            share: share.map(|it| it.0),
            low: share.map(|it| it.1),
            high: share.map(|it| it.2),
        }
    }
}

impl State {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Resolved => "resolved",
            Self::Ignored => "ignored",
        }
    }

    pub(super) fn of(name: &str) -> Self {
        match name {
            "resolved" => Self::Resolved,
            "ignored" => Self::Ignored,
            _ => Self::Open,
        }
    }
}
