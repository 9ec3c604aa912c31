//! Scalars in the wanted type: read where nothing is lost, kept within limits, or made up.

use serde_json::{Number, Value, json};

use super::formats;
use super::pattern::Pattern;
use crate::written;

/// The value in the wanted type where that loses nothing.
pub(super) fn scalar(kind: &str, given: &Value) -> Option<Value> {
    let text = given.as_str().map(str::trim);
    match kind {
        "string" => match given {
            Value::String(_) => Some(given.clone()),
            // A number that was rounded when it was read is not what the model wrote.
            Value::Number(number) if !keeps_digits(number) => None,
            Value::Number(_) | Value::Bool(_) => Some(Value::String(written::json(given))),
            _ => None,
        },
        "integer" => match given {
            Value::Number(number) if number.is_i64() || number.is_u64() => Some(given.clone()),
            Value::Number(number) => whole(number.as_f64()?),
            _ => text?.parse::<i64>().ok().map(Value::from),
        },
        "number" => match given {
            Value::Number(_) => Some(given.clone()),
            _ => text?.parse::<Number>().ok().filter(keeps_digits).map(Value::Number),
        },
        "boolean" => match (given, text) {
            (Value::Bool(_), _) => Some(given.clone()),
            (_, Some("true" | "True")) => Some(Value::Bool(true)),
            (_, Some("false" | "False")) => Some(Value::Bool(false)),
            _ => None,
        },
        "null" => given.is_null().then_some(Value::Null),
        "any" => Some(given.clone()),
        _ => None,
    }
}

/// Whether a number was not rounded when it was read.
fn keeps_digits(number: &Number) -> bool {
    !number.is_f64() || number.as_f64().is_some_and(|number| number.abs() < 9e15)
}

/// Whether a value in another type says all that was written: `3.10` was, and is 3.1 by now; `007`
/// is more than 7.
pub(super) fn keeps_all(given: &Value, value: &Value) -> bool {
    match (given, value) {
        (Value::Number(number), Value::String(_)) => !number.is_f64(),
        (Value::String(text), Value::Number(number)) if number.is_i64() => {
            number.to_string() == text.trim()
        }
        _ => true,
    }
}

/// `3.0` is 3; `3.5` is nothing.
fn whole(number: f64) -> Option<Value> {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and small")]
    let integer = (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64);
    integer.map(Value::from)
}

/// The words that limit a scalar.
pub(super) const LIMITS: [&str; 8] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "format",
    "pattern",
];

/// Whether a scalar keeps the limits that a schema states on it.
pub(super) fn within(wanted: &Value, value: &Value) -> bool {
    let mut all = wanted.as_object().into_iter().flatten();
    match value {
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            all.all(|(word, limit)| match (word.as_str(), limit.as_f64()) {
                ("minimum", Some(least)) => number >= least,
                ("maximum", Some(most)) => number <= most,
                ("exclusiveMinimum", Some(least)) => number > least,
                ("exclusiveMaximum", Some(most)) => number < most,
                _ => true,
            })
        }
        Value::String(text) => {
            let length = f64::from(u32::try_from(text.chars().count()).unwrap_or(u32::MAX));
            all.all(|(word, limit)| match word.as_str() {
                "minLength" => limit.as_f64().is_none_or(|least| length >= least),
                "maxLength" => limit.as_f64().is_none_or(|most| length <= most),
                "format" => !limit.as_str().is_some_and(formats::known),
                "pattern" => {
                    limit.as_str().and_then(Pattern::of).is_some_and(|it| it.matches(text))
                }
                _ => true,
            })
        }
        _ => true,
    }
}

/// A value of the right type: the author's own, or one that is made up.
pub(super) fn sample(wanted: &Value, own: Option<&Value>, kind: &str) -> Value {
    match (own, kind) {
        (Some(own), _) => own.clone(),
        (None, "integer" | "number") => least(wanted),
        (None, "boolean") => json!(false),
        (None, "null") => Value::Null,
        (None, _) => json!(sample_text(wanted)),
    }
}

fn least(wanted: &Value) -> Value {
    let limit = |key: &str| wanted.get(key).filter(|limit| limit.is_number());
    if let Some(least) = limit("minimum") {
        return least.clone();
    }
    if let Some(least) = limit("exclusiveMinimum").and_then(Value::as_i64) {
        return Value::from(least.saturating_add(1));
    }
    match limit("maximum") {
        Some(most) if most.as_f64().is_some_and(|most| most < 1.0) => most.clone(),
        _ => Value::from(1),
    }
}

fn sample_text(wanted: &Value) -> String {
    let length = |key: &str| wanted.get(key).and_then(Value::as_u64).map(|n| n.min(64) as usize);
    let format = wanted.get("format").and_then(Value::as_str).unwrap_or_default();
    let mut text = formats::example(format).map_or("text", |(_, example)| example).to_owned();
    while text.len() < length("minLength").unwrap_or(0) {
        text.push('x');
    }
    if let Some(most) = length("maxLength") {
        text.truncate(most);
    }
    text
}
