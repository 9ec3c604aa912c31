//! OpenAI's Responses: items in, items out.

use breakfall::wire::openai;
use serde_json::{Map, Value, json};

use super::{Assembly, refusal, said, text, tokens};
use crate::error::{ModelError, ModelErrorKind};
use crate::message::Message;
use crate::model::{Answer, Delta, Finish, Question, Usage};

/// How many items an answer has at most.
const MOST_ITEMS: usize = 1_024;

/// The request that asks a question. Nothing is kept at the provider.
pub(super) fn request(question: &Question<'_>, model: &str, max_tokens: Option<u32>) -> Value {
    let mut request = Map::new();
    request.insert("model".into(), json!(model));
    request.insert("stream".into(), json!(true));
    request.insert("store".into(), json!(false));
    if !question.system.is_empty() {
        request.insert("instructions".into(), json!(question.system));
    }
    request.insert("input".into(), input(question.history));
    if !question.tools.is_empty() {
        let tools: Vec<Value> = question.tools.iter().map(openai::response_tool).collect();
        request.insert("tools".into(), json!(tools));
    }
    if let Some(most) = max_tokens {
        request.insert("max_output_tokens".into(), json!(most));
    }
    Value::Object(request)
}

/// The items of a history.
fn input(history: &[Message]) -> Value {
    let mut items = Vec::new();
    for message in history {
        match message {
            Message::User { text } | Message::Notice { text } => {
                let part = json!({ "type": "input_text", "text": text });
                items.push(json!({ "type": "message", "role": "user", "content": [part] }));
            }
            Message::Assistant(said) => {
                if !said.text.trim().is_empty() {
                    items.push(answered(&said.text, items.len()));
                }
                let made = |call: &crate::SavedCall| {
                    openai::response_made(&call.id, &call.tool, &call.arguments)
                };
                items.extend(said.calls.iter().map(made));
            }
            Message::Reply(reply) => {
                items.push(openai::response_answer(&reply.id, said(&reply.text)));
            }
        }
    }
    Value::Array(items)
}

/// What the model said, with everything that servers demand of an item that they wrote.
fn answered(text: &str, place: usize) -> Value {
    let part = json!({ "type": "output_text", "text": text, "annotations": [] });
    json!({ "type": "message", "role": "assistant", "id": format!("msg_{place}"),
            "status": "completed", "content": [part] })
}

/// An answer from its pieces.
#[derive(Default)]
pub(super) struct Assembled {
    text: String,
    reasoning: String,
    calls: Vec<Piece>,
    /// Whether words of the item that is under way came in pieces.
    is_in_pieces: bool,
    finish: Option<Finish>,
    usage: Usage,
}

/// A call as far as it came.
struct Piece {
    /// Its number among the items, where the server counts them.
    index: Option<u64>,
    item: Value,
    /// What came of its arguments in pieces.
    arguments: String,
    /// Whether its item came to its end.
    is_whole: bool,
    /// Where it stands in the output at the end.
    place: Option<usize>,
}

impl Piece {
    /// Whether an item of the stream is this one. Ids tell calls apart, numbers only where there are
    /// none: some servers count nothing, some count otherwise at the end.
    fn is(&self, index: Option<u64>, item: &Value, ends: bool) -> bool {
        let (mine, other) = (text(&self.item, "call_id"), text(item, "call_id"));
        let both_count = index.is_some() && self.index.is_some();
        let has_same_number = both_count && index == self.index;
        let has_same_id = !other.is_empty() && mine == other;
        let may_be =
            if self.is_whole { ends && has_same_number } else { !both_count || has_same_number };
        let lacks_an_id = mine.is_empty() || other.is_empty();
        may_be && (has_same_id || (lacks_an_id && (has_same_number || (ends && !both_count))))
    }
}

