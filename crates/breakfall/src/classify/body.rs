//! Structured bodies: JSON, Python's way of writing it, XML. What they say under known keys.

use std::borrow::Cow;

use serde_json::Value;

use super::pattern::{Marked, Pattern};
use crate::check::mend_value;

/// What a body says.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// Codes, the most specific first.
    pub(super) codes: Vec<String>,
    /// Messages, in order.
    pub(super) messages: Vec<String>,
    /// What it tells to do about it: read where it says nothing else.
    hints: Vec<String>,
    /// Its HTTP status.
    pub(super) status: Option<u16>,
    /// Its JSON-RPC code.
    pub(super) json_rpc: Option<i64>,
    /// Its short values, with their names: one of them may be the resource.
    pub(super) fields: Vec<(String, String)>,
    /// Where it begins in the text.
    pub(super) start: usize,
}

static XML_CODE: Pattern =
    Pattern::new(&["<Code>", ":exception>"], r"<(?:Code|\w+:exception)>([A-Za-z0-9.\\]+)</");
static XML_MESSAGE: Pattern = Pattern::new(
    &["<Message>", ":message>"],
    r"(?s)<(?:Message|\w+:message)>(.*?)</(?:Message|\w+:message)>",
);
static XML_RESOURCE: Pattern =
    Pattern::new(&["<BucketName", "<Key>", "<Resource"], r"<(?:BucketName|Key|Resource)>([^<]+)</");

/// Every pattern of this file.
pub(super) static PATTERNS: &[&Pattern] = &[&XML_CODE, &XML_MESSAGE, &XML_RESOURCE];

/// How many values of a body are looked at.
const VALUES: usize = 400;

/// How many short values are kept.
const FIELDS: usize = 24;

/// In how many places of a text a body is looked for.
const STARTS: usize = 4;

impl Body {
    /// The body of a text: the text itself, or what stands behind a prefix such as
    /// `Error code: 429 - {…}`.
    pub(super) fn of(marked: &Marked) -> Option<Self> {
        let text = marked.text;
        if let Some(code) = XML_CODE.text(marked) {
            return Some(Self {
                codes: vec![code.to_owned()],
                messages: XML_MESSAGE.text(marked).map(ToOwned::to_owned).into_iter().collect(),
                fields: XML_RESOURCE
                    .text(marked)
                    .map(|value| ("resource".to_owned(), value.to_owned()))
                    .into_iter()
                    .collect(),
                ..Self::default()
            });
        }
        let mut from = 0;
        for nth in 0..STARTS {
            let start = from + memchr::memchr2(b'{', b'[', &text.as_bytes()[from..])?;
            let mut found = Self { start, ..Self::default() };
            let value = if nth == 0 { read(text[start..].trim()) } else { strict(&text[start..]) };
            if let Some(value) = value {
                found.gather(&value);
            }
            if found.messages.is_empty() {
                found.messages.append(&mut found.hints);
            }
            if !found.codes.is_empty() || !found.messages.is_empty() || found.status.is_some() {
                return Some(found);
            }
            // A body behind something else begins behind a space.
            from = start + 1 + text[start + 1..].find([' ', '\n'])?;
        }
        None
    }

    fn gather(&mut self, value: &Value) {
        let mut left = vec![(value, 0_u8)];
        let mut seen = 0;
        while let Some((value, depth)) = left.pop() {
            seen += 1;
            if seen > VALUES {
                break;
            }
            match value {
                Value::Object(fields) => {
                    for (name, field) in fields {
                        self.field(name, field);
                    }
                    if depth < 6 {
                        left.extend(
                            fields
                                .values()
                                .rev()
                                .filter(|v| !v.is_string())
                                .map(|v| (v, depth + 1)),
                        );
                    }
                }
                Value::Array(items) if depth < 6 => {
                    for text in items.iter().filter_map(Value::as_str) {
                        if text.contains(' ') {
                            self.messages.push(text.to_owned());
                        }
                    }
                    left.extend(
                        items.iter().rev().filter(|v| !v.is_string()).map(|v| (v, depth + 1)),
                    );
                }
                _ => {}
            }
        }
    }

