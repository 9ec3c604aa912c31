//! Conservative repair of malformed JSON: what is only written otherwise is read, nothing is
//! guessed. The result is checked against the schema like any other.

use serde_json::{Map, Number, Value};

use super::Schema;
use super::parse::MAX_DEPTH;
use super::problems::PROBLEMS;

/// The repair of an object or array that came as a string.
pub(super) const STRINGIFIED: &str = "an object written as a string";
/// The repair of values that came in another type without loss.
pub(super) const COERCED: &str = "values written in another type";

const FENCE: &str = "a code fence";
const TRAILING_COMMA: &str = "a trailing comma";
const SINGLE_QUOTES: &str = "single quotes";
const BARE_KEY: &str = "an unquoted key";
const PYTHON_WORD: &str = "a Python literal";
const RAW_CONTROL: &str = "a raw line break in a string";

/// What came of a malformed text.
pub(super) enum Mended {
    Whole(Value, Vec<&'static str>),
    CutOff,
    TooDeep,
    Hopeless,
}

/// Reads a text that is JSON but for a code fence, trailing commas, single quotes, unquoted
/// keys, Python's literals or raw line breaks in strings.
pub(super) fn mend(text: &str) -> Mended {
    let mut reader = Reader { rest: text, repairs: Vec::new() };
    reader.unfence();
    let value = reader.value(MAX_DEPTH).and_then(|value| {
        reader.space();
        if reader.rest.is_empty() { Ok(value) } else { Err(Stop::Hopeless) }
    });
    match value {
        Ok(value) => Mended::Whole(value, reader.repairs),
        Err(Stop::End) => Mended::CutOff,
        Err(Stop::TooDeep) => Mended::TooDeep,
        Err(Stop::Hopeless) => Mended::Hopeless,
    }
}

/// A value written as Python writes it.
pub(crate) fn mend_value(text: &str) -> Option<Value> {
    match mend(text) {
        Mended::Whole(value, _) => Some(value),
        _ => None,
    }
}

enum Stop {
    End,
    TooDeep,
    Hopeless,
}

struct Reader<'a> {
    rest: &'a str,
    repairs: Vec<&'static str>,
}

impl Reader<'_> {
    fn note(&mut self, repair: &'static str) {
        if !self.repairs.contains(&repair) {
            self.repairs.push(repair);
        }
    }

    fn unfence(&mut self) {
        let Some(inside) = self.rest.strip_prefix("```") else { return };
        // The language stands on the fence's line, or before the value.
        let inside = inside.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
        self.note(FENCE);
        self.rest = inside.trim_end();
        // A fence left open was cut off, unless what it holds turns out whole.
        if let Some(inside) = self.rest.strip_suffix("```") {
            self.rest = inside;
        }
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn peek(&mut self) -> Result<char, Stop> {
        self.space();
        self.rest.chars().next().ok_or(Stop::End)
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    fn value(&mut self, depth: usize) -> Result<Value, Stop> {
        match self.peek()? {
            '{' | '[' if depth == 0 => Err(Stop::TooDeep),
            '{' => self.object(depth - 1),
            '[' => self.array(depth - 1),
            quote @ ('"' | '\'') => self.string(quote).map(Value::String),
            _ => self.word(depth < MAX_DEPTH),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, Stop> {
        self.skip(1);
        let mut fields = Map::new();
        loop {
            let key = match self.peek()? {
                '}' => break,
                quote @ ('"' | '\'') => self.string(quote)?,
                _ => self.bare_key()?,
            };
            if self.peek()? != ':' {
                return Err(Stop::Hopeless);
            }
            self.skip(1);
            let value = self.value(depth)?;
            fields.insert(key, value);
            if !self.separated('}')? {
                break;
            }
        }
        self.skip(1);
        Ok(Value::Object(fields))
    }

    fn array(&mut self, depth: usize) -> Result<Value, Stop> {
        self.skip(1);
        let mut items = Vec::new();
        while self.peek()? != ']' {
            items.push(self.value(depth)?);
            if !self.separated(']')? {
                break;
            }
        }
        self.skip(1);
        Ok(Value::Array(items))
    }

    /// Past a comma with more to come; false where `end` follows.
    fn separated(&mut self, end: char) -> Result<bool, Stop> {
        match self.peek()? {
            ',' => {
                self.skip(1);
                if self.peek()? != end {
                    return Ok(true);
                }
                self.note(TRAILING_COMMA);
                Ok(false)
            }
            c if c == end => Ok(false),
            _ => Err(Stop::Hopeless),
        }
    }

    fn bare_key(&mut self) -> Result<String, Stop> {
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '-')))
            .ok_or(Stop::End)?;
        if end == 0 {
            return Err(Stop::Hopeless);
        }
        let key = self.rest[..end].to_owned();
        self.skip(end);
        self.note(BARE_KEY);
        Ok(key)
    }

    /// A literal or a number; at the very end of a structure it may have been cut off.
    fn word(&mut self, inside: bool) -> Result<Value, Stop> {
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '+' | '-' | '.')))
            .unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        let (value, python) = match word {
            "true" => (Value::Bool(true), false),
            "false" => (Value::Bool(false), false),
            "null" => (Value::Null, false),
            "True" => (Value::Bool(true), true),
            "False" => (Value::Bool(false), true),
            "None" => (Value::Null, true),
            _ => match word.parse::<Number>() {
                Ok(number) => (Value::Number(number), false),
                Err(_) if end == self.rest.len() && end > 0 && inside => return Err(Stop::End),
                Err(_) => return Err(Stop::Hopeless),
            },
        };
        self.skip(end);
        if python {
            self.note(PYTHON_WORD);
        }
        Ok(value)
    }

    /// A string in either quotes. An escape that JSON does not know ends the attempt: a path
    /// like `C:\Users` must not lose its backslashes.
    fn string(&mut self, quote: char) -> Result<String, Stop> {
        let mut chars = self.rest.char_indices().skip(1);
        let mut text = String::new();
        let mut raw_control = false;
        loop {
            let (at, c) = chars.next().ok_or(Stop::End)?;
            match c {
                _ if c == quote => {
                    self.skip(at + 1);
                    break;
                }
                '\\' => match chars.next().ok_or(Stop::End)?.1 {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    'b' => text.push('\u{8}'),
                    'f' => text.push('\u{c}'),
                    '\'' if quote == '\'' => text.push('\''),
                    c @ ('"' | '\\' | '/') => text.push(c),
                    'u' => {
                        let (c, used) = unicode(&self.rest[at..])?;
                        text.push(c);
                        for _ in 0..used - 2 {
                            chars.next();
                        }
                    }
                    _ => return Err(Stop::Hopeless),
                },
                c if c < ' ' => {
                    raw_control = true;
                    text.push(c);
                }
                c => text.push(c),
            }
        }
        if raw_control {
            self.note(RAW_CONTROL);
        }
        if quote == '\'' {
            self.note(SINGLE_QUOTES);
        }
        Ok(text)
    }
}

