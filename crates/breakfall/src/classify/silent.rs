//! Silent failures: what a tool returned as a success and is none. Structure decides, never
//! words in passing.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use serde_json::Value;

use super::read::{Evidence, Reader};
use crate::FailureKind;
use crate::tool::{Content, Output};

/// The largest output that is looked at.
const LARGE: usize = 256 << 10;

/// JSON without any of these words tells of no failure, and need not be parsed to know it.
static TELLING: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(["error", "exception", "fail", "false", "fatal", "traceback", "\"status", "\"code"])
        .ok()
});

/// A failure that came as a success.
#[derive(Clone, Debug, PartialEq)]
pub struct Silent {
    /// Which way it failed.
    pub kind: FailureKind,
    /// What gives it away.
    pub why: String,
}

/// Looks whether what a tool returned as a success is a failure.
pub fn silent(reader: &Reader, text: &str) -> Option<Silent> {
    let trimmed = trimmed(text);
    if trimmed.len() > LARGE {
        return None;
    }
    let why = match trimmed.as_bytes().first() {
        Some(b'{' | b'[') if TELLING.as_ref().is_some_and(|words| !words.is_match(trimmed)) => {
            return None;
        }
        Some(b'{' | b'[') => match serde_json::from_str::<Value>(trimmed) {
            Ok(value) => in_value(&value)?,
            Err(_) => in_prose(trimmed)?,
        },
        _ => in_prose(trimmed)?,
    };
    Some(read(reader, trimmed, why))
}

/// Most texts have no space at their ends.
fn trimmed(text: &str) -> &str {
    match text.as_bytes() {
        [first, .., last] if first.is_ascii_graphic() && last.is_ascii_graphic() => text,
        _ => text.trim(),
    }
}

/// Whether an output may be a failure at all: what most begin with tells it.
#[inline]
pub(crate) fn may_be_silent(output: &Output) -> bool {
    match &output.content {
        Content::Text(text) => may_begin(text),
        Content::Payload(_) | Content::Json(_) => true,
    }
}

#[inline]
fn may_begin(text: &str) -> bool {
    text.as_bytes().first().is_some_and(|first| BEGINS[usize::from(*first)])
}

/// Looks whether an output is a failure; one that is JSON already is not parsed again.
#[inline]
pub(crate) fn silent_output(reader: &Reader, output: &Output) -> Option<Silent> {
    match &output.content {
        Content::Text(text) => silent(reader, text),
        Content::Payload(payload) => silent(reader, &payload.text),
        Content::Json(value) => {
            let why = in_value(value)?;
            let text = value.to_string();
            (text.len() <= LARGE).then(|| read(reader, &text, why))
        }
    }
}

fn read(reader: &Reader, text: &str, why: String) -> Silent {
    let kind = reader.read(&Evidence { text, ..Evidence::default() }).kind;
    Silent { kind, why }
}

