//! What sorts of letters a name is made of, and the marks that belong to the sentence around it:
//! told by bytes, and letter by letter only beyond ASCII.

pub(super) const LOWER: u16 = 1;
pub(super) const UPPER: u16 = 1 << 1;
pub(super) const DIGIT: u16 = 1 << 2;
pub(super) const SLASH: u16 = 1 << 3;
pub(super) const UNDERSCORE: u16 = 1 << 4;
pub(super) const HYPHEN: u16 = 1 << 5;
pub(super) const DOT: u16 = 1 << 6;
pub(super) const AT: u16 = 1 << 7;
pub(super) const COLON: u16 = 1 << 8;
pub(super) const EQUALS: u16 = 1 << 9;
/// `(` and `[`, which open what a function is given.
pub(super) const BRACKET: u16 = 1 << 10;
/// What stands in code and hardly in a name.
pub(super) const ODD: u16 = 1 << 11;
pub(super) const SPACE: u16 = 1 << 12;
/// A part of a letter beyond ASCII.
pub(super) const BEYOND: u16 = 1 << 13;
pub(super) const OTHER: u16 = 1 << 14;

pub(super) const LETTERS: u16 = LOWER | UPPER;

/// What most names are made of.
pub(super) const PLAIN: u16 = LETTERS | DIGIT | UNDERSCORE | HYPHEN | SLASH | DOT;

static SORTS: [u16; 256] = {
    let mut sorts = [OTHER; 256];
    let mut byte = 0_u8;
    loop {
        sorts[byte as usize] = match byte {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'/' | b'\\' => SLASH,
            b'_' => UNDERSCORE,
            b'-' => HYPHEN,
            b'.' => DOT,
            b'@' => AT,
            b':' => COLON,
            b'=' => EQUALS | ODD,
            b'(' => BRACKET | ODD,
            b'[' => BRACKET | OTHER,
            b')' | b'{' | b'}' | b'$' | b'<' | b'>' | b'*' | b'|' | b'"' | b'\'' | b',' | b';' => {
                ODD
            }
            b' ' | b'\t'..=b'\r' => SPACE,
            128..=255 => BEYOND,
            _ => OTHER,
        };
        if byte == u8::MAX {
            break sorts;
        }
        byte += 1;
    }
};

/// The sort of a letter.
#[inline]
pub(super) fn sort(byte: u8) -> u16 {
    SORTS[usize::from(byte)]
}

/// All sorts of letters in a text.
#[inline]
pub(super) fn sorts(text: impl AsRef<[u8]>) -> u16 {
    text.as_ref().iter().fold(0, |sorts, byte| sorts | SORTS[usize::from(*byte)])
}

/// Letters that are told apart by a bit: as bytes, and beyond ASCII.
pub(super) struct Marks {
    bytes: [bool; 128],
    beyond: fn(char) -> bool,
}

impl Marks {
    const fn new(of: &[u8], beyond: fn(char) -> bool) -> Self {
        let mut bytes = [false; 128];
        let mut at = 0;
        while at < of.len() {
            bytes[of[at] as usize] = true;
            at += 1;
        }
        Self { bytes, beyond }
    }

    pub(super) fn has(&self, c: char) -> bool {
        match u8::try_from(c) {
            Ok(byte) if byte < 128 => self.bytes[usize::from(byte)],
            _ => (self.beyond)(c),
        }
    }

    /// Without these at its beginning.
    #[inline]
    pub(super) fn trim_start<'t>(&self, text: &'t str) -> &'t str {
        if self.is_none(text.as_bytes().first()) { text } else { self.trimmed_start(text) }
    }

    /// Whether a byte is surely none of these: that of most names and words.
    fn is_none(&self, byte: Option<&u8>) -> bool {
        byte.is_some_and(|byte| self.bytes.get(usize::from(*byte)) == Some(&false))
    }

    fn trimmed_start<'t>(&self, text: &'t str) -> &'t str {
        for (at, byte) in text.bytes().enumerate() {
            match self.bytes.get(usize::from(byte)) {
                Some(true) => {}
                Some(false) => return &text[at..],
                None => return text[at..].trim_start_matches(|c| self.has(c)),
            }
        }
        ""
    }

    /// Without these at its end.
    #[inline]
    pub(super) fn trim_end<'t>(&self, text: &'t str) -> &'t str {
        if self.is_none(text.as_bytes().last()) { text } else { self.trimmed_end(text) }
    }

    fn trimmed_end<'t>(&self, text: &'t str) -> &'t str {
        for (at, byte) in text.bytes().enumerate().rev() {
            match self.bytes.get(usize::from(byte)) {
                Some(true) => {}
                Some(false) => return &text[..=at],
                None => return text[..=at].trim_end_matches(|c| self.has(c)),
            }
        }
        ""
    }

    pub(super) fn trim<'t>(&self, text: &'t str) -> &'t str {
        self.trim_end(self.trim_start(text))
    }

    /// Whether a text may be made of nothing else, by its first two bytes: most are not.
    #[inline]
    pub(super) fn may_be_all_of(&self, text: &[u8]) -> bool {
        !self.is_none(text.first()) && !self.is_none(text.get(1))
    }

    /// Whether a text is made of nothing else.
    #[inline]
    pub(super) fn are_all_of(&self, text: &str) -> bool {
        self.may_be_all_of(text.as_bytes()) && self.trimmed_start(text).is_empty()
    }
}

fn opens(c: char) -> bool {
    matches!(c, '‘' | '“' | '„' | '«' | '「')
}

fn closes(c: char) -> bool {
    matches!(c, '’' | '”' | '“' | '»' | '」' | '。' | '：')
}

fn marks(c: char) -> bool {
    c.is_whitespace() || opens(c) || closes(c)
}

/// What opens brackets or a quotation.
pub(super) static OPENING: Marks = Marks::new(b"([{<\"'`,", opens);
/// What closes them, or a clause.
pub(super) static CLOSING: Marks = Marks::new(b")]}>\"'`,;:!?", closes);
/// The same and the end of a sentence.
pub(super) static ENDING: Marks = Marks::new(b")]}>\"'`,;:!?.", closes);
/// All that belongs to the sentence.
pub(super) static MARK: Marks = Marks::new(b"\t\n\x0b\x0c\r ([{<\"'`,)]}>;:!?.", marks);
pub(super) static MARK_OR_EQUALS: Marks = Marks::new(b"\t\n\x0b\x0c\r ([{<\"'`,)]}>;:!?.=", marks);
pub(super) static MARK_OR_HYPHEN: Marks = Marks::new(b"\t\n\x0b\x0c\r ([{<\"'`,)]}>;:!?.-", marks);
pub(super) static QUOTE: Marks = Marks::new(b"\"'`", |c| matches!(c, '‘' | '“'));
/// Marks within a clause.
pub(super) static QUOTE_OR_SPACE: Marks =
    Marks::new(b"\t\n\x0b\x0c\r ([{<\"'`,)]}>;!?", |c| c != '：' && marks(c));

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn texts_are_trimmed_as_letter_by_letter(text in "[a ,.:'「：\u{2009}é=-]{0,8}") {
            for marks in [&OPENING, &CLOSING, &ENDING, &MARK, &MARK_OR_EQUALS, &QUOTE_OR_SPACE] {
                prop_assert_eq!(marks.trim(&text), text.trim_matches(|c| marks.has(c)));
                prop_assert_eq!(marks.are_all_of(&text), text.chars().all(|c| marks.has(c)));
            }
        }
    }
}
