//! The letters of a name that count: case and separators aside, a code each, on the stack.

/// How much of a name counts, so that a hostile one costs no more than an honest one.
pub(super) const READ: usize = 64;

/// A letter that no plain name has.
const OTHER: u8 = 36;

/// The bit of [`OTHER`] in a signature.
const OTHER_BIT: u64 = 1 << 62;

/// A name with case and separators aside.
pub(super) struct Letters {
    codes: [u8; READ],
    count: usize,
    /// At which letters a part of the name begins, a bit each.
    begins: u64,
    /// Which letters there are, a bit each, and which twice. Two names are at least as many edits
    /// apart as there are bits of one that the other lacks.
    pub(super) signature: u64,
    has_others: bool,
}

impl Letters {
    const NONE: Self =
        Self { codes: [0; READ], count: 0, begins: 0, signature: 0, has_others: false };

    /// Nothing where there are more letters than fit: some become several in lower case.
    pub(super) fn of(name: &str) -> Option<Self> {
        let read = &name.as_bytes()[..name.len().min(READ)];
        if read.is_ascii() { Some(Self::of_ascii(read)) } else { Self::of_any(name) }
    }

    /// Nearly all names are of this kind. No more letters than fit.
    fn of_ascii(name: &[u8]) -> Self {
        let mut codes = [0; READ];
        let (mut count, mut begins, mut signature) = (0, 0, 0);
        let mut is_new = true;
        let mut before = 0;
        for byte in name {
            let code = CODES[usize::from(byte & 127)];
            if code < OTHER {
                codes[count & (READ - 1)] = code;
                begins |= u64::from(is_new) << count;
                is_new = false;
                count += 1;
                signature |= bits(signature, code);
            } else {
                is_new |= separates(*byte, before);
            }
            before = *byte;
        }
        Self { codes, count, begins, signature, has_others: false }
    }

    fn of_any(name: &str) -> Option<Self> {
        let mut letters = Self::NONE;
        let mut begins = true;
        let mut before = 0;
        for c in name.chars().take(READ) {
            let byte = u8::try_from(c).unwrap_or(u8::MAX);
            begins |= separates(byte, before);
            before = byte;
            if let Some(code) = code(c) {
                letters.push(code, &mut begins)?;
            } else if !c.is_ascii() && c.is_alphanumeric() {
                for c in c.to_lowercase() {
                    letters.push(code(c).unwrap_or(OTHER), &mut begins)?;
                }
            }
        }
        Some(letters)
    }

    fn push(&mut self, code: u8, begins: &mut bool) -> Option<()> {
        *self.codes.get_mut(self.count)? = code;
        self.begins |= u64::from(std::mem::take(begins)) << self.count;
        self.count += 1;
        if code == OTHER {
            self.has_others = true;
            self.signature |= OTHER_BIT;
        } else {
            self.signature |= bits(self.signature, code);
        }
        Some(())
    }

    /// The codes, a letter each.
    pub(super) fn all(&self) -> &[u8] {
        &self.codes[..self.count.min(READ)]
    }

    /// Whether every letter has a code of its own.
    pub(super) fn is_plain(&self) -> bool {
        !self.has_others
    }

    /// Whether it is one part.
    pub(super) fn is_one(&self) -> bool {
        self.begins.is_power_of_two()
    }

    /// The parts of a namespaced name, with where they begin.
    pub(super) fn parts(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let mut left = self.begins;
        std::iter::from_fn(move || {
            let from = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            let to = if left == 0 { self.count } else { left.trailing_zeros() as usize };
            Some((from, self.codes.get(from..to)?))
        })
    }
}

/// What one more of a letter adds to a signature: its bit, and a second one where it is there
/// already and has one.
fn bits(signature: u64, code: u8) -> u64 {
    let is_there = (signature >> code) & 1;
    1 << code | (SECOND[usize::from(code & 63)] & is_there.wrapping_neg())
}

/// The second bit of a letter or a digit. Those that few names have twice have none.
static SECOND: [u64; 64] = {
    let often = b"abcdefgilmnoprst0123456789";
    let mut second = [0; 64];
    let mut at = 0;
    while at < often.len() {
        second[CODES[often[at] as usize] as usize] = 1 << (OTHER as usize + at);
        at += 1;
    }
    second
};

/// Whether a part of a name begins behind it: `github__search`, `files.read`, `a/b`, `a:b`.
fn separates(byte: u8, before: u8) -> bool {
    matches!(byte, b'.' | b'/' | b':') || byte == b'_' && before == b'_'
}

/// 0 to 35, for a letter or a digit of ASCII.
fn code(c: char) -> Option<u8> {
    CODES.get(c as usize).copied().filter(|code| *code < OTHER)
}

/// The codes of ASCII.
static CODES: [u8; 128] = {
    let mut codes = [u8::MAX; 128];
    let mut code = 0;
    while code < 26 {
        codes[(b'a' + code) as usize] = code;
        codes[(b'A' + code) as usize] = code;
        code += 1;
    }
    while code < OTHER {
        codes[(b'0' + code - 26) as usize] = code;
        code += 1;
    }
    codes
};
