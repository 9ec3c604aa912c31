//! An event becomes a line of JSON.

use std::fmt::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata};

use super::super::calendar::Calendar;
use super::escaped;
use crate::written::push_digits;

/// How many callsites are known at a time.
const CALLSITES: usize = 32;

/// A line, and the fields that go to its end.
#[derive(Default)]
pub(super) struct Line {
    text: String,
    fields: String,
    /// What is the same in all lines of a callsite.
    known: Vec<Callsite>,
    /// Which of them the line is of.
    at: usize,
    /// The second of the last line, and how it is written.
    second: Option<i64>,
    date: String,
}

/// What is the same in all lines of a callsite.
struct Callsite {
    /// Whose it is: a callsite itself may take no room, and be in one place with others.
    metadata: &'static Metadata<'static>,
    /// What stands behind the time.
    head: String,
    /// The names of its fields, by their index.
    names: Vec<String>,
}

impl Callsite {
    fn of(metadata: &'static Metadata<'static>) -> Self {
        let mut head = format!("\",\"level\":\"{}\",\"target\":\"", word(*metadata.level()));
        escaped::push(&mut head, metadata.target());
        head.push('"');
        let name = |field: Field| {
            let mut name = ",\"".to_owned();
            escaped::push(&mut name, field.name());
            name.push_str("\":");
            name
        };
        Self { metadata, head, names: metadata.fields().iter().map(name).collect() }
    }
}

impl Line {
    pub(super) const fn new() -> Self {
        Self {
            text: String::new(),
            fields: String::new(),
            known: Vec::new(),
            at: 0,
            second: None,
            date: String::new(),
        }
    }

    /// How many bytes of text it holds on to.
    pub(super) fn bytes(&self) -> usize {
        self.text.capacity() + self.fields.capacity()
    }

    /// The line of an event.
    pub(super) fn of(&mut self, event: &Event<'_>, now: SystemTime) -> &[u8] {
        self.text.clear();
        self.fields.clear();
        self.text.push_str("{\"time\":\"");
        self.time(now);
        self.at = self.callsite(event.metadata());
        self.text.push_str(&self.known[self.at].head);
        event.record(self);
        if !self.fields.is_empty() {
            self.text.push_str(",\"fields\":{");
            self.text.push_str(&self.fields);
            self.text.push('}');
        }
        self.text.push_str("}\n");
        self.text.as_bytes()
    }

    /// Where the callsite of an event is known.
    fn callsite(&mut self, metadata: &'static Metadata<'static>) -> usize {
        let is_its = |known: &Callsite| std::ptr::eq(known.metadata, metadata);
        if let Some(at) = self.known.iter().position(is_its) {
            return at;
        }
        if self.known.len() == CALLSITES {
            self.known.clear();
        }
        self.known.push(Callsite::of(metadata));
        self.known.len() - 1
    }

    /// Where a field goes, behind its name.
    fn named(&mut self, field: &Field) -> &mut String {
        let names = self.known.get(self.at).map_or(&[][..], |known| &known.names);
        let name = names.get(field.index()).map_or("", String::as_str);
        if field.name() == "message" {
            self.text.push_str(name);
            return &mut self.text;
        }
        // Before the first of them no comma stands.
        let before = usize::from(self.fields.is_empty());
        self.fields.push_str(name.get(before..).unwrap_or_default());
        &mut self.fields
    }

    /// `2026-11-15T13:57:26.123Z`, as RFC 3339 has it; no later than it can say.
    fn time(&mut self, at: SystemTime) {
        const LAST: i64 = 253_402_300_799_999;
        let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let at = i64::try_from(since.as_millis()).map_or(LAST, |at| at.min(LAST));
        if self.second != Some(at / 1_000) {
            self.second = Some(at / 1_000);
            self.date.clear();
            let Calendar { year, month, day, hour, minute, second } = Calendar::of(at);
            push_two(&mut self.date, year / 100);
            let parts = [year % 100, month, day, hour, minute, second];
            for (number, behind) in parts.into_iter().zip(['-', '-', 'T', ':', ':', '.']) {
                push_two(&mut self.date, number);
                self.date.push(behind);
            }
        }
        self.text.push_str(&self.date);
        let millis = (at % 1_000).unsigned_abs();
        for by in [100, 10, 1] {
            self.text.push(char::from(b'0' + (millis / by % 10) as u8));
        }
        self.text.push('Z');
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

/// A number as two digits.
fn push_two(to: &mut String, number: i64) {
    let number = number.unsigned_abs();
    to.push(char::from(b'0' + (number / 10 % 10) as u8));
    to.push(char::from(b'0' + (number % 10) as u8));
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tracing::callsite::Callsite as Site;
    use tracing::field::FieldSet;
    use tracing::metadata::Kind;
    use tracing::subscriber::Interest;

    use super::*;

    /// Nothing tells two callsites apart that take no room: those of the crate `log` are such.
    struct Shared;

    static SHARED: Shared = Shared;
    static LOUD: Metadata<'static> = metadata(Level::ERROR, "loud", &["one"]);
    static QUIET: Metadata<'static> = metadata(Level::INFO, "quiet", &["other"]);

    impl Site for Shared {
        fn set_interest(&self, _: Interest) {}

        fn metadata(&self) -> &Metadata<'_> {
            &LOUD
        }
    }

    const fn metadata(
        level: Level,
        target: &'static str,
        names: &'static [&'static str],
    ) -> Metadata<'static> {
        let fields = FieldSet::new(names, tracing::callsite::Identifier(&SHARED));
        Metadata::new("event", target, level, None, None, None, fields, Kind::EVENT)
    }

    #[test]
    fn callsites_in_one_place_keep_their_levels_and_names() {
        let mut line = Line::new();
        let mut of = |metadata: &'static Metadata<'static>| {
            let field = metadata.fields().iter().next().unwrap();
            let values = [(&field, Some(&7 as &dyn tracing::Value))];
            let values = metadata.fields().value_set(&values);
            let text = line.of(&Event::new(metadata, &values), UNIX_EPOCH).to_vec();
            String::from_utf8(text).unwrap()
        };
        let loud = "\"level\":\"ERROR\",\"target\":\"loud\",\"fields\":{\"one\":7}}\n";
        let quiet = "\"level\":\"INFO\",\"target\":\"quiet\",\"fields\":{\"other\":7}}\n";
        for _ in 0..2 {
            assert!(of(&LOUD).ends_with(loud), "{}", of(&LOUD));
            assert!(of(&QUIET).ends_with(quiet), "{}", of(&QUIET));
        }
    }

    #[test]
    fn times_are_those_of_rfc_3339() {
        for (after, is) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_007, "2000-02-28T23:59:59.007Z"),
            (1_794_751_046_123, "2026-11-15T13:57:26.123Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ] {
            let mut line = Line::new();
            // Twice: what was written last is not written anew.
            for _ in 0..2 {
                line.text.clear();
                line.time(UNIX_EPOCH + Duration::from_millis(after));
                assert_eq!(line.text, is);
            }
        }
    }
}
