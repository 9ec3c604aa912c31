//! What servers of the chat shape want to see again and nobody else understands: thoughts beside a
//! message, signatures beside a call. Without them some refuse the next request.

use serde_json::{Map, Value, json};

use super::text;

/// What a message or a call has beside what everybody understands.
pub(super) type Fields = Map<String, Value>;

/// Thoughts as text, as one field or in pieces.
const THOUGHT: &str = "reasoning_content";

/// Thoughts as a list, some of them signed or encrypted.
const THOUGHTS: &str = "reasoning_details";

/// The fields of a call that everybody understands.
const COMMON: &[&str] = &["index", "id", "type", "function"];

/// Takes what a message, or a piece of one, has. A thought that is empty is one, too: it is wanted
/// back as it came.
pub(super) fn take_message(fields: &mut Fields, message: &Value) {
    if let Some(more) = message.get(THOUGHT).and_then(Value::as_str) {
        append(fields.entry(THOUGHT).or_insert_with(|| json!("")), more);
    }
    let details = message.get(THOUGHTS).and_then(Value::as_array);
    for detail in details.into_iter().flatten() {
        let all = fields.entry(THOUGHTS).or_insert_with(|| json!([]));
        if let Value::Array(all) = all {
            match all.last_mut().filter(|last| goes_on(last, detail)) {
                Some(last) => join(last, detail),
                None => all.push(detail.clone()),
            }
        }
    }
}

/// Takes what a call, or a piece of one, has.
pub(super) fn take_call(fields: &mut Fields, call: &Value) {
    let all = call.as_object().into_iter().flatten();
    let own = all.filter(|(name, value)| !COMMON.contains(&name.as_str()) && !value.is_null());
    fields.extend(own.map(|(name, value)| (name.clone(), value.clone())));
}

/// As it stands in a history; nothing where there is nothing.
pub(super) fn saved(message: &Fields, calls: &[Fields]) -> Vec<Value> {
    if message.is_empty() && calls.iter().all(Map::is_empty) {
        return Vec::new();
    }
    vec![json!({ "message": message, "calls": calls })]
}

/// Puts what was saved back to a message and its calls. What we say ourselves stays.
pub(super) fn put_back(kept: &[Value], message: &mut Value) {
    for kept in kept {
        put(kept.get("message"), message);
        let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
        for (at, call) in calls.into_iter().flatten().enumerate() {
            put(kept.get("calls").and_then(|calls| calls.get(at)), call);
        }
    }
}

/// Gives a message the thoughts of one that is joined to it.
pub(super) fn join_thoughts(last: &mut Value, next: &Value) {
    for name in [THOUGHT, THOUGHTS] {
        if let Some(thought) = next.get(name) {
            last[name] = thought.clone();
        }
    }
}

fn put(fields: Option<&Value>, to: &mut Value) {
    let Value::Object(to) = to else { return };
    for (name, value) in fields.and_then(Value::as_object).into_iter().flatten() {
        to.entry(name).or_insert_with(|| value.clone());
    }
}

/// Whether a thought is the next piece of the last: only those in plain words come in pieces.
fn goes_on(last: &Value, next: &Value) -> bool {
    let is_text = |detail: &Value| text(detail, "type") == "reasoning.text";
    is_text(last) && is_text(next) && last.get("index") == next.get("index")
}

fn join(last: &mut Value, next: &Value) {
    for (name, value) in next.as_object().into_iter().flatten() {
        match value.as_str() {
            Some(more) if name == "text" => append(&mut last["text"], more),
            _ if value.is_null() => {}
            _ => last[name.as_str()] = value.clone(),
        }
    }
}

fn append(to: &mut Value, more: &str) {
    match to {
        Value::String(words) => words.push_str(more),
        _ => *to = json!(more),
    }
}
