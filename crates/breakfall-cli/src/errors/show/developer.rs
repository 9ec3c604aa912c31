//! What the developer needs of a sample, line by line.

use breakfall_store::Sample;
use serde_json::Value;

use crate::terminal::wrapped;

/// As wide as the names are.
const NAMES: usize = 12;

/// Everything that is known, in lines of at most so many columns.
pub(super) fn lines(sample: &Sample, most: usize) -> Vec<String> {
    let room = most.saturating_sub(NAMES + 1).max(8);
    let mut lines = Vec::new();
    for (name, value) in facts(sample) {
        for (number, line) in wrapped(&value, room).into_iter().enumerate() {
            let name = if number == 0 { name } else { "" };
            lines.push(format!("{name:<NAMES$} {line}"));
        }
    }
    lines
}

/// Everything that is known of a sample beside what the model was told. Not safe yet.
pub(crate) fn facts(sample: &Sample) -> Vec<(&'static str, String)> {
    let body = &sample.body;
    let mut facts = Vec::new();
    let mut put = |name, value: Option<String>| {
        facts.extend(value.filter(|value| !value.is_empty()).map(|value| (name, value)));
    };
    put("kind", text(&body["kind"]));
    put("message", text(&body["message"]));
    for cause in body["causes"].as_array().into_iter().flatten() {
        put("caused by", text(cause));
    }
    put("error type", text(&body["error_type"]));
    put("resource", text(&body["resource"]));
    put("status", text(&body["status"]));
    put("disposition", text(&body["disposition"]));
    let is_unknown = body["may_have_taken_effect"] == Value::Bool(true);
    put("effect", is_unknown.then(|| "it may have taken effect".to_owned()));
    put("failed", body["times"].as_u64().map(|times| format!("{times} times in its run")));
    put("substitute", body["substitute"].as_str().map(substitute));
    put("fault", text(&body["fault"]));
    let repairs = body["repairs"].as_array().into_iter().flatten().filter_map(text);
    put("repaired", Some(repairs.collect::<Vec<_>>().join(", ")));
    put("silent", text(&body["silent"]["why"]));
    put("run", sample.run.clone());
    put("call", Some(sample.call.clone()));
    put("node", Some(sample.node.clone()));
    put("arguments", text(&body["arguments"]));
    facts
}

/// Who answered instead.
fn substitute(tool: &str) -> String {
    if tool.is_empty() { "a fixed value".to_owned() } else { tool.to_owned() }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        value => Some(value.to_string()),
    }
}
