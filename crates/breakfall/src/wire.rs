//! Calls from the providers' messages, and replies back into them. The id is always the caller's.
//!
//! ```
//! use breakfall::{Guard, wire::openai};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), breakfall::Error> {
//! let guard = Guard::builder().build()?;
//! let message = json!({ "role": "assistant", "tool_calls": [
//!     { "id": "call_1", "type": "function", "function": { "name": "f", "arguments": "{}" } }
//! ] });
//! let replies = guard.handle_all(openai::calls(&message)?).await;
//! assert_eq!(openai::message(&replies[0])["tool_call_id"], "call_1");
//! # Ok(())
//! # }
//! ```
//!
//! A call with a part missing is still a call, and is answered: an absent name is an unknown
//! tool, absent arguments are none. Only a message whose list of calls is no list is refused.

pub mod anthropic;
pub mod gemini;
pub mod hidden;
pub mod langchain;
pub mod mcp;
pub mod openai;

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Map, Value, json};

use crate::{Error, RawArguments, ToolSpec};

/// The longest name that every provider takes.
const LONGEST_NAME: usize = 64;

/// A tool's name as every provider takes it: letters, digits, `_` and `-`, at most 64 of them. One
/// that is of that kind stays as it is; any other gets a mark of its own, so that two never become
/// one.
pub fn name(name: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(fits) {
        return Cow::Borrowed(name);
    }
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    let mark = format!("{:08x}", hasher.finish() & 0xffff_ffff);
    let kept = name.chars().take(LONGEST_NAME - mark.len() - 1);
    let kept: String = kept.map(|c| if fits(c) { c } else { '_' }).collect();
    Cow::Owned(format!("{kept}_{mark}"))
}

/// The arguments of a call as an object, to be shown to the model again. What is none is kept in
/// one: providers refuse a history with arguments that are no object.
pub fn object(arguments: &str) -> Map<String, Value> {
    match serde_json::from_str(arguments) {
        Ok(Value::Object(fields)) => fields,
        Ok(Value::Null) => Map::new(),
        _ if arguments.trim().is_empty() => Map::new(),
        _ => Map::from_iter([("malformed_arguments".to_owned(), json!(arguments))]),
    }
}

/// The same as text: to the letter where it is an object already.
fn object_text(arguments: &str) -> Cow<'_, str> {
    match serde_json::from_str::<Map<String, Value>>(arguments) {
        Ok(_) => Cow::Borrowed(arguments),
        Err(_) => Cow::Owned(Value::Object(object(arguments)).to_string()),
    }
}

/// The schema of a tool's arguments. Providers want it to be that of an object with properties, and
/// refuse one that is put together from others: of those the model is told the properties, and what
/// they demand is checked when it calls.
fn schema(spec: &ToolSpec) -> Value {
    let mut fields = spec.input_schema.as_object().cloned().unwrap_or_default();
    fields.insert("type".to_owned(), json!("object"));
    let mut properties = match fields.remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    for key in ["anyOf", "oneOf", "allOf"] {
        let Some(Value::Array(parts)) = fields.remove(key) else { continue };
        for (name, property) in
            parts.iter().filter_map(|part| part["properties"].as_object()).flatten()
        {
            properties.entry(name).or_insert_with(|| property.clone());
        }
    }
    fields.insert("properties".to_owned(), Value::Object(properties));
    Value::Object(fields)
}

/// The list under `key`; empty where there is none.
fn list<'a>(holder: &'a Value, key: &str, shape: &'static str) -> Result<&'a [Value], Error> {
    items(holder.get(key).unwrap_or(&Value::Null), key, shape)
}

fn items<'a>(list: &'a Value, at: &str, shape: &'static str) -> Result<&'a [Value], Error> {
    match list {
        Value::Array(items) => Ok(items),
        Value::Null => Ok(&[]),
        // A content that is a plain text holds no calls.
        Value::String(_) if at == "content" => Ok(&[]),
        _ => Err(Error::Wire { shape, at: at.to_owned(), expected: "a list" }),
    }
}

fn is(item: &Value, kind: &str) -> bool {
    item.get("type").is_some_and(|given| given == kind)
}

/// A field as text. The ids of servers that number their calls become text.
fn text(holder: &Value, key: &str) -> String {
    match holder.get(key) {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
    }
}

/// Arguments as they came: most send JSON in a string, some the object itself.
fn arguments(holder: &Value, key: &str) -> RawArguments {
    match holder.get(key) {
        Some(Value::String(text)) => RawArguments::Text(text.clone()),
        None | Some(Value::Null) => RawArguments::none(),
        Some(value) => RawArguments::Json(value.clone()),
    }
}
