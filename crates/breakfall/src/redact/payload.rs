//! What a door passes on to the letter, without the secrets in it.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;
use serde_json::value::RawValue;

use super::Redactor;
use crate::halves::without_halves;

/// The shortest text that is taken for the bytes of a picture or a sound.
const BINARY: usize = 64;

impl Redactor {
    /// A payload but for what was registered.
    pub(super) fn payload(&self, payload: Box<RawValue>) -> Box<RawValue> {
        if !self.values.iter().any(|value| payload.get().contains(value.as_str())) {
            return payload;
        }
        let mut text = Box::<str>::from(payload).into_string();
        self.without_values(&mut text);
        // A value that is not within a text may tear the JSON apart: then nothing passes.
        RawValue::from_string(text).unwrap_or_default()
    }

    /// A payload without what was registered, and without any other secret.
    pub(crate) fn clean_payload(&self, payload: Box<RawValue>) -> Box<RawValue> {
        self.payload(self.payload_without_secrets(payload))
    }

    /// A payload without any secret in its texts. Binary content stays as it is, and so does all
    /// that is no secret, to the letter.
    pub(super) fn payload_without_secrets(&self, payload: Box<RawValue>) -> Box<RawValue> {
        let json = payload.get();
        if self.find(json).is_empty() && !json.contains('\\') {
            return payload;
        }
        let (mut clean, mut written) = (String::new(), 0);
        let mut before = None;
        for at in texts(json) {
            let text = read(&json[at.clone()]);
            if json[at.end..].trim_start().starts_with(':') {
                before = Some((text, at.end));
                continue;
            }
            let name = before.take().filter(|(_, end)| json[*end..at.start].trim() == ":");
            if let Some(redacted) = self.value(name.as_ref().map(|(name, _)| &**name), &text) {
                clean.push_str(&json[written..at.start]);
                clean.push_str(&Value::String(redacted).to_string());
                written = at.end;
            }
        }
        if written == 0 {
            return payload;
        }
        clean.push_str(&json[written..]);
        RawValue::from_string(clean).unwrap_or_default()
    }

    /// What stands for a text that holds a secret. The name before a value may tell that it is one.
    fn value(&self, name: Option<&str>, text: &str) -> Option<String> {
        match name {
            Some(_) if is_binary(text) => None,
            Some(name) if super::is_secret_name(name) => {
                (!text.is_empty() && text != super::GONE).then(|| super::GONE.to_owned())
            }
            _ => match self.redact(text) {
                Cow::Owned(redacted) => Some(redacted),
                Cow::Borrowed(_) => None,
            },
        }
    }
}

/// Where the texts of JSON stand, with their quotes.
fn texts(json: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + json[from..].find('"')?;
        let mut end = start + 1;
        loop {
            match json.as_bytes().get(end)? {
                b'"' => break,
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        from = end + 1;
        Some(start..from)
    })
}

/// What a text of JSON says.
fn read(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(&text[1..text.len() - 1]);
    }
    let said = serde_json::from_str(text).ok();
    let said = said.or_else(|| serde_json::from_str(&without_halves(text)?).ok());
    Cow::Owned(said.unwrap_or_else(|| text.to_owned()))
}

/// Whether a text holds bytes, not words: one run of base64, of whole groups.
fn is_binary(text: &str) -> bool {
    let of_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    text.len() >= BINARY && text.len().is_multiple_of(4) && text.bytes().all(of_base64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn redacted(value: &Value) -> Value {
        let raw = serde_json::value::to_raw_value(value).unwrap();
        serde_json::from_str(Redactor::default().payload_without_secrets(raw).get()).unwrap()
    }

    #[test]
    fn secrets_go_out_of_texts_and_binary_content_stays() {
        let picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk".repeat(4);
        let url = "postgres://bob:hunter2@db";
        let value = json!({
            "content": [{ "type": "text", "text": format!("at {url}\n\"quoted\"") },
                        { "type": "image", "data": picture }],
            "structuredContent": { "password": "hunter2", "rows": [1, 2.5, null, true] },
        });
        let done = redacted(&value);
        let text = done.to_string();
        assert!(!text.contains("hunter2"), "{text}");
        assert_eq!(done["content"][1]["data"], picture);
        assert_eq!(done["structuredContent"]["rows"], json!([1, 2.5, null, true]));
        assert_eq!(redacted(&done), done);
        let harmless = json!({ "content": [{ "type": "text", "text": "line\nline" }] });
        assert_eq!(redacted(&harmless), harmless);
    }

    #[test]
    fn neither_half_a_character_nor_depth_keeps_a_secret_in_or_words_out() {
        let of = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let clean =
            |text: &str| Redactor::default().payload_without_secrets(of(text)).get().to_owned();
        let (open, close) = ("[".repeat(300), "]".repeat(300));
        for (json, expected) in [
            (r#"{"message":"cut \ud83d"}"#.to_owned(), r#"{"message":"cut \ud83d"}"#.to_owned()),
            (
                r#"{"password" : "hunter2","message":"cut \ud83d \ud83d\ude00", "n":1.0e400}"#
                    .to_owned(),
                r#"{"password" : "[redacted:value#0000]","message":"cut \ud83d \ud83d\ude00", "n":1.0e400}"#
                    .to_owned(),
            ),
            (
                r#"{"pass\u0077ord":"hunter2 \udc00"}"#.to_owned(),
                r#"{"pass\u0077ord":"[redacted:value#0000]"}"#.to_owned(),
            ),
            (
                format!(r#"{open}{{"password":"hunter2"}}{close}"#),
                format!(r#"{open}{{"password":"[redacted:value#0000]"}}{close}"#),
            ),
        ] {
            assert_eq!(clean(&json), expected);
        }
        let cut = clean(r#"{"text":"at postgres://bob:hunter2@db \ud83d"}"#);
        assert!(cut.ends_with("\u{fffd}\"}") && !cut.contains("hunter2"), "{cut}");
    }
}
