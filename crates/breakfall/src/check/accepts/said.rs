//! What a schema says of a value, as far as it is simple to see.

use std::cell::Cell;

use serde_json::{Map, Value, json};

use super::super::formats::sure;
use super::super::known::{
    DECIDING, TYPES, has_only, has_opposites, is_deciding, is_named_format, is_of_object,
    is_of_type,
};
use super::super::limits::{length, limits, whole_limits};
use super::super::odd::Odd;
use super::super::pattern::Pattern;
use super::super::simple::Simple;
use super::{Accepts, Condition, List, Worded};

/// How many schemas within one another are looked at, and how many in all: a few lines of references
/// to references reach billions.
const DEPTH: u8 = 6;
const MOST: u32 = 1_000;

/// How many of them may have a validator of their own.
const ODD: u32 = 8;

/// How many schemas were looked at, and how many of them are odd.
#[derive(Default)]
pub(in super::super) struct Seen {
    all: Cell<u32>,
    odd: Cell<u32>,
}

/// Where schemas are read from, and how many were.
pub(in super::super) struct Source<'r> {
    root: &'r Value,
    depth: u8,
    seen: &'r Seen,
}

impl<'r> Source<'r> {
    pub(in super::super) fn new(root: &'r Value, seen: &'r Seen) -> Self {
        Self { root, depth: DEPTH, seen }
    }

    /// The root, or what it stands for where it only refers to that.
    pub(in super::super) fn resolved(&self) -> Option<&'r Map<String, Value>> {
        let root = self.root.as_object()?;
        match root.get("$ref") {
            Some(_) => self.referred(root)?.as_object(),
            None => Some(root),
        }
    }

    /// What a schema refers to, where it says nothing else: drafts differ on what stands beside it.
    fn referred(&self, schema: &Map<String, Value>) -> Option<&'r Value> {
        has_only(schema, |word| word == "$ref").then_some(())?;
        self.root.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
    }

    /// The same for a schema within another, if it may be looked at.
    fn within(&self) -> Option<Self> {
        let all = &self.seen.all;
        all.set(all.get() + 1);
        let depth = self.depth.checked_sub(1)?;
        (all.get() <= MOST).then_some(Self { depth, ..*self })
    }
}

impl Accepts {
    /// What a field of an object may be, as far as it is simple to see; the validator sees the rest.
    pub(in super::super) fn of_field(schema: &Value, source: &Source<'_>) -> Option<Self> {
        if let Some(simple) = Self::of(schema, source) {
            return Some(simple);
        }
        let odd = &source.seen.odd;
        odd.set(odd.get() + 1);
        let odd = (odd.get() <= ODD).then(|| Odd::of(schema, source.root))??;
        Some(Self::Odd(Box::new(odd)))
    }

    pub(in super::super) fn of(schema: &Value, source: &Source<'_>) -> Option<Self> {
        let source = &source.within()?;
        let fields = match schema {
            Value::Bool(true) => return Some(Self::Anything),
            Value::Bool(false) => return Some(Self::Either(Vec::new())),
            schema => schema.as_object()?,
        };
        let mut parts = Self::parts(fields, source)?;
        // What says something of a type without naming it says nothing of all others.
        parts.push(match fields.get("type") {
            Some(named) => Self::of_type(named, fields, source)?,
            None if fields.keys().any(|word| is_of_type(word)) => {
                Self::of_type(&json!(TYPES), fields, source)?
            }
            None => return Some(Self::all(parts)),
        });
        Some(Self::all(parts))
    }

    /// What a schema says beside what it says of types, each by itself.
    pub(in super::super) fn parts(
        fields: &Map<String, Value>,
        source: &Source<'_>,
    ) -> Option<Vec<Self>> {
        if !has_only(fields, |word| is_of_type(word) || is_deciding(word)) {
            return None;
        }
        // In this order, whatever order they are written in: where another crate asks serde_json for
        // it, a map keeps that.
        let mut parts = Vec::new();
        for word in DECIDING {
            let Some(value) = fields.get(*word) else { continue };
            parts.push(match *word {
                "$ref" => Self::of(source.referred(fields)?, source)?,
                "const" => Self::just(value)?,
                "enum" => Self::any(value, Self::just)?,
                "anyOf" => Self::any(value, |branch| Self::of(branch, source))?,
                "oneOf" => Self::one(value, source)?,
                "allOf" => Self::All(Self::each(value, |branch| Self::of(branch, source))?),
                "not" => Self::not(value, source)?,
                _ => Self::condition(fields, source)?,
            });
        }
        Some(parts)
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
        if differ {
            return Some(Self::either(branches));
        }
        has_opposites(source.root).then_some(Self::One(branches))
    }

    fn just(value: &Value) -> Option<Self> {
        match value {
            Value::String(word) => Some(Self::Word(word.clone())),
            Value::Null | Value::Bool(_) => Some(Self::Just(value.clone())),
            Value::Number(number) if number.is_i64() => Some(Self::Just(value.clone())),
            _ => None,
        }
    }

    /// What is none of some words, or nothing that a schema accepts.
    fn not(said: &Value, source: &Source<'_>) -> Option<Self> {
        if let Some(words) = Self::none_of(said) {
            return Some(words);
        }
        has_opposites(source.root).then_some(())?;
        Some(Self::Not(Box::new(Self::of(said, source)?)))
    }

    fn none_of(said: &Value) -> Option<Self> {
        let schema = said.as_object()?;
        has_only(schema, |word| matches!(word, "const" | "enum")).then_some(())?;
        let word = |word: &Value| word.as_str().map(ToOwned::to_owned);
        let words = match (schema.get("const"), schema.get("enum")) {
            (Some(said), None) => vec![word(said)?],
            (None, Some(said)) => said.as_array()?.iter().map(word).collect::<Option<_>>()?,
            _ => return None,
        };
        Some(Self::NoneOf(words))
    }

    /// What is asked where a condition holds, and where it does not.
    fn condition(fields: &Map<String, Value>, source: &Source<'_>) -> Option<Self> {
        has_opposites(source.root).then_some(())?;
        let said = |word: &str| {
            fields.get(word).map_or(Some(Self::Anything), |said| Self::of(said, source))
        };
        let (fits, then, otherwise) = (said("if")?, said("then")?, said("else")?);
        Some(Self::If(Box::new(Condition { fits, then, otherwise })))
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
            Self::Just(_)
            | Self::Anything
            | Self::NoneOf(_)
            | Self::Odd(_)
            | Self::One(_)
            | Self::Not(_)
            | Self::If(_) => None,
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

    /// The same, asked of objects alone.
    pub(in super::super) fn of_objects(self) -> Self {
        let each = |all: Vec<Self>| all.into_iter().map(Self::of_objects).collect::<Vec<_>>();
        match self {
            Self::Either(mut all) => {
                all.retain(|one| one.type_of().is_none_or(|of| of == "object"));
                let mut all = each(all);
                if all.len() == 1 { all.swap_remove(0) } else { Self::Either(all) }
            }
            Self::All(all) => Self::All(each(all)),
            Self::One(all) => Self::One(each(all)),
            Self::Not(not) => Self::Not(Box::new(not.of_objects())),
            Self::If(condition) => {
                let Condition { fits, then, otherwise } = *condition;
                let (fits, then) = (fits.of_objects(), then.of_objects());
                Self::If(Box::new(Condition { fits, then, otherwise: otherwise.of_objects() }))
            }
            other => other,
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
