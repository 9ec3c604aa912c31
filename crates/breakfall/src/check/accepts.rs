//! What a field of a simple schema may be.

mod refuses;
mod said;

use serde_json::Value;

pub(super) use self::said::{Seen, Source};
use super::limits::{is_as_long, is_exact, is_within};
use super::odd::Odd;
use super::pattern::Pattern;
use super::simple::Simple;

/// What a field may be. Which of them is told by a byte of its own, so that asking takes one step.
#[repr(u8)]
pub(super) enum Accepts {
    Anything,
    Null,
    Boolean,
    Text {
        min: usize,
        max: usize,
    },
    Integer {
        min: i64,
        max: i64,
    },
    Number,
    /// Both bounds are accepted.
    Real {
        min: f64,
        max: f64,
    },
    /// A whole number that this one divides.
    Multiple(i64),
    List(Box<List>),
    /// With any content.
    Table,
    Object(Box<Simple>),
    Word(String),
    /// Nothing, a truth value or a whole number.
    Just(Value),
    /// Anything but these words.
    NoneOf(Vec<String>),
    Worded(Box<Worded>),
    /// What the validator says of it by itself.
    Odd(Box<Odd>),
    /// Of those above.
    Either(Vec<Self>),
    /// Each of them must accept it.
    All(Vec<Self>),
    /// One of them, and no other.
    One(Vec<Self>),
    /// What this refuses.
    Not(Box<Self>),
    If(Box<Condition>),
}

/// What is asked of what fits one schema, and what of all else.
pub(super) struct Condition {
    fits: Accepts,
    then: Accepts,
    otherwise: Accepts,
}

/// A text of which more is said than how long it is.
pub(super) struct Worded {
    min: usize,
    max: usize,
    pattern: Option<Pattern>,
    /// What is surely of its format.
    format: Option<&'static Pattern>,
    /// What it is not.
    not: Vec<String>,
}

impl Worded {
    fn accepts(&self, value: &Value) -> bool {
        matches!(value, Value::String(text) if self.accepts_text(text))
    }

    #[inline(never)]
    pub(super) fn accepts_text(&self, text: &str) -> bool {
        is_as_long(text, self.min, self.max)
            && !self.not.iter().any(|word| *word == text)
            && self.pattern.as_ref().is_none_or(|pattern| pattern.matches(text))
            && self.format.is_none_or(|format| format.matches(text))
    }
}

/// Items of one kind, so many.
pub(super) struct List {
    pub(super) items: Accepts,
    pub(super) min: usize,
    pub(super) max: usize,
    pub(super) is_unique: bool,
}

/// Whether two names are the same. Most are shorter than what asking for it takes.
#[inline]
pub(super) fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if let (4..=8, Some(first), Some(last)) = (one.len(), one.first_chunk(), one.last_chunk()) {
        let its = (other.first_chunk::<4>(), other.last_chunk::<4>());
        return one.len() == other.len() && its == (Some(first), Some(last));
    }
    one == other
}

impl Accepts {
    #[expect(
        clippy::inline_always,
        reason = "it is asked of every field, and a call would take as long"
    )]
    #[inline(always)]
    pub(super) fn accepts(&self, value: &Value) -> bool {
        match self {
            // What most fields are.
            Self::Text { min: 0, max: usize::MAX } => value.is_string(),
            Self::Integer { min, max } => is_within(value, *min, *max),
            Self::Either(any) => any.iter().any(|one| one.accepts_one(value)),
            Self::Worded(text) => text.accepts(value),
            one => one.accepts_one(value),
        }
    }

    /// Whether it accepts a value; of several, none does.
    #[inline]
    fn accepts_one(&self, value: &Value) -> bool {
        match self {
            Self::Text { min, max } => {
                matches!(value, Value::String(text) if is_as_long(text, *min, *max))
            }
            Self::Integer { min, max } => is_within(value, *min, *max),
            Self::Word(word) => matches!(value, Value::String(text) if same(word, text)),
            Self::Anything => true,
            Self::Null => value.is_null(),
            Self::Boolean => value.is_boolean(),
            Self::Number => value.is_number(),
            Self::Table => value.is_object(),
            more => more.accepts_more(value),
        }
    }

    /// The same of what few fields are: apart, so that the others are looked at in few steps.
    #[inline(never)]
    fn accepts_more(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::List(list), Value::Array(items)) => list.accepts(items),
            (Self::Object(object), value) => object.accepts(value),
            (Self::Worded(text), value) => text.accepts(value),
            (Self::All(all), value) => all.iter().all(|one| one.accepts(value)),
            (Self::NoneOf(words), Value::String(text)) => !words.iter().any(|word| word == text),
            (Self::NoneOf(_), _) => true,
            (Self::Just(just), value) => just == value,
            (Self::Odd(odd), value) => odd.accepts(value),
            (Self::Not(not), value) => not.refuses(value),
            (Self::If(condition), value) => condition.accepts(value),
            (Self::One(all), value) => is_one(all, value),
            (Self::Real { min, max }, Value::Number(number)) => {
                number.as_f64().is_some_and(|x| is_exact(number) && (*min..=*max).contains(&x))
            }
            (Self::Multiple(of), Value::Number(number)) => {
                number.as_i64().is_some_and(|number| number % of == 0)
            }
            _ => false,
        }
    }
}

impl Condition {
    fn accepts(&self, value: &Value) -> bool {
        match (self.then.accepts(value), self.otherwise.accepts(value)) {
            (true, true) => true,
            (true, false) => self.fits.accepts(value),
            (false, true) => self.fits.refuses(value),
            (false, false) => false,
        }
    }
}

/// Whether one accepts a value, and all others surely do not.
fn is_one(all: &[Accepts], value: &Value) -> bool {
    let Some(one) = all.iter().position(|one| one.accepts(value)) else { return false };
    all.iter().enumerate().all(|(nth, other)| nth == one || other.refuses(value))
}

impl List {
    fn accepts(&self, items: &[Value]) -> bool {
        (self.min..=self.max).contains(&items.len())
            && items.iter().all(|item| self.items.accepts(item))
            && (!self.is_unique || are_unique(items))
    }
}

/// How many items are compared with each other here.
const COMPARED: usize = 16;

/// Whether few texts surely differ from each other.
fn are_unique(items: &[Value]) -> bool {
    let differs = |(nth, item): (usize, &Value)| item.is_string() && !items[..nth].contains(item);
    items.len() <= COMPARED && items.iter().enumerate().all(differs)
}
