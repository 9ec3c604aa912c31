//! An event becomes a line of JSON.

use std::fmt::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use tracing::field::{Field, Visit};
use tracing::{Event, Level};

use super::super::calendar::Calendar;
use super::escaped;
use crate::written::push_digits;

/// A line, and the fields that go to its end.
#[derive(Default)]
pub(super) struct Line {
    line: String,
    fields: String,
}

impl Line {
    pub(super) const fn new() -> Self {
        Self { line: String::new(), fields: String::new() }
    }

    /// How many bytes it holds on to.
    pub(super) fn bytes(&self) -> usize {
        self.line.capacity() + self.fields.capacity()
    }

    /// The line of an event.
    pub(super) fn of(&mut self, event: &Event<'_>, now: SystemTime) -> &[u8] {
        let metadata = event.metadata();
        self.line.clear();
        self.fields.clear();
        self.line.push_str("{\"time\":\"");
        time(&mut self.line, now);
        self.line.push_str("\",\"level\":\"");
        self.line.push_str(word(*metadata.level()));
        self.line.push_str("\",\"target\":\"");
        escaped::push(&mut self.line, metadata.target());
        self.line.push('"');
        event.record(self);
        if !self.fields.is_empty() {
            self.line.push_str(",\"fields\":{");
            self.line.push_str(&self.fields);
            self.line.push('}');
        }
        self.line.push_str("}\n");
        self.line.as_bytes()
    }

    /// Where a field goes, behind its name.
    fn named(&mut self, field: &Field) -> &mut String {
        let name = field.name();
        if name == "message" {
            self.line.push_str(",\"message\":");
            return &mut self.line;
        }
        self.fields.push_str(if self.fields.is_empty() { "\"" } else { ",\"" });
        escaped::push(&mut self.fields, name);
        self.fields.push_str("\":");
        &mut self.fields
    }
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        let to = self.named(field);
        to.push('"');
        escaped::push(to, value);
        to.push('"');
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let to = self.named(field);
        to.push('"');
        // A value that fails half way is left as it is.
        let _ = write!(escaped::Escaping(to), "{value:?}");
        to.push('"');
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.named(field).push_str(if value { "true" } else { "false" });
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        push_digits(self.named(field), value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        let to = self.named(field);
        if value < 0 {
            to.push('-');
        }
        push_digits(to, value.unsigned_abs());
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        let _ = write!(self.named(field), "{value}");
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        let _ = write!(self.named(field), "{value}");
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        let to = self.named(field);
        // JSON has no number for the rest.
        let _ = if value.is_finite() { write!(to, "{value:?}") } else { to.write_str("null") };
    }
}

fn word(level: Level) -> &'static str {
    match level {
        Level::ERROR => "ERROR",
        Level::WARN => "WARN",
        Level::INFO => "INFO",
        Level::DEBUG => "DEBUG",
        Level::TRACE => "TRACE",
    }
}

/// `2026-11-15T13:57:26.123Z`, as RFC 3339 has it; no later than it can say.
fn time(to: &mut String, at: SystemTime) {
    const LAST: i64 = 253_402_300_799_999;
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    let at = i64::try_from(since.as_millis()).map_or(LAST, |at| at.min(LAST));
    let Calendar { year, month, day, hour, minute, second } = Calendar::of(at);
    let mut text = *b"0000-00-00T00:00:00.000Z";
    for (number, from, to) in [
        (year, 0, 4),
        (month, 5, 7),
        (day, 8, 10),
        (hour, 11, 13),
        (minute, 14, 16),
        (second, 17, 19),
        (at % 1_000, 20, 23),
    ] {
        let mut number = number.unsigned_abs();
        for digit in text[from..to].iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
        }
    }
    to.push_str(std::str::from_utf8(&text).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_those_of_rfc_3339() {
        for (after, is) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_007, "2000-02-28T23:59:59.007Z"),
            (1_794_751_046_123, "2026-11-15T13:57:26.123Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ] {
            let mut text = String::new();
            time(&mut text, UNIX_EPOCH + Duration::from_millis(after));
            assert_eq!(text, is);
        }
    }
}
