//! The provider's text becomes a JSON value of bounded size and depth.

use serde_json::Value;
use serde_json::error::Category;

use super::Schema;
use super::repair::{self, Mended};
use crate::attempt::CallKey;
use crate::{Detail, Failure, FailureKind, Problem, RawArguments};

/// How deep arguments may be nested.
pub const MAX_DEPTH: usize = 127;

/// Raw arguments of bounded depth, or the failure that they are. A value nested without bounds
/// overflows the stack wherever it is written, compared or dropped: it goes first.
pub(crate) type Tamed<'r> = Result<Measured<'r>, Failure>;

/// Raw arguments, where they stand, with their size.
pub(crate) struct Measured<'r> {
    pub(crate) raw: &'r mut RawArguments,
    bytes: Bytes,
}

/// How many bytes arguments take. As wide in each case, so that it is moved without looking at it.
#[derive(Clone, Copy)]
enum Bytes {
    /// Of those that the schema was seen to accept on the way, as a value or as a text.
    Accepted(usize),
    Unchecked(usize),
}

impl Bytes {
    fn count(self) -> usize {
        match self {
            Self::Accepted(bytes) | Self::Unchecked(bytes) => bytes,
        }
    }
}

impl Measured<'_> {
    /// The value, where they are one, not nothing, and no larger than that.
    pub(super) fn value(&mut self, max_bytes: usize) -> Option<&mut Value> {
        match self.raw {
            RawArguments::Json(value) if !value.is_null() && self.bytes.count() <= max_bytes => {
                Some(value)
            }
            _ => None,
        }
    }

    /// Takes them, where there is nothing left to check.
    #[inline]
    pub(super) fn accepted(&mut self, max_bytes: usize) -> Option<RawArguments> {
        match self.bytes {
            Bytes::Accepted(bytes) if bytes <= max_bytes => Some(std::mem::take(self.raw)),
            _ => None,
        }
    }
}

/// Most arguments fit their tool's schema, and are measured while that is seen.
#[inline]
pub(crate) fn tame<'r>(raw: &'r mut RawArguments, schema: Option<&Schema>) -> Tamed<'r> {
    if let RawArguments::Json(value) = raw
        && let Some(bytes) = schema.and_then(|schema| schema.weigh(value))
    {
        return Ok(Measured { raw, bytes: Bytes::Accepted(bytes) });
    }
    tame_others(raw, schema)
}

fn tame_others<'r>(raw: &'r mut RawArguments, schema: Option<&Schema>) -> Tamed<'r> {
    let bytes = match raw {
        RawArguments::Json(value) => Bytes::Unchecked(measured(value)?),
        RawArguments::Text(text) if schema.is_some_and(|schema| schema.accepts_text(text)) => {
            Bytes::Accepted(text.len())
        }
        RawArguments::Text(text) => Bytes::Unchecked(text.len()),
        RawArguments::CutOff(_) => Bytes::Unchecked(0),
    };
    Ok(Measured { raw, bytes })
}

fn measured(value: &mut Value) -> Result<usize, Failure> {
    let mut bytes = 0;
    if measure(value, MAX_DEPTH, &mut bytes) {
        return Ok(bytes);
    }
    take_apart(value.take());
    Err(too_deep())
}

pub(super) struct Parsed {
    pub(super) value: Value,
    /// The text it was read from, when that is what it says.
    pub(super) text: Option<Box<str>>,
    pub(super) repairs: Vec<&'static str>,
}

impl Parsed {
    fn of(value: Value) -> Self {
        Self { value, text: None, repairs: Vec::new() }
    }
}

