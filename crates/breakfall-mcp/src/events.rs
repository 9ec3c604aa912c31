//! Server-sent events: bytes become events within bounds, and messages become events.

use std::time::Duration;

use crate::message::LONGEST;

/// How much of one that is too long is kept.
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
    /// Longer than any may be; only how it begins was kept.
    pub(crate) is_too_long: bool,
    /// It tells where messages go.
    pub(crate) is_endpoint: bool,
}

/// Takes bytes as they come.
#[derive(Default)]
pub(crate) struct Decoder {
    line: Vec<u8>,
    after_return: bool,
    event: Event,
    has_data: bool,
}

impl Decoder {
    /// The events that these bytes complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        for &byte in bytes {
            let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => events.extend(self.ended()),
                // One byte over the longest tells that it is too long.
                _ if self.line.len() <= LONGEST => self.line.push(byte),
                _ => {}
            }
        }
        events
    }

    /// A line has ended; an empty one ends its event.
    fn ended(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let is_one = std::mem::take(&mut self.has_data)
                || self.event.id.is_some()
                || self.event.retry.is_some();
            let event = std::mem::take(&mut self.event);
            return is_one.then_some(event);
        }
        let is_cut = line.len() > LONGEST;
        let line = String::from_utf8_lossy(&line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if is_cut || self.event.data.len() + value.len() > LONGEST {
                    self.event.is_too_long = true;
                    let (head, more) = (&mut self.event.data, value.floor_char_boundary(HEAD));
                    head.truncate(head.floor_char_boundary(HEAD));
                    head.push_str(&value[..more]);
                } else {
                    if self.has_data {
                        self.event.data.push('\n');
                    }
                    self.event.data.push_str(value);
                }
                self.has_data = true;
            }
            "event" => self.event.is_endpoint = value == "endpoint",
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "retry" => self.event.retry = value.parse().ok().map(Duration::from_millis),
            _ => {}
        }
        None
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
        assert!(events[0].is_too_long && events[0].data.starts_with("{\"id\":7,"));
        assert_eq!(events[1].data, "next");
    }
}
