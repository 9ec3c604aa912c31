//! What the developer needs of a sample, line by line.

use breakfall_store::Sample;
use serde_json::Value;

use crate::terminal::wrapped;

/// As wide as the names are.
const NAMES: usize = 12;

/// Everything that is known, in lines of at most so many columns.
pub(super) fn lines(sample: &Sample, most: usize) -> Vec<String> {
    let body = &sample.body;
    let mut lines = Vec::new();
    let mut row = |name: &str, value: Option<String>| {
        let Some(value) = value.filter(|value| !value.is_empty()) else { return };
        let room = most.saturating_sub(NAMES + 1).max(8);
        for (number, line) in wrapped(&value, room).into_iter().enumerate() {
            let name = if number == 0 { name } else { "" };
            lines.push(format!("{name:<NAMES$} {line}"));
        }
    };
    row("kind", text(&body["kind"]));
    row("message", text(&body["message"]));
    for cause in body["causes"].as_array().into_iter().flatten() {
        row("caused by", text(cause));
    }
    row("error type", text(&body["error_type"]));
    row("resource", text(&body["resource"]));
    row("status", text(&body["status"]));
    row("disposition", text(&body["disposition"]));
    let is_unknown = body["may_have_taken_effect"] == Value::Bool(true);
    row("effect", is_unknown.then(|| "it may have taken effect".to_owned()));
    row("failed", body["times"].as_u64().map(|times| format!("{times} times in its run")));
    row("substitute", body["substitute"].as_str().map(substitute));
    row("fault", text(&body["fault"]));
    let repairs = body["repairs"].as_array().into_iter().flatten().filter_map(text);
    row("repaired", Some(repairs.collect::<Vec<_>>().join(", ")));
    row("silent", text(&body["silent"]["why"]));
    row("run", sample.run.clone());
    row("call", Some(sample.call.clone()));
    row("node", Some(sample.node.clone()));
    row("arguments", text(&body["arguments"]));
    lines
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
