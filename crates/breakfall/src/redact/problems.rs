//! The problems of arguments and the call corrected, without secrets. Most that a model hears of are
//! those that it heard of before: a problem that stands as it is is known again, and not looked at
//! again. Kept for each thread, and compared to the letter.

use std::borrow::Cow;
use std::cell::RefCell;
use std::mem::take;

use super::marks::GONE;
use super::{Redactor, clean, is_secret_name};
use crate::written::json;
use crate::{Correction, Problem};

/// How many characters of a value are shown.
const SHOWN: usize = 60;

/// The most bytes of a path, and of what a tool says of what stands there.
const PATH: usize = 256;

/// The most bytes that tell what was expected: a list of options, each of them needed.
const EXPECTED: usize = 512;

/// The largest correction that is worth its tokens.
const CORRECTION: usize = 1 << 10;

/// How many problems are known again, and how long the texts of one may be.
const KNOWN: usize = 128;
const KNOWN_BYTES: usize = 1 << 10;

/// A problem in which nothing was to be removed, under a name that is no secret's.
struct Known {
    /// Of which redactor.
    number: u64,
    path: Box<str>,
    expected: Box<str>,
    got: Option<String>,
}

thread_local! {
    static KNOWN_PROBLEMS: RefCell<Vec<Option<Known>>> =
        RefCell::new(std::iter::repeat_with(|| None).take(KNOWN).collect());
}

/// How much of a problem is known.
enum Again {
    Nothing,
    /// Where it is, and what was expected there.
    ButGot,
    All,
}

impl Redactor {
    /// A problem without secrets.
    pub(super) fn problem(&self, problem: &mut Problem) {
        if problem.remark.is_some() {
            self.look_at(problem);
            return;
        }
        match self.known(problem) {
            Again::All => {}
            Again::ButGot => self.learn_got(problem),
            Again::Nothing => self.learn(problem),
        }
    }

    /// Looks at all of a problem; whether its name is no secret's.
    fn look_at(&self, problem: &mut Problem) -> bool {
        let Problem { path, expected, remark, got, nearest: _ } = problem;
        // The name beside a value tells that it is a secret.
        let is_secret = is_secret_name(last_name(path));
        if let Some(got) = got {
            *got = if is_secret { GONE.to_owned() } else { self.short(take(got)) };
        }
        *path = self.name(take(path), PATH);
        *expected = self.name_with_marks(take(expected), EXPECTED);
        if let Some(remark) = remark {
            *remark = self.name_with_marks(take(remark), PATH);
        }
        !is_secret
    }

    /// Looks at all of a problem, and keeps it where it stands as it is.
    fn learn(&self, problem: &mut Problem) {
        let got = problem.got.as_deref();
        let bytes = problem.path.len() + problem.expected.len() + got.map_or(0, str::len);
        if bytes > KNOWN_BYTES {
            self.look_at(problem);
            return;
        }
        let (path, expected): (Box<str>, Box<str>) =
            (problem.path.as_str().into(), problem.expected.as_str().into());
        // With room for another that is a little longer.
        let got = got.map(|got| {
            let mut kept = String::with_capacity(got.len().max(SHOWN));
            kept.push_str(got);
            kept
        });
        let is_open = self.look_at(problem);
        let stands = *path == *problem.path && *expected == *problem.expected;
        if is_open && stands && got.as_deref() == problem.got.as_deref() {
            let place = place(&path, &expected);
            // A thread that ends has no memory.
            let _ = KNOWN_PROBLEMS.try_with(|known| {
                if let Some(known) = known.borrow_mut().get_mut(place) {
                    *known = Some(Known { number: self.number, path, expected, got });
                }
            });
        }
    }

    /// Looks at what was sent, where the rest is known.
    fn learn_got(&self, problem: &mut Problem) {
        let Some(got) = &mut problem.got else { return };
        if !self.stands(got) {
            *got = self.short(take(got));
            return;
        }
        let place = place(&problem.path, &problem.expected);
        let _ = KNOWN_PROBLEMS.try_with(|known| {
            if let Some(Some(known)) = known.borrow_mut().get_mut(place) {
                got.clone_into(known.got.get_or_insert_default());
            }
        });
    }

    fn known(&self, problem: &Problem) -> Again {
        let place = place(&problem.path, &problem.expected);
        let again = |known: &RefCell<Vec<Option<Known>>>| {
            let known = known.borrow();
            let known = known.get(place).and_then(Option::as_ref);
            match known {
                Some(known)
                    if known.number == self.number
                        && *known.path == *problem.path
                        && *known.expected == *problem.expected =>
                {
                    let is_same = known.got.as_deref() == problem.got.as_deref();
                    if is_same { Again::All } else { Again::ButGot }
                }
                _ => Again::Nothing,
            }
        };
        KNOWN_PROBLEMS.try_with(again).unwrap_or(Again::Nothing)
    }

