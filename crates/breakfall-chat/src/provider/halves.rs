//! Characters that a server cut in two or that are none: one bad one must not cost an answer.

/// The characters of bytes that come in pieces. What is none becomes `U+FFFD`.
#[derive(Default)]
pub(super) struct Characters {
    /// The beginning of a character whose end has not come.
    begun: Vec<u8>,
}

impl Characters {
    pub(super) fn take(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        let bytes = if self.begun.is_empty() {
            bytes
        } else {
            [std::mem::take(&mut self.begun), bytes].concat()
        };
        let Err(error) = std::str::from_utf8(&bytes) else { return bytes };
        let mut whole = bytes;
        // Only at the end of the bytes a character may go on.
        let from = whole.len().saturating_sub(3).max(error.valid_up_to());
        let begins = (from..whole.len()).find(|at| may_go_on(&whole[*at..]));
        if let Some(begins) = begins {
            self.begun = whole.split_off(begins);
        }
        String::from_utf8_lossy(&whole).into_owned().into_bytes()
    }
}

/// Whether these bytes are the beginning of a character, and no more.
fn may_go_on(bytes: &[u8]) -> bool {
    let error = std::str::from_utf8(bytes).err();
    error.is_some_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}

/// Puts characters together whose halves stand in two events, as `"\ud83d"` and `"\ude42"`.
#[derive(Default)]
pub(super) struct Halves {
    /// The first half of one, as it was written at the end of a text.
    first: Option<String>,
}

impl Halves {
    /// JSON without halves of characters: the second half at the beginning of a text is put behind
    /// the first at the end of the one before; any other is `U+FFFD`.
    pub(super) fn mended(&mut self, json: &str) -> String {
        let mut mended = String::with_capacity(json.len());
        let mut rest = json;
        while let Some(at) = rest.find('\\') {
            let (before, escape) = rest.split_at(at);
            mended.push_str(before);
            let half = unit(escape);
            let length = match half {
                Some(Unit::First) if matches!(unit(&escape[6..]), Some(Unit::Second)) => 12,
                Some(_) => 6,
                // The backslash, and the one character that it is about.
                None => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
            };
            let (escape, behind) = escape.split_at(length);
            match half {
                Some(Unit::First) if length == 6 && behind.starts_with('"') => {
                    self.first = Some(escape.to_owned());
                }
                Some(Unit::Second) if mended.ends_with('"') && self.first.is_some() => {
                    mended.extend(self.first.take());
                    mended.push_str(escape);
                }
                Some(Unit::First | Unit::Second) if length == 6 => mended.push_str("\\ufffd"),
                _ => mended.push_str(escape),
            }
            rest = behind;
        }
        mended + rest
    }
}

/// What an escape stands for.
#[derive(Clone, Copy)]
enum Unit {
    /// The first half of a character.
    First,
    /// The second half of one.
    Second,
    /// A whole one.
    Whole,
}

/// The escape `\uXXXX` at the beginning of a text.
fn unit(text: &str) -> Option<Unit> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let unit = u16::from_str_radix(digits, 16).ok()?;
    Some(match unit {
        0xd800..=0xdbff => Unit::First,
        0xdc00..=0xdfff => Unit::Second,
        _ => Unit::Whole,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_characters_are_put_together_or_replaced() {
        for (events, expected) in [
            (&[r#"["\ud83d"]"#, r#"["\ude42!"]"#][..], [r#"[""]"#, r#"["\ud83d\ude42!"]"#]),
            (&[r#"["a\uD83D"]"#, r#"["\uDE42"]"#], [r#"["a"]"#, r#"["\uD83D\uDE42"]"#]),
            (&[r#"["\ud83d!"]"#, r#"["\ude42"]"#], [r#"["\ufffd!"]"#, r#"["\ufffd"]"#]),
            (&[r#"["\ud83d\ude42"]"#, r#"["!\ude42"]"#], [r#"["\ud83d\ude42"]"#, r#"["!\ufffd"]"#]),
            (&[r#"["\ud83d\ud83d\ude42"]"#, ""], [r#"["\ufffd\ud83d\ude42"]"#, ""]),
            (&[r#"["\\ud83d", "\n\u00fc"]"#, r#"["\"#], [r#"["\\ud83d", "\n\u00fc"]"#, r#"["\"#]),
            (&[r"\u12", r"\uüüüü\"], [r"\u12", r"\uüüüü\"]),
        ] {
            let mut halves = Halves::default();
            let mended: Vec<String> = events.iter().map(|event| halves.mended(event)).collect();
            assert_eq!(mended, expected);
        }
    }

    #[test]
    fn bytes_that_are_no_character_are_replaced_and_those_in_pieces_are_put_together() {
        let text = "Grüße 👋, 日本 \u{fffd}";
        let bad: Vec<u8> = [text.as_bytes(), b"\xff!\xf0\x9f", "ü".as_bytes(), b"\xe6"].concat();
        let expected = String::from_utf8_lossy(&bad);
        for size in 1..bad.len() {
            let mut characters = Characters::default();
            let pieces = bad.chunks(size).chain([&b"\n"[..]]);
            let read: Vec<u8> = pieces.flat_map(|piece| characters.take(piece.to_vec())).collect();
            assert_eq!(String::from_utf8(read).unwrap(), format!("{expected}\n"), "{size}");
        }
    }
}
