//! What a field of a simple schema may be.

use std::cell::Cell;

use serde_json::{Map, Value};

use super::simple::Simple;

/// What a field may be.
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
    List(Box<List>),
    /// With any content.
    Table,
    Object(Box<Simple>),
    Word(String),
    /// Of those above.
    Either(Vec<Self>),
}

/// Items of one kind, so many.
pub(super) struct List {
    items: Accepts,
    min: usize,
    max: usize,
}

/// What says nothing of what is accepted.
const REMARKS: &[&str] = &[
    "$schema",
    "$comment",
    "$defs",
    "definitions",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
];

/// Whether a word of a schema says nothing of what is accepted.
pub(super) fn is_remark(word: &str) -> bool {
    REMARKS.contains(&word)
}

/// How schemars writes the types of Rust; the validator knows no such formats.
const NUMBERS: &[&str] = &[
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "int", "uint",
    "float", "double",
];

/// Whether the validator knows no such format.
pub(super) fn is_number_format(format: &str) -> bool {
    NUMBERS.contains(&format)
}

/// How many schemas within one another are looked at, and how many in all: a few lines of references
/// to references reach billions.
const DEPTH: u8 = 6;
const MOST: u32 = 1_000;

/// How many schemas were looked at.
pub(super) type Seen = Cell<u32>;

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
        self.seen.set(self.seen.get() + 1);
        let depth = self.depth.checked_sub(1)?;
        (self.seen.get() <= MOST).then_some(Self { depth, ..*self })
    }
}

/// The words of a type that are known here.
pub(super) const KNOWN: &[&str] = &[
    "type",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "format",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "additionalProperties",
    "propertyNames",
];

