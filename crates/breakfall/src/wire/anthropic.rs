//! Anthropic: content blocks.

use serde_json::{Value, json};

use super::{arguments, is, list, text};
use crate::{Call, Error, Reply};

/// The calls among the content blocks of an assistant message.
pub fn calls(message: &Value) -> Result<Vec<Call>, Error> {
    let blocks = list(message, "content", "an Anthropic message")?;
    let calls = blocks.iter().filter(|block| is(block, "tool_use"));
    Ok(calls
        .map(|block| Call::new(text(block, "id"), text(block, "name"), arguments(block, "input")))
        .collect())
}

/// The content block that answers a call.
pub fn block(reply: &Reply) -> Value {
    json!({
        "type": "tool_result",
        "tool_use_id": reply.id,
        "content": reply.text,
        "is_error": reply.is_error,
    })
}

/// The user message that answers every call of an assistant message at once, as it must.
pub fn message(replies: &[Reply]) -> Value {
    json!({ "role": "user", "content": replies.iter().map(block).collect::<Vec<_>>() })
}
