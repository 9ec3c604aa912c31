//! A record becomes a row: everything that is kept of a call, owned, and small enough to spool.

use std::time::{Duration, UNIX_EPOCH};

use breakfall::{Ending, FailureKind, Record, TripCause, Turned, Whose};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::fingerprint::{fingerprint, template};

/// What is kept of a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    /// When it began, in milliseconds since 1970.
    pub(crate) at: i64,
    /// How long it took, in microseconds.
    pub(crate) took: i64,
    pub(crate) run: Option<String>,
    pub(crate) call: String,
    pub(crate) upstream: String,
    pub(crate) tool: String,
    pub(crate) ending: String,
    pub(crate) attempts: i64,
    /// How many calls it stands for: more than one where only counts are kept.
    #[serde(default = "once")]
    pub(crate) times: i64,
    /// The breakers that turned with it.
    #[serde(default)]
    pub(crate) turns: Vec<Turn>,
    /// How it failed, also where a substitute answered.
    pub(crate) failure: Option<Failed>,
    /// What a person may want to see of it.
    pub(crate) body: String,
    /// Whether all of it is kept, or only the counts.
    pub(crate) is_kept: bool,
}

const fn once() -> i64 {
    1
}

/// A breaker that opened or closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Turn {
    /// Whether it is that of the whole upstream.
    pub(crate) whole_upstream: bool,
    /// Until when it holds calls back; nothing where it lets them through again.
    pub(crate) until: Option<i64>,
    pub(crate) why: String,
}

/// How a call failed, and to which group that belongs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failed {
    pub(crate) kind: String,
    pub(crate) reference: String,
    pub(crate) template: String,
    pub(crate) fingerprint: String,
}

impl Row {
    /// All that can be searched for and counted.
    pub(crate) fn of(record: &Record) -> Self {
        let upstream = plain(record.upstream.as_deref().unwrap_or_default());
        let tool = plain(&record.tool);
        let failure = record.failure.as_ref().map(|failure| {
            // What the model was told changes when it is told again: it is shown, and names nothing.
            let masked = plain(&template(&failure.message));
            let kind = failure.kind.name();
            let counted = counted(kind, &tool);
            Failed {
                kind: kind.to_owned(),
                reference: failure.reference.to_string(),
                fingerprint: fingerprint(&upstream, counted, kind, &masked),
                template: if masked.is_empty() { plain(&template(told(record))) } else { masked },
            }
        });
        let at = record.started.duration_since(UNIX_EPOCH).unwrap_or_default();
        let at = i64::try_from(at.as_millis()).unwrap_or(i64::MAX);
        let ended = at.saturating_add(millis(record.took));
        Self {
            at,
            took: i64::try_from(record.took.as_micros()).unwrap_or(i64::MAX),
            run: record.run.as_deref().map(plain),
            call: plain(&record.id),
            upstream,
            tool,
            times: once(),
            turns: record
                .turned
                .iter()
                .map(|(whose, turned)| turn(*whose, turned, ended))
                .collect(),
            ending: record.ending.name().to_owned(),
            attempts: i64::from(record.attempts),
            body: String::new(),
            failure,
            is_kept: true,
        }
    }

    /// Adds what a person may want to see: of few calls enough is kept for that.
    pub(crate) fn show(&mut self, record: &Record) {
        self.body = body(record).to_string();
    }

    /// The tool that it counts for. A model can make up names without end, and they are no tools.
    pub(crate) fn counted_as(&self) -> &str {
        counted(self.failure.as_ref().map_or("", |failed| &failed.kind), &self.tool)
    }

    /// About how many bytes it takes in memory.
    pub(crate) fn weight(&self) -> usize {
        // Names are short; backtraces are not.
        size_of::<Self>() + self.body.len()
    }

    pub(crate) fn succeeded(&self) -> bool {
        self.ending == Ending::Succeeded.name()
    }
}

/// The fact that the model was told, without the tool, which the group names already.
fn told(record: &Record) -> &str {
    let fact = record.told.as_deref().unwrap_or_default().lines().next().unwrap_or_default();
    let of_tool = fact.strip_prefix('`').and_then(|fact| fact.strip_prefix(&record.tool));
    of_tool.and_then(|fact| fact.strip_prefix("` ")).unwrap_or(fact)
}

/// What every name that is no tool counts for.
pub(crate) const NO_TOOL: &str = "(not a tool)";

pub(crate) fn counted<'t>(kind: &str, tool: &'t str) -> &'t str {
    if kind == FailureKind::UnknownTool.name() { NO_TOOL } else { tool }
}

/// The longest name of a run, a call, a tool.
const NAME: usize = 200;

/// A name as every database takes it: without the letter that Postgres refuses, and not too long.
pub(crate) fn plain(name: &str) -> String {
    name[..name.floor_char_boundary(NAME)].replace('\0', "\u{fffd}")
}

fn millis(long: Duration) -> i64 {
    i64::try_from(long.as_millis()).unwrap_or(i64::MAX)
}

fn turn(whose: Whose, turned: &Turned, at: i64) -> Turn {
    let whole_upstream = whose == Whose::Upstream;
    let Turned::Opened(trip) = turned else {
        return Turn { whole_upstream, until: None, why: String::new() };
    };
    let kind = trip.kind.name();
    let why = match trip.cause {
        TripCause::Consecutive(count) => format!("{count} in a row, the last: {kind}"),
        TripCause::Rate { failed, of } => format!("{failed} of {of} calls, the last: {kind}"),
        TripCause::Probe => format!("a probe failed: {kind}"),
    };
    Turn { whole_upstream, until: Some(at.saturating_add(millis(trip.open_for))), why }
}

/// What is shown of a single call, beside what can be searched for.
fn body(record: &Record) -> Value {
    let mut body = json!({});
    let mut put = |name: &str, value: Value| {
        let is_nothing = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        if !is_nothing {
            body[name] = value;
        }
    };
    if let Some(failure) = &record.failure {
        put("kind", json!(failure.kind.name()));
        put("reference", json!(failure.reference));
        put("message", json!(failure.message));
        put("error_type", json!(failure.error_type));
        put("resource", json!(failure.resource));
        put("status", json!(failure.status));
        put("disposition", json!(failure.disposition.name()));
        put("causes", json!(failure.chain));
        put("backtrace", json!(failure.backtrace));
        put("may_have_taken_effect", json!(failure.may_have_taken_effect.then_some(true)));
        put("times", json!((failure.times > 1).then_some(failure.times)));
    }
    let tries = record.tries.iter().map(|one| {
        json!({
            "began_ms": one.began.as_millis(),
            "took_ms": one.took.as_millis(),
            "kind": one.kind.name(),
            "waited_ms": one.waited.map(|waited| waited.as_millis()),
        })
    });
    put("tries", tries.collect());
    put("told", json!(record.told));
    put("arguments", json!(record.arguments));
    put("substitute", json!(record.substitute));
    put("fault", json!(record.fault));
    put("repairs", json!(record.repairs));
    put("output_bytes", json!(record.output_bytes));
    if let Some((kind, why)) = &record.silent {
        put("silent", json!({ "kind": kind.name(), "why": why }));
    }
    body
}
