//! What a door passes on to the letter, without the secrets in it.

use serde_json::Value;
use serde_json::value::RawValue;

use super::Redactor;

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

    /// A payload without any secret in its texts. Binary content stays as it is; nothing passes of
    /// what cannot be read.
    pub(super) fn payload_without_secrets(&self, payload: Box<RawValue>) -> Box<RawValue> {
        if self.find(payload.get()).is_empty() && !payload.get().contains('\\') {
            return payload;
        }
        let Ok(mut value) = serde_json::from_str::<Value>(payload.get()) else {
            return Box::default();
        };
        let mut changed = false;
        let mut waiting = vec![&mut value];
        while let Some(value) = waiting.pop() {
            match value {
                Value::String(text) => {
                    if let std::borrow::Cow::Owned(redacted) = self.redact(text) {
                        *text = redacted;
                        changed = true;
                    }
                }
                Value::Array(items) => waiting.extend(items),
                Value::Object(fields) => {
                    for (name, value) in fields {
                        match value {
                            Value::String(text) if is_binary(text) => {}
                            // The name beside a value tells that it is a secret.
                            Value::String(text) if super::is_secret_name(name) => {
                                if !text.is_empty() && text != super::GONE {
                                    super::GONE.clone_into(text);
                                    changed = true;
                                }
                            }
                            value => waiting.push(value),
                        }
                    }
                }
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        if !changed {
            return payload;
        }
        serde_json::value::to_raw_value(&value).unwrap_or_default()
    }
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
}
