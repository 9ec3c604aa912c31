//! OpenAI's chat completions, and what servers make of them: arguments as objects, calls without
//! ids or numbers, whole messages in place of pieces, ends without a reason.

use breakfall::wire::openai;
use serde_json::{Map, Value, json};

use super::kept::{self, Fields};
use super::{Assembly, Shape, refusal, said, text, tokens};
use crate::error::{ModelError, ModelErrorKind};
use crate::message::{Message, Said};
use crate::model::{Answer, Delta, Finish, Question, Usage};

/// How many calls an answer has at most.
const MOST_CALLS: usize = 128;

/// Longer names are nobody's: they are not put together any further.
const LONGEST_NAME: usize = 256;

/// The request that asks a question.
pub(super) fn request(question: &Question<'_>, model: &str, max_tokens: Option<u32>) -> Value {
    let mut request = Map::new();
    request.insert("model".into(), json!(model));
    request.insert("stream".into(), json!(true));
    request.insert("stream_options".into(), json!({ "include_usage": true }));
    request.insert("messages".into(), messages(question, model));
    if !question.tools.is_empty() {
        let tools: Vec<Value> = question.tools.iter().map(openai::tool).collect();
        request.insert("tools".into(), json!(tools));
    }
    if let Some(most) = max_tokens {
        // Newer models of OpenAI's own take only the second, everybody else only the first.
        let key = if is_of_openai(model) { "max_completion_tokens" } else { "max_tokens" };
        request.insert(key.into(), json!(most));
    }
    Value::Object(request)
}

fn is_of_openai(model: &str) -> bool {
    ["gpt-4", "gpt-5", "o1", "o3", "o4"].iter().any(|family| model.starts_with(family))
}

/// The messages of a history, for this model.
fn messages(question: &Question<'_>, model: &str) -> Value {
    let mut messages = Vec::new();
    if !question.system.is_empty() {
        messages.push(json!({ "role": "system", "content": question.system }));
    }
    for message in question.history {
        let message = match message {
            Message::User { text } | Message::Notice { text } => {
                json!({ "role": "user", "content": text })
            }
            // Nothing was said, or only calls were made that another provider ran itself.
            Message::Assistant(said) if said.text.trim().is_empty() && said.calls.is_empty() => {
                continue;
            }
            Message::Assistant(said) => assistant(said, model),
            Message::Reply(reply) => openai::answer(&reply.id, said(&reply.text)),
        };
        match messages.last_mut() {
            Some(last) if goes_on(last, &message) => join(last, &message),
            _ => messages.push(message),
        }
    }
    Value::Array(messages)
}

/// Whether the same side speaks again: the templates of many models want the roles to take turns.
fn goes_on(last: &Value, next: &Value) -> bool {
    let role = text(next, "role");
    // What follows calls are their replies.
    role == text(last, "role") && role != "tool" && last.get("tool_calls").is_none()
}

fn join(last: &mut Value, next: &Value) {
    let words = [text(last, "content"), text(next, "content")];
    let words: Vec<&str> = words.into_iter().filter(|words| !words.is_empty()).collect();
    last["content"] = json!(words.join("\n\n"));
    if let Some(calls) = next.get("tool_calls") {
        last["tool_calls"] = calls.clone();
    }
    kept::join_thoughts(last, next);
}

fn assistant(said: &Said, model: &str) -> Value {
    let content =
        if said.text.trim().is_empty() { Value::Null } else { Value::from(said.text.as_str()) };
    let mut message = json!({ "role": "assistant", "content": content });
    if !said.calls.is_empty() {
        let made =
            said.calls.iter().map(|call| openai::made(&call.id, &call.tool, &call.arguments));
        message["tool_calls"] = made.collect();
    }
    // Some models refuse what others demand: it goes only where it came from.
    if said.is_of(Shape::Chat, model) {
        kept::put_back(&said.kept, &mut message);
    }
    message
}

/// An answer from its pieces.
#[derive(Default)]
pub(super) struct Assembled {
    text: String,
    reasoning: String,
    calls: Vec<Piece>,
    /// What the message has beside that.
    fields: Fields,
    /// Whether something of it came in pieces.
    is_in_pieces: bool,
    finish: Option<Finish>,
    usage: Usage,
}

