//! Gemini: content parts.

use serde_json::{Value, json};

use super::{arguments, list, text};
use crate::{Call, Error, Reply};

/// The calls among the parts of a content.
pub fn calls(content: &Value) -> Result<Vec<Call>, Error> {
    let parts = list(content, "parts", "a Gemini content")?;
    // Google's own Python client writes it otherwise than it comes, with `null` where there is none.
    let keys = ["functionCall", "function_call"];
    let calls = parts
        .iter()
        .filter_map(|part| keys.iter().find_map(|key| part.get(*key).filter(|it| it.is_object())));
    Ok(calls
        .map(|call| Call::new(text(call, "id"), text(call, "name"), arguments(call, "args")))
        .collect())
}

/// The part that answers a call. Gemini answers by name and order where there is no id.
pub fn part(reply: &Reply) -> Value {
    let key = if reply.is_error { "error" } else { "output" };
    let mut response = json!({ "name": reply.tool, "response": { key: reply.text } });
    if !reply.id.is_empty() {
        response["id"] = json!(reply.id);
    }
    json!({ "functionResponse": response })
}
