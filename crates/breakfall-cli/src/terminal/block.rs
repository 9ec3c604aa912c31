//! Paragraphs that fit: below one another, or two beside each other.

use super::text::{cut, safe, width};

/// How much of a text is shown.
const SHOWN: usize = 16 << 10;

/// The beginning of a text of others, in lines of at most so many columns.
pub(crate) fn wrapped(text: &str, most: usize) -> Vec<String> {
    let shown = text.floor_char_boundary(SHOWN);
    let mut lines = Vec::new();
    for line in safe(&text[..shown]).lines() {
        wrap(line, most, &mut lines);
    }
    if shown < text.len() {
        lines.push("…".to_owned());
    }
    lines
}

fn wrap(line: &str, most: usize, lines: &mut Vec<String>) {
    let indent: String = line.chars().take_while(|char| *char == ' ').take(most / 4).collect();
    let mut current = indent.clone();
    let mut is_empty = true;
    for mut word in line.split_whitespace() {
        if !is_empty && width(&current) + 1 + width(word) > most {
            lines.push(std::mem::replace(&mut current, indent.clone()));
            is_empty = true;
        }
        while width(&current) + width(word) > most && !word.is_empty() {
            let (begins, rest) = word.split_at(fitting(word, most - width(&indent)));
            lines.push(format!("{indent}{begins}"));
            word = rest;
        }
        if word.is_empty() {
            continue;
        }
        if !is_empty {
            current.push(' ');
        }
        current.push_str(word);
        is_empty = false;
    }
    if !is_empty || line.trim().is_empty() {
        lines.push(current);
    }
}

/// How many bytes of a word fit; one character at least.
fn fitting(word: &str, most: usize) -> usize {
    let mut wide = 0;
    let mut end = 0;
    for (at, char) in word.char_indices() {
        let next = at + char.len_utf8();
        wide += width(&word[at..next]);
        if wide > most && end > 0 {
            break;
        }
        end = next;
    }
    end
}

/// Two blocks side by side, with a line between them.
pub(crate) fn beside(left: &[String], right: &[String], each: usize) -> Vec<String> {
    let height = left.len().max(right.len());
    let at = |lines: &[String], number: usize| lines.get(number).cloned().unwrap_or_default();
    let row = |number| {
        let left = cut(&at(left, number), each);
        let space = " ".repeat(each - width(&left));
        format!("{left}{space} │ {}", cut(&at(right, number), each)).trim_end().to_owned()
    };
    (0..height).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_and_words_that_are_too_long_within() {
        for (text, most, is) in [
            ("one two three", 7, &["one two", "three"][..]),
            ("  - one two", 9, &["  - one", "  two"]),
            ("abcdefghij", 4, &["abcd", "efgh", "ij"]),
            ("x abcdefgh", 4, &["x", "abcd", "efgh"]),
            ("日本語日本", 5, &["日本", "語日", "本"]),
            ("a\n\nb", 5, &["a", "", "b"]),
            ("日本", 1, &["日", "本"]),
        ] {
            assert_eq!(wrapped(text, most), is, "{text}");
        }
    }

    #[test]
    fn a_text_without_end_has_an_end() {
        assert!(wrapped(&"x".repeat(1 << 20), 40).len() < 500);
        assert!(wrapped(&"\n".repeat(1 << 20), 40).len() <= SHOWN + 1);
    }

    #[test]
    fn two_blocks_stand_side_by_side() {
        let lines =
            |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        let rows = beside(&lines(&["日本", "b"]), &lines(&["c"]), 6);
        assert_eq!(rows, ["日本   │ c", "b      │"]);
    }
}