/// A call as far as it came.
#[derive(Default)]
struct Piece {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// What it has beside that.
    fields: Fields,
}

impl Assembly for Assembled {
    fn take(
        &mut self,
        event: &Value,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), ModelError> {
        if is_error(event) {
            return Err(refusal::within(event));
        }
        if let Some(usage) = event.get("usage").filter(|usage| usage.is_object()) {
            self.usage = Usage {
                input: tokens(usage, &["prompt_tokens", "input_tokens"]),
                output: tokens(usage, &["completion_tokens", "output_tokens"]),
            };
        }
        let Some(choice) = event.get("choices").and_then(|choices| choices.get(0)) else {
            return Ok(());
        };
        let part = |key: &str| choice.get(key).filter(|part| part.is_object());
        let delta = part("delta");
        // What came in pieces comes once more as a whole from some.
        let whole = part("message").filter(|_| !self.is_in_pieces);
        let message = delta.or(whole).unwrap_or(&Value::Null);
        self.take_words(message, hear);
        kept::take_message(&mut self.fields, message);
        self.take_calls(message, hear)?;
        self.is_in_pieces |= delta.is_some() && !(self.text.is_empty() && self.calls.is_empty());
        self.ends(text(choice, "finish_reason"))
    }

    fn take_whole(
        &mut self,
        answer: &Value,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), ModelError> {
        if !is_error(answer) && !answer.get("choices").is_some_and(Value::is_array) {
            let detail = "the body has neither `choices` nor an `error`";
            return Err(ModelError::new(ModelErrorKind::Malformed, detail));
        }
        self.take(answer, hear)
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn answer(&mut self) -> Answer {
        let calls: Value = self
            .calls
            .iter()
            .map(|call| {
                json!({ "id": call.id,
                        "function": { "name": call.name, "arguments": call.arguments } })
            })
            .collect();
        let fields = self.calls.iter_mut().map(|call| std::mem::take(&mut call.fields));
        let fields: Vec<Fields> = fields.collect();
        Answer {
            text: std::mem::take(&mut self.text),
            reasoning: std::mem::take(&mut self.reasoning),
            kept: kept::saved(&std::mem::take(&mut self.fields), &fields),
            calls: openai::calls(&json!({ "tool_calls": calls })).unwrap_or_default(),
            finish: self.finish.unwrap_or_default(),
            usage: self.usage,
            ..Answer::default()
        }
    }
}

impl Assembled {
    fn take_words(&mut self, message: &Value, hear: &mut (dyn FnMut(Delta) + Send)) {
        let words = match message.get("content") {
            Some(Value::String(words)) => words.clone(),
            Some(Value::Array(parts)) => parts.iter().map(|part| text(part, "text")).collect(),
            _ => String::new(),
        };
        for words in [words.as_str(), text(message, "refusal")] {
            if !words.is_empty() {
                self.text.push_str(words);
                hear(Delta::Text(words.to_owned()));
            }
        }
        let thought = ["reasoning_content", "reasoning"].map(|key| text(message, key));
        if let Some(thought) = thought.into_iter().find(|thought| !thought.is_empty()) {
            self.reasoning.push_str(thought);
            hear(Delta::Reasoning(thought.to_owned()));
        }
    }

