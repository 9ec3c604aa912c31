//! Numbers that JSON has no word for: some languages write them all the same, and clients in those
//! languages read them.

/// The same text as JSON, where it has such numbers: `null` in their place, which every client reads.
/// What stands within a text stays.
pub(super) fn finite(text: &str) -> Option<String> {
    const WORDS: [&str; 2] = ["NaN", "Infinity"];
    let mut finite = String::with_capacity(text.len() + 8);
    let (mut is_text, mut is_escaped, mut kept) = (false, false, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            b'N' | b'I' if !is_text => {
                let Some(word) = WORDS.iter().find(|word| text[at..].starts_with(**word)) else {
                    continue;
                };
                let before = &text[kept..at];
                finite.push_str(before.strip_suffix('-').unwrap_or(before));
                finite.push_str("null");
                kept = at + word.len();
            }
            _ => {}
        }
    }
    (kept > 0).then(|| finite + &text[kept..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_a_word_in_json_get_one() {
        for (text, expected) in [
            (r#"{"a":NaN}"#, Some(r#"{"a":null}"#)),
            ("[Infinity,-Infinity, NaN]", Some("[null,null, null]")),
            (r#"{"NaN":"a\"NaN","b":NaN}"#, Some(r#"{"NaN":"a\"NaN","b":null}"#)),
            (r#"{"a":"NaN, \\"}"#, None),
            ("NaNnaN", Some("nullnaN")),
            ("I am no message", None),
            ("ä\"ö\"NaN", Some("ä\"ö\"null")),
            ("", None),
        ] {
            assert_eq!(finite(text).as_deref(), expected, "{text}");
        }
    }
}
