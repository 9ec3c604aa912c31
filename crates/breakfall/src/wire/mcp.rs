//! MCP: the parameters of `tools/call`, and its result.

use serde_json::{Value, json};

use super::{arguments, text};
use crate::{Call, Reply};

/// The call that `tools/call` asks for, under an id of the caller's.
pub fn call(id: impl Into<String>, params: &Value) -> Call {
    Call::new(id, text(params, "name"), arguments(params, "arguments"))
}

/// The result of `tools/call`.
pub fn result(reply: &Reply) -> Value {
    json!({
        "content": [{ "type": "text", "text": reply.text }],
        "isError": reply.is_error,
    })
}
