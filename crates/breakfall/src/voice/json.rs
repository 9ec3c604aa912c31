//! The facts as JSON, for models and programs that read it better than prose.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::{Voice, plain};
use crate::{Advice, Detail, FailureReport, InsteadReport, OutputReport};

/// The longest answer.
const LONGEST: usize = 1_900;

/// The facts as JSON.
#[derive(Clone, Copy, Debug, Default)]
pub struct Json;

impl Voice for Json {
    fn failure(&self, failure: &FailureReport) -> String {
        let mut object = object(failure);
        // Cut in the middle it would be no JSON: what is least needed goes first.
        for part in ["correction", "problems", "callable", "fact"] {
            if object.to_string().len() <= LONGEST {
                break;
            }
            match &mut object[part] {
                Value::Array(items) if items.len() > 5 => items.truncate(5),
                other => *other = Value::Null,
            }
        }
        object.to_string()
    }

    fn partial(&self, output: &OutputReport) -> String {
        let items: Vec<Value> = output
            .problems
            .iter()
            .map(|p| json!({ "item": p.item, "kind": p.failure.kind, "fact": plain::brief(&p.failure) }))
            .collect();
        json!({ "failed": items, "items": output.items }).to_string()
    }

    fn instead(&self, instead: &InsteadReport) -> String {
        json!({ "instead_of": instead.of.tool, "error": instead.of.kind, "by": instead.by })
            .to_string()
    }

    fn frame(&self, output: Option<&str>, error: Option<&str>) -> Option<String> {
        let (output, error) = (output?, error?);
        let error = serde_json::from_str::<Value>(error).unwrap_or_else(|_| error.into());
        Some(json!({ "output": output, "error": error }).to_string())
    }
}

fn object(failure: &FailureReport) -> Value {
    let mut fields = serde_json::Map::new();
    let mut put = |name: &str, value: Value| {
        if !value.is_null() {
            fields.insert(name.to_owned(), value);
        }
    };
    put("error", json!(failure.kind));
    put("tool", json!(failure.tool));
    put("fact", json!(plain::brief(failure)));
    put("resource", json!(failure.resource));
    put("status", json!(failure.status));
    put("advice", written(&failure.advice));
    put("wait_s", json!(failure.wait.map(|wait| wait.as_secs_f64())));
    put("fatal", json!(failure.disposition == crate::Disposition::Fatal));
    put("may_pass", json!(failure.may_pass));
    put("reference", json!(failure.reference));
    if failure.attempts > 1 {
        put("attempts", json!(failure.attempts));
    }
    if failure.times > 1 {
        put("times", json!(failure.times));
    }
    if let Some(substitute) = &failure.substitute {
        put("substitute", json!({ "tool": substitute.tool, "error": substitute.kind }));
    }
    if failure.may_have_taken_effect {
        put("may_have_taken_effect", json!(true));
    }
    match &failure.detail {
        Detail::Names { nearest, callable, .. } => {
            let listed = |names: &[Arc<str>]| names.iter().map(|name| json!(**name)).collect();
            put("nearest", Value::Array(listed(nearest)));
            put("callable", Value::Array(listed(callable)));
        }
        Detail::Arguments { problems, correction } => {
            put("problems", json!(problems));
            put("correction", json!(correction));
        }
        Detail::Credential(name) => put("credential", json!(name)),
        Detail::Repeated { times, .. } => put("times", json!(times)),
        _ => {}
    }
    Value::Object(fields)
}

/// An advice by its name; a wait has a field of its own.
fn written(advice: &Advice) -> Value {
    match advice {
        Advice::RepeatAfter(_) => json!("repeat_after"),
        other => to_json(other),
    }
}

fn to_json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}
