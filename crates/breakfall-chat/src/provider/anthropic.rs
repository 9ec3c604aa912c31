//! Anthropic's messages: content blocks, roles in turn, results first in the message behind calls.

use breakfall::wire::anthropic;
use serde_json::{Map, Value, json};

use super::{Assembly, Shape, refusal, said, text, tokens};
use crate::error::{ModelError, ModelErrorKind};
use crate::message::{Message, Said};
use crate::model::{Answer, Delta, Finish, Question, Usage};

/// The most tokens of an answer where nobody says otherwise; the shape wants a number.
const MAX_TOKENS: u32 = 8_192;

/// How many blocks an answer has at most.
const MOST_BLOCKS: usize = 1_024;

/// The request that asks a question.
pub(super) fn request(question: &Question<'_>, model: &str, max_tokens: Option<u32>) -> Value {
    let mut request = Map::new();
    request.insert("model".into(), json!(model));
    request.insert("max_tokens".into(), json!(max_tokens.unwrap_or(MAX_TOKENS)));
    request.insert("stream".into(), json!(true));
    if !question.system.is_empty() {
        request.insert("system".into(), json!(question.system));
    }
    request.insert("messages".into(), messages(question.history));
    if !question.tools.is_empty() {
        let tools: Vec<Value> = question.tools.iter().map(anthropic::tool).collect();
        request.insert("tools".into(), json!(tools));
    }
    Value::Object(request)
}

