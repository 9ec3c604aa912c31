//! Anthropic: content blocks.

use serde_json::{Value, json};

use super::{arguments, is, list, name, object, schema, text};
use crate::{Call, Error, Reply, ToolSpec};

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
    answer(&reply.id, &reply.text, reply.is_error)
}

/// The content block that answers the call of this id.
pub fn answer(id: &str, text: &str, is_error: bool) -> Value {
    json!({ "type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error })
}

/// A call as it stands in an assistant message.
pub fn made(id: &str, tool: &str, arguments: &str) -> Value {
    json!({ "type": "tool_use", "id": id, "name": name(tool), "input": object(arguments) })
}

/// A tool as the model is told of it.
pub fn tool(spec: &ToolSpec) -> Value {
    json!({ "name": name(&spec.name), "description": spec.description,
            "input_schema": schema(spec) })
}

/// The user message that answers every call of an assistant message at once, as it must.
pub fn message(replies: &[Reply]) -> Value {
    json!({ "role": "user", "content": replies.iter().map(block).collect::<Vec<_>>() })
}
