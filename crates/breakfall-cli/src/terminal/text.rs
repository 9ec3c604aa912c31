//! Text that others wrote, made fit for a terminal: nothing in it moves the cursor, hides or turns
//! around.

use std::fmt::Write as _;

use serde_json::Value;
use unicode_width::UnicodeWidthChar;

/// A text of which no character does anything: what is no letter is written out. Lines stay lines.
pub(crate) fn safe(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' => safe.push('\n'),
            '\t' => safe.push_str("    "),
            // How an emoji looks; its width would be told wrong.
            '\u{fe00}'..='\u{fe0f}' => {}
            char if acts(char) => safe.extend(char.escape_unicode()),
            char => safe.push(char),
        }
    }
    safe
}

/// A text in one line, nothing twice between its words.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    safe(&words.join(" "))
}

/// JSON of which no character does anything either: those that would are escaped, as they may be.
pub(crate) fn json_text(value: &Value) -> String {
    quiet(&format!("{value:#}"))
}

/// The same in one line.
pub(crate) fn json_line(value: &Value) -> String {
    quiet(&value.to_string())
}

/// What acts stands in strings only; the lines between them stay.
fn quiet(json: &str) -> String {
    let mut quiet = String::with_capacity(json.len());
    for char in json.chars() {
        if char != '\n' && acts(char) {
            let mut units = [0; 2];
            for unit in char.encode_utf16(&mut units) {
                let _ = write!(quiet, "\\u{unit:04x}");
            }
        } else {
            quiet.push(char);
        }
    }
    quiet
}

/// Whether a character is a command to the terminal, or is not seen.
fn acts(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// How many columns a safe text takes.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(|char| char.width().unwrap_or(0)).sum()
}

/// As much of a safe text as fits.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut room = most.saturating_sub(1);
    let fits = text.chars().take_while(|char| {
        let wide = char.width().unwrap_or(0);
        let has_room = wide <= room;
        room = room.saturating_sub(wide);
        has_room
    });
    let mut short: String = fits.collect();
    short.truncate(short.trim_end().len());
    if most > 0 {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_on_the_terminal() {
        for (text, is) in [
            ("\u{1b}[31mred\u{1b}]0;title\u{7}", "\\u{1b}[31mred\\u{1b}]0;title\\u{7}"),
            ("a\u{202e}b\u{200b}c\u{9b}d\r", "a\\u{202e}b\\u{200b}c\\u{9b}d\\u{d}"),
            ("שלום 日本 é 🎉", "שלום 日本 é 🎉"),
            ("a\tb\nc", "a    b\nc"),
        ] {
            assert_eq!(safe(text), is);
        }
        assert_eq!(one_line(" a\n\n b\u{7} "), "a b\\u{7}");
    }

    #[test]
    fn nothing_acts_in_json_and_it_means_the_same() {
        let value = serde_json::json!({ "a": "\u{1b}[2J\u{9b}\u{7f}\u{202e}\u{e0041} é\n日本" });
        for text in [json_text(&value), json_line(&value)] {
            assert!(!text.chars().any(|char| char != '\n' && acts(char)), "{text}");
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        }
    }

    #[test]
    fn what_does_not_fit_is_cut_between_characters() {
        for (text, most, is) in [
            ("abcdef", 6, "abcdef"),
            ("abcdef", 4, "abc…"),
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("ab cd", 4, "ab…"),
            ("abc", 1, "…"),
            ("abc", 0, ""),
        ] {
            let short = cut(text, most);
            assert_eq!(short, is);
            assert!(width(&short) <= most, "{short}");
        }
    }
}
