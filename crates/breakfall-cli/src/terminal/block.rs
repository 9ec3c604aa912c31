//! Paragraphs that fit: below one another, or two beside each other.

use super::text::{cut, safe, width};

/// A text of others in lines of at most so many columns.
pub(crate) fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in safe(text).lines() {
        let indent: String = line.chars().take_while(|char| *char == ' ').take(most / 4).collect();
        let mut current = indent.clone();
        let mut is_empty = true;
        for word in line.split_whitespace() {
            let mut word = word.to_owned();
            let between = usize::from(!is_empty);
            if !is_empty && width(&current) + between + width(&word) > most {
                lines.push(std::mem::replace(&mut current, indent.clone()));
                is_empty = true;
            }
            while width(&current) + width(&word) > most {
                let rest = split(&word, most.saturating_sub(width(&current)));
                lines.push(format!("{current}{}", &word[..rest]));
                current.clone_from(&indent);
                word = word[rest..].to_owned();
            }
            if !is_empty {
                current.push(' ');
            }
            current.push_str(&word);
            is_empty = false;
        }
        lines.push(current);
    }
    lines
}

/// How many bytes of a word fit; one character at least.
fn split(word: &str, most: usize) -> usize {
    let mut end = 0;
    for (at, char) in word.char_indices() {
        let next = at + char.len_utf8();
        if width(&word[..next]) > most && end > 0 {
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
    fn two_blocks_stand_side_by_side() {
        let lines =
            |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        let rows = beside(&lines(&["日本", "b"]), &lines(&["c"]), 6);
        assert_eq!(rows, ["日本   │ c", "b      │"]);
    }
}