/// The character of `\uXXXX` or of a surrogate pair, and how many bytes it took.
fn unicode(escape: &str) -> Result<(char, usize), Stop> {
    let unit = |from: usize| {
        let digits = escape.get(from..from + 4).ok_or(Stop::End)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(Stop::Hopeless);
        }
        u32::from_str_radix(digits, 16).map_err(|_| Stop::Hopeless)
    };
    let first = unit(2)?;
    if let Some(c) = char::from_u32(first) {
        return Ok((c, 6));
    }
    let paired = escape.get(6..8).is_some_and(|next| next == "\\u");
    if !paired || !(0xd800..0xdc00).contains(&first) {
        return Err(Stop::Hopeless);
    }
    let second = unit(8)?;
    let joined = 0x1_0000 + ((first - 0xd800) << 10) + second.wrapping_sub(0xdc00);
    char::from_u32(joined)
        .filter(|_| (0xdc00..0xe000).contains(&second))
        .map(|c| (c, 12))
        .ok_or(Stop::Hopeless)
}

/// The same arguments with objects and arrays that came as strings read as what the schema
/// wants there; nothing where that does not make them acceptable.
pub(super) fn unstring(value: &Value, schema: &Schema) -> Option<Value> {
    if !has_stringified(value) {
        return None;
    }
    let mut mended = value.clone();
    let mut changed = false;
    for error in schema.errors(value, PROBLEMS) {
        let at = error.instance_path().to_string();
        let Some(place) = mended.pointer_mut(&at) else { continue };
        let Some(text) = place.as_str() else { continue };
        if let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
            *place = inner;
            changed = true;
        }
    }
    (changed && schema.accepts(&mended)).then_some(mended)
}

/// Whether a text in it begins as an object or array does. Most have none, and are not read twice.
fn has_stringified<'v>(value: &'v Value) -> bool {
    let mut left = Vec::new();
    let mut next = Some(value);
    while let Some(value) = next {
        let mut is_found = |value: &'v Value| match value {
            Value::String(text) => begins_as_others(text),
            Value::Array(_) | Value::Object(_) => {
                left.push(value);
                false
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        };
        let is_there = match value {
            Value::Array(items) => items.iter().any(is_found),
            Value::Object(fields) => fields.values().any(is_found),
            value => is_found(value),
        };
        if is_there {
            return true;
        }
        next = left.pop();
    }
    false
}

/// Whether a text begins as what holds others does. Most begin with a letter.
fn begins_as_others(text: &str) -> bool {
    match text.as_bytes() {
        [b'{' | b'[', ..] => true,
        [] | [b'!'..=b'~', ..] => false,
        _ => text.trim_start().starts_with(['{', '[']),
    }
}
