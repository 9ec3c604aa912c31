//! Calls that a model wrote into its text instead of making them.
//!
//! Small models and servers without a template for tools do this: the call stands in a tag, in a
//! fenced block, or is all there is. Text that only speaks of a call is none.

mod python;

use serde_json::{Map, Value};

use crate::{Call, RawArguments};

/// Longer texts are not looked through.
const LONGEST: usize = 256 << 10;

/// How many calls are found at most.
const MOST: usize = 16;

/// How far the name of a tool stands before its arguments at most.
const LONGEST_HEAD: usize = 256;

/// How many tags are looked behind at most.
const MOST_TAGS: usize = 4 * MOST;

/// Tells whether there is a tool of that name.
type IsTool<'t> = dyn Fn(&str) -> bool + 't;

/// What opens a call, and whether it opens nothing else: then it tells of one that cannot be read.
const OPENINGS: &[(&str, bool)] = &[
    ("<tool_call>", true),
    ("<tool_calls>", true),
    ("<toolcall>", true),
    ("<TOOLCALL>", true),
    ("<function_call>", true),
    ("<functioncall>", true),
    ("<start_function_call>", true),
    ("<|tool_call|>", true),
    ("<|tool_call_start|>", true),
    ("<|tool_call_begin|>", true),
    ("<\u{ff5c}tool\u{2581}call\u{2581}begin\u{ff5c}>", true),
    ("<|START_ACTION|>", true),
    ("<|tools_prefix|>", true),
    ("<|python_tag|>", true),
    ("<|python_start|>", true),
    ("<function=", true),
    ("invoke name=\"", true),
    ("[TOOL_CALLS]", true),
    ("to=functions.", true),
    ("```tool_code", false),
    ("<|recipient|>", false),
    ("\u{273f}FUNCTION\u{273f}:", false),
    (">>>", false),
    ("Action:", false),
];

/// The calls of tools that exist, in their order, without ids.
pub fn calls(text: &str, is_tool: &dyn Fn(&str) -> bool) -> Vec<Call> {
    if text.len() > LONGEST {
        return Vec::new();
    }
    let tagged = tagged(text, is_tool);
    let mut found: Vec<Call> = tagged.into_iter().flat_map(|(_, calls)| calls).collect();
    if found.is_empty() {
        found = whole(text, is_tool);
    }
    found.retain(|call| is_tool(&call.tool));
    found.truncate(MOST);
    found
}

/// What stands in tags of calls and is none: the names of tools that do not exist, or the tag where
/// it cannot be read.
pub fn attempts(text: &str, is_tool: &dyn Fn(&str) -> bool) -> Vec<String> {
    if text.len() > LONGEST {
        return Vec::new();
    }
    let fits = |c: &char| !c.is_control() && *c != '`';
    let mut tried = Vec::new();
    for (tag, calls) in tagged(text, is_tool) {
        if calls.is_empty() {
            tried.push(tag.to_owned());
        }
        let unknown = calls.into_iter().filter(|call| !is_tool(&call.tool));
        tried.extend(unknown.map(|call| call.tool.chars().filter(fits).take(64).collect()));
    }
    tried.truncate(MOST);
    tried
}

/// Tags wherever they stand but in a quotation, each with the calls behind it.
fn tagged(text: &str, is_tool: &IsTool<'_>) -> Vec<(&'static str, Vec<Call>)> {
    let text = text.trim();
    // A text that is nothing but a fenced block quotes nothing.
    let is_fenced = text.starts_with("```") && text.ends_with("```");
    let mut quotes =
        Quotes { is_open: false, skips: is_fenced && text.matches("```").count() == 2 };
    let begins = |c: char| OPENINGS.iter().any(|(tag, _)| tag.starts_with(c));
    let mut found = Vec::new();
    let mut looked = 0;
    let mut rest = text;
    while let Some(at) = rest.find(begins).filter(|_| found.len() < MOST && looked < MOST_TAGS) {
        let is_quoted = quotes.at(&rest[..at]);
        rest = &rest[at..];
        let opening = opening(rest);
        // A run of backticks is passed as one.
        let next = rest.find(|c| c != '`').unwrap_or(rest.len());
        let next = next.max(rest.chars().next().map_or(1, char::len_utf8));
        if let Some((tag, is_sure)) = opening.filter(|_| !is_quoted) {
            looked += 1;
            let inner = &rest[tag.len()..];
            let calls = match tag {
                "<function=" => of_function(inner).into_iter().collect(),
                "invoke name=\"" => of_invoke(inner).into_iter().collect(),
                "```tool_code" => python::calls(inner, is_tool),
                _ => of_any(inner, is_sure, is_tool),
            };
            // What opens another tag is only around it.
            let is_around = calls.is_empty() && begins_with_a_tag(inner);
            let calls = calls.into_iter().filter(|call| is_sure || is_tool(&call.tool));
            let calls: Vec<Call> = calls.collect();
            if !is_around && (is_sure || !calls.is_empty()) {
                found.push((tag, calls));
            }
        }
        quotes.at(&rest[..next]);
        rest = &rest[next..];
    }
    found
}