pub(super) fn parse(
    measured: Measured<'_>,
    tool: &str,
    max_bytes: usize,
    may_repair: bool,
) -> Result<Parsed, Failure> {
    let bytes = measured.bytes.count();
    let raw = measured.raw;
    match raw {
        RawArguments::CutOff(_) => {}
        _ if bytes > max_bytes => return Err(too_large(bytes, max_bytes)),
        _ => {}
    }
    match std::mem::take(raw) {
        RawArguments::Json(Value::Null) => Ok(Parsed::of(no_arguments())),
        RawArguments::Json(value) => Ok(Parsed::of(value)),
        RawArguments::Text(text) => match parse_text(&text, may_repair) {
            Ok(mut parsed) => {
                parsed.text = parsed.repairs.is_empty().then(|| text.into_boxed_str());
                Ok(parsed)
            }
            Err(failure) => Err(failure.of_call(|| CallKey::of_text(tool, &text))),
        },
        RawArguments::CutOff(text) if serde_json::from_str::<Value>(&text).is_err() => {
            Err(cut_off(&text).of_call(|| CallKey::of_text(tool, &text)))
        }
        // It was stopped behind them: they are whole.
        RawArguments::CutOff(text) => {
            let bytes = Bytes::Unchecked(text.len());
            let raw = &mut RawArguments::Text(text);
            parse(Measured { raw, bytes }, tool, max_bytes, may_repair)
        }
    }
}

/// What was seen to be JSON.
#[cold]
pub(super) fn skimmed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

fn parse_text(text: &str, may_repair: bool) -> Result<Parsed, Failure> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        // Providers send nothing at all for a call without arguments.
        return Ok(Parsed::of(no_arguments()));
    }
    let error = match serde_json::from_str(trimmed) {
        Ok(Value::Null) => return Ok(Parsed::of(no_arguments())),
        Ok(value) => return Ok(Parsed::of(value)),
        Err(error) => error,
    };
    if error.classify() == Category::Eof {
        return Err(cut_off(text));
    }
    match repair::mend(trimmed) {
        Mended::Whole(value, repairs) if may_repair => Ok(Parsed { value, text: None, repairs }),
        Mended::CutOff => Err(cut_off(text)),
        Mended::TooDeep => Err(too_deep()),
        Mended::Whole(..) | Mended::Hopeless => Err(malformed(trimmed, &error)),
    }
}

fn cut_off(text: &str) -> Failure {
    Failure::found(FailureKind::TruncatedArguments, Detail::CutOff { bytes: text.len() })
}

fn no_arguments() -> Value {
    Value::Object(serde_json::Map::new())
}

/// Adds up the size of a value; false where it is nested deeper than `depth`.
pub(crate) fn measure(value: &Value, depth: usize, bytes: &mut usize) -> bool {
    match value {
        Value::Array(items) => {
            *bytes += items.len() + 2;
            depth > 0 && items.iter().all(|item| measure_part(item, depth - 1, bytes))
        }
        Value::Object(fields) => {
            *bytes += 2;
            depth > 0
                && fields.iter().all(|(name, field)| {
                    *bytes += name.len() + 4;
                    measure_part(field, depth - 1, bytes)
                })
        }
        scalar => measure_part(scalar, depth, bytes),
    }
}

/// The same for what lies within another: most of it holds nothing more.
#[inline]
fn measure_part(value: &Value, depth: usize, bytes: &mut usize) -> bool {
    *bytes += match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 4,
        Value::String(text) => text.len() + 2,
        Value::Array(_) | Value::Object(_) => return measure(value, depth, bytes),
    };
    true
}

pub(crate) fn deeper_than(value: &Value, depth: usize) -> bool {
    !measure(value, depth, &mut 0)
}

/// Drops a value level by level: dropping it whole would recurse as deep as it is nested.
pub(crate) fn take_apart(value: Value) {
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => left.extend(fields.into_iter().map(|(_, field)| field)),
            _ => {}
        }
    }
}

fn malformed(text: &str, error: &serde_json::Error) -> Failure {
    // Cut short by the redactor, which must see a secret whole.
    let seen = &text[..text.floor_char_boundary(super::problems::SEEN.min(text.len()))];
    whole("a JSON object", format!("text that is not JSON ({error}): {seen}"))
}

fn too_deep() -> Failure {
    whole(&format!("at most {MAX_DEPTH} levels of nesting"), "more".to_owned())
}

fn too_large(bytes: usize, max: usize) -> Failure {
    whole(&format!("at most {max} bytes"), format!("{bytes} bytes"))
}

fn whole(expected: &str, got: String) -> Failure {
    let problem = Problem {
        path: String::new(),
        expected: expected.to_owned(),
        got: Some(got),
        ..Problem::default()
    };
    Failure::found(
        FailureKind::InvalidArguments,
        Detail::Arguments { problems: vec![problem], correction: None },
    )
}
