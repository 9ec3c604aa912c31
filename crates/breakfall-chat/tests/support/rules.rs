//! What providers demand of a request, written down from what they publish and what they answer to
//! requests that are otherwise. Stricter where they differ.

use std::collections::HashSet;

use breakfall_chat::Shape;
use serde_json::Value;

type Verdict = Result<(), String>;

/// Whether a provider of that shape accepts the body of a request.
pub(crate) fn accepts(shape: Shape, body: &Value) -> Verdict {
    match shape {
        Shape::Chat => chat(list(body, "messages")?),
        Shape::Responses => responses(list(body, "input")?),
        Shape::Anthropic => anthropic(list(body, "messages")?),
    }
}

fn list<'v>(value: &'v Value, key: &str) -> Result<&'v [Value], String> {
    match value[key].as_array() {
        Some(items) if !items.is_empty() => Ok(items),
        _ => Err(format!("`{key}` is no list, or empty")),
    }
}

fn ensure(holds: bool, otherwise: &str) -> Verdict {
    if holds { Ok(()) } else { Err(otherwise.to_owned()) }
}

fn words(value: &Value) -> Verdict {
    let text = value.as_str().ok_or("words that are no text")?;
    ensure(!text.trim().is_empty(), "words that are empty")
}

fn named(value: &Value, longest: usize) -> Verdict {
    let text = value.as_str().ok_or("a name that is no text")?;
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    ensure(
        (1..=longest).contains(&text.len()) && text.chars().all(fits),
        &format!("a name that is not taken: {text:?}"),
    )
}

fn arguments(value: &Value) -> Verdict {
    let text = value.as_str().ok_or("arguments that are no text")?;
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    ensure(value.is_object(), "arguments that are no object")
}

/// Calls that wait for their replies.
#[derive(Default)]
struct Open {
    ever: HashSet<String>,
    open: HashSet<String>,
}

impl Open {
    fn call(&mut self, id: &Value) -> Verdict {
        named(id, 40)?;
        let id = id.as_str().unwrap_or_default().to_owned();
        self.open.insert(id.clone());
        ensure(self.ever.insert(id), "an id that was there before")
    }

    fn reply(&mut self, id: &Value) -> Verdict {
        let id = id.as_str().ok_or("a reply without an id")?;
        ensure(self.open.remove(id), "a reply without a call")
    }

    fn none(&self) -> Verdict {
        ensure(self.open.is_empty(), "something else before every call has its reply")
    }
}

fn chat(messages: &[Value]) -> Verdict {
    let mut open = Open::default();
    for (index, message) in messages.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &messages[before]["role"]);
        let is_again = before == Some(&message["role"]) && message["role"] != "tool";
        ensure(!is_again, "roles that do not take turns")?;
        match message["role"].as_str() {
            Some("system") => {
                ensure(index == 0, "a system message that is not the first")?;
                words(&message["content"])?;
            }
            Some("user") => {
                open.none()?;
                words(&message["content"])?;
            }
            Some("assistant") => {
                open.none()?;
                let calls = message.get("tool_calls");
                if !message["content"].is_null() || calls.is_none() {
                    words(&message["content"])?;
                }
                if calls.is_some() {
                    for call in list(message, "tool_calls")? {
                        open.call(&call["id"])?;
                        ensure(call["type"] == "function", "a call of no type")?;
                        named(&call["function"]["name"], 64)?;
                        arguments(&call["function"]["arguments"])?;
                    }
                }
            }
            Some("tool") => {
                open.reply(&message["tool_call_id"])?;
                words(&message["content"])?;
            }
            _ => return Err("a role that nobody has".to_owned()),
        }
    }
    open.none()
}

fn responses(items: &[Value]) -> Verdict {
    let mut open = Open::default();
    let mut may_call = true;
    for item in items {
        match item["type"].as_str() {
            Some("message") => {
                open.none()?;
                may_call = true;
                let kind = match item["role"].as_str() {
                    Some("user") => "input_text",
                    Some("assistant") => "output_text",
                    _ => return Err("a role that nobody has".to_owned()),
                };
                if kind == "output_text" {
                    // Servers that check with the types of OpenAI's own client want all of it.
                    let id = item["id"].as_str().unwrap_or_default();
                    ensure(id.starts_with("msg_"), "an answer without an id")?;
                    ensure(item["status"] == "completed", "an answer without a status")?;
                }
                for part in list(item, "content")? {
                    ensure(part["type"] == kind, "a part of the wrong type")?;
                    ensure(
                        kind == "input_text" || part["annotations"].is_array(),
                        "words of an answer without annotations",
                    )?;
                    words(&part["text"])?;
                }
            }
            Some("function_call") => {
                // Calls that follow replies are of another answer: those before have theirs.
                if !may_call {
                    open.none()?;
                }
                may_call = true;
                open.call(&item["call_id"])?;
                named(&item["name"], 64)?;
                arguments(&item["arguments"])?;
            }
            Some("function_call_output") => {
                may_call = false;
                open.reply(&item["call_id"])?;
                words(&item["output"])?;
            }
            _ => return Err("an item of no type".to_owned()),
        }
    }
    open.none()
}

fn anthropic(messages: &[Value]) -> Verdict {
    let mut open = Open::default();
    for (index, message) in messages.iter().enumerate() {
        let role = if index % 2 == 0 { "user" } else { "assistant" };
        ensure(message["role"] == role, "roles that do not take turns, a person first")?;
        let mut may_think = true;
        for block in list(message, "content")? {
            let thinks = block["type"] == "thinking";
            ensure(may_think || !thinks, "a thought that does not come first")?;
            may_think = thinks;
            match (role, block["type"].as_str()) {
                (_, Some("text")) => {
                    if role == "user" {
                        open.none()?;
                    }
                    words(&block["text"])?;
                }
                ("assistant", Some("tool_use")) => {
                    open.call(&block["id"])?;
                    named(&block["name"], 64)?;
                    ensure(block["input"].is_object(), "an input that is no object")?;
                }
                ("assistant", Some("thinking")) => words(&block["signature"])?,
                ("user", Some("tool_result")) => {
                    open.reply(&block["tool_use_id"])?;
                    words(&block["content"])?;
                }
                _ => return Err("a block that has no place here".to_owned()),
            }
        }
        if role == "user" {
            open.none()?;
        }
    }
    if let Some(last) = messages.last().filter(|last| last["role"] == "assistant") {
        let text = last["content"].as_array().and_then(|blocks| blocks.last()?["text"].as_str());
        ensure(text.is_none_or(|text| text.trim_end() == text), "a last text that ends in space")?;
    }
    open.none()
}