impl Assembly for Assembled {
    fn take(
        &mut self,
        event: &Value,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), ModelError> {
        let index = event.get("output_index").and_then(Value::as_u64);
        let delta = || text(event, "delta").to_owned();
        match text(event, "type") {
            "error" => return Err(refusal::within(event)),
            "response.failed" => {
                return Err(refusal::within(event.get("response").unwrap_or(event)));
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                self.is_in_pieces = true;
                self.says(delta(), hear);
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                self.reasoning.push_str(text(event, "delta"));
                hear(Delta::Reasoning(delta()));
            }
            kind @ ("response.output_item.added" | "response.output_item.done") => {
                let item = event.get("item").unwrap_or(&Value::Null);
                let ends = kind.ends_with("done");
                if is_call(item) {
                    self.has(index, item, ends, hear)?;
                } else if ends && !std::mem::take(&mut self.is_in_pieces) {
                    self.says(words_of(item), hear);
                }
            }
            "response.function_call_arguments.done" => {
                if let Some(call) = self.of(index, event).and_then(|at| self.calls.get_mut(at))
                    && call.arguments.is_empty()
                {
                    text(event, "arguments").clone_into(&mut call.arguments);
                }
            }
            "response.function_call_arguments.delta" => self.grows(index, event, hear),
            "response.completed" | "response.incomplete" | "response.done" => {
                let response = event.get("response").unwrap_or(event);
                self.ends(response, hear)?;
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
        if answer.get("error").is_some_and(|error| !error.is_null()) {
            return Err(refusal::within(answer));
        }
        if !answer.get("output").is_some_and(Value::is_array) {
            return Err(ModelError::new(ModelErrorKind::Malformed, "the body has no `output`"));
        }
        self.ends(answer, hear)
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn answer(&mut self) -> Answer {
        let items: Value = std::mem::take(&mut self.calls)
            .into_iter()
            .map(|Piece { mut item, arguments, .. }| {
                // The end of a call that lacks its arguments takes none away.
                if item.get("arguments").is_none_or(|it| it.is_null() || it == "") {
                    item["arguments"] = json!(arguments);
                }
                item
            })
            .collect();
        Answer {
            text: std::mem::take(&mut self.text),
            reasoning: std::mem::take(&mut self.reasoning),
            calls: openai::response_calls(&items).unwrap_or_default(),
            finish: self.finish.unwrap_or_default(),
            usage: self.usage,
            ..Answer::default()
        }
    }
}

impl Assembled {
    fn says(&mut self, words: String, hear: &mut (dyn FnMut(Delta) + Send)) {
        if !words.is_empty() {
            self.text.push_str(&words);
            hear(Delta::Text(words));
        }
    }

    /// Takes a call as it begins, and again when it is whole.
    fn has(
        &mut self,
        index: Option<u64>,
        item: &Value,
        ends: bool,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), ModelError> {
        match self.calls.iter_mut().rfind(|known| known.is(index, item, ends)) {
            Some(known) => {
                known.item = item.clone();
                known.is_whole = ends;
                Ok(())
            }
            None => self.begins(index, item, ends, hear),
        }
    }

    fn begins(
        &mut self,
        index: Option<u64>,
        item: &Value,
        is_whole: bool,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), ModelError> {
        if self.calls.len() >= MOST_ITEMS {
            return Err(ModelError::new(ModelErrorKind::TooLarge, "too many calls"));
        }
        let (tool, arguments) = (text(item, "name"), text(item, "arguments"));
        let at = self.calls.len();
        hear(Delta::Call { index: at, tool: tool.to_owned(), arguments: arguments.to_owned() });
        let (item, arguments) = (item.clone(), String::new());
        self.calls.push(Piece { index, item, arguments, is_whole, place: None });
        Ok(())
    }

    /// The call that a piece of arguments belongs to: of that number, of that id, else the newest.
    fn of(&self, index: Option<u64>, event: &Value) -> Option<usize> {
        let item = text(event, "item_id");
        let of = |is: &dyn Fn(&Piece) -> bool| self.calls.iter().rposition(is);
        of(&|call| index.is_some() && call.index == index)
            .or_else(|| of(&|call| !item.is_empty() && text(&call.item, "id") == item))
            .or_else(|| of(&|call| index.is_none() || call.index.is_none()))
    }

    fn grows(&mut self, index: Option<u64>, event: &Value, hear: &mut (dyn FnMut(Delta) + Send)) {
        let known = self.of(index, event);
        if let Some((at, call)) = known.and_then(|at| Some((at, self.calls.get_mut(at)?))) {
            let arguments = text(event, "delta").to_owned();
            call.arguments.push_str(&arguments);
            let tool = text(&call.item, "name").to_owned();
            hear(Delta::Call { index: at, tool, arguments });
        }
    }

    /// Takes a call of the whole output: one that was heard of already, each only once.
    fn ends_with(
        &mut self,
        place: usize,
        item: &Value,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), ModelError> {
        let id = text(item, "call_id");
        let mut left = self.calls.iter_mut().filter(|call| call.place.is_none());
        match left.find(|call| text(&call.item, "call_id") == id) {
            Some(known) => known.item = item.clone(),
            None => self.begins(None, item, true, hear)?,
        }
        let taken = self.calls.iter_mut().find(|call| call.place.is_none() && call.item == *item);
        if let Some(taken) = taken {
            taken.place = Some(place);
        }
        Ok(())
    }

    fn ends(
        &mut self,
        response: &Value,
        hear: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), ModelError> {
        if let Some(usage) = response.get("usage") {
            let (input, output) =
                (tokens(usage, &["input_tokens"]), tokens(usage, &["output_tokens"]));
            self.usage = Usage { input, output };
        }
        let why = response.get("incomplete_details").map_or("", |why| text(why, "reason"));
        self.finish = Some(match (text(response, "status"), why) {
            ("failed" | "cancelled", _) => return Err(refusal::within(response)),
            (_, "content_filter") => Finish::Refused,
            ("incomplete", _) => Finish::Length,
            _ => Finish::Done,
        });
        let items = response.get("output").and_then(Value::as_array);
        let said_nothing = self.text.is_empty();
        for (place, item) in items.into_iter().flatten().enumerate() {
            if is_call(item) {
                self.ends_with(place, item, hear)?;
            }
            // Words that did not come in pieces.
            if said_nothing {
                self.says(words_of(item), hear);
            }
        }
        self.calls.sort_by_key(|call| call.place.unwrap_or(usize::MAX));
        Ok(())
    }
}

/// The words of a message.
fn words_of(item: &Value) -> String {
    let parts =
        item.get("content").and_then(Value::as_array).filter(|_| text(item, "type") == "message");
    let words = parts.into_iter().flatten().map(|part| [text(part, "text"), text(part, "refusal")]);
    words.flatten().collect()
}

fn is_call(item: &Value) -> bool {
    matches!(text(item, "type"), "function_call" | "custom_tool_call")
}
