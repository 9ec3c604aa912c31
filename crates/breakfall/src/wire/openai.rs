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
    let calls = items.iter().filter(|item| is(item, "function_call"));
    Ok(calls
        .map(|item| {
            Call::new(text(item, "call_id"), text(item, "name"), arguments(item, "arguments"))
        })
        .collect())
}

/// The input item that answers a call of a response.
pub fn response_item(reply: &Reply) -> Value {
    json!({ "type": "function_call_output", "call_id": reply.id, "output": reply.text })
}
