//! Names and values in OTLP's shape.

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};

/// The most bytes of a value that others wrote.
const LONGEST: usize = 256;

fn attribute(name: &str, value: Value) -> KeyValue {
    KeyValue {
        key: name.to_owned(),
        value: Some(AnyValue { value: Some(value) }),
        ..KeyValue::default()
    }
}

/// A text, cut where it is long.
pub(crate) fn text(name: &str, value: &str) -> KeyValue {
    whole(name, cut(value, LONGEST))
}

/// A text that has its bounds.
pub(crate) fn whole(name: &str, value: &str) -> KeyValue {
    attribute(name, Value::StringValue(value.to_owned()))
}

pub(crate) fn number(name: &str, value: impl TryInto<i64>) -> KeyValue {
    attribute(name, Value::IntValue(value.try_into().unwrap_or(i64::MAX)))
}

pub(crate) fn seconds(name: &str, value: std::time::Duration) -> KeyValue {
    attribute(name, Value::DoubleValue(value.as_secs_f64()))
}

pub(crate) fn flag(name: &str, value: bool) -> KeyValue {
    attribute(name, Value::BoolValue(value))
}

/// The beginning of a text.
pub(crate) fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}