/// The messages of a history: what one side says in a row is one message.
fn messages(history: &[Message]) -> Value {
    let mut messages: Vec<(&'static str, Vec<Value>)> = Vec::new();
    for message in history {
        let (role, blocks) = match message {
            Message::User { text } | Message::Notice { text } => {
                ("user", vec![json!({ "type": "text", "text": text })])
            }
            Message::Assistant(said) => ("assistant", assistant(said)),
            Message::Reply(reply) => {
                let text = said(&reply.text);
                ("user", vec![anthropic::answer(&reply.id, text, reply.is_error)])
            }
        };
        match messages.last_mut() {
            // Nothing was said that can be said here.
            _ if blocks.is_empty() => {}
            // Thoughts come first in a message, or not at all.
            Some((last, content)) if *last == role => {
                let is_thought = |block: &Value| text(block, "type").contains("thinking");
                content.extend(blocks.into_iter().filter(|block| !is_thought(block)));
            }
            _ => messages.push((role, blocks)),
        }
    }
    messages
        .into_iter()
        .map(|(role, content)| json!({ "role": role, "content": content }))
        .collect()
}

fn assistant(said: &Said) -> Vec<Value> {
    let mut blocks = Vec::new();
    let mut words = said.text.as_str();
    if said.shape == Some(Shape::Anthropic) {
        // Between thoughts stands what was said there: it is not said again.
        let is_text = |block: &&Value| text(block, "type") == "text";
        let between: String =
            said.kept.iter().filter(is_text).map(|block| text(block, "text")).collect();
        let rest = words.strip_prefix(between.as_str());
        words = rest.unwrap_or(words);
        blocks.extend(said.kept.iter().filter(|it| rest.is_some() || !is_text(it)).cloned());
    }
    if !words.trim().is_empty() {
        // A text that ends in a space is refused where it comes last.
        blocks.push(json!({ "type": "text", "text": words.trim_end() }));
    }
    let made = said.calls.iter().map(|call| anthropic::made(&call.id, &call.tool, &call.arguments));
    blocks.extend(made);
    blocks
}

/// An answer from its pieces.
#[derive(Default)]
pub(super) struct Assembled {
    blocks: Vec<Block>,
    finish: Option<Finish>,
    usage: Usage,
}

/// A content block as far as it came.
#[derive(Default)]
struct Block {
    index: u64,
    /// As it began.
    begun: Value,
    /// Its text, or the arguments of its call.
    text: String,
    signature: String,
}

impl Assembly for Assembled {
    fn take(
        &mut self,
        event: &Value,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), ModelError> {
        match text(event, "type") {
            "error" => return Err(refusal::within(event)),
            "message_start" => self.counted(event.get("message").and_then(|it| it.get("usage"))),
            "content_block_start" => {
                let begun = event.get("content_block").cloned().unwrap_or_default();
                self.begins(index(event), begun, hear)?;
            }
            "content_block_delta" => {
                let delta = event.get("delta").unwrap_or(&Value::Null);
                self.grows(index(event), delta, hear)?;
            }
            "message_delta" => {
                self.counted(event.get("usage"));
                self.ends(event.get("delta").map_or("", |delta| text(delta, "stop_reason")));
            }
            "message_stop" => {
                self.finish.get_or_insert(Finish::Done);
            }
            _ => {}
        }
        Ok(())
    }

    fn take_whole(
        &mut self,
        answer: &Value,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), ModelError> {
        if text(answer, "type") == "error" || answer.get("error").is_some() {
            return Err(refusal::within(answer));
        }
        let Some(blocks) = answer.get("content").and_then(Value::as_array) else {
            return Err(ModelError::new(ModelErrorKind::Malformed, "the body has no `content`"));
        };
        for (index, block) in (0..).zip(blocks) {
            self.begins(index, block.clone(), hear)?;
        }
        self.counted(answer.get("usage"));
        self.ends(text(answer, "stop_reason"));
        // What came in one piece came to its end, whether it says so or not.
        self.finish.get_or_insert(Finish::Done);
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn answer(&mut self) -> Answer {
        let mut answer = Answer {
            finish: self.finish.unwrap_or_default(),
            usage: self.usage,
            ..Answer::default()
        };
        let is_whole = matches!(self.finish, Some(Finish::Done | Finish::Paused));
        let mut content = Vec::new();
        for Block { mut begun, text: words, signature, .. } in std::mem::take(&mut self.blocks) {
            match text(&begun, "type") {
                "text" => {
                    answer.text.push_str(&words);
                    if !words.trim().is_empty() {
                        answer.kept.push(json!({ "type": "text", "text": words }));
                    }
                }
                "tool_use" => {
                    if !words.is_empty() {
                        begun["input"] = json!(words);
                    } else if !is_whole && is_empty(&begun["input"]) {
                        // What may be cut off before it began is not without arguments.
                        begun["input"] = json!("");
                    }
                    content.push(begun);
                }
                "thinking" => {
                    answer.reasoning.push_str(&words);
                    // Without its signature nobody takes it back.
                    if !signature.is_empty() {
                        begun["thinking"] = json!(words);
                        begun["signature"] = json!(signature);
                        answer.kept.push(begun);
                    }
                }
                "redacted_thinking" => answer.kept.push(begun),
                _ if is_whole && is_done_there(&begun) => {
                    if let Ok(input) = serde_json::from_str::<Value>(&words) {
                        begun["input"] = input;
                    }
                    answer.kept.push(begun);
                }
                _ => {}
            }
        }
        // Thoughts are taken back only where they stood; words behind the last stand for themselves.
        let is_thought = |block: &Value| text(block, "type") != "text";
        let thoughts = answer.kept.iter().rposition(is_thought).map_or(0, |last| last + 1);
        answer.kept.truncate(thoughts);
        answer.calls = anthropic::calls(&json!({ "content": content })).unwrap_or_default();
        answer
    }
}

impl Assembled {
    fn begins(
        &mut self,
        index: u64,
        begun: Value,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), ModelError> {
        if self.blocks.len() >= MOST_BLOCKS || !begun.is_object() {
            let detail = "a block that is none, or too many";
            return Err(ModelError::new(ModelErrorKind::Malformed, detail));
        }
        let words = match text(&begun, "type") {
            "text" => text(&begun, "text").to_owned(),
            "thinking" => text(&begun, "thinking").to_owned(),
            _ => String::new(),
        };
        let signature = text(&begun, "signature").to_owned();
        let block = Block { index, begun, text: words.clone(), signature };
        block.told(&words, self.blocks.len(), hear);
        self.blocks.push(block);
        Ok(())
    }

    fn grows(
        &mut self,
        index: u64,
        delta: &Value,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), ModelError> {
        let place = self.blocks.iter().rposition(|block| block.index == index);
        let Some((at, block)) = place.and_then(|at| Some((at, self.blocks.get_mut(at)?))) else {
            let detail = "a piece of a block that did not begin";
            return Err(ModelError::new(ModelErrorKind::Malformed, detail));
        };
        if text(delta, "type") == "signature_delta" {
            block.signature.push_str(text(delta, "signature"));
            return Ok(());
        }
        let more = match delta.get("partial_json") {
            // Some send the object itself.
            Some(whole @ Value::Object(_)) => whole.to_string(),
            _ => ["text", "partial_json", "thinking"].map(|key| text(delta, key)).concat(),
        };
        block.text.push_str(&more);
        block.told(&more, at, hear);
        Ok(())
    }

    fn counted(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage else { return };
        let input = tokens(usage, &["input_tokens"]);
        let cached = tokens(usage, &["cache_read_input_tokens"])
            + tokens(usage, &["cache_creation_input_tokens"]);
        self.usage.input = self.usage.input.max(input.saturating_add(cached));
        self.usage.output = self.usage.output.max(tokens(usage, &["output_tokens"]));
    }

    fn ends(&mut self, reason: &str) {
        self.finish = match reason {
            "" => self.finish,
            "max_tokens" | "model_context_window_exceeded" => Some(Finish::Length),
            "refusal" => Some(Finish::Refused),
            "pause_turn" => Some(Finish::Paused),
            _ => Some(Finish::Done),
        };
    }
}

impl Block {
    fn told(&self, more: &str, index: usize, hear: &mut (dyn FnMut(Delta) + Send)) {
        let more = more.to_owned();
        match text(&self.begun, "type") {
            "text" if !more.is_empty() => hear(Delta::Text(more)),
            "thinking" if !more.is_empty() => hear(Delta::Reasoning(more)),
            "tool_use" => {
                let tool = text(&self.begun, "name").to_owned();
                hear(Delta::Call { index, tool, arguments: more });
            }
            _ => {}
        }
    }
}

/// Whether a block is a call that the provider runs itself, or what came of it.
pub(crate) fn is_done_there(block: &Value) -> bool {
    let kind = text(block, "type");
    kind.ends_with("_tool_use") || kind.ends_with("_tool_result")
}

fn is_empty(input: &Value) -> bool {
    input.as_object().is_none_or(Map::is_empty)
}

fn index(event: &Value) -> u64 {
    event.get("index").and_then(Value::as_u64).unwrap_or_default()
}
