//! What is too long to be read: bytes of which only the two ends are kept, and what those tell.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::fields::Fields;
use crate::message::{Answer, LONGEST, error};

/// How much is kept of each end.
const END: usize = 256;

/// Bytes as they come, within bounds.
#[derive(Default)]
pub(crate) struct Bounded {
    bytes: Vec<u8>,
    /// The last that came when there was no more room.
    last: Vec<u8>,
}

impl Bounded {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        // One byte over the longest tells that it is too long.
        let room = (LONGEST + 1).saturating_sub(self.bytes.len()).min(bytes.len());
        self.bytes.extend_from_slice(&bytes[..room]);
        let rest = &bytes[room..];
        self.last.extend_from_slice(&rest[rest.len().saturating_sub(END)..]);
        if self.last.len() > 4 * END {
            self.last.drain(..self.last.len() - END);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// All of it, or what is left of what is too long.
    pub(crate) fn take(&mut self) -> Result<Vec<u8>, Long> {
        let Self { bytes, last } = std::mem::take(self);
        if bytes.len() <= LONGEST {
            return Ok(bytes);
        }
        let from = bytes.len() - END.saturating_sub(last.len());
        let tail = [&bytes[from..], &last[last.len().saturating_sub(END)..]].concat();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Err(Long { head: text(&bytes[..END]), tail: text(&tail) })
    }
}

/// What is left of a message that is too long.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Long {
    pub(crate) head: String,
    pub(crate) tail: String,
}

impl Long {
    /// The ends of what is not too long, and cannot be read all the same.
    pub(crate) fn of(text: &str) -> Self {
        let from = text.ceil_char_boundary(text.len().saturating_sub(END));
        Self {
            head: text[..text.floor_char_boundary(END)].to_owned(),
            tail: text[from..].to_owned(),
        }
    }

    /// The id of the message, where one of its ends tells it. What stands deeper within is not its.
    pub(crate) fn id(&self) -> Option<Box<RawValue>> {
        let members = members(&self.head);
        let first = members.iter().find(|(name, _)| name == "id").and_then(|(_, value)| *value);
        let id = first.or_else(|| id_at_the_end(&self.tail))?;
        RawValue::from_string(id.to_owned()).ok()
    }

    /// Whether it asks or tells something, and is no answer.
    pub(crate) fn is_asking(&self) -> bool {
        members(&self.head).iter().any(|(name, _)| matches!(&**name, "method" | "params"))
    }
}

