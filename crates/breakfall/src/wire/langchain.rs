//! LangChain: AI messages and tool messages, as their `dict` form has them.

use serde_json::{Value, json};

use super::{arguments, list, text};
use crate::{Call, Error, Reply};

/// The calls of an AI message, with those that LangChain itself could not parse: they are
/// answered too.
pub fn calls(message: &Value) -> Result<Vec<Call>, Error> {
    let shape = "a LangChain message";
    let parsed = list(message, "tool_calls", shape)?;
    let unparsed = list(message, "invalid_tool_calls", shape)?;
    let call =
        |call: &Value| Call::new(text(call, "id"), text(call, "name"), arguments(call, "args"));
    Ok(parsed.iter().chain(unparsed).map(call).collect())
}

/// The tool message that answers a call.
pub fn message(reply: &Reply) -> Value {
    json!({
        "type": "tool",
        "content": reply.text,
        "tool_call_id": reply.id,
        "name": reply.tool,
        "status": if reply.is_error { "error" } else { "success" },
    })
}
