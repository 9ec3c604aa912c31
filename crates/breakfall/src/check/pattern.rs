//! Patterns: what most match is told by a table. Those that count many letters take too much room for
//! one; they mostly are letters one after the other, each from a set, and are followed letter by letter.

mod table;

use std::iter::Peekable;
use std::str::Chars;

use self::table::Table;

/// Says yes where a pattern surely matches a text. No means that the validator is to be asked.
pub(super) enum Pattern {
    Any(Box<Table>),
    Plain(Plain),
}

impl Pattern {
    /// The pattern, if it takes little room.
    pub(super) fn of(pattern: &str) -> Option<Self> {
        Table::of(pattern)
            .map(Box::new)
            .map(Self::Any)
            .or_else(|| Plain::of(pattern).map(Self::Plain))
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        match self {
            Self::Any(table) => table.matches(text),
            Self::Plain(plain) => plain.matches(text),
        }
    }
}

/// A pattern of the common kind.
///
/// As many letters as may be are taken at each step, and none is given back: what follows begins
/// with another one.
pub(super) struct Plain {
    steps: Vec<Step>,
    /// Whether nothing may follow.
    is_whole: bool,
}

/// So many letters of a set.
struct Step {
    set: Set,
    min: usize,
    max: usize,
}

/// A set of letters.
#[derive(Clone, Copy)]
struct Set {
    /// Those of ASCII, a bit each.
    ascii: u128,
    /// Whether all others are in it.
    others: bool,
}

impl Plain {
    /// The pattern, if it is of that kind. It begins where the text does.
    fn of(pattern: &str) -> Option<Self> {
        let mut rest = pattern.strip_prefix('^')?.chars().peekable();
        let mut steps = Vec::new();
        while let Some(letter) = rest.next() {
            if letter == '$' {
                let is_last = rest.next().is_none();
                return (is_last && is_clear(&steps)).then_some(Self { steps, is_whole: true });
            }
            let set = Set::of(letter, &mut rest)?;
            let (min, max) = times(&mut rest)?;
            steps.push(Step { set, min, max });
        }
        is_clear(&steps).then_some(Self { steps, is_whole: false })
    }

    #[inline(never)]
    fn matches(&self, text: &str) -> bool {
        let mut rest = text.as_bytes();
        for step in &self.steps {
            let mut taken = 0;
            while taken < step.max
                && let Some(size) = step.set.takes(rest)
            {
                rest = rest.get(size..).unwrap_or_default();
                taken += 1;
            }
            if taken < step.min {
                return false;
            }
        }
        rest.is_empty() || !self.is_whole
    }
}

impl Set {
    fn one(letter: char) -> Option<Self> {
        letter.is_ascii().then(|| Self { ascii: 1 << u32::from(letter), others: false })
    }

    fn with(self, other: Self) -> Self {
        Self { ascii: self.ascii | other.ascii, others: self.others || other.others }
    }

    /// Those of ASCII that are such.
    fn those(is_in: impl Fn(char) -> bool) -> Self {
        let ascii = (0..128).filter(|letter: &u8| is_in(char::from(*letter)));
        Self { ascii: ascii.fold(0, |all, letter| all | 1 << letter), others: false }
    }

    /// All but those of ASCII; and those beyond it only where all are meant.
    fn but(self, others: bool) -> Self {
        Self { ascii: !self.ascii, others }
    }

    fn is_apart(self, other: Self) -> bool {
        self.ascii & other.ascii == 0 && !(self.others && other.others)
    }

    /// What a letter of a pattern stands for, with what belongs to it.
    fn of(letter: char, rest: &mut Peekable<Chars<'_>>) -> Option<Self> {
        match letter {
            '[' => Self::class(rest),
            '\\' => Self::escaped(rest.next()?),
            '.' => Some(Self::one('\n')?.but(true)),
            '(' | ')' | '|' | '*' | '+' | '?' | '{' | '}' | ']' | '^' => None,
            letter => Self::one(letter),
        }
    }

