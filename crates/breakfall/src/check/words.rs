//! What a schema accepts and what was sent instead, in a few words.

use std::fmt::Write;

use serde_json::Value;

use super::problems::SEEN;
use super::{Schema, formats};
use crate::written::{json, push_json};

/// How much of a name or pattern of the schema's is shown.
pub(super) const SHOWN: usize = 60;

/// So many bytes of a list are shown in any case.
const OPTIONS_BYTES: usize = 400;

/// How many options of a list are shown, however long they are.
pub(super) const OPTIONS: usize = 10;

/// How many bytes a number or a name mostly takes, and a list of them.
const SHORT: usize = 24;
pub(super) const LIST: usize = 96;

/// What a schema accepts, in a few words.
pub(crate) fn describe(schema: &Schema, wanted: &Value) -> String {
    describe_within(schema, wanted, 3)
}

fn describe_within(schema: &Schema, wanted: &Value, depth: usize) -> String {
    let wanted = schema.resolve(wanted);
    if let Some(options) = wanted.get("enum") {
        return one_of(options);
    }
    if let Some(constant) = wanted.get("const") {
        return format!("`{}`", clip(&constant.to_string()));
    }
    if let Some(format) = wanted.get("format").and_then(Value::as_str)
        && wanted.get("type").is_some_and(|kind| kind == "string")
    {
        return formatted(format);
    }
    let branches = ["anyOf", "oneOf"].iter().find_map(|key| wanted.get(key)?.as_array());
    if let Some(branches) = branches.filter(|_| depth > 0) {
        let mut words: Vec<String> = Vec::new();
        for branch in branches.iter().take(OPTIONS) {
            for word in describe_within(schema, branch, depth - 1).split(" or ") {
                if !words.iter().any(|known| known == word) {
                    words.push(word.to_owned());
                }
            }
        }
        return words.join(" or ");
    }
    let items = wanted.get("items").filter(|_| depth > 0);
    match wanted.get("type") {
        Some(Value::String(kind)) if kind == "array" && items.is_some_and(Value::is_object) => {
            let item = items.map(|items| describe_within(schema, items, depth - 1));
            format!("an array, each item {}", item.unwrap_or_default())
        }
        Some(Value::String(kind)) => bounded(article(kind), wanted),
        Some(Value::Array(kinds)) => {
            let kinds: Vec<_> = kinds.iter().filter_map(Value::as_str).map(article).collect();
            kinds.join(" or ")
        }
        _ if wanted.get("properties").is_some() => "an object".to_owned(),
        _ => "a value".to_owned(),
    }
}

fn bounded(kind: &str, wanted: &Value) -> String {
    match (wanted.get("minimum"), wanted.get("maximum")) {
        (Some(least), Some(most)) => format!("{kind} from {least} to {most}"),
        (Some(least), None) => format!("{kind}, at least {least}"),
        (None, Some(most)) => format!("{kind}, at most {most}"),
        (None, None) => kind.to_owned(),
    }
}

pub(super) fn one_of(options: &Value) -> String {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    if options.is_empty() {
        return "no value at all".to_owned();
    }
    let mut listed = String::with_capacity(LIST);
    listed.push_str("one of ");
    for (number, option) in options.iter().enumerate() {
        if number >= OPTIONS && listed.len() > OPTIONS_BYTES {
            let _ = write!(listed, ", {} more", options.len() - number);
            break;
        }
        listed.push_str(if number == 0 { "`" } else { ", `" });
        let before = listed.len();
        push_json(&mut listed, option);
        if listed.len() - before > SHOWN {
            let whole = listed.split_off(before);
            push_clipped(&mut listed, &whole);
        }
        listed.push('`');
    }
    listed
}

pub(super) fn formatted(format: &str) -> String {
    match formats::example(format) {
        Some((what, example)) => format!("{what} like `{example}`"),
        None => format!("text in the format `{}`", clip(format)),
    }
}

pub(super) fn article(kind: &str) -> &'static str {
    match kind {
        "string" => "a string",
        "integer" => "an integer",
        "number" => "a number",
        "boolean" => "a boolean",
        "array" => "an array",
        "object" => "an object",
        "null" => "`null`",
        _ => "a value",
    }
}

/// A value as the model wrote it: the redactor sees it before it is cut short.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Array(items) if items.len() > 8 => format!("an array of {} items", items.len()),
        Value::Object(fields) if fields.len() > 8 => {
            format!("an object of {} fields", fields.len())
        }
        Value::String(text) if text.len() > SEEN => {
            json(&Value::String(text[..text.floor_char_boundary(SEEN)].to_owned()))
        }
        value => json(value),
    }
}

/// `at least 3`: the words, and a number as it was written.
pub(super) fn bound(words: &str, limit: &Value) -> String {
    let mut bound = String::with_capacity(words.len() + SHORT);
    bound.push_str(words);
    push_json(&mut bound, limit);
    bound
}

/// `at least 1 character`.
pub(super) fn so_many(words: &str, limit: u64, of: &str) -> String {
    format!("{words} {limit} {of}{}", if limit == 1 { "" } else { "s" })
}

/// The types that are named, in the order that the validator has for them.
pub(super) fn articles(kinds: &[Value]) -> String {
    const ORDER: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];
    if let [Value::String(only)] = kinds {
        return article(only).to_owned();
    }
    let named = ORDER.iter().filter(|kind| kinds.iter().any(|named| named == **kind));
    named.map(|kind| article(kind)).collect::<Vec<_>>().join(" or ")
}

pub(super) fn clip(text: &str) -> String {
    let mut clipped = String::new();
    push_clipped(&mut clipped, text);
    clipped
}

pub(super) fn push_clipped(to: &mut String, text: &str) {
    // A text has no more characters than bytes.
    let end = if text.len() > SHOWN { text.char_indices().nth(SHOWN) } else { None };
    match end {
        Some((end, _)) => {
            to.push_str(&text[..end]);
            to.push('…');
        }
        None => to.push_str(text),
    }
}

/// A name as the path to what has it, at the top.
pub(super) fn path_of(name: &str) -> String {
    let mut path = String::with_capacity(name.len().min(4 * SHOWN));
    push_clipped(&mut path, name);
    path
}