fn opening(text: &str) -> Option<(&'static str, bool)> {
    OPENINGS.iter().copied().find(|(tag, _)| text.starts_with(tag))
}

fn begins_with_a_tag(text: &str) -> bool {
    let text = text.trim_start();
    opening(text).is_some() || text.strip_prefix('<').is_some_and(|text| opening(text).is_some())
}

/// Whether what comes next is between backticks.
struct Quotes {
    is_open: bool,
    skips: bool,
}

impl Quotes {
    fn at(&mut self, passed: &str) -> bool {
        // A fence or a single backtick: each run of them opens or ends a quotation.
        let runs = passed.split(|c| c != '`').filter(|run| !run.is_empty()).count();
        self.is_open ^= runs % 2 == 1;
        self.is_open && !self.skips
    }
}

/// A text that is calls and nothing else, fenced or bare, with or without thoughts before it.
fn whole(text: &str, is_tool: &IsTool<'_>) -> Vec<Call> {
    let thought = |text: &str| text.trim_start().starts_with("<think>");
    let text =
        text.split_once("</think>").filter(|(before, _)| thought(before)).map_or(text, |it| it.1);
    let text = without_its_end(text.trim());
    let unfenced = || {
        let inner = text.strip_prefix("```")?.strip_suffix("```")?;
        let (language, inner) = inner.split_once('\n')?;
        language.chars().all(|c| c.is_ascii_alphanumeric() || c == '_').then_some(inner.trim())
    };
    let text = unfenced().unwrap_or(text);
    if text.starts_with('[') && text.ends_with(")]") {
        return python::calls(text, is_tool);
    }
    match values(text) {
        (values, "") => values.into_iter().flat_map(of_values).collect(),
        _ => Vec::new(),
    }
}

/// A text without the marks at its end: `<|eom_id|>`.
fn without_its_end(mut text: &str) -> &str {
    while let Some(at) = text.strip_suffix("|>").and_then(|text| text.rfind("<|")) {
        text = text[..at].trim_end();
    }
    text
}

/// The calls at the beginning of a text, in any form: JSON, a name before its arguments, arguments
/// in tags, as Python has them.
fn of_any(text: &str, is_sure: bool, is_tool: &IsTool<'_>) -> Vec<Call> {
    let text = text.trim_start();
    let (values, _) = values(text.strip_prefix("```json").unwrap_or(text));
    let mut calls: Vec<Call> = values.into_iter().flat_map(of_values).collect();
    if calls.is_empty() {
        calls.extend(of_named(text, is_sure, is_tool).or_else(|| of_pairs(text)));
    }
    if calls.is_empty() && is_sure {
        calls = python::calls(text, is_tool);
    }
    calls
}

/// The JSON values at the beginning of a text, one behind the other, and what is left of it.
fn values(text: &str) -> (Vec<Value>, &str) {
    let mut values = Vec::new();
    let mut rest = text;
    while values.len() < MOST {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
        let mut read = serde_json::Deserializer::from_str(rest).into_iter();
        let Some(Ok(value)) = read.next() else { break };
        values.push(value);
        rest = &rest[read.byte_offset()..];
    }
    (values, rest)
}

