//! OpenAI: chat messages, and the items of the Responses API.

use serde_json::{Value, json};

use super::{arguments, is, items, list, text};
use crate::{Call, Error, RawArguments, Reply};

/// The calls of an assistant message.
pub fn calls(message: &Value) -> Result<Vec<Call>, Error> {
    let calls = list(message, "tool_calls", "an OpenAI message")?;
    Ok(calls.iter().map(call).collect())
}

fn call(call: &Value) -> Call {
    let id = text(call, "id");
    match (call.get("function"), call.get("custom")) {
        // A custom tool takes free text, which is no JSON.
        (None, Some(custom)) => {
            let input = json!({ "input": text(custom, "input") });
            Call::new(id, text(custom, "name"), RawArguments::Json(input))
        }
        (function, _) => {
            let function = function.unwrap_or(&Value::Null);
            Call::new(id, text(function, "name"), arguments(function, "arguments"))
        }
    }
}

/// The tool message that answers a call. OpenAI has no error flag: the text says it.
pub fn message(reply: &Reply) -> Value {
    json!({ "role": "tool", "tool_call_id": reply.id, "content": reply.text })
}

/// The calls among the output items of a response.
pub fn response_calls(output: &Value) -> Result<Vec<Call>, Error> {
    let items = items(output, "output", "an OpenAI response")?;
    let call = |item: &Value| {
        let arguments = if is(item, "custom_tool_call") {
            RawArguments::Json(json!({ "input": text(item, "input") }))
        } else if is(item, "function_call") {
            arguments(item, "arguments")
        } else {
            return None;
        };
        Some(Call::new(text(item, "call_id"), text(item, "name"), arguments))
    };
    Ok(items.iter().filter_map(call).collect())
}

/// The input item that answers a function call of a response.
pub fn response_item(reply: &Reply) -> Value {
    json!({ "type": "function_call_output", "call_id": reply.id, "output": reply.text })
}

/// The input item that answers a call of a custom tool.
pub fn response_custom_item(reply: &Reply) -> Value {
    json!({ "type": "custom_tool_call_output", "call_id": reply.id, "output": reply.text })
}
