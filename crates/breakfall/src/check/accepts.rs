//! What a field of a simple schema may be.

use std::cell::Cell;

use serde_json::{Map, Value};

use super::formats::sure;
use super::known::{DECIDING, has_only, is_named_format, is_of_object, is_of_type};
use super::limits::{is_as_long, is_exact, is_within, length, limits, whole_limits};
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

/// How many schemas within one another are looked at, and how many in all: a few lines of references
/// to references reach billions.
const DEPTH: u8 = 6;
const MOST: u32 = 1_000;

/// How many of them may have a validator of their own.
const ODD: u32 = 8;

/// How many schemas were looked at, and how many of them are odd.
#[derive(Default)]
pub(super) struct Seen {
    all: Cell<u32>,
    odd: Cell<u32>,
}

/// Where schemas are read from, and how many were.
pub(super) struct Source<'r> {
    root: &'r Value,
    depth: u8,
    seen: &'r Seen,
}

impl<'r> Source<'r> {
    pub(super) fn new(root: &'r Value, seen: &'r Seen) -> Self {
        Self { root, depth: DEPTH, seen }
    }

    /// The same for a schema within another, if it may be looked at.
    fn within(&self) -> Option<Self> {
        let all = &self.seen.all;
        all.set(all.get() + 1);
        let depth = self.depth.checked_sub(1)?;
        (all.get() <= MOST).then_some(Self { depth, ..*self })
    }
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
    /// What a field of an object may be, as far as it is simple to see; the validator sees the rest.
    pub(super) fn of_field(schema: &Value, source: &Source<'_>) -> Option<Self> {
        if let Some(simple) = Self::of(schema, source) {
            return Some(simple);
        }
        let odd = &source.seen.odd;
        odd.set(odd.get() + 1);
        let odd = (odd.get() <= ODD).then(|| Odd::of(schema, source.root))??;
        Some(Self::Odd(Box::new(odd)))
    }

    pub(super) fn of(schema: &Value, source: &Source<'_>) -> Option<Self> {
        let source = &source.within()?;
        let fields = match schema {
            Value::Bool(true) => return Some(Self::Anything),
            schema => schema.as_object()?,
        };
        if !has_only(fields, |word| is_of_type(word) || DECIDING.contains(&word)) {
            return None;
        }
        // In this order, whatever order they are written in: where another crate asks serde_json for
        // it, a map keeps that.
        let said = DECIDING.iter().filter_map(|word| Some((*word, fields.get(*word)?)));
        let mut parts = Vec::new();
        for (word, value) in said {
            parts.push(match word {
                // Drafts differ on what stands beside it.
                "$ref" => {
                    has_only(fields, |word| word == "$ref").then_some(())?;
                    Self::of(source.root.pointer(value.as_str()?.strip_prefix('#')?)?, source)?
                }
                "const" => Self::just(value)?,
                "enum" => Self::any(value, Self::just)?,
                "anyOf" => Self::any(value, |branch| Self::of(branch, source))?,
                "oneOf" => Self::one(value, source)?,
                "allOf" => Self::All(Self::each(value, |branch| Self::of(branch, source))?),
                "not" => Self::not(value.as_object()?)?,
                _ => Self::of_type(value, fields, source)?,
            });
        }
        // What says something of a type without naming it says nothing of all others.
        if !fields.contains_key("type") && fields.keys().any(|word| is_of_type(word)) {
            return None;
        }
        Some(Self::all(parts))
    }

    /// All of these. A word is a text: that need not be said.
    fn all(mut parts: Vec<Self>) -> Self {
        if parts.iter().any(|part| part.words().is_some()) {
            parts.retain(|part| !matches!(part, Self::Text { min: 0, max: usize::MAX }));
        }
        if parts.is_empty() {
            return Self::Anything;
        }
        if parts.len() == 1 {
            return parts.swap_remove(0);
        }
        match <[Self; 2]>::try_from(parts) {
            Ok([Self::NoneOf(not), Self::Text { min, max }]) => {
                Self::Worded(Box::new(Worded { min, max, pattern: None, format: None, not }))
            }
            Ok([Self::NoneOf(not), Self::Worded(text)]) => {
                Self::Worded(Box::new(Worded { not, ..*text }))
            }
            Ok(parts) => Self::All(Vec::from(parts)),
            Err(parts) => Self::All(parts),
        }
    }

    fn each(all: &Value, of: impl Fn(&Value) -> Option<Self>) -> Option<Vec<Self>> {
        all.as_array()?.iter().map(of).collect()
    }

    fn any(all: &Value, of: impl Fn(&Value) -> Option<Self>) -> Option<Self> {
        Some(Self::either(Self::each(all, of)?))
    }

    /// One of these and no other: of types that differ, or of words, at most one fits.
    fn one(all: &Value, source: &Source<'_>) -> Option<Self> {
        fn differ<T: Ord>(mut all: Vec<T>) -> bool {
            all.sort_unstable();
            all.is_sorted_by(|one, other| one < other)
        }
        let branches = Self::each(all, |branch| Self::of(branch, source))?;
        let types = branches.iter().map(Self::type_of).collect::<Option<Vec<_>>>();
        let words = branches.iter().map(Self::words).collect::<Option<Vec<_>>>();
        let differ = types.is_some_and(differ) || words.is_some_and(|words| differ(words.concat()));
        differ.then(|| Self::either(branches))
    }

