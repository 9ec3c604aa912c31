//! Server-sent events: bytes become events within bounds, and messages become events.

use std::time::Duration;

use crate::long::{Bounded, Long};
use crate::message::LONGEST;

/// How much of the beginning of what is too long is kept.
const HEAD: usize = 256;

/// An event that came.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Event {
    /// What it says; empty for one that says nothing.
    pub(crate) data: String,
    /// Under which id the stream can be taken up again behind it.
    pub(crate) id: Option<String>,
    /// How long to wait before that.
    pub(crate) retry: Option<Duration>,
    /// What is left of one that is longer than any may be.
    pub(crate) long: Option<Long>,
    /// It tells where messages go.
    pub(crate) is_endpoint: bool,
}

/// Takes bytes as they come.
#[derive(Default)]
pub(crate) struct Decoder {
    line: Bounded,
    after_return: bool,
    event: Event,
    has_data: bool,
}

impl Decoder {
    /// The events that these bytes complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            let after_return = std::mem::replace(&mut self.after_return, first == b'\r');
            let length = match first {
                b'\n' if after_return => 1,
                b'\n' | b'\r' => {
                    events.extend(self.ended());
                    1
                }
                _ => {
                    let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
                    self.line.push(&rest[..length]);
                    length
                }
            };
            rest = &rest[length..];
        }
        events
    }

    /// A line has ended; an empty one ends its event.
    fn ended(&mut self) -> Option<Event> {
        if self.line.is_empty() {
            let is_one = std::mem::take(&mut self.has_data)
                || self.event.id.is_some()
                || self.event.retry.is_some();
            let event = std::mem::take(&mut self.event);
            return is_one.then_some(event);
        }
        let line = match self.line.take() {
            Ok(line) => line,
            Err(long) => {
                self.is_long(&long.head, long.tail);
                return None;
            }
        };
        let line = String::from_utf8_lossy(&line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.event.long.is_some() || self.event.data.len() + value.len() > LONGEST {
                    self.is_long(&line, value.to_owned());
                } else {
                    if self.has_data {
                        self.event.data.push('\n');
                    }
                    self.event.data.push_str(value);
                    self.has_data = true;
                }
            }
            "event" => self.event.is_endpoint = value == "endpoint",
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "retry" => self.event.retry = value.parse().ok().map(Duration::from_millis),
            _ => {}
        }
        None
    }

    /// What an event says is too long: it begins with what came before, and ends with this line.
    fn is_long(&mut self, line: &str, tail: String) {
        let Some(data) = line.strip_prefix("data:") else { return };
        let before = std::mem::take(&mut self.event.data);
        let long = self.event.long.get_or_insert_with(|| {
            let head = if before.is_empty() { data } else { &before };
            Long { head: head[..head.floor_char_boundary(HEAD)].to_owned(), tail: String::new() }
        });
        long.tail = tail;
        self.has_data = true;
    }
}

/// A message as an event. A message is one line of text.
pub(crate) fn encoded(id: Option<&str>, message: &str) -> String {
    match id {
        Some(id) => format!("id: {id}\nevent: message\ndata: {message}\n\n"),
        None => format!("event: message\ndata: {message}\n\n"),
    }
}

/// An event that says nothing but under which id the stream can be taken up again, and when.
pub(crate) fn priming(id: &str, retry: Duration) -> String {
    format!("id: {id}\nretry: {}\ndata:\n\n", retry.as_millis())
}

/// A line that says only that the stream is alive.
pub(crate) const ALIVE: &str = ":\n\n";

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = ": hello\n\nid: 1\ndata: {\"a\":1}\n\ndata: b\r\ndata:c\r\n\r\nid: 2\nretry: 50\ndata:\n\nevent: x\n\ndata: cut";

    fn of(data: &str, id: Option<&str>, retry: Option<u64>) -> Event {
        let (data, id) = (data.to_owned(), id.map(str::to_owned));
        Event { data, id, retry: retry.map(Duration::from_millis), ..Event::default() }
    }

    #[test]
    fn events_are_the_same_however_the_bytes_come() {
        let all =
            [of("{\"a\":1}", Some("1"), None), of("b\nc", None, None), of("", Some("2"), Some(50))];
        for size in 1..TEXT.len() {
            let mut decoder = Decoder::default();
            let chunks = TEXT.as_bytes().chunks(size);
            let events: Vec<Event> = chunks.flat_map(|chunk| decoder.push(chunk)).collect();
            assert_eq!(events, all, "in chunks of {size}");
        }
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        let text = format!(
            "{}{ALIVE}{}",
            priming("3-0", Duration::from_secs(1)),
            encoded(Some("3-1"), "{}")
        );
        let events = Decoder::default().push(text.as_bytes());
        assert_eq!(events, [of("", Some("3-0"), Some(1000)), of("{}", Some("3-1"), None)]);
    }

    #[test]
    fn an_event_that_is_too_long_is_told_apart_and_the_next_one_comes() {
        let mut bytes = b"data: {\"id\":7,".to_vec();
        bytes.extend(vec![b'x'; LONGEST]);
        bytes.extend(b"\n\ndata: next\n\n");
        let events = Decoder::default().push(&bytes);
        let long = events[0].long.as_ref().unwrap();
        assert!(long.id().is_some_and(|id| id.get() == "7"), "{long:?}");
        assert_eq!(events[1].data, "next");
    }
}
