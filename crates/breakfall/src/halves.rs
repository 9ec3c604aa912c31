//! Characters of which only one half was written.

/// JSON with a mark in place of each half of a character; nothing where it has none. Languages that
/// count in halves cut texts there, and no text of ours can hold one.
///
/// ```
/// let cut = r#"["a\ud83d"]"#;
/// assert_eq!(breakfall::without_halves(cut).as_deref(), Some(r#"["a\ufffd"]"#));
/// assert_eq!(breakfall::without_halves(r#"["a"]"#), None);
/// ```
pub fn without_halves(json: &str) -> Option<String> {
    let half = |at: usize| {
        let digits = json.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let (mut whole, mut written, mut at) = (String::new(), 0, 0);
    while let Some(escape) = json.get(at..).and_then(|rest| rest.find('\\')) {
        at += escape;
        match (half(at), half(at + 6)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => at += 12,
            (Some(0xd800..0xe000), _) => {
                whole.push_str(&json[written..at]);
                whole.push_str("\\ufffd");
                at += 6;
                written = at;
            }
            _ => at += 2,
        }
    }
    (written > 0).then(|| whole + &json[written..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_character_is_replaced_and_a_whole_one_is_not() {
        for (json, whole) in [
            (r#""a\ud83d""#, Some(r#""a\ufffd""#)),
            (
                r#""\uDE00\ud83d\uD83D\ude00 \n\\ud83d""#,
                Some(r#""\ufffd\ufffd\uD83D\ude00 \n\\ud83d""#),
            ),
            (r#""\ud83d\u0041""#, Some(r#""\ufffd\u0041""#)),
            (r#""\ud83d\ude00\\""#, None),
            ("{}", None),
        ] {
            assert_eq!(without_halves(json).as_deref(), whole, "{json}");
        }
    }
}