/// `NAME{…}`, with any marks between the two: `[ARGS]`, `:0`, a fence.
fn of_named(text: &str, is_sure: bool, is_tool: &IsTool<'_>) -> Option<Call> {
    let at = text[..text.floor_char_boundary(LONGEST_HEAD)].find('{')?;
    let (head, rest) = text.split_at(at);
    let is_of_a_name = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    let mut words =
        head.split(|c| !is_of_a_name(c)).filter(|it| !it.is_empty() && !head.contains("</"));
    // What may open anything opens a call only with the name of a tool.
    let mut first = words.by_ref().take(if is_sure { MOST } else { 1 });
    let tool = first.find(|word| is_tool(of_functions(word))).map(of_functions)?;
    let arguments = values(rest).0.into_iter().next().filter(Value::is_object)?;
    Some(Call::new("", tool, RawArguments::Json(arguments)))
}

/// A name without the place where some models think that tools are.
fn of_functions(name: &str) -> &str {
    name.strip_prefix("functions.").unwrap_or(name)
}

/// `NAME<arg_key>…</arg_key><arg_value>…</arg_value>`.
fn of_pairs(text: &str) -> Option<Call> {
    let inner = text.split("</tool_call>").next()?;
    let (tool, _) = inner.split_once("<arg_key>")?;
    let mut fields = Map::new();
    for pair in inner.split("<arg_key>").skip(1) {
        let (key, rest) = pair.split_once("</arg_key>")?;
        let value = rest.split_once("<arg_value>")?.1.split("</arg_value>").next()?;
        fields.insert(key.trim().to_owned(), of_words(value.trim()));
    }
    Some(Call::new("", tool.trim(), RawArguments::Json(Value::Object(fields))))
}

fn of_values(value: Value) -> Vec<Call> {
    let listed = |mut value: Value| match value.get_mut("tool_calls").map(Value::take) {
        Some(list @ Value::Array(_)) => list,
        _ => value,
    };
    match listed(value) {
        Value::Array(items) => items.into_iter().take(MOST).filter_map(of_value).collect(),
        value => of_value(value).into_iter().collect(),
    }
}

/// `{"name": …, "arguments": …}`, also within `"function"`.
fn of_value(mut value: Value) -> Option<Call> {
    let fields = match value.get_mut("function") {
        Some(Value::Object(function)) => function,
        _ => value.as_object_mut()?,
    };
    let names = ["name", "tool_name", "function", "tool"];
    let Some(Value::String(tool)) = names.iter().find_map(|key| fields.remove(*key)) else {
        return None;
    };
    let keys = ["arguments", "parameters", "args", "input"];
    let arguments = match keys.iter().find_map(|key| fields.remove(*key))? {
        Value::String(text) => RawArguments::Text(text),
        value @ Value::Object(_) => RawArguments::Json(value),
        _ => return None,
    };
    Some(Call::new("", of_functions(&tool), arguments))
}

/// `NAME>{…}</function>`, or with each argument in a tag of its own.
fn of_function(text: &str) -> Option<Call> {
    let (tool, rest) = text.split_once('>')?;
    let inner = rest.split("</function>").next()?;
    let arguments = match of_tags(inner, "<parameter=", ">") {
        tags if !tags.is_empty() => RawArguments::Json(Value::Object(tags)),
        _ => RawArguments::Text(inner.trim().to_owned()),
    };
    Some(Call::new("", of_functions(tool.trim()), arguments))
}

/// `NAME"><parameter name="…">…</parameter></invoke>`, whatever stands before the names of the tags.
fn of_invoke(text: &str) -> Option<Call> {
    let (tool, rest) = text.split_once('"')?;
    let inner = rest.split("invoke>").next()?;
    let tags = of_tags(inner, "parameter name=\"", "\"");
    Some(Call::new("", of_functions(tool), RawArguments::Json(Value::Object(tags))))
}

/// Arguments in tags of their own.
fn of_tags(text: &str, tag: &str, end: &str) -> Map<String, Value> {
    let mut fields = Map::new();
    for part in text.split(tag).skip(1) {
        let Some((key, rest)) = part.split_once(end) else { continue };
        let rest = if end == ">" { rest } else { rest.split_once('>').map_or("", |it| it.1) };
        let value = rest.split("parameter>").next().unwrap_or_default();
        let value = value.rsplit_once("</").map_or(value, |(value, _)| value);
        fields.insert(key.trim().to_owned(), of_words(value.trim()));
    }
    fields
}

/// The value of an argument. Which type it is is not said: what reads as JSON is JSON.
fn of_words(words: &str) -> Value {
    serde_json::from_str(words).unwrap_or_else(|_| Value::from(words))
}

#[cfg(test)]
mod tests;