/// The id of an answer that cannot be read as one. What has no mark of the protocol, such as a line
/// of a log, answers nothing.
pub(crate) fn unreadable(line: &str) -> Option<Box<RawValue>> {
    if let Ok(mut fields) = serde_json::from_str::<Fields>(line) {
        return fields.take("jsonrpc").and_then(|_| fields.take("id"));
    }
    // What a program tells of an answer that it sends is none.
    if !line.trim_start().starts_with('{') {
        return None;
    }
    let long = Long::of(line);
    let is_mark = |(name, _): &(String, _)| name == "jsonrpc";
    let has_mark = members(&long.head).iter().any(is_mark) || long.tail.contains(r#""jsonrpc""#);
    if !has_mark || long.is_asking() { None } else { long.id() }
}

/// What is said to whoever sent a message that is too long.
pub(crate) fn refusal() -> Answer {
    error(-32600, "this message is longer than 16 MiB")
}

/// The outermost members of the object that a text begins; with their values, as far as those are
/// whole.
fn members(head: &str) -> Vec<(String, Option<&str>)> {
    let mut members = Vec::new();
    let mut rest = head.trim_start().strip_prefix('{');
    while let Some((name, after)) = rest.and_then(value)
        && let Ok(name) = serde_json::from_str(name)
        && let Some(after) = after.trim_start().strip_prefix(':')
    {
        let whole = value(after);
        members.push((name, whole.map(|(value, _)| value)));
        rest = whole.and_then(|(_, after)| after.trim_start().strip_prefix(','));
    }
    members
}

/// The value with which a text begins, and what follows; nothing where it is cut off.
fn value(text: &str) -> Option<(&str, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let value = values.next()?.ok()?.get();
    let rest = &text[values.byte_offset()..];
    // A number that is cut off is one, too.
    (!rest.is_empty()).then_some((value, rest))
}

/// The id among the last members of the object that a text ends: those that are plain.
fn id_at_the_end(tail: &str) -> Option<&str> {
    let members = tail.trim_end().strip_suffix('}')?;
    for member in members.rsplit(',') {
        let (name, value) = member.split_once(':')?;
        let name: String = serde_json::from_str(name).ok()?;
        match serde_json::from_str(value).ok()? {
            Value::Array(_) | Value::Object(_) => return None,
            Value::String(_) | Value::Number(_) if name == "id" => return Some(value.trim()),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_id_of_the_message_itself_counts() {
        for (head, tail, id, is_asking) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"id":8,"a"#, "x", Some("7"), false),
            (
                r#"{ "jsonrpc": "2.0", "id": "a", "method": "x", "params": {"#,
                "x",
                Some("\"a\""),
                true,
            ),
            (r#"{"result":{"id":8},"id":7,"a"#, "x", Some("7"), false),
            (
                r#"{"result":{"structuredContent":{"id":8,"a"#,
                r#"yy"}]},"jsonrpc":"2.0","id":7}"#,
                Some("7"),
                false,
            ),
            (
                r#"{"method":"a","params":{"id":8,"#,
                "y\"}, \"id\": \"7\" , \"jsonrpc\": \"2.0\" }\r",
                Some("\"7\""),
                true,
            ),
            (r#"{"result":{"id":8,"#, r#"y","id":8}}"#, None, false),
            (r#"{"result":{"id":8,"#, r#"y,\"id\":8"}"#, None, false),
            (r#"{"result":{"id":8,"#, r#"d":{"id":8},"jsonrpc":"2.0"}"#, None, false),
            (r#"{"result":1,"id":12"#, "", None, false),
            ("garbage", "garbage", None, false),
        ] {
            let long = Long { head: head.to_owned(), tail: tail.to_owned() };
            let told = long.id().map(|id| id.get().to_owned());
            assert_eq!((told.as_deref(), long.is_asking()), (id, is_asking), "{head} … {tail}");
        }
    }

    #[test]
    fn an_answer_that_cannot_be_read_tells_whose_it_is() {
        for (line, id) in [
            (r#"{"jsonrpc":"2.0","id":7}"#, Some("7")),
            (r#"{"jsonrpc":"2.0","id":7,"result":{"a":"\x"}}"#, Some("7")),
            (r#"{"result":{"a":"\x"},"jsonrpc":"2.0","id":7}"#, Some("7")),
            (r#"{"level":30,"id":7,"msg":"called"}"#, None),
            (r#"{"jsonrpc":"2.0","id":7,"method":"a\x"}"#, None),
            (r#"sending {"result":{},"jsonrpc":"2.0","id":7}"#, None),
            (r#"{"sends":{"result":{},"jsonrpc":"2.0"},"id":7}"#, None),
            ("no message", None),
        ] {
            let told = unreadable(line).map(|id| id.get().to_owned());
            assert_eq!(told.as_deref(), id, "{line}");
        }
    }

    #[test]
    fn both_ends_are_kept_however_the_bytes_come() {
        for (over, size) in [(1, 7_000), (100, 1 << 20), (5_000, 1), (5_000, 300)] {
            let mut bytes = vec![b'x'; LONGEST + over];
            bytes[..5].copy_from_slice(b"begin");
            let end = bytes.len() - 3;
            bytes[end..].copy_from_slice(b"end");
            let mut bounded = Bounded::default();
            let (long, rest) = bytes.split_at(LONGEST - 10);
            bounded.push(long);
            rest.chunks(size).for_each(|chunk| bounded.push(chunk));
            let long = bounded.take().unwrap_err();
            assert!(long.head.starts_with("begin") && long.head.len() == END);
            assert!(long.tail.ends_with("end") && long.tail.len() == END, "{over} {size}");
            assert!(bounded.is_empty());
        }
    }
}
