//! A record becomes a row: everything that is kept of a call, owned, and small enough to spool.

use std::time::UNIX_EPOCH;

use breakfall::{Ending, Record};
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
    /// How it failed, also where a substitute answered.
    pub(crate) failure: Option<Failed>,
    /// What a person may want to see of it.
    pub(crate) body: String,
    /// Whether all of it is kept, or only the counts.
    pub(crate) is_kept: bool,
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
    pub(crate) fn of(record: &Record) -> Self {
        let upstream = record.upstream.as_deref().unwrap_or_default();
        let failure = record.failure.as_ref().map(|failure| {
            let template = template(&failure.message);
            let kind = failure.kind.name();
            Failed {
                kind: kind.to_owned(),
                reference: failure.reference.to_string(),
                fingerprint: fingerprint(upstream, &record.tool, kind, &template),
                template,
            }
        });
        let at = record.started.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            at: i64::try_from(at.as_millis()).unwrap_or(i64::MAX),
            took: i64::try_from(record.took.as_micros()).unwrap_or(i64::MAX),
            run: record.run.as_deref().map(ToOwned::to_owned),
            call: record.id.clone(),
            upstream: upstream.to_owned(),
            tool: record.tool.clone(),
            ending: record.ending.name().to_owned(),
            attempts: i64::from(record.attempts),
            body: body(record).to_string(),
            failure,
            is_kept: true,
        }
    }

    pub(crate) fn succeeded(&self) -> bool {
        self.ending == Ending::Succeeded.name()
    }
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