fn in_value(value: &Value) -> Option<String> {
    // The content blocks of a result: one text block that opens as an error does.
    if let Some([Value::Object(block)]) = value.as_array().map(Vec::as_slice) {
        return in_prose(block.get("text")?.as_str()?.trim());
    }
    let fields = value.as_object()?;
    // A result within the result: MCP's, or a wrapper's.
    if fields.get("isError") == Some(&Value::Bool(true))
        || fields.get("is_error") == Some(&Value::Bool(true))
    {
        return Some("`isError` is true".to_owned());
    }
    for name in ["success", "ok", "succeeded"] {
        let no =
            fields.get(name).is_some_and(|value| *value == Value::Bool(false) || *value == "false");
        if no {
            return Some(format!("`{name}` is false"));
        }
    }
    for name in ["status", "result", "state", "outcome"] {
        let word = fields.get(name).and_then(Value::as_str).map(str::to_ascii_lowercase);
        if matches!(word.as_deref(), Some("error" | "failure" | "failed" | "fail")) {
            return Some(format!("`{name}` is {}", word.unwrap_or_default()));
        }
    }
    let has_result = ["data", "result", "results", "items", "output", "value", "content"]
        .iter()
        .any(|name| fields.get(*name).is_some_and(|value| !is_empty(value)));
    for name in [
        "error",
        "errors",
        "Error",
        "errorMessage",
        "errorMessages",
        "error_message",
        "error_msg",
        "exception",
    ] {
        let Some(error) = fields.get(name).filter(|error| !is_empty(error)) else { continue };
        let tells = match error {
            Value::String(_) => true,
            Value::Object(inside) => inside.keys().any(|key| {
                ["message", "code", "type", "reason", "detail"]
                    .iter()
                    .any(|known| key.eq_ignore_ascii_case(known))
            }),
            Value::Array(items) => items.iter().any(|item| item.is_object() || item.is_string()),
            _ => false,
        };
        if tells && (!has_result || name == "errors") {
            return Some(format!("`{name}` is set"));
        }
    }
    if let Some(status) = ["statusCode", "status_code", "status", "code"]
        .iter()
        .find_map(|name| fields.get(*name)?.as_u64())
        && (400..600).contains(&status)
        && (fields.contains_key("message")
            || fields.contains_key("detail")
            || fields.contains_key("title"))
        && !has_result
    {
        return Some(format!("its status is {status}"));
    }
    // One level of wrapping.
    ["result", "response", "body"]
        .iter()
        .find_map(|name| fields.get(*name).filter(|inside| inside.is_object()).and_then(in_value))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => {
            text.trim().is_empty()
                || text.eq_ignore_ascii_case("none")
                || text.eq_ignore_ascii_case("null")
        }
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// How a text opens that is an error.
const OPENINGS: &[&str] = &[
    "Error:",
    "ERROR:",
    "error:",
    "Error executing",
    "Error calling",
    "Error invoking",
    "Error while",
    "Error during",
    "Fatal error:",
    "fatal: ",
    "FATAL:",
    "Exception:",
    "Failed to ",
    "Traceback (most recent call last)",
    "Unhandled exception",
];

/// Whether a text may be a failure at all, by its first byte: a digit or a sign that opens no
/// document begins none.
const BEGINS: [bool; 256] = {
    let mut begins = [true; 256];
    let mut byte = 0x21_u8;
    while byte < 0x7f {
        begins[byte as usize] = byte.is_ascii_alphabetic()
            || matches!(byte, b'{' | b'[' | b'<' | b'_' | b'.' | b'$' | b'\\');
        byte += 1;
    }
    begins
};

/// Whether a byte is the first of an opening, or of a document.
const OPENS: [bool; 256] = {
    let mut opens = [false; 256];
    opens[b'<' as usize] = true;
    let mut nth = 0;
    while nth < OPENINGS.len() {
        opens[OPENINGS[nth].as_bytes()[0] as usize] = true;
        nth += 1;
    }
    opens
};

/// Whether a text may open as an error does: with the letters of an opening, as a document, or
/// with a name before a colon. Most texts do not, and their first word tells it.
fn may_open(text: &str) -> bool {
    let bytes = text.as_bytes();
    let Some(first) = bytes.first() else { return false };
    let opening = |opening: &&str| bytes.get(..2) == opening.as_bytes().get(..2);
    if OPENS[usize::from(*first)] && (*first == b'<' || OPENINGS.iter().any(opening)) {
        return true;
    }
    let name = bytes.iter().position(|byte| matches!(byte, b':' | b' ' | b'(' | b'\n'));
    name.is_some_and(|end| bytes[end] == b':' && bytes.get(end + 1) == Some(&b' '))
}

/// A text that opens as an error does, and is about nothing else.
fn in_prose(text: &str) -> Option<String> {
    if may_open(text) { opened(text) } else { None }
}

fn opened(text: &str) -> Option<String> {
    let lines = || text.lines().count();
    let first = text.lines().next()?.trim();
    if let Some(opening) = OPENINGS.iter().find(|opening| first.starts_with(**opening)) {
        return (lines() <= 60).then(|| format!("it opens with `{}`", opening.trim()));
    }
    // `Error fetching x: …`
    let mut words = first.split(' ');
    if words.next() == Some("Error")
        && words.next().is_some_and(|word| word.ends_with("ing"))
        && first.contains(':')
    {
        return Some("it opens with `Error …ing`".to_owned());
    }
    let name = first.split([':', ' ', '(']).next().unwrap_or_default();
    let named = super::names::is_type_name(name)
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && first[name.len()..].starts_with(": ")
        && name.len() > 6;
    let xml =
        first.starts_with("<Error>") || text.starts_with("<?xml") && text.contains("<Error><Code>");
    if xml {
        return Some("it is an error document".to_owned());
    }
    (named && lines() <= 40 && (name.ends_with("Error") || name.ends_with("Exception")))
        .then(|| format!("it opens with `{name}:`"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_cannot_open_as_an_error_does_is_none(
            nth in 0..OPENINGS.len(),
            cut in 0..12_usize,
            more in "(Error|KeyError|[0-9$'(.]KeyError|a\\.b\\.KeyError|<Error>|<\\?xml|x)?[:( \\n]{0,2}[a-z: \\n]{0,12}",
        ) {
            let opening = &OPENINGS[nth][..cut.min(OPENINGS[nth].len())];
            for text in [format!("{opening}{more}"), more.clone(), format!("{opening}ing {more}")] {
                let text = text.trim();
                prop_assert!(may_open(text) || opened(text).is_none(), "{:?}", text);
                prop_assert!(may_begin(text) || opened(text).is_none(), "{:?}", text);
            }
        }
    }
}