/// Those that say something of an object.
const OF_OBJECT: [&str; 4] = ["properties", "required", "additionalProperties", "propertyNames"];

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
    pub(super) fn of(schema: &Value, source: &Source<'_>) -> Option<Self> {
        let source = &source.within()?;
        let fields = match schema {
            Value::Bool(true) => return Some(Self::Anything),
            schema => schema.as_object()?,
        };
        // In this order, whatever order they are written in: where another crate asks serde_json for
        // it, a map keeps that.
        let decides = |word: &&'static str| Some((*word, fields.get(*word)?));
        let Some((said, value)) = DECIDING.iter().find_map(decides) else {
            return has_only(fields, &[]).then_some(Self::Anything);
        };
        let alone = |known: &[&str]| has_only(fields, known).then_some(());
        match said {
            "$ref" => {
                alone(&["$ref"])?;
                Self::of(source.root.pointer(value.as_str()?.strip_prefix('#')?)?, source)
            }
            "const" => {
                alone(&["const", "type"])?;
                let is_text = fields.get("type").is_none_or(|named| named == "string");
                is_text.then_some(Self::Word(value.as_str()?.to_owned()))
            }
            "enum" => {
                alone(&["enum", "type"])?;
                let is_text = fields.get("type").is_none_or(|named| named == "string");
                let words = value.as_array()?.iter();
                let words = words.map(|word| Some(Self::Word(word.as_str()?.to_owned())));
                is_text.then_some(Self::either(words.collect::<Option<Vec<_>>>()?))
            }
            "anyOf" => {
                alone(&["anyOf"])?;
                let branches = value.as_array()?.iter();
                let branches = branches.map(|branch| Self::of(branch, source));
                Some(Self::either(branches.collect::<Option<Vec<_>>>()?))
            }
            // Of words that differ at most one fits.
            "oneOf" => {
                alone(&["oneOf"])?;
                let branches = value.as_array()?.iter();
                let branches: Vec<Self> =
                    branches.map(|branch| Self::of(branch, source)).collect::<Option<_>>()?;
                let words = branches.iter().map(Self::words).collect::<Option<Vec<_>>>()?;
                let mut words = words.concat();
                words.sort_unstable();
                words.is_sorted_by(|one, other| one < other).then(|| Self::either(branches))
            }
            _ => Self::of_type(value, fields, source),
        }
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

    fn of_type(said: &Value, fields: &Map<String, Value>, source: &Source<'_>) -> Option<Self> {
        let names = match said {
            Value::Array(names) => names.as_slice(),
            name => std::slice::from_ref(name),
        };
        let is_number = |format: &Value| format.as_str().is_some_and(is_number_format);
        if !has_only(fields, KNOWN) || !fields.get("format").is_none_or(is_number) {
            return None;
        }
        let types = names.iter().map(|name| Self::of_name(name.as_str()?, fields, source));
        let mut types = types.collect::<Option<Vec<_>>>()?;
        if types.len() == 1 { types.pop() } else { Some(Self::either(types)) }
    }

    fn of_name(name: &str, fields: &Map<String, Value>, source: &Source<'_>) -> Option<Self> {
        // A bound that is none itself, by what is next to it. (It was a word beside the bound once.)
        let limit = |name: &str, next: &str, step: i64, otherwise: i64| {
            let limit = fields.get(name).map(Value::as_i64);
            let next = fields.get(next).map(|said| said.as_i64()?.checked_add(step));
            Some((limit.unwrap_or(Some(otherwise))?, next.unwrap_or(Some(otherwise))?))
        };
        let length = |name: &str, otherwise: usize| {
            let said = fields.get(name).map(|said| usize::try_from(said.as_u64()?).ok());
            said.unwrap_or(Some(otherwise))
        };
        let limits = || {
            let (least, above) = limit("minimum", "exclusiveMinimum", 1, i64::MIN)?;
            let (most, below) = limit("maximum", "exclusiveMaximum", -1, i64::MAX)?;
            Some((least.max(above), most.min(below)))
        };
        Some(match name {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "string" => {
                Self::Text { min: length("minLength", 0)?, max: length("maxLength", usize::MAX)? }
            }
            "integer" => {
                let (min, max) = limits()?;
                Self::Integer { min, max }
            }
            "number" => match limits()? {
                (i64::MIN, i64::MAX) => Self::Number,
                // Those with a point are left to the validator.
                (min, max) => Self::Integer { min, max },
            },
            "array" => {
                let items = match fields.get("items") {
                    None => Self::Anything,
                    Some(items) => Self::of(items, source)?,
                };
                let (min, max) = (length("minItems", 0)?, length("maxItems", usize::MAX)?);
                Self::List(Box::new(List { items, min, max }))
            }
            "object" if fields.keys().any(|word| OF_OBJECT.contains(&word.as_str())) => {
                Self::Object(Box::new(Simple::of_object(fields, source)?))
            }
            "object" => Self::Table,
            _ => return None,
        })
    }

    #[inline]
    pub(super) fn accepts(&self, value: &Value) -> bool {
        match (self, value) {
            // What most fields are.
            (Self::Text { min: 0, max: usize::MAX }, Value::String(_)) => true,
            (Self::Either(all), _) => all.iter().any(|one| one.accepts_one(value)),
            (one, _) => one.accepts_one(value),
        }
    }

    /// Whether it accepts a value; of several, none does.
    #[inline]
    fn accepts_one(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Text { min, max }, Value::String(text)) => {
                (*min, *max) == (0, usize::MAX) || (*min..=*max).contains(&text.chars().count())
            }
            (Self::Integer { min, max }, Value::Number(number)) => {
                number.as_i64().is_some_and(|number| (*min..=*max).contains(&number))
            }
            (Self::Word(word), Value::String(text)) => same(word, text),
            (Self::List(list), Value::Array(items)) => list.accepts(items),
            (Self::Object(object), value) => object.accepts(value),
            (Self::Anything, _)
            | (Self::Null, Value::Null)
            | (Self::Boolean, Value::Bool(_))
            | (Self::Number, Value::Number(_))
            | (Self::Table, Value::Object(_)) => true,
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
    }
}

/// The words of a schema that say what it is about.
const DECIDING: &[&str] = &["$ref", "const", "enum", "anyOf", "oneOf", "type"];

pub(super) fn has_only(schema: &Map<String, Value>, known: &[&str]) -> bool {
    schema.keys().all(|name| known.contains(&name.as_str()) || is_remark(name))
}
