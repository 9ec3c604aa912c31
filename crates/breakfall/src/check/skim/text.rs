//! A JSON text is passed over piece by piece, as far as it is written in the common way.

use serde_json::{Number, Value};

use super::super::simple::Field;
use crate::stretch::{first_marked, is_marked};

/// How deep a value is passed over: a bit for each.
const DEEPEST: usize = 64;

/// The digits that every whole number of 64 bits has room for.
const DIGITS: usize = 18;

/// A text, and what of it was not seen yet. `None` says of each step that it is not sure.
pub(super) struct Skimmed<'t> {
    text: &'t str,
    rest: &'t [u8],
}

/// A short name with the quote behind it, the first letter in the lowest byte: compared in one step.
#[derive(Clone, Copy)]
pub(in super::super) struct Opening {
    letters: u64,
    /// Nothing where the name is long, or is written otherwise.
    mask: u64,
    length: usize,
}

impl Opening {
    pub(in super::super) fn of(name: &str) -> Self {
        let length = name.len() + 1;
        if length > 8 || name.bytes().any(is_marked) {
            return Self { letters: 0, mask: 0, length: 0 };
        }
        let mut letters = [0; 8];
        letters[..name.len()].copy_from_slice(name.as_bytes());
        letters[name.len()] = b'"';
        let mask = u64::MAX >> (64 - 8 * length);
        Self { letters: u64::from_le_bytes(letters), mask, length }
    }
}

/// A value without others in it, as it is written.
#[derive(Clone, Copy)]
pub(super) enum Scalar<'t> {
    Null,
    Truth(bool),
    Whole(i64),
    /// A number with a point.
    Point(&'t str),
    Text(&'t str),
}

impl Scalar<'_> {
    pub(super) fn value(self) -> Option<Value> {
        Some(match self {
            Self::Null => Value::Null,
            Self::Truth(truth) => Value::Bool(truth),
            Self::Whole(number) => Value::Number(number.into()),
            Self::Point(number) => Value::Number(number.parse::<Number>().ok()?),
            Self::Text(text) => Value::String(text.to_owned()),
        })
    }
}