    fn field(&mut self, name: &str, field: &Value) {
        let folded = folded(name);
        if let Value::String(text) = field
            && !text.is_empty()
            && text.len() < 256
            && memchr::memchr2(b' ', b'\n', text.as_bytes()).is_none()
            && self.fields.len() < FIELDS
        {
            self.fields.push((folded.clone().into_owned(), text.clone()));
        }
        match (&*folded, field) {
            (
                "status" | "statuscode" | "code" | "errorcode" | "httpstatus" | "httpcode" | "cod"
                | "httpstatuscode" | "responsecode" | "responsestatus" | "errcode",
                Value::Number(number),
            ) => match number.as_i64() {
                Some(status @ 400..=599) => self.status = u16::try_from(status).ok(),
                Some(code @ -32999..=-32000) => self.json_rpc = Some(code),
                _ => {}
            },
            ("status" | "code" | "cod" | "statuscode" | "errorcode", Value::String(text))
                if text.parse::<u16>().is_ok() =>
            {
                self.status = text.parse().ok().filter(|status| (400..600).contains(status));
            }
            (
                "code" | "errorcode" | "reason" | "codename" | "errortype" | "type" | "status"
                | "error" | "category" | "name" | "errname" | "tag" | "exception" | "class",
                Value::String(text),
            ) => {
                if text.contains(' ') {
                    self.messages.push(text.clone());
                } else if matches!(&*folded, "code" | "errorcode" | "reason" | "codename") {
                    // A code says more than the type it belongs to.
                    self.codes.insert(0, text.rsplit('#').next().unwrap_or(text).to_owned());
                } else {
                    self.codes.push(text.rsplit(['#', '/']).next().unwrap_or(text).to_owned());
                }
            }
            (
                "message"
                | "msg"
                | "defaultmessage"
                | "longmessage"
                | "detail"
                | "description"
                | "errordescription"
                | "errormessage"
                | "errmsg"
                | "errormsg"
                | "faultstring"
                | "explanation"
                | "cause"
                | "title"
                | "information"
                | "userpresentablemessage"
                // The same in other languages.
                | "erro"
                | "errore"
                | "erreur"
                | "fehler"
                | "fehlermeldung"
                | "meldung"
                | "nachricht"
                | "mensaje"
                | "mensagem"
                | "messaggio"
                | "melding"
                | "foutmelding"
                | "komunikat"
                | "mesaj"
                | "hata"
                | "pesan",
                Value::String(text),
            ) => {
                self.codes.extend(leading_code(text));
                self.messages.push(text.clone());
            }
            ("hint" | "note", Value::String(text)) => self.hints.push(text.clone()),
            // It holds what was asked for, or why there is none.
            ("result" | "data" | "errordetail", Value::String(text)) if text.contains(' ') => {
                self.messages.push(text.clone());
            }
            ("timedout", Value::Bool(true)) => self.codes.push("timed_out".to_owned()),
            _ => {}
        }
    }
}

/// A code in capitals that a message is, or begins with: `EMAIL_EXISTS`, `QUOTA_REACHED : …`.
fn leading_code(message: &str) -> Option<String> {
    let end = message.find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'));
    let code = &message[..end.unwrap_or(message.len())];
    let rest = message[code.len()..].trim_start();
    let is_code = code.len() > 6 && code[1..].trim_end_matches('_').contains('_');
    (is_code && (rest.is_empty() || rest.starts_with(':'))).then(|| code.to_owned())
}

/// A name in lower case without separators.
fn folded(name: &str) -> Cow<'_, str> {
    if name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
        return Cow::Borrowed(name);
    }
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    Cow::Owned(letters.map(|c| c.to_ascii_lowercase()).collect())
}

/// JSON, or a Python dict as it prints itself; what follows the value is left.
fn read(body: &str) -> Option<Value> {
    strict(body).or_else(|| {
        let end = body.rfind(['}', ']'])?;
        mend_value(&body[..=end]).filter(|value| value.is_object() || value.is_array())
    })
}

/// JSON.
fn strict(body: &str) -> Option<Value> {
    let mut values = serde_json::Deserializer::from_str(body).into_iter::<Value>();
    values.next()?.ok().filter(|value| value.is_object() || value.is_array())
}
