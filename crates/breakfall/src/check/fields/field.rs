//! One field: what is said of it, a keyword at a time, with the words for a value that breaks it.

use serde_json::{Map, Value};

use super::super::Schema;
use super::super::known::{is_named_format, is_remark};
use super::super::words::{articles, bound, one_of, path_of, shown, so_many};
use super::fit::{Fit, Fitted};
use crate::Problem;

/// How often a reference may lead to another.
const REFERENCES: usize = 4;

pub(super) struct Field {
    pub(super) name: String,
    pub(super) is_required: bool,
    /// The type first, as the validator has it.
    says: Vec<Says>,
    fit: Fit,
}

/// What a keyword says, and what is expected of a value that breaks it.
struct Says {
    keyword: Keyword,
    expected: String,
}

enum Keyword {
    Type(Types),
    Enum {
        options: Vec<Value>,
        are_words: bool,
    },
    Minimum(i64),
    Maximum(i64),
    MinLength(u64),
    MaxLength(u64),
    /// Of values of these types only the validator can tell.
    Untold(Types),
}

/// Types of values, a bit each.
type Types = u8;
const NULL: Types = 1;
const BOOLEAN: Types = 2;
const INTEGER: Types = 4;
const NUMBER: Types = 8;
const TEXT: Types = 16;
const LIST: Types = 32;
const TABLE: Types = 64;

fn type_named(kind: &str) -> Option<Types> {
    Some(match kind {
        "null" => NULL,
        "boolean" => BOOLEAN,
        "integer" => INTEGER,
        "number" => NUMBER,
        "string" => TEXT,
        "array" => LIST,
        "object" => TABLE,
        _ => return None,
    })
}

fn types_of(value: &Value) -> Types {
    match value {
        Value::Null => NULL,
        Value::Bool(_) => BOOLEAN,
        Value::Number(number) if number.is_f64() => NUMBER,
        Value::Number(_) => INTEGER | NUMBER,
        Value::String(_) => TEXT,
        Value::Array(_) => LIST,
        Value::Object(_) => TABLE,
    }
}

impl Field {
    pub(super) fn of(schema: &Schema, name: &str, said: &Value) -> Self {
        let untold = || Says { keyword: Keyword::Untold(Types::MAX), expected: String::new() };
        let mut says = match said {
            Value::Bool(true) => Vec::new(),
            said => keywords(schema, said).map_or_else(
                || vec![untold()],
                |all| all.iter().filter_map(|(word, said)| Says::of(word, said)).collect(),
            ),
        };
        says.sort_by_key(|says| !matches!(says.keyword, Keyword::Type(_)));
        let fit = Fit::of(schema, name, said).checked(|value| accept(&says, value));
        Self { name: name.to_owned(), is_required: false, says, fit }
    }

    pub(super) fn required(self, is_required: bool) -> Self {
        Self { is_required, ..self }
    }

    /// Adds what is wrong with a value: a keyword at a time, each for itself. Whether anything is;
    /// nothing where only the validator can tell.
    pub(super) fn add_broken(&self, value: &Value, all: &mut Vec<Problem>) -> Option<bool> {
        let before = all.len();
        let mut is_out_of_bounds = false;
        for Says { keyword, expected } in &self.says {
            if keyword.accepts(value)? {
                continue;
            }
            let (path, got) = (path_of(&self.name), Some(shown(value)));
            let expected = expected.clone();
            all.push(Problem { path, expected, remark: None, got, nearest: None });
            // Bounds that no value keeps are told in an order that is the validator's.
            if keyword.is_bound() && std::mem::replace(&mut is_out_of_bounds, true) {
                return None;
            }
        }
        Some(all.len() > before)
    }

    /// A value that is accepted, of what was given or made up.
    pub(super) fn fitted(&self, given: Option<&Value>) -> Option<Fitted> {
        self.fit.fitted(given, |value| self.accepts(value))
    }

    /// Whether a value is surely accepted.
    fn accepts(&self, value: &Value) -> bool {
        accept(&self.says, value)
    }
}

fn accept(says: &[Says], value: &Value) -> bool {
    says.iter().all(|says| says.keyword.accepts(value) == Some(true))
}

