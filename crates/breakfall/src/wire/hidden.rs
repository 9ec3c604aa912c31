//! Calls that a model wrote into its text instead of making them.
//!
//! Small models and servers without a template for tools do this: the call stands in a tag, in a
//! fenced block, or is all there is. Text that only speaks of a call is none.

use serde_json::{Map, Value};

use crate::{Call, RawArguments};

/// Longer texts are not looked through.
const LONGEST: usize = 256 << 10;

/// How many calls are found at most.
const MOST: usize = 16;

/// Tags behind which a call stands as JSON, alone or in a list.
const BEFORE_JSON: &[&str] = &["<tool_call>", "<|tool_call|>", "[TOOL_CALLS]", "<|python_tag|>"];

/// The calls of tools that exist, in their order, without ids.
pub fn calls(text: &str, is_tool: &dyn Fn(&str) -> bool) -> Vec<Call> {
    if text.len() > LONGEST {
        return Vec::new();
    }
    let mut found: Vec<Call> = tagged(text).into_iter().flat_map(|(_, calls)| calls).collect();
    if found.is_empty() {
        found = whole(text.trim());
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
    for (tag, calls) in tagged(text) {
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
fn tagged(text: &str) -> Vec<(&'static str, Vec<Call>)> {
    let text = text.trim();
    // A text that is nothing but a fenced block quotes nothing.
    let is_fenced = text.starts_with("```") && text.ends_with("```");
    let mut quotes =
        Quotes { is_open: false, skips: is_fenced && text.matches("```").count() == 2 };
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['<', '[']).filter(|_| found.len() < MOST) {
        let is_quoted = quotes.at(&rest[..at]);
        rest = &rest[at..];
        let known = BEFORE_JSON.iter().find_map(|tag| Some((*tag, rest.strip_prefix(tag)?)));
        if is_quoted {
            // It is spoken of, not made.
        } else if let Some((tag, inner)) = known {
            found.push((tag, of_json(inner)));
        } else if let Some(inner) = rest.strip_prefix("<function=") {
            found.push(("<function=", of_function(inner).into_iter().collect()));
        } else if let Some(inner) = rest.strip_prefix("<invoke name=\"") {
            found.push(("<invoke", of_invoke(inner).into_iter().collect()));
        }
        quotes.at(&rest[..1]);
        rest = &rest[1..];
    }
    found
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

/// A text that is a call and nothing else, fenced or bare.
fn whole(text: &str) -> Vec<Call> {
    let unfenced = || {
        let inner = text.strip_prefix("```")?.strip_suffix("```")?;
        let (language, inner) = inner.split_once('\n')?;
        language.chars().all(|c| c.is_ascii_alphanumeric() || c == '_').then_some(inner.trim())
    };
    let text = unfenced().unwrap_or(text);
    match serde_json::from_str(text) {
        Ok(value) => of_values(value),
        Err(_) => Vec::new(),
    }
}

/// The first JSON value of a text, as calls.
fn of_json(text: &str) -> Vec<Call> {
    match serde_json::Deserializer::from_str(text).into_iter().next() {
        Some(Ok(value)) => of_values(value),
        _ => Vec::new(),
    }
}

fn of_values(value: Value) -> Vec<Call> {
    match value {
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
    let Some(Value::String(tool)) = fields.remove("name") else { return None };
    let keys = ["arguments", "parameters", "args", "input"];
    let arguments = match keys.iter().find_map(|key| fields.remove(*key))? {
        Value::String(text) => RawArguments::Text(text),
        value @ Value::Object(_) => RawArguments::Json(value),
        _ => return None,
    };
    Some(Call::new("", tool, arguments))
}

/// `NAME>{…}</function>`, or with each argument in a tag of its own.
fn of_function(text: &str) -> Option<Call> {
    let (tool, rest) = text.split_once('>')?;
    let inner = rest.split("</function>").next()?;
    let arguments = match of_tags(inner, "<parameter=", '>') {
        tags if !tags.is_empty() => RawArguments::Json(Value::Object(tags)),
        _ => RawArguments::Text(inner.trim().to_owned()),
    };
    Some(Call::new("", tool.trim(), arguments))
}

/// `NAME"><parameter name="…">…</parameter></invoke>`.
fn of_invoke(text: &str) -> Option<Call> {
    let (tool, rest) = text.split_once('"')?;
    let inner = rest.split("</invoke>").next()?;
    let tags = of_tags(inner, "<parameter name=\"", '"');
    Some(Call::new("", tool, RawArguments::Json(Value::Object(tags))))
}

/// Arguments in tags of their own. Which type they are is not said: what reads as JSON is JSON.
fn of_tags(text: &str, tag: &str, end: char) -> Map<String, Value> {
    let mut fields = Map::new();
    for part in text.split(tag).skip(1) {
        let Some((key, rest)) = part.split_once(end) else { continue };
        let rest = rest.strip_prefix('>').unwrap_or(rest);
        let value = rest.split("</parameter>").next().unwrap_or_default().trim();
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        fields.insert(key.trim().to_owned(), value);
    }
    fields
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(text: &str) -> Vec<Call> {
        calls(text, &|name| name == "read_file")
    }

    #[test]
    fn a_call_is_found_in_every_form_that_models_write() {
        let call = Call::new("", "read_file", json!({ "path": "a.txt", "limit": 3 }));
        let json = r#"{"name": "read_file", "arguments": {"path": "a.txt", "limit": 3}}"#;
        for text in [
            format!("I will read it.\n<tool_call>\n{json}\n</tool_call>"),
            format!("<tool_call>{json}"),
            format!("[TOOL_CALLS][{json}]"),
            format!("<|python_tag|>{json}"),
            format!("```json\n{json}\n```"),
            format!("```tool_call\n{json}\n```"),
            json.to_owned(),
            format!("[{json}]"),
            json.replace("arguments", "parameters"),
            format!(r#"{{"type": "function", "function": {json}}}"#),
            "<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n<parameter=limit>3\
             </parameter></function>"
                .to_owned(),
            "<invoke name=\"read_file\"><parameter name=\"path\">a.txt</parameter><parameter \
             name=\"limit\">3</parameter></invoke>"
                .to_owned(),
        ] {
            assert_eq!(found(&text), std::slice::from_ref(&call), "{text}");
        }
        let text = r#"<function=read_file>{"path": "a.txt"}</function>"#;
        assert_eq!(found(text), [Call::new("", "read_file", r#"{"path": "a.txt"}"#)]);
    }

    #[test]
    fn a_call_that_is_quoted_is_none() {
        let tag = r#"<tool_call>{"name": "read_file", "arguments": {}}</tool_call>"#;
        for text in [
            format!("Such a call looks so:\n```\n{tag}\n```\nDo not run it."),
            format!("Write `{tag}` to call it."),
            format!("```\n{tag}\n```\nor\n```\n{tag}\n```"),
        ] {
            assert_eq!((found(&text), attempts(&text, &|_| true)), (vec![], vec![]), "{text}");
        }
        for text in [format!("```\n{tag}\n```"), format!("I use `read_file`.\n{tag}")] {
            assert_eq!(found(&text).len(), 1, "{text}");
        }
    }

    #[test]
    fn a_tag_of_which_no_call_came_is_told() {
        let is_tool = |name: &str| name == "read_file";
        for (text, expected) in [
            (r#"<tool_call>{"name": "raed_file", "arguments": {}}</tool_call>"#, "raed_file"),
            (r#"<tool_call>{"name": "read_file", "arguments": {"#, "<tool_call>"),
            ("<invoke name=\"a`b\n\"></invoke>", "ab"),
        ] {
            assert_eq!(attempts(text, &is_tool), [expected], "{text}");
        }
        for text in ["", "[1] a < b", r#"<tool_call>{"name": "read_file", "arguments": {}}"#] {
            assert_eq!(attempts(text, &is_tool), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_text_that_speaks_of_a_call_is_none() {
        for text in [
            "",
            "You can call `read_file` with {\"path\": \"a.txt\"}.",
            "Write {\"name\": \"read_file\", \"arguments\": {}} to call it.",
            "{\"name\": \"read_file\"}",
            "{\"name\": \"delete_all\", \"arguments\": {}}",
            "<tool_call>read_file</tool_call>",
            "<tool_call>",
            "```json\n{\"name\": 7}\n```",
            "<function=",
            "<invoke name=\"read_file",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
        let nested = format!("<tool_call>{}", "[".repeat(100_000));
        assert_eq!(found(&nested), []);
        let many = "<tool_call>{\"name\": \"read_file\", \"arguments\": {}}".repeat(100);
        assert_eq!(found(&many).len(), MOST);
    }
}
