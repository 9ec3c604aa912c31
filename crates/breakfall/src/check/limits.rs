//! How much and how many: the bounds that a simple schema sets.

use serde_json::{Map, Number, Value};

/// Whether a text has so many characters. Each takes four bytes at most, so that a long one need not
/// be counted.
#[inline]
pub(super) fn is_as_long(text: &str, min: usize, max: usize) -> bool {
    max == usize::MAX && text.len() / 4 >= min || has_so_many(text, min, max)
}

#[inline(never)]
fn has_so_many(text: &str, min: usize, max: usize) -> bool {
    (min..=max).contains(&text.chars().count())
}

/// Whether it is a whole number within limits.
#[inline]
pub(super) fn is_within(value: &Value, min: i64, max: i64) -> bool {
    let Value::Number(number) = value else { return false };
    number.as_i64().is_some_and(|number| (min..=max).contains(&number))
}

/// Above this, whole numbers are not all told apart as numbers with a point.
const EXACT: u64 = 1 << 53;

/// Whether it is the same number with a point.
pub(super) fn is_exact(number: &Number) -> bool {
    number.is_f64() || number.as_i64().is_some_and(|number| number.unsigned_abs() <= EXACT)
}

/// How long something may be, where a word of the schema tells that.
pub(super) fn length(fields: &Map<String, Value>, name: &str, otherwise: usize) -> Option<usize> {
    let said = fields.get(name).map(|said| usize::try_from(said.as_u64()?).ok());
    said.unwrap_or(Some(otherwise))
}

/// The least and the greatest whole number, where what bounds them is one. A bound that is none
/// itself is told by what is next to it. (It was a word beside the bound once.)
pub(super) fn whole_limits(fields: &Map<String, Value>) -> Option<(i64, i64)> {
    let limit = |name: &str, next: &str, step: i64, otherwise: i64| {
        let limit = fields.get(name).map(Value::as_i64);
        let next = fields.get(next).map(|said| said.as_i64()?.checked_add(step));
        Some((limit.unwrap_or(Some(otherwise))?, next.unwrap_or(Some(otherwise))?))
    };
    let (least, above) = limit("minimum", "exclusiveMinimum", 1, i64::MIN)?;
    let (most, below) = limit("maximum", "exclusiveMaximum", -1, i64::MAX)?;
    Some((least.max(above), most.min(below)))
}

/// The same for numbers with a point.
pub(super) fn limits(fields: &Map<String, Value>) -> Option<(f64, f64)> {
    let limit = |name: &str, otherwise: f64| match fields.get(name) {
        None => Some(otherwise),
        Some(Value::Number(said)) if is_exact(said) => said.as_f64(),
        Some(_) => None,
    };
    let (lowest, highest) = (f64::NEG_INFINITY, f64::INFINITY);
    let above = limit("exclusiveMinimum", lowest)?.next_up();
    let below = limit("exclusiveMaximum", highest)?.next_down();
    Some((limit("minimum", lowest)?.max(above), limit("maximum", highest)?.min(below)))
}
