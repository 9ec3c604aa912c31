//! OpenAI: chat messages, and the items of the Responses API.

use serde_json::{Value, json};

use super::{arguments, is, items, list, name, object_text, schema, text};
use crate::{Call, Error, RawArguments, Reply, ToolSpec};

/// How many characters a description has at most.
const LONGEST_DESCRIPTION: usize = 1_024;

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
    answer(&reply.id, &reply.text)
}

/// The tool message that answers the call of this id.
pub fn answer(id: &str, text: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": id, "content": text })
}

/// A call as it stands in an assistant message.
pub fn made(id: &str, tool: &str, arguments: &str) -> Value {
    let arguments = object_text(arguments);
    json!({ "id": id, "type": "function",
            "function": { "name": name(tool), "arguments": arguments } })
}

/// A tool as the model is told of it.
pub fn tool(spec: &ToolSpec) -> Value {
    json!({ "type": "function", "function": {
        "name": name(&spec.name), "description": description(spec), "parameters": schema(spec),
    } })
}

/// What a tool is for, as long as OpenAI takes it.
fn description(spec: &ToolSpec) -> String {
    let said = &spec.description;
    match said.char_indices().nth(LONGEST_DESCRIPTION) {
        None => said.clone(),
        Some(_) => said.chars().take(LONGEST_DESCRIPTION - 1).chain(['…']).collect(),
    }
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
    response_answer(&reply.id, &reply.text)
}

/// The input item that answers the function call of this id.
pub fn response_answer(id: &str, text: &str) -> Value {
    json!({ "type": "function_call_output", "call_id": id, "output": text })
}

/// A function call as it stands among the input items.
pub fn response_made(id: &str, tool: &str, arguments: &str) -> Value {
    let arguments = object_text(arguments);
    json!({ "type": "function_call", "call_id": id, "name": name(tool), "arguments": arguments })
}

/// A tool as the model is told of it.
pub fn response_tool(spec: &ToolSpec) -> Value {
    json!({ "type": "function", "name": name(&spec.name), "description": description(spec),
            "parameters": schema(spec), "strict": false })
}

/// The input item that answers a call of a custom tool.
pub fn response_custom_item(reply: &Reply) -> Value {
    json!({ "type": "custom_tool_call_output", "call_id": reply.id, "output": reply.text })
}
