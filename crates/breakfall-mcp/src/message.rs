//! A line becomes a message whose insides are untouched, and back.

mod finite;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::fields::{Fields, raw, there};

/// The longest message that is taken, on whatever way it comes.
pub(crate) const LONGEST: usize = 16 << 20;

/// What a line says.
#[derive(Debug)]
pub(crate) enum Message {
    Request { id: Box<RawValue>, method: String, params: Option<Box<RawValue>> },
    Notification { method: String, params: Option<Box<RawValue>> },
    Answer { id: Box<RawValue>, answer: Answer },
}

/// What came back to a request.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Result(Box<RawValue>),
    Error(Box<RawValue>),
}

#[derive(Deserialize)]
struct Shallow<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    /// What stands there as `null` is there.
    #[serde(default, borrow, deserialize_with = "there")]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Message {
    /// What a line says; nothing where it is no message.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        match serde_json::from_str(line) {
            Ok(shallow) => Self::of(shallow),
            Err(_) => Self::of(serde_json::from_str(&finite::finite(line)?).ok()?),
        }
    }

    fn of(shallow: Shallow<'_>) -> Option<Self> {
        let params = shallow.params.map(ToOwned::to_owned);
        let is_null = |value: &RawValue| value.get() == "null";
        let id = shallow.id.filter(|id| !is_null(id));
        match (id, shallow.method, shallow.result, shallow.error) {
            (Some(id), Some(method), ..) => {
                Some(Self::Request { id: id.to_owned(), method: method.into_owned(), params })
            }
            (None, Some(method), ..) => {
                Some(Self::Notification { method: method.into_owned(), params })
            }
            (Some(id), None, result, Some(error)) if result.is_none_or(is_null) => {
                Some(Self::Answer { id: id.to_owned(), answer: Answer::Error(error.to_owned()) })
            }
            (Some(id), None, Some(result), _) => {
                Some(Self::Answer { id: id.to_owned(), answer: Answer::Result(result.to_owned()) })
            }
            _ => None,
        }
    }
}

/// The messages of a line, which may be a batch; the text of what is none.
pub(crate) fn messages(line: &str) -> impl Iterator<Item = Result<Message, &str>> {
    let batch: Option<Vec<&RawValue>> =
        line.trim_start().starts_with('[').then(|| serde_json::from_str(line).ok()).flatten();
    let single = batch.is_none().then_some(line);
    let each = batch.into_iter().flatten().map(RawValue::get);
    single.into_iter().chain(each).map(|text| Message::parse(text).ok_or(text))
}

/// A number of ours that came back as an id or a token. Some answer 7 as `"7"`, and are understood.
pub(crate) fn number(id: &RawValue) -> Option<u64> {
    let id = id.get();
    let id = id.strip_prefix('"').and_then(|id| id.strip_suffix('"')).unwrap_or(id);
    id.strip_suffix(".0").unwrap_or(id).parse().ok()
}

/// A message of these members, whose values are JSON.
fn message(members: &[(&str, &str)]) -> String {
    const HEAD: &str = r#"{"jsonrpc":"2.0""#;
    // Each has four marks around it; at the end there is room for that of the line.
    let length: usize = members.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
    let mut text = String::with_capacity(HEAD.len() + length + 2);
    text.push_str(HEAD);
    for (name, value) in members {
        for part in [",\"", name, "\":", value] {
            text.push_str(part);
        }
    }
    text.push('}');
    text
}

pub(crate) fn request(id: &str, method: &str, params: Option<&RawValue>) -> String {
    let method = raw(&method);
    match params {
        Some(params) => message(&[("id", id), ("method", method.get()), ("params", params.get())]),
        None => message(&[("id", id), ("method", method.get())]),
    }
}

pub(crate) fn notification(method: &str, params: Option<&RawValue>) -> String {
    let method = raw(&method);
    match params {
        Some(params) => message(&[("method", method.get()), ("params", params.get())]),
        None => message(&[("method", method.get())]),
    }
}

pub(crate) fn answer(id: &RawValue, answer: &Answer) -> String {
    match answer {
        Answer::Result(result) => message(&[("id", id.get()), ("result", result.get())]),
        Answer::Error(error) => message(&[("id", id.get()), ("error", error.get())]),
    }
}

impl Answer {
    /// Whether it is ours, for a server that gave none.
    pub(crate) fn is_lost(&self) -> bool {
        let Self::Error(error) = self else { return false };
        Fields::of(Some(error)).get("code").is_some_and(|code| code.get() == LOST.to_string())
    }
}

/// An error of ours, in a code that is nobody else's.
pub(crate) fn error(code: i64, message: &str) -> Answer {
    Answer::Error(raw(&json!({ "code": code, "message": message })))
}

/// The server could not be reached or stopped before it answered.
pub(crate) const LOST: i64 = -31001;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_told_apart_and_its_insides_stay_as_they_are() {
        let line = r#"{"jsonrpc":"2.0","id":"a","method":"x/y","params":{"n": 1.0e400,  "z":[ ]}}"#;
        let Some(Message::Request { id, method, params }) = Message::parse(line) else {
            panic!("a request")
        };
        assert_eq!((id.get(), method.as_str()), (r#""a""#, "x/y"));
        assert_eq!(params.unwrap().get(), r#"{"n": 1.0e400,  "z":[ ]}"#);
        for (line, is) in [
            (r#"{"id":1,"result":{}}"#, true),
            (r#"{"id":1,"error":{"code":1,"message":""}}"#, true),
            (r#"{"method":"n"}"#, true),
            (r#"{"id":1,"result":{"n":NaN}}"#, true),
            (r#"{"id":1,"result":null}"#, true),
            (r#"{"id":1,"error":null}"#, false),
            (r#"{"id":1}"#, false),
            (r#"{"id":null,"error":{}}"#, false),
            ("[1]", false),
            ("garbage", false),
            ("", false),
        ] {
            assert_eq!(Message::parse(line).is_some(), is, "{line}");
        }
        for line in [r#"{"id":1,"result":null,"error":{}}"#, r#"{"id":1,"error":{}}"#] {
            let error = Message::parse(line);
            assert!(matches!(error, Some(Message::Answer { answer: Answer::Error(_), .. })));
        }
        for (id, is) in [("7", Some(7)), ("\"7\"", Some(7)), ("7.0", Some(7)), ("\"q-7\"", None)] {
            assert_eq!(number(&RawValue::from_string(id.to_owned()).unwrap()), is, "{id}");
        }
        assert_eq!(messages(r#"[{"method":"a"},{"id":1,"method":"b"},3]"#).count(), 3);
    }
}
