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
pub mod langchain;
pub mod mcp;
pub mod openai;

use serde_json::Value;

use crate::{Error, RawArguments};

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
