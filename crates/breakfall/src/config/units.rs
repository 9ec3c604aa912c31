//! Lengths of time and sizes as a person writes them: `"250ms"`, `"4MiB"`, or a plain number.
//! Bounded, so that nothing that is reckoned with them overflows.

use std::borrow::Cow;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The longest time: 30 days.
const LONGEST: f64 = 30.0 * 86_400.0;

/// How long things are kept at least and at most, in seconds.
const SHORTEST_AGE: f64 = 60.0;
const LONGEST_AGE: f64 = 10.0 * 365.0 * 24.0 * 60.0 * 60.0;

/// The largest size: 1 GiB.
const LARGEST: f64 = (1_u32 << 30) as f64;

const TIMES: &[(&str, f64)] =
    &[("ms", 0.001), ("s", 1.0), ("min", 60.0), ("h", 3_600.0), ("d", 86_400.0)];

const SIZES: &[(&str, f64)] = &[
    ("B", 1.0),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1_024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];

/// A time that something takes: more than nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time(pub(crate) Duration);

/// A time to wait, which may be nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait(pub(crate) Duration);

/// How long something is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Age(pub(crate) Duration);

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) usize);

impl From<Time> for Duration {
    fn from(time: Time) -> Self {
        time.0
    }
}

impl From<Wait> for Duration {
    fn from(wait: Wait) -> Self {
        wait.0
    }
}

impl From<Age> for Duration {
    fn from(age: Age) -> Self {
        age.0
    }
}

impl From<Size> for usize {
    fn from(size: Size) -> Self {
        size.0
    }
}

impl Time {
    pub(super) const FORMAT: &str = "breakfall-time";

    fn of(value: &Value) -> Option<Self> {
        Wait::of(value).filter(|wait| !wait.0.is_zero()).map(|wait| Self(wait.0))
    }
}

impl Wait {
    pub(super) const FORMAT: &str = "breakfall-wait";

    fn of(value: &Value) -> Option<Self> {
        let seconds = amount(value, TIMES).filter(|seconds| *seconds <= LONGEST)?;
        Duration::try_from_secs_f64(seconds).ok().map(Self)
    }
}

impl Age {
    pub(super) const FORMAT: &str = "breakfall-age";

    fn of(value: &Value) -> Option<Self> {
        let is_an_age = |seconds: &f64| (SHORTEST_AGE..=LONGEST_AGE).contains(seconds);
        let seconds = amount(value, TIMES).filter(is_an_age)?;
        Duration::try_from_secs_f64(seconds).ok().map(Self)
    }
}

impl Size {
    pub(super) const FORMAT: &str = "breakfall-size";

    fn of(value: &Value) -> Option<Self> {
        let bytes =
            amount(value, SIZES).filter(|bytes| *bytes <= LARGEST && bytes.fract() == 0.0)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole, from nought to a GiB"
        )]
        Some(Self(bytes as usize))
    }
}

/// Whether a value is one of the format. What no unit is written in always is.
pub(super) fn is_in_format(format: &str, value: &Value) -> bool {
    match format {
        Time::FORMAT => Time::of(value).is_some(),
        Wait::FORMAT => Wait::of(value).is_some(),
        Age::FORMAT => Age::of(value).is_some(),
        Size::FORMAT => Size::of(value).is_some(),
        _ => true,
    }
}

/// How many of the smallest unit, never less than nought.
fn amount(value: &Value, units: &[(&str, f64)]) -> Option<f64> {
    let Value::String(text) = value else {
        return value.as_f64().filter(|number| *number >= 0.0);
    };
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    number.parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number * factor)
}