    fn take_calls(
        &mut self,
        message: &Value,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), ModelError> {
        // The form that came before lists has one call.
        let older = message.get("function_call").filter(|call| call.is_object());
        let older = older.map(|function| json!({ "index": 0, "function": function }));
        let listed = match message.get("tool_calls") {
            Some(Value::Array(calls)) => calls.as_slice(),
            // Some send no list, but the one call.
            Some(call @ Value::Object(_)) => std::slice::from_ref(call),
            _ => &[],
        };
        // Some send the one call in both forms.
        let older = older.filter(|_| listed.is_empty());
        let mut taken = Vec::new();
        for call in listed.iter().chain(&older) {
            let at = self.place(call, &taken);
            taken.push(at);
            if at >= MOST_CALLS {
                let detail = format!("more than {MOST_CALLS} calls");
                return Err(ModelError::new(ModelErrorKind::TooLarge, detail));
            }
            let piece = &mut self.calls[at];
            let function = call.get("function").unwrap_or(&Value::Null);
            if piece.id.is_empty() {
                piece.id = id(call);
            }
            kept::take_call(&mut piece.fields, call);
            // Some say the name each time, some in pieces.
            let name = text(function, "name");
            if piece.name != name && piece.name.len() < LONGEST_NAME {
                piece.name.push_str(name);
            }
            let more = match function.get("arguments") {
                Some(Value::String(more)) => more.clone(),
                None | Some(Value::Null) => String::new(),
                Some(whole) => {
                    piece.arguments.clear();
                    whole.to_string()
                }
            };
            // What is whole and comes again is the same.
            if more == piece.arguments && is_whole(&more) {
                continue;
            }
            piece.arguments.push_str(&more);
            hear(Delta::Call { index: at, tool: piece.name.clone(), arguments: more });
        }
        Ok(())
    }

    /// Takes the reason of an end. Some servers end an answer that failed as if it were one.
    fn ends(&mut self, reason: &str) -> Result<(), ModelError> {
        let failed = match reason.to_ascii_lowercase().as_str() {
            "error" | "abort" | "aborted" | "cancelled" | "network_error" => {
                ModelErrorKind::ProviderFailed
            }
            "insufficient_system_resource" => ModelErrorKind::Overloaded,
            "" => return Ok(()),
            reason => {
                self.finish = Some(finish(reason));
                return Ok(());
            }
        };
        Err(ModelError::new(failed, format!("the answer ended with `{reason}`")))
    }

    /// Which call a piece belongs to. Some servers give every call the number 0, and some none: what
    /// begins in one list with `taken` ones is another than they.
    fn place(&mut self, call: &Value, taken: &[usize]) -> usize {
        let index = call.get("index").and_then(Value::as_u64);
        let id = id(call);
        let name = call.get("function").map_or("", |function| text(function, "name"));
        let known = self.calls.iter().rposition(|piece| match index {
            Some(_) => piece.index == index,
            None => true,
        });
        let is_new = known.and_then(|at| self.calls.get(at)).is_none_or(|piece| {
            // Some give every piece of a call an id of its own; only the first has a name.
            let is_more = index.is_some() && name.is_empty();
            let other_id = !id.is_empty() && !piece.id.is_empty() && id != piece.id && !is_more;
            // One that begins again when it is complete is another; one with an id says whose it is.
            let begins = id.is_empty() && !name.is_empty();
            let has_no_number = piece.id.is_empty() || index.is_none();
            let is_beside = !name.is_empty() && known.is_some_and(|at| taken.contains(&at));
            other_id || is_beside || (begins && has_no_number && is_whole(&piece.arguments))
        });
        if is_new {
            self.calls.push(Piece { index, ..Piece::default() });
        }
        match known {
            Some(at) if !is_new => at,
            _ => self.calls.len() - 1,
        }
    }
}

/// Whether this is no answer but an error: beside other fields, or as a whole.
fn is_error(event: &Value) -> bool {
    event.get("error").is_some_and(|error| !error.is_null())
        || [text(event, "object"), text(event, "type")].contains(&"error")
}

/// What an end means that is none of a failure. Gateways pass on the words of whoever is behind them.
fn finish(reason: &str) -> Finish {
    let is_any = |reasons: &[&str]| reasons.iter().any(|known| reason.starts_with(known));
    if is_any(&[
        "length",
        "max_tokens",
        "max_output_tokens",
        "model_length",
        "model_context_window",
    ]) {
        Finish::Length
    } else if is_any(&[
        "content_filter",
        "guardrail",
        "safety",
        "sensitive",
        "refusal",
        "recitation",
        "prohibited_content",
        "blocklist",
        "spii",
    ]) {
        Finish::Refused
    } else {
        Finish::Done
    }
}

/// Whether arguments came to their end.
fn is_whole(arguments: &str) -> bool {
    serde_json::from_str::<Value>(arguments).is_ok()
}

fn id(call: &Value) -> String {
    match call.get("id") {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        _ => String::new(),
    }
}