    fn just(value: &Value) -> Option<Self> {
        match value {
            Value::String(word) => Some(Self::Word(word.clone())),
            Value::Null | Value::Bool(_) => Some(Self::Just(value.clone())),
            Value::Number(number) if number.is_i64() => Some(Self::Just(value.clone())),
            _ => None,
        }
    }

    /// What is none of some words.
    fn not(schema: &Map<String, Value>) -> Option<Self> {
        has_only(schema, |word| matches!(word, "const" | "enum")).then_some(())?;
        let word = |word: &Value| word.as_str().map(ToOwned::to_owned);
        let words = match (schema.get("const"), schema.get("enum")) {
            (Some(said), None) => vec![word(said)?],
            (None, Some(said)) => said.as_array()?.iter().map(word).collect::<Option<_>>()?,
            _ => return None,
        };
        Some(Self::NoneOf(words))
    }

    /// The words that it may be, where it is nothing else.
    fn words(&self) -> Option<Vec<&str>> {
        match self {
            Self::Word(word) => Some(vec![word]),
            Self::Either(all) => {
                let words = all.iter().map(Self::words).collect::<Option<Vec<_>>>()?;
                Some(words.concat())
            }
            _ => None,
        }
    }

    /// The type of all that it accepts, where it is one.
    fn type_of(&self) -> Option<&'static str> {
        match self {
            Self::Null | Self::Just(Value::Null) => Some("null"),
            Self::Boolean | Self::Just(Value::Bool(_)) => Some("boolean"),
            Self::Text { .. } | Self::Word(_) | Self::Worded(_) => Some("string"),
            Self::Integer { .. } | Self::Number | Self::Real { .. } | Self::Multiple(_) => {
                Some("number")
            }
            Self::Just(Value::Number(_)) => Some("number"),
            Self::List(_) => Some("array"),
            Self::Table | Self::Object(_) => Some("object"),
            Self::All(all) => all.iter().find_map(Self::type_of),
            Self::Either(any) => {
                let first = any.first()?.type_of()?;
                any.iter().all(|one| one.type_of() == Some(first)).then_some(first)
            }
            Self::Just(_) | Self::Anything | Self::NoneOf(_) | Self::Odd(_) => None,
        }
    }

    fn of_type(said: &Value, fields: &Map<String, Value>, source: &Source<'_>) -> Option<Self> {
        let names = match said {
            Value::Array(names) => names.as_slice(),
            name => std::slice::from_ref(name),
        };
        let is_known = |format: &str| is_named_format(format) || sure(format).is_some();
        if !fields.get("format").is_none_or(|format| format.as_str().is_some_and(is_known)) {
            return None;
        }
        let types = names.iter().map(|name| Self::of_name(name.as_str()?, fields, source));
        let mut types = types.collect::<Option<Vec<_>>>()?;
        if types.len() == 1 { types.pop() } else { Some(Self::either(types)) }
    }

    fn of_name(name: &str, fields: &Map<String, Value>, source: &Source<'_>) -> Option<Self> {
        let length = |name: &str, otherwise: usize| length(fields, name, otherwise);
        Some(match name {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "string" => {
                let (min, max) = (length("minLength", 0)?, length("maxLength", usize::MAX)?);
                let pattern = match fields.get("pattern") {
                    None => None,
                    Some(pattern) => Some(Pattern::of(pattern.as_str()?)?),
                };
                let format = fields.get("format").and_then(Value::as_str).and_then(sure);
                if pattern.is_none() && format.is_none() {
                    return Some(Self::Text { min, max });
                }
                Self::Worded(Box::new(Worded { min, max, pattern, format, not: Vec::new() }))
            }
            "integer" => {
                let (min, max) = whole_limits(fields)?;
                Self::multiple(Self::Integer { min, max }, fields)?
            }
            "number" => {
                let limits = match whole_limits(fields) {
                    Some((i64::MIN, i64::MAX)) => Self::Number,
                    _ => {
                        let (min, max) = limits(fields)?;
                        Self::Real { min, max }
                    }
                };
                Self::multiple(limits, fields)?
            }
            "array" => {
                let items = match fields.get("items") {
                    None => Self::Anything,
                    Some(items) => Self::of(items, source)?,
                };
                let (min, max) = (length("minItems", 0)?, length("maxItems", usize::MAX)?);
                let is_unique = fields.get("uniqueItems").map_or(Some(false), Value::as_bool)?;
                Self::List(Box::new(List { items, min, max, is_unique }))
            }
            "object" if fields.keys().any(|word| is_of_object(word)) => {
                Self::Object(Box::new(Simple::of_object(fields, source)?))
            }
            "object" => Self::Table,
            _ => return None,
        })
    }

    /// A number within limits that another one divides, where that is said.
    fn multiple(limits: Self, fields: &Map<String, Value>) -> Option<Self> {
        match fields.get("multipleOf") {
            None => Some(limits),
            Some(said) => {
                let of = said.as_i64().filter(|of| *of > 0)?;
                Some(Self::All(vec![limits, Self::Multiple(of)]))
            }
        }
    }

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
            (Self::Real { min, max }, Value::Number(number)) => {
                number.as_f64().is_some_and(|x| is_exact(number) && (*min..=*max).contains(&x))
            }
            (Self::Multiple(of), Value::Number(number)) => {
                number.as_i64().is_some_and(|number| number % of == 0)
            }
            _ => false,
        }
    }

    /// Either of these; those that are several themselves are taken apart.
    fn either(all: impl IntoIterator<Item = Self>) -> Self {
        let all = all.into_iter().flat_map(|one| match one {
            Self::Either(all) => all,
            one => vec![one],
        });
        Self::Either(all.collect())
    }
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