/// What is said of a field, once its references are followed; nothing where more is said beside one.
fn keywords<'a>(schema: &'a Schema, said: &'a Value) -> Option<&'a Map<String, Value>> {
    let mut keywords = said.as_object()?;
    for _ in 0..REFERENCES {
        let Some(reference) = keywords.get("$ref") else { return Some(keywords) };
        let is_alone = keywords.keys().all(|word| word == "$ref" || is_remark(word));
        let pointer = reference.as_str().filter(|_| is_alone)?;
        keywords = schema.root().pointer(pointer.strip_prefix('#')?)?.as_object()?;
    }
    None
}

impl Says {
    /// Nothing where a keyword says nothing of any value.
    fn of(word: &str, said: &Value) -> Option<Self> {
        let (keyword, expected) = match word {
            "type" => of_type(said),
            "enum" => said.as_array().map(|all| (Keyword::one_of(all), one_of(said))),
            "const" => {
                let only = Keyword::one_of(std::slice::from_ref(said));
                Some((only, format!("`{said}`")))
            }
            "minimum" => {
                said.as_i64().map(|least| (Keyword::Minimum(least), bound("at least ", said)))
            }
            "maximum" => {
                said.as_i64().map(|most| (Keyword::Maximum(most), bound("at most ", said)))
            }
            "minLength" => said
                .as_u64()
                .map(|least| (Keyword::MinLength(least), so_many("at least", least, "character"))),
            "maxLength" => said
                .as_u64()
                .map(|most| (Keyword::MaxLength(most), so_many("at most", most, "character"))),
            "format" if said.as_str().is_some_and(is_named_format) => return None,
            word if is_remark(word) => return None,
            _ => None,
        }
        .unwrap_or_else(|| (Keyword::Untold(told_of(word)), String::new()));
        Some(Self { keyword, expected })
    }
}

fn of_type(said: &Value) -> Option<(Keyword, String)> {
    let kinds = match said {
        Value::Array(kinds) => kinds.as_slice(),
        kind => std::slice::from_ref(kind),
    };
    let mut types = 0;
    for kind in kinds {
        types |= type_named(kind.as_str()?)?;
    }
    Some((Keyword::Type(types), articles(kinds)))
}

/// Of values of which types a keyword says something.
fn told_of(word: &str) -> Types {
    match word {
        "minimum" | "maximum" | "multipleOf" | "exclusiveMinimum" | "exclusiveMaximum" => NUMBER,
        "minLength" | "maxLength" | "format" | "pattern" => TEXT,
        "items" | "minItems" | "maxItems" | "uniqueItems" => LIST,
        "properties" | "required" | "additionalProperties" => TABLE,
        _ => Types::MAX,
    }
}

impl Keyword {
    fn one_of(options: &[Value]) -> Self {
        Self::Enum { options: options.to_vec(), are_words: options.iter().all(is_word) }
    }

    fn is_bound(&self) -> bool {
        !matches!(self, Self::Type(_) | Self::Enum { .. } | Self::Untold(_))
    }

    /// Whether a value keeps it; nothing where only the validator can tell.
    fn accepts(&self, value: &Value) -> Option<bool> {
        match (self, value) {
            // Whole numbers that are written with a point are the validator's.
            (Self::Type(types), Value::Number(number))
                if types & INTEGER != 0 && number.is_f64() =>
            {
                None
            }
            (Self::Type(types), value) => Some(types & types_of(value) != 0),
            // Two are the same only where they are written alike: numbers are not, and what holds
            // others may hold numbers.
            (Self::Enum { options, are_words }, value) => {
                (*are_words || is_word(value)).then(|| options.contains(value))
            }
            (Self::Minimum(least), Value::Number(number)) => Some(number.as_i64()? >= *least),
            (Self::Maximum(most), Value::Number(number)) => Some(number.as_i64()? <= *most),
            (Self::MinLength(least), Value::String(text)) => Some(length(text) >= *least),
            (Self::MaxLength(most), Value::String(text)) => Some(length(text) <= *most),
            (Self::Untold(types), value) if types & types_of(value) != 0 => None,
            _ => Some(true),
        }
    }
}

fn is_word(value: &Value) -> bool {
    value.is_string() || value.is_null() || value.is_boolean()
}

fn length(text: &str) -> u64 {
    text.chars().count() as u64
}
