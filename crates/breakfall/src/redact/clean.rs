//! Text that stands inside one of our sentences stays inside its quotes and on its line.

use crate::stretch;

/// The text on one line, without what ends a quote, moves a cursor or turns the text around.
pub(super) fn one_line(text: String) -> String {
    if is_one_line(&text) {
        return text;
    }
    text.chars()
        .map(|c| match c {
            '`' => '\'',
            c if unfit(c) => '\u{fffd}',
            c => c,
        })
        .collect()
}

/// Whether a text stands on one line, and within quotes.
pub(super) fn is_one_line(text: &str) -> bool {
    stretch::all(text.as_bytes(), |byte| matches!(byte, 0x20..=0x5f | 0x61..=0x7e))
        || !text.contains(unfit)
}

fn unfit(c: char) -> bool {
    c == '`' || is_hidden(c)
}

/// The text as a model and a terminal may read it: without escape sequences, control characters,
/// and characters that cannot be seen or turn the text around. With how many were removed.
pub(super) fn readable(text: String) -> (String, usize) {
    match Seen::of(&text) {
        None => (text, 0),
        Some(seen) => {
            let removed = text.chars().count() - seen.text.chars().count();
            (seen.text, removed)
        }
    }
}

/// What is seen of a text that holds more.
pub(super) struct Seen {
    pub(super) text: String,
    stretches: Vec<Stretch>,
}

/// A part of a text that stands in the whole as it stands here, or one letter that is written
/// otherwise there.
struct Stretch {
    /// Where it begins here, and in the whole.
    here: usize,
    there: usize,
    /// How many bytes the last byte of it takes there.
    last: usize,
}

impl Seen {
    /// Nothing where all of a text is seen.
    pub(super) fn of(whole: &str) -> Option<Self> {
        if is_plain(whole) || !whole.contains(invisible) {
            return None;
        }
        let mut seen = Self { text: String::with_capacity(whole.len()), stretches: Vec::new() };
        let mut rest = whole;
        loop {
            seen.begins(whole.len() - rest.len(), 1);
            let Some(at) = rest.find(invisible) else { break };
            seen.text.push_str(&rest[..at]);
            rest = &rest[at..];
            rest = &rest[sequence(rest)..];
        }
        seen.text.push_str(rest);
        Some(seen)
    }

    /// What a text says whose letters are written as addresses or pages have them: `%3D`, `&quot;`.
    /// Nothing where none is.
    pub(super) fn decoded(whole: &str) -> Option<Self> {
        let mut seen = Self { text: String::new(), stretches: Vec::new() };
        let (mut at, mut from) = (0, 0);
        while let Some(found) = memchr::memchr2(b'%', b'&', &whole.as_bytes()[at..]) {
            at += found;
            let Some((letter, length)) = encoded(&whole[at..]) else {
                at += 1;
                continue;
            };
            seen.begins(from, 1);
            seen.text.push_str(&whole[from..at]);
            seen.begins(at, length);
            seen.text.push(letter);
            at += length;
            from = at;
        }
        if from == 0 {
            return None;
        }
        seen.begins(from, 1);
        seen.text.push_str(&whole[from..]);
        Some(seen)
    }

    /// A stretch begins, there.
    fn begins(&mut self, there: usize, last: usize) {
        self.stretches.push(Stretch { here: self.text.len(), there, last });
    }

    /// Where a byte that is seen stands in the whole, and how many bytes it takes there.
    fn place(&self, at: usize) -> (usize, usize) {
        let behind = self.stretches.partition_point(|stretch| stretch.here <= at);
        let Stretch { here, there, last } = self.stretches[behind.saturating_sub(1)];
        (there + (at - here), last)
    }

    /// Where a part that is not empty stands in the whole, with all that is hidden in it.
    pub(super) fn within(&self, start: usize, end: usize) -> (usize, usize) {
        let (last, length) = self.place(end - 1);
        (self.place(start).0, last + length)
    }
}

/// How letters are written in pages.
const ENTITIES: &[(&str, char)] = &[
    ("&quot;", '"'),
    ("&#34;", '"'),
    ("&#39;", '\''),
    ("&#x27;", '\''),
    ("&apos;", '\''),
    ("&lt;", '<'),
    ("&gt;", '>'),
    ("&amp;", '&'),
];

/// The letter that is written otherwise at the beginning, and how many bytes that takes.
fn encoded(text: &str) -> Option<(char, usize)> {
    if let Some(digits) = text.strip_prefix('%') {
        let digits = digits.get(..2).filter(|d| d.bytes().all(|d| d.is_ascii_hexdigit()))?;
        let byte = u8::from_str_radix(digits, 16).ok()?;
        return matches!(byte, b' '..=b'~' | b'\n' | b'\t').then_some((char::from(byte), 3));
    }
    let (written, letter) = ENTITIES.iter().find(|(written, _)| text.starts_with(written))?;
    Some((*letter, written.len()))
}