impl<'t> Skimmed<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self { text, rest: text.as_bytes() }
    }

    /// The next byte that is no space.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.ahead().map(|(byte, _)| byte)
    }

    #[inline]
    pub(super) fn next(&mut self) -> Option<u8> {
        let (byte, rest) = self.ahead()?;
        self.rest = rest;
        Some(byte)
    }

    #[inline]
    fn ahead(&mut self) -> Option<(u8, &'t [u8])> {
        loop {
            let (byte, rest) = self.rest.split_first()?;
            match byte {
                b'!'.. => return Some((*byte, rest)),
                b' ' | b'\n' | b'\r' | b'\t' => self.rest = rest,
                _ => return None,
            }
        }
    }

    #[inline]
    fn pass(&mut self, many: usize) -> Option<()> {
        self.rest = self.rest.get(many..)?;
        Some(())
    }

    /// Takes this byte, or is not sure.
    #[inline]
    pub(super) fn take(&mut self, wanted: u8) -> Option<()> {
        (self.next()? == wanted).then_some(())
    }

    /// Takes the byte that ends an object or a list, where nothing is in it.
    #[inline]
    pub(super) fn ends_at_once(&mut self, end: u8) -> Option<bool> {
        let (byte, rest) = self.ahead()?;
        if byte == end {
            self.rest = rest;
        }
        Some(byte == end)
    }

    /// What was passed over since so much was left.
    #[inline]
    fn since(&self, left: usize) -> Option<&'t str> {
        let all = self.text.len();
        self.text.get(all - left..all - self.rest.len())
    }

    /// A text behind its first quote, with nothing in it that stands for something else.
    #[inline]
    pub(super) fn text(&mut self) -> Option<&'t str> {
        let left = self.rest.len();
        while let Some(eight) = self.rest.first_chunk() {
            if let Some(first) = first_marked(*eight) {
                self.pass(first)?;
                return self.until_quote(left);
            }
            self.pass(eight.len())?;
        }
        let first = self.rest.iter().position(|byte| is_marked(*byte))?;
        self.pass(first)?;
        self.until_quote(left)
    }

    #[inline]
    fn until_quote(&mut self, left: usize) -> Option<&'t str> {
        let text = self.since(left)?;
        let [b'"', rest @ ..] = self.rest else { return None };
        self.rest = rest;
        Some(text)
    }

    /// The place of the field whose name stands here: mostly that of the next one.
    #[inline]
    pub(super) fn field(&mut self, fields: &[Field], next: usize) -> Option<Result<usize, ()>> {
        self.take(b'"')?;
        let place = match fields.get(next) {
            Some(field) if self.opens(field.opening) => Ok(next),
            _ => {
                let name = self.text()?;
                fields.iter().position(|field| field.name == name).ok_or(())
            }
        };
        self.take(b':')?;
        Some(place)
    }

    /// Passes over a name and the quote behind it, if they stand here.
    #[inline]
    fn opens(&mut self, opening: Opening) -> bool {
        let is_here = self.rest.first_chunk().is_some_and(|eight| {
            u64::from_le_bytes(*eight) & opening.mask == opening.letters && opening.mask != 0
        });
        is_here && self.pass(opening.length).is_some()
    }

    /// The name of a field, and what stands behind it.
    fn name(&mut self) -> Option<&'t str> {
        self.take(b'"')?;
        let name = self.text()?;
        self.take(b':')?;
        Some(name)
    }

    pub(super) fn scalar(&mut self) -> Option<Scalar<'t>> {
        match self.peek()? {
            b'"' => {
                self.pass(1)?;
                self.text().map(Scalar::Text)
            }
            b'n' => self.word("null").map(|()| Scalar::Null),
            b't' => self.word("true").map(|()| Scalar::Truth(true)),
            b'f' => self.word("false").map(|()| Scalar::Truth(false)),
            b'-' | b'0'..=b'9' => self.number(),
            _ => None,
        }
    }

    fn word(&mut self, word: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(word.as_bytes())?;
        Some(())
    }

    /// What digits come to: few enough that nothing is lost.
    #[inline]
    fn digits(&mut self) -> Option<i64> {
        let left = self.rest.len();
        let mut number = 0_i64;
        while let [digit @ b'0'..=b'9', rest @ ..] = self.rest {
            number = number.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
            self.rest = rest;
        }
        (1..=DIGITS).contains(&(left - self.rest.len())).then_some(number)
    }

    #[inline]
    pub(super) fn number(&mut self) -> Option<Scalar<'t>> {
        let left = self.rest.len();
        let is_below = self.word("-").is_some();
        // Nothing stands behind a zero.
        let is_zero = matches!(self.rest, [b'0', b'0'..=b'9', ..]);
        let number = if is_zero { None } else { self.digits() }?;
        match self.rest {
            [b'.', ..] => {
                self.pass(1)?;
                self.digits()?;
                let is_over = !matches!(self.rest, [b'e' | b'E', ..]);
                is_over.then(|| self.since(left).map(Scalar::Point))?
            }
            [b'e' | b'E', ..] => None,
            // It would be read as a number with a point.
            _ if is_below && number == 0 => None,
            _ => Some(Scalar::Whole(if is_below { -number } else { number })),
        }
    }

    /// Passes over a value of whatever kind.
    pub(super) fn anything(&mut self) -> Option<()> {
        let mut open = Open { objects: 0, depth: 0 };
        loop {
            match self.peek()? {
                first @ (b'{' | b'[') => {
                    self.pass(1)?;
                    let is_object = first == b'{';
                    if !self.ends_at_once(if is_object { b'}' } else { b']' })? {
                        open.enter(is_object)?;
                        if is_object {
                            self.name()?;
                        }
                        continue;
                    }
                }
                _ => drop(self.scalar()?),
            }
            self.goes_on(&mut open)?;
            if open.depth == 0 {
                return Some(());
            }
        }
    }

    /// What follows a value: the next one, or the ends of what it is in.
    fn goes_on(&mut self, open: &mut Open) -> Option<()> {
        while open.depth > 0 {
            let is_object = open.objects & 1 == 1;
            match self.next()? {
                b',' if is_object => return self.name().map(|_| ()),
                b',' => return Some(()),
                b'}' if is_object => {}
                b']' if !is_object => {}
                _ => return None,
            }
            open.objects >>= 1;
            open.depth -= 1;
        }
        Some(())
    }
}

/// What a value is in: objects and lists, a bit for each, the innermost in the lowest.
struct Open {
    objects: u64,
    depth: usize,
}

impl Open {
    fn enter(&mut self, is_object: bool) -> Option<()> {
        (self.depth < DEEPEST).then_some(())?;
        self.depth += 1;
        self.objects = self.objects << 1 | u64::from(is_object);
        Some(())
    }
}