    /// Whether a value is told as it is.
    fn stands(&self, text: &str) -> bool {
        text.len() <= SHOWN
            && clean::is_one_line(text)
            && matches!(self.redact(text), Cow::Borrowed(_))
    }

    /// A value within a sentence of ours, cut short after its secrets are gone.
    fn short(&self, text: String) -> String {
        let text = match self.redact(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(redacted) => redacted,
        };
        let text = clean::one_line(text);
        // A text has no more characters than bytes.
        if text.len() <= SHOWN + 20 {
            return text;
        }
        let count = text.chars().count();
        match text.char_indices().nth(SHOWN) {
            Some((end, _)) if count > SHOWN + 20 => {
                format!("{}… ({count} characters)", &text[..end])
            }
            _ => text,
        }
    }

    /// Words of ours or a tool's on one line, with the quotes that belong to them.
    fn name_with_marks(&self, text: String, max: usize) -> String {
        let text = self.clean(text, max);
        match memchr::memchr2(b'\n', b'\r', text.as_bytes()) {
            Some(_) => text.replace(['\n', '\r'], " "),
            None => text,
        }
    }

    /// A correction that repeats a secret is not shown at all: half of it would be no call. Nor is
    /// one that is longer than it is worth.
    pub(super) fn correction(&self, mut correction: Correction) -> Option<Correction> {
        let text = json(&correction.arguments);
        if text.len() > CORRECTION || self.redact(&text) != text {
            return None;
        }
        correction.written = Some(text);
        Some(correction)
    }
}

/// The name that a path ends with; most paths are one.
fn last_name(path: &str) -> &str {
    if !path.bytes().any(|byte| matches!(byte, b'.' | b'[' | b']')) {
        return path;
    }
    path.rsplit(['.', '[']).find(|part| !part.ends_with(']')).unwrap_or_default()
}

/// Where a problem is kept, by some letters of it.
fn place(path: &str, expected: &str) -> usize {
    let mixed = |hash: u64, letters: u64| {
        (hash ^ letters).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    };
    let hash = mixed(letters(path), letters(expected));
    usize::try_from(mixed(hash, 0) % KNOWN as u64).unwrap_or(0)
}

/// The first and the last letters of a text, and how many there are.
fn letters(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let ends = match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
        }
        _ => bytes.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)),
    };
    ends ^ (bytes.len() as u64) << 56
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(path: &str, expected: &str, got: Option<&str>) -> Problem {
        let (path, expected, got) = (path.to_owned(), expected.to_owned(), got.map(str::to_owned));
        Problem { path, expected, got, ..Problem::default() }
    }

    /// Whatever came before.
    #[test]
    fn a_problem_that_comes_again_is_told_as_the_first_time() {
        let token = ["ghp_", "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1bC3dE5"].concat();
        let quoted = format!("\"{token}\"");
        let long = "x".repeat(100);
        let values = ["7", "\"ten\"", "\"a `b` c\"", "\"two\\nlines\"", &quoted, &long, GONE];
        let redactor = Redactor::default();
        for _ in 0..3 {
            for path in ["limit", "password", "auth[0].token", "a`b", &token, &"p".repeat(300)] {
                for expected in ["an integer", "one of `a`\nor `b`", &token, &"e".repeat(600)] {
                    for got in values.iter().map(|value| Some(*value)).chain([None]) {
                        let mut told = problem(path, expected, got);
                        let mut plainly = told.clone();
                        redactor.problem(&mut told);
                        redactor.look_at(&mut plainly);
                        assert_eq!(told, plainly);
                        assert!(!format!("{told:?}").contains(&token));
                    }
                }
            }
        }
    }

    #[test]
    fn a_problem_is_looked_at_again_where_there_is_another_secret() {
        let mut redactor = Redactor::default();
        let told = |redactor: &Redactor| {
            let mut told = problem("word", "another word", Some("\"swordfish\""));
            redactor.problem(&mut told);
            told.got
        };
        assert_eq!(told(&redactor).as_deref(), Some("\"swordfish\""));
        redactor.add_value("swordfish");
        for _ in 0..2 {
            assert!(told(&redactor).is_some_and(|got| !got.contains("sword")));
        }
    }
}
