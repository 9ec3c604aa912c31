//! Text as it stands within a JSON string.

use std::fmt;

use crate::stretch::{is_marked, marks};

/// How many bytes are looked at together.
const TOGETHER: usize = 16;

/// What is written to it stands within a JSON string.
pub(super) struct Escaping<'a>(pub(super) &'a mut String);

impl fmt::Write for Escaping<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        push(self.0, text);
        Ok(())
    }
}

/// Adds a text, escaped.
pub(super) fn push(to: &mut String, text: &str) {
    if !has_marked(text.as_bytes()) {
        return to.push_str(text);
    }
    // Only bytes of ASCII are escaped, so that a text is never split within a letter.
    let mut rest = text;
    while let Some(at) = rest.bytes().position(is_marked) {
        let (plain, marked) = rest.split_at(at);
        to.push_str(plain);
        escape(to, marked.as_bytes()[0]);
        rest = &marked[1..];
    }
    to.push_str(rest);
}

/// Whether anything is to be escaped: many bytes at once, then the last ones again.
fn has_marked(bytes: &[u8]) -> bool {
    // Without a way out half way, so that the compiler looks at all of them at once.
    let any = |bytes: &[u8; TOGETHER]| bytes.iter().fold(false, |any, b| any | is_marked(*b));
    if let Some(last) = bytes.last_chunk::<TOGETHER>() {
        bytes.as_chunks::<TOGETHER>().0.iter().any(any) || any(last)
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        marks(*first) | marks(*last) != 0
    } else {
        bytes.iter().any(|byte| is_marked(*byte))
    }
}

fn escape(to: &mut String, byte: u8) {
    match byte {
        b'"' => to.push_str("\\\""),
        b'\\' => to.push_str("\\\\"),
        b'\n' => to.push_str("\\n"),
        b'\r' => to.push_str("\\r"),
        b'\t' => to.push_str("\\t"),
        other => {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            to.push_str("\\u00");
            to.push(char::from(HEX[usize::from(other >> 4)]));
            to.push(char::from(HEX[usize::from(other & 15)]));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::push;

    proptest! {
        #[test]
        fn any_text_comes_back_from_json(parts in proptest::collection::vec(
            prop_oneof![".{0,40}", "[\\x00-\\x1f\"\\\\]{0,4}", "\\PC{0,20}"], 0..6)
        ) {
            let text = parts.concat();
            let mut json = "\"".to_owned();
            push(&mut json, &text);
            json.push('"');
            prop_assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), Value::String(text));
            prop_assert!(json.bytes().all(|byte| byte >= b' '), "{json}");
        }
    }
}