    /// What a letter stands for behind a backslash. Engines differ on what is beyond ASCII.
    fn escaped(letter: char) -> Option<Self> {
        let word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let space = |letter: char| matches!(letter, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c');
        Some(match letter {
            'd' => Self::those(|letter| letter.is_ascii_digit()),
            'D' => Self::those(|letter| !letter.is_ascii_digit()),
            'w' => Self::those(word),
            'W' => Self::those(|letter| !word(letter)),
            's' => Self::those(space),
            'S' => Self::those(|letter| !space(letter)),
            't' => Self::one('\t')?,
            'n' => Self::one('\n')?,
            'r' => Self::one('\r')?,
            letter if letter.is_ascii_punctuation() => Self::one(letter)?,
            _ => return None,
        })
    }

    /// Letters and ranges of them between brackets.
    fn class(rest: &mut Peekable<Chars<'_>>) -> Option<Self> {
        let is_negated = rest.next_if_eq(&'^').is_some();
        let (mut all, mut is_plain) = (Self { ascii: 0, others: false }, true);
        loop {
            let first = rest.next()?;
            let set = match first {
                // What is empty, or stands in a class where engines differ.
                ']' if all.ascii == 0 => return None,
                ']' => break,
                '[' | '&' | '~' => return None,
                '\\' => {
                    is_plain &= rest.peek().is_some_and(char::is_ascii_punctuation);
                    Self::escaped(rest.next()?)?
                }
                '-' if all.ascii != 0 && rest.peek() != Some(&']') => return None,
                letter => Self::one(letter)?,
            };
            let is_range = first.is_ascii_alphanumeric() && rest.peek() == Some(&'-');
            let mut ahead = rest.clone();
            all = all.with(match (is_range, ahead.nth(1)) {
                (true, Some(last)) if last != ']' => {
                    *rest = ahead;
                    let is_one = last.is_ascii_alphanumeric() && first <= last;
                    is_one.then(|| Self::those(|letter| (first..=last).contains(&letter)))?
                }
                _ => set,
            });
        }
        Some(if is_negated { all.but(is_plain) } else { all })
    }

    /// How many bytes the first letter takes, if it is one of these.
    #[inline]
    fn takes(self, text: &[u8]) -> Option<usize> {
        let first = *text.first()?;
        if first.is_ascii() {
            return (self.ascii >> first & 1 == 1).then_some(1);
        }
        self.others.then_some(match first {
            0xf0.. => 4,
            0xe0.. => 3,
            _ => 2,
        })
    }
}

/// Whether no letter may be taken by one step or by one that follows.
fn is_clear(steps: &[Step]) -> bool {
    steps.iter().enumerate().filter(|(_, step)| step.min < step.max).all(|(nth, step)| {
        let after = &steps[nth + 1..];
        let next = after.iter().position(|step| step.min > 0).map_or(after.len(), |last| last + 1);
        after[..next].iter().all(|next| step.set.is_apart(next.set))
    })
}

/// How many of a letter are meant.
fn times(rest: &mut Peekable<Chars<'_>>) -> Option<(usize, usize)> {
    let times = match rest.peek() {
        Some('*') => (0, usize::MAX),
        Some('+') => (1, usize::MAX),
        Some('?') => (0, 1),
        Some('{') => {
            let said: String =
                std::iter::from_fn(|| rest.next_if(|letter| *letter != '}')).collect();
            rest.next()?;
            let said = said.strip_prefix('{')?;
            let number = |digits: &str| {
                let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
                is_number.then(|| digits.parse().ok())?
            };
            let times = match said.split_once(',') {
                None => (number(said)?, number(said)?),
                Some((min, "")) => (number(min)?, usize::MAX),
                Some((min, max)) => (number(min)?, number(max)?),
            };
            return is_all(rest).then_some(times);
        }
        _ => return Some((1, 1)),
    };
    rest.next();
    is_all(rest).then_some(times)
}

/// Whether how often is said once.
fn is_all(rest: &mut Peekable<Chars<'_>>) -> bool {
    !matches!(rest.peek(), Some('*' | '+' | '?' | '{'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// What the validator says.
    fn is_valid(pattern: &str, text: &str) -> Option<bool> {
        let schema = json!({"type": "string", "pattern": pattern});
        Some(jsonschema::validator_for(&schema).ok()?.is_valid(&json!(text)))
    }

    #[test]
    fn what_people_write_is_told_here() {
        for (pattern, text) in [
            (r"^\d{4}-\d{2}-\d{2}$", "2026-11-17"),
            (r"^[A-Za-z_][\w.-]*$", "a-b.c_1"),
            (r"^[^@\s]+@[^@\s]+$", "name@example.org"),
            (r"^https?://", "http://example.org"),
            (r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}$", "0123abCD-9999"),
            (r"^#[0-9a-f]{6}$", "#00ff00"),
            (r"^[^*]", "über"),
            (r"^.{1,3}$", "日本語"),
            (r"^[A-Z]{2,3}$", "EUR"),
            (r"^sk-[a-z]+$", "sk-abc"),
        ] {
            let found = Plain::of(pattern).map(|pattern| pattern.matches(text));
            assert_eq!(found, is_valid(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn what_says_more_is_not_plain() {
        for pattern in [
            "a",
            "^a|b$",
            "^(a)$",
            "^a$b",
            "^a+?$",
            "^[[a]]$",
            "^[a&&b]$",
            "^[a--b]$",
            r"^\bfoo$",
            r"^\p{L}$",
            r"^\1$",
            "^[]",
            "^[a",
            "^ü$",
            "^[ü]$",
            "^a{1",
            "^a{x}",
            "^a**",
            r"^[\d-z]$",
            "^[^]",
            "^a{+1}$",
            "^[!-~]$",
            r"^\x41$",
        ] {
            assert!(Plain::of(pattern).is_none(), "{pattern}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(6_000))]

        #[test]
        fn what_is_matched_here_the_validator_matches(
            pattern in r"\^?([ab\-.]|\\[dDwWsS.\-]|\[\^?([ab1_ \-]|a-c|0-9|\\[dws\]\-])+\]){1,4}([*+?]|\{[0-3]\}|\{[01],\}|\{1,3\})?[ab]?\$?",
            text in r"[abcü1_ .\-\u{a0}\n]{0,6}",
        ) {
            if let (Some(found), Some(valid)) = (Plain::of(&pattern), is_valid(&pattern, &text)) {
                prop_assert!(valid || !found.matches(&text));
                // Letters beyond ASCII are the only ones that are left to the validator.
                prop_assert!(!text.is_ascii() || valid == found.matches(&text));
            }
        }

        #[test]
        fn no_pattern_is_too_odd(pattern in r"\^?[\[\]\\^$*+?{},0-9a-c\-&~|().ü]{0,12}", text in "[a-cü]{0,4}") {
            if let Some(found) = Plain::of(&pattern) && found.matches(&text) {
                prop_assert!(is_valid(&pattern, &text).unwrap_or(true));
            }
        }
    }
}