macro_rules! unit {
    ($unit:ident, $name:literal, $schema:expr) => {
        impl<'de> Deserialize<'de> for $unit {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = Value::deserialize(deserializer)?;
                Self::of(&value).ok_or_else(|| serde::de::Error::custom($name))
            }
        }

        impl JsonSchema for $unit {
            fn schema_name() -> Cow<'static, str> {
                stringify!($unit).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

unit!(Time, "not a time", {
    json_schema!({
        "title": "a time of more than 0 and at most 30 days like \"250ms\", \"30s\", \"5min\" \
                  or \"1h\", or a number of seconds",
        "type": ["string", "number"],
        "format": Self::FORMAT,
        "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*(ms|s|min|h|d)$",
        "exclusiveMinimum": 0,
        "maximum": LONGEST,
        "examples": ["250ms", "30s", "5min", "1h"],
    })
});

unit!(Wait, "not a time to wait", {
    json_schema!({
        "title": "a time of at most 30 days like \"0s\", \"250ms\", \"30s\", \"5min\" or \"1h\", \
                  or a number of seconds",
        "type": ["string", "number"],
        "format": Self::FORMAT,
        "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*(ms|s|min|h|d)$",
        "minimum": 0,
        "maximum": LONGEST,
        "examples": ["0s", "250ms", "30s"],
    })
});

unit!(Age, "not an age", {
    json_schema!({
        "title": "a time from 1 minute to 10 years like \"90min\", \"12h\" or \"7d\", or a number \
                  of seconds",
        "type": ["string", "number"],
        "format": Self::FORMAT,
        "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*(ms|s|min|h|d)$",
        "minimum": SHORTEST_AGE,
        "maximum": LONGEST_AGE,
        "examples": ["12h", "7d"],
    })
});

unit!(Size, "not a size", {
    json_schema!({
        "title": "a size of at most 1GiB like \"512B\", \"100KiB\", \"4MiB\" or \"2MB\", or a \
                  number of bytes",
        "type": ["string", "integer"],
        "format": Self::FORMAT,
        "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*(B|KB|MB|GB|KiB|MiB|GiB)$",
        "minimum": 0,
        "maximum": LARGEST,
        "examples": ["2KiB", "100KiB", "4MiB"],
    })
});

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_time_is_read_as_it_is_written() {
        for (written, expected) in [
            (json!("250ms"), Some(Duration::from_millis(250))),
            (json!("3ms"), Some(Duration::from_millis(3))),
            (json!("30s"), Some(Duration::from_secs(30))),
            (json!("30 s"), Some(Duration::from_secs(30))),
            (json!("1.5s"), Some(Duration::from_millis(1500))),
            (json!("5min"), Some(Duration::from_mins(5))),
            (json!("1h"), Some(Duration::from_hours(1))),
            (json!("30d"), Some(Duration::from_hours(720))),
            (json!(30), Some(Duration::from_secs(30))),
            (json!(0.25), Some(Duration::from_millis(250))),
            (json!("31d"), None),
            (json!("99999999999999999999999999h"), None),
            (json!(1e300), None),
            (json!(-1), None),
            (json!("-1s"), None),
            (json!("5m"), None),
            (json!("30"), None),
            (json!("30 sec"), None),
            (json!("1.2.3s"), None),
            (json!(""), None),
            (json!(true), None),
            (json!(null), None),
        ] {
            assert_eq!(Time::of(&written).map(Duration::from), expected, "{written}");
        }
    }

    #[test]
    fn only_a_wait_may_be_nothing() {
        for written in [json!("0s"), json!(0), json!("0.0ms")] {
            assert_eq!(Time::of(&written), None, "{written}");
            assert_eq!(Wait::of(&written), Some(Wait(Duration::ZERO)), "{written}");
        }
    }

    #[test]
    fn an_age_may_be_years() {
        for (written, expected) in [
            (json!("400d"), Some(Duration::from_hours(400 * 24))),
            (json!("1min"), Some(Duration::from_mins(1))),
            (json!("3650d"), Some(Duration::from_hours(3650 * 24))),
            (json!("3651d"), None),
            (json!("59s"), None),
            (json!(0), None),
        ] {
            assert_eq!(Age::of(&written).map(Duration::from), expected, "{written}");
        }
    }

    #[test]
    fn a_size_is_read_as_it_is_written() {
        for (written, expected) in [
            (json!("100KiB"), Some(100 << 10)),
            (json!("4MiB"), Some(4 << 20)),
            (json!("1GiB"), Some(1 << 30)),
            (json!("2MB"), Some(2_000_000)),
            (json!("1.5KiB"), Some(1536)),
            (json!("512 B"), Some(512)),
            (json!(512), Some(512)),
            (json!(0), Some(0)),
            (json!("1.1GiB"), None),
            (json!("0.3KiB"), None),
            (json!("2GiB"), None),
            (json!(u64::MAX), None),
            (json!("4mb"), None),
            (json!("4"), None),
            (json!("4MiB extra"), None),
            (json!([1]), None),
        ] {
            assert_eq!(Size::of(&written).map(usize::from), expected, "{written}");
        }
    }
}
