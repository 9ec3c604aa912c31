//! Numbers and values as text. Most are short and plain: they are put together without the way
//! through a formatter or a serializer.

use serde_json::Value;

use crate::stretch::marks;

/// How many bytes a value mostly takes.
const SHORT: usize = 24;

/// A value as JSON.
pub(crate) fn json(value: &Value) -> String {
    let room = match value {
        Value::String(text) => text.len() + 2,
        Value::Object(fields) => 2 * SHORT * fields.len() + 2,
        _ => SHORT,
    };
    let mut json = String::with_capacity(room);
    push_json(&mut json, value);
    json
}

/// Adds a value as JSON, as the serializer writes it.
pub(crate) fn push_json(to: &mut String, value: &Value) {
    let Value::Object(fields) = value else { return push_one(to, value) };
    to.push('{');
    for (number, (name, field)) in fields.iter().enumerate() {
        if number > 0 {
            to.push(',');
        }
        push_text(to, name);
        to.push(':');
        push_one(to, field);
    }
    to.push('}');
}

/// What lies deeper is the serializer's.
fn push_one(to: &mut String, value: &Value) {
    match value {
        Value::String(text) => push_text(to, text),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => push_digits(to, number),
            (None, Some(number)) => {
                to.push('-');
                push_digits(to, number.unsigned_abs());
            }
            (None, None) => push_serialized(to, value),
        },
        Value::Null => to.push_str("null"),
        Value::Bool(true) => to.push_str("true"),
        Value::Bool(false) => to.push_str("false"),
        Value::Array(_) | Value::Object(_) => push_serialized(to, value),
    }
}

fn push_text(to: &mut String, text: &str) {
    if !stands_for_itself(text.as_bytes()) {
        return push_serialized(to, text);
    }
    to.reserve(text.len() + 2);
    to.push('"');
    to.push_str(text);
    to.push('"');
}

/// Whether a text is written as it is: eight bytes at a time, the last ones twice.
fn stands_for_itself(bytes: &[u8]) -> bool {
    if let Some(last) = bytes.last_chunk::<8>() {
        let (eights, _) = bytes.as_chunks::<8>();
        return eights.iter().all(|eight| marks(*eight) == 0) && marks(*last) == 0;
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let [first, last] = [first, last].map(|four| u64::from(u32::from_le_bytes(*four)));
        return marks((first << 32 | last).to_le_bytes()) == 0;
    }
    let space = u64::from_le_bytes([b' '; 8]);
    let all = bytes.iter().fold(space, |all, byte| all << 8 | u64::from(*byte));
    marks(all.to_le_bytes()) == 0
}

/// Any value and any text can be serialized.
fn push_serialized<T: serde::Serialize + ?Sized>(to: &mut String, value: &T) {
    to.push_str(&serde_json::to_string(value).unwrap_or_default());
}

/// Adds a number.
pub(crate) fn push_digits(to: &mut String, number: u64) {
    const MOST: usize = 20;
    let digit = |number: u64| char::from(b'0' + (number % 10) as u8);
    // Most are short.
    if number < 1_000 {
        if number > 99 {
            to.push(digit(number / 100));
        }
        if number > 9 {
            to.push(digit(number / 10));
        }
        return to.push(digit(number));
    }
    let mut digits = ['0'; MOST];
    let (mut count, mut left) = (0, number);
    for place in &mut digits {
        *place = digit(left);
        left /= 10;
        count += 1;
        if left == 0 {
            break;
        }
    }
    digits[..count].iter().rev().for_each(|digit| to.push(*digit));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_written_whole() {
        for number in [0, 1, 9, 10, 99, 100, 107, 999, 1_000, 100_200, u64::MAX] {
            let mut text = String::new();
            push_digits(&mut text, number);
            assert_eq!(text, number.to_string());
        }
    }

    #[test]
    fn values_are_written_as_the_serializer_writes_them() {
        let plain = [
            json!(null),
            json!(true),
            json!(false),
            json!(0),
            json!(-7),
            json!(i64::MIN),
            json!(u64::MAX),
            json!(1.0),
            json!(1e300),
            json!(""),
            json!("plain words, ünd möre, and more of them than fit into a stretch"),
            json!("é"),
            json!("ab\""),
            json!("\"abcdef"),
            json!("abc\ndefgh"),
            json!("abcdefghi\u{1f}"),
            json!(" ~\u{7f}\u{80}\u{ff}"),
            json!("a \"quote\""),
            json!("back\\slash"),
            json!("two\nlines\u{7f}\u{0}"),
            json!([]),
            json!([1, [2, "x"]]),
            json!({}),
        ];
        let table: serde_json::Map<_, _> =
            plain.iter().map(|value| (value.to_string(), value.clone())).collect();
        for value in plain.iter().chain([&json!(table), &json!({"a": {"b": table}})]) {
            assert_eq!(super::json(value), value.to_string());
        }
    }
}