/// Whether a text holds nothing but what can be seen in ASCII: by far the most do.
fn is_plain(text: &str) -> bool {
    #[expect(clippy::needless_bitwise_bool, reason = "many bytes are compared at once so")]
    let plain = |byte: u8| matches!(byte, 0x20..=0x7e) | (byte == b'\n') | (byte == b'\t');
    stretch::all(text.as_bytes(), plain)
}

/// How many bytes the sequence or character at the beginning takes.
fn sequence(text: &str) -> usize {
    let mut chars = text.char_indices();
    let Some((_, first)) = chars.next() else { return 0 };
    let kind = match first {
        '\u{1b}' => chars.next().map(|(_, c)| c),
        '\u{9b}' => Some('['),
        '\u{90}' | '\u{9d}' | '\u{98}' | '\u{9e}' | '\u{9f}' => Some(']'),
        _ => return first.len_utf8(),
    };
    let ends: fn(char) -> bool = match kind {
        Some('[') => |c| ('@'..='~').contains(&c),
        // Titles and links end with a bell or a string terminator; a line break ends a broken one.
        Some(']' | 'P' | 'X' | '^' | '_') => |c| matches!(c, '\u{7}' | '\u{9c}' | '\\' | '\n'),
        Some(c) => return first.len_utf8() + c.len_utf8(),
        None => return first.len_utf8(),
    };
    let bound = 4096;
    for (at, c) in chars {
        if at > bound {
            return at;
        }
        if ends(c) {
            return if c == '\n' { at } else { at + c.len_utf8() };
        }
    }
    text.len()
}

/// Lines may stay: a model reads them.
fn invisible(c: char) -> bool {
    is_hidden(c) && !matches!(c, '\n' | '\t' | '\u{2028}' | '\u{2029}')
}

/// Whether a character is not seen where it stands, moves a cursor, or turns the text around it.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_a_text_around_stays_out_of_our_sentences() {
        let text = "h\u{202b}i\u{200b} `a`\nb\u{2029}".to_owned();
        assert_eq!(one_line(text), "h\u{fffd}i\u{fffd} 'a'\u{fffd}b\u{fffd}");
        assert_eq!(one_line("größe (a|b) {c}~".to_owned()), "größe (a|b) {c}~");
    }

    #[test]
    fn what_is_seen_is_found_in_the_whole() {
        let whole = "\u{1b}[1mpass\u{200b}word\u{1b}[0m: x\u{1b}[32mé\u{1b}[0m y\u{7}";
        let seen = Seen::of(whole).unwrap();
        assert_eq!(seen.text, "password: xé y");
        let part = |text: &str| {
            let at = seen.text.find(text).unwrap();
            let (start, end) = seen.within(at, at + text.len());
            &whole[start..end]
        };
        assert_eq!(part("password"), "pass\u{200b}word");
        assert_eq!(part("xé"), "x\u{1b}[32mé");
        assert_eq!(part("y"), "y");
        assert!(Seen::of("größe\n").is_none());
    }

    #[test]
    fn what_is_written_otherwise_is_found_in_the_whole() {
        let whole = "é a%3Db%21 &quot;c&quot;&x %zz %C3";
        let seen = Seen::decoded(whole).unwrap();
        assert_eq!(seen.text, "é a=b! \"c\"&x %zz %C3");
        let part = |text: &str| {
            let at = seen.text.find(text).unwrap();
            let (start, end) = seen.within(at, at + text.len());
            &whole[start..end]
        };
        assert_eq!((part("b!"), part("a="), part("c")), ("b%21", "a%3D", "c"));
        assert_eq!((part("\"c\"&x"), part("é a")), ("&quot;c&quot;&x", "é a"));
        for plain in ["", "a & b", "100 %", "%", "%4", "&quot", "AT&T"] {
            assert!(Seen::decoded(plain).is_none(), "{plain}");
        }
    }

    #[test]
    fn what_cannot_be_seen_goes_and_is_counted() {
        for (text, read, removed) in [
            ("plain\n\ttext", "plain\n\ttext", 0),
            ("\u{1b}[31mred\u{1b}[0m", "red", 9),
            ("\u{1b}]0;title\u{7}x", "x", 10),
            ("\u{1b}]8;;http://a\u{1b}\\link", "link", 15),
            ("a\u{202e}b\u{200b}c\u{e0041}", "abc", 3),
            ("half \u{1b}[3", "half ", 3),
            ("\u{1b}", "", 1),
            ("a\r\nb\0", "a\nb", 2),
        ] {
            assert_eq!(readable(text.to_owned()), (read.to_owned(), removed), "{text:?}");
        }
    }
}
