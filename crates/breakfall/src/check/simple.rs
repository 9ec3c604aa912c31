//! Schemas of the common kind: an object with named fields of plain types. What they accept is told
//! without the validator, which has the word in all other cases.

use std::slice::Iter;

use serde_json::{Map, Value};

use super::parse::{MAX_DEPTH, measure};

/// Says yes where a schema surely accepts a value. No means that the validator is to be asked.
pub(super) struct Simple {
    fields: Vec<Field>,
    required: usize,
    /// Whether there are no other fields than these.
    closed: bool,
}

struct Field {
    name: String,
    is_required: bool,
    accepts: Accepts,
}

/// What a field may be.
enum Accepts {
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
    /// Of any length, with any content.
    List,
    Table,
    Word(String),
    /// Of those above.
    Either(Vec<Self>),
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

/// How many schemas within one another are looked at.
const DEPTH: u8 = 4;

impl Simple {
    /// The schema, if it is of that kind.
    pub(super) fn of(root: &Value) -> Option<Self> {
        let schema = root.as_object()?;
        let known = ["type", "properties", "required", "additionalProperties"];
        if !has_only(schema, &known) || schema.get("type")? != "object" {
            return None;
        }
        let closed = match schema.get("additionalProperties") {
            None | Some(Value::Bool(true)) => false,
            Some(Value::Bool(false)) => true,
            Some(_) => return None,
        };
        let mut fields = Vec::new();
        for (name, field) in schema.get("properties").map_or(Some(&Map::new()), Value::as_object)? {
            let accepts = Accepts::of(field, root, DEPTH)?;
            fields.push(Field { name: name.clone(), is_required: false, accepts });
        }
        for name in schema.get("required").map_or(Some(&Vec::new()), Value::as_array)? {
            let field = fields.iter_mut().find(|field| field.name == *name)?;
            field.is_required = true;
        }
        let required = fields.iter().filter(|field| field.is_required).count();
        Some(Self { fields, required, closed })
    }

    pub(super) fn accepts(&self, value: &Value) -> bool {
        self.weigh(value).is_some()
    }

    /// How large a value is that is accepted, and nested no deeper than arguments may be.
    pub(super) fn weigh(&self, value: &Value) -> Option<usize> {
        let given = value.as_object()?;
        let mut required = 0;
        let mut bytes = 2;
        let mut next = self.fields.iter();
        for (name, value) in given {
            match self.field(name, &mut next) {
                Some(field) if !field.accepts.accepts(value) => return None,
                Some(field) => required += usize::from(field.is_required),
                None if self.closed => return None,
                None => {}
            }
            bytes += name.len() + 4;
            bytes += match value {
                Value::String(text) => text.len() + 2,
                Value::Null | Value::Bool(_) | Value::Number(_) => 4,
                Value::Array(_) | Value::Object(_) => {
                    let mut inside = 0;
                    if !measure(value, MAX_DEPTH - 1, &mut inside) {
                        return None;
                    }
                    inside
                }
            };
        }
        (required == self.required).then_some(bytes)
    }

    /// The field of a name. Both are mostly in the same order.
    fn field<'s>(&'s self, name: &str, next: &mut Iter<'s, Field>) -> Option<&'s Field> {
        match next.next() {
            Some(field) if same(&field.name, name) => Some(field),
            _ => {
                let place = self.fields.iter().position(|field| field.name == name)?;
                *next = self.fields[place..].iter();
                next.next()
            }
        }
    }
}

/// Whether two names are the same. Most are shorter than what asking for it takes.
#[inline]
fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if let (4..=8, Some(first), Some(last)) = (one.len(), one.first_chunk(), one.last_chunk()) {
        let its = (other.first_chunk::<4>(), other.last_chunk::<4>());
        return one.len() == other.len() && its == (Some(first), Some(last));
    }
    one == other
}

impl Accepts {
    fn of(schema: &Value, root: &Value, depth: u8) -> Option<Self> {
        let depth = depth.checked_sub(1)?;
        let fields = match schema {
            Value::Bool(true) => return Some(Self::Anything),
            schema => schema.as_object()?,
        };
        let decides = |(name, _): &(&String, &Value)| DECIDING.contains(&name.as_str());
        let Some((said, value)) = fields.iter().find(decides) else {
            return has_only(fields, &[]).then_some(Self::Anything);
        };
        let alone = |known: &[&str]| has_only(fields, known).then_some(());
        match said.as_str() {
            "$ref" => {
                alone(&["$ref"])?;
                Self::of(root.pointer(value.as_str()?.strip_prefix('#')?)?, root, depth)
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
                let branches = branches.map(|branch| Self::of(branch, root, depth));
                Some(Self::either(branches.collect::<Option<Vec<_>>>()?))
            }
            // Of words that differ at most one fits.
            "oneOf" => {
                alone(&["oneOf"])?;
                let branches = value.as_array()?.iter();
                let branches: Vec<Self> =
                    branches.map(|branch| Self::of(branch, root, depth)).collect::<Option<_>>()?;
                let words = branches.iter().map(Self::words).collect::<Option<Vec<_>>>()?;
                let mut words = words.concat();
                words.sort_unstable();
                words.is_sorted_by(|one, other| one < other).then(|| Self::either(branches))
            }
            _ => Self::of_type(value, fields),
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

    fn of_type(said: &Value, fields: &Map<String, Value>) -> Option<Self> {
        let names = match said {
            Value::Array(names) => names.as_slice(),
            name => std::slice::from_ref(name),
        };
        let types = names.iter().map(|name| Self::of_name(name.as_str()?, fields));
        let mut types = types.collect::<Option<Vec<_>>>()?;
        let known = ["type", "minimum", "maximum", "minLength", "maxLength", "format"];
        let is_number = |format: &Value| format.as_str().is_some_and(is_number_format);
        if !has_only(fields, &known) || !fields.get("format").is_none_or(is_number) {
            return None;
        }
        if types.len() == 1 { types.pop() } else { Some(Self::either(types)) }
    }

    fn of_name(name: &str, fields: &Map<String, Value>) -> Option<Self> {
        let limit =
            |name: &str, otherwise: i64| fields.get(name).map_or(Some(otherwise), Value::as_i64);
        let length = |name: &str, otherwise: usize| {
            let said = fields.get(name).map(|said| usize::try_from(said.as_u64()?).ok());
            said.unwrap_or(Some(otherwise))
        };
        let is_bounded = || fields.contains_key("minimum") || fields.contains_key("maximum");
        Some(match name {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "string" => {
                Self::Text { min: length("minLength", 0)?, max: length("maxLength", usize::MAX)? }
            }
            "integer" => {
                Self::Integer { min: limit("minimum", i64::MIN)?, max: limit("maximum", i64::MAX)? }
            }
            "number" if !is_bounded() => Self::Number,
            "array" => Self::List,
            "object" => Self::Table,
            _ => return None,
        })
    }

    #[inline]
    fn accepts(&self, value: &Value) -> bool {
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
            (Self::Anything, _)
            | (Self::Null, Value::Null)
            | (Self::Boolean, Value::Bool(_))
            | (Self::Number, Value::Number(_))
            | (Self::List, Value::Array(_))
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

/// The words of a schema that say what it is about.
const DECIDING: &[&str] = &["$ref", "const", "enum", "anyOf", "oneOf", "type"];

fn has_only(schema: &Map<String, Value>, known: &[&str]) -> bool {
    schema.keys().all(|name| known.contains(&name.as_str()) || is_remark(name))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_schemars_writes_is_simple() {
        #[derive(schemars::JsonSchema)]
        #[allow(dead_code, reason = "only its schema is looked at")]
        struct Asked {
            /// What for.
            query: String,
            limit: u32,
            order: Option<Order>,
            exact: Option<bool>,
        }
        #[derive(schemars::JsonSchema)]
        #[allow(dead_code, reason = "only its schema is looked at")]
        enum Order {
            /// The newest first.
            Newest,
            Oldest,
        }
        let schema = schemars::schema_for!(Asked).to_value();
        let simple = Simple::of(&schema);
        let accepts = |value| simple.as_ref().map(|simple| simple.accepts(&value));
        assert_eq!(accepts(json!({"query": "a", "limit": 3, "order": "Newest"})), Some(true));
        assert_eq!(accepts(json!({"limit": 3, "query": "a", "order": null})), Some(true));
        assert_eq!(accepts(json!({"limit": -3, "query": "a"})), Some(false));
        assert_eq!(accepts(json!({"query": "a"})), Some(false));
    }

    #[test]
    fn what_says_more_is_left_to_the_validator() {
        for schema in [
            json!(true),
            json!({"properties": {}}),
            json!({"type": "object", "minProperties": 1}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^a"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "format": "date"}}}),
            json!({"type": "object", "properties": {"a": {"type": "number", "minimum": 1}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "items": true}}}),
            json!({"type": "object", "required": ["a"]}),
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object", "properties": {"a": {"oneOf": [{"type": "null"}, true]}}}),
        ] {
            assert!(Simple::of(&schema).is_none(), "{schema}");
        }
    }

    fn field() -> impl Strategy<Value = Value> {
        let plain = prop_oneof![
            Just(json!(true)),
            Just(json!({"description": "anything"})),
            Just(json!({"type": "null"})),
            Just(json!({"type": "boolean"})),
            Just(json!({"type": "number", "format": "double"})),
            Just(json!({"type": "array"})),
            Just(json!({"type": "object"})),
            Just(json!({"type": ["string", "null"]})),
            Just(json!({"enum": ["a", "b"]})),
            Just(json!({"const": "a"})),
            Just(json!({"$ref": "#/$defs/word"})),
            Just(json!({"oneOf": [{"const": "a", "type": "string"}, {"const": "b"}]})),
            (0_u64..3, 2_u64..5).prop_map(
                |(min, max)| json!({"type": "string", "minLength": min, "maxLength": max})
            ),
            (-2_i64..2, 0_i64..4)
                .prop_map(|(min, max)| json!({"type": "integer", "minimum": min, "maximum": max})),
        ];
        let either = proptest::collection::vec(plain.clone(), 1..3);
        prop_oneof![3 => plain, 1 => either.prop_map(|all| json!({"anyOf": all}))]
    }

    fn schema() -> impl Strategy<Value = Value> {
        let fields = proptest::collection::btree_map("[abc]", field(), 0..4);
        let closed = prop_oneof![Just(None), Just(Some(true)), Just(Some(false))];
        (fields, closed, any::<[bool; 4]>()).prop_map(|(fields, closed, required)| {
            let named = fields.keys().zip(required).filter(|(_, is)| *is);
            let named: Vec<_> = named.map(|(name, _)| name.clone()).collect();
            let mut schema = json!({
                "type": "object",
                "properties": fields,
                "required": named,
                "$defs": { "word": { "enum": ["a", "c"] } },
            });
            if let Some(closed) = closed {
                schema["additionalProperties"] = json!(closed);
            }
            schema
        })
    }

    fn value() -> impl Strategy<Value = Value> {
        let plain = prop_oneof![
            Just(json!(null)),
            Just(json!(true)),
            (-4_i64..6).prop_map(|number| json!(number)),
            Just(json!(1.0)),
            Just(json!(0.5)),
            Just(json!(u64::MAX)),
            "[abü]{0,5}".prop_map(|text| json!(text)),
            Just(json!([1])),
            Just(json!({"a": 1})),
        ];
        let object = proptest::collection::btree_map("[abcd]", plain, 0..5);
        prop_oneof![9 => object.prop_map(|fields| json!(fields)), 1 => Just(json!("a"))]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn what_is_accepted_here_the_validator_accepts(schema in schema(), value in value()) {
            let simple = Simple::of(&schema).ok_or_else(|| TestCaseError::fail("not simple"))?;
            let valid = jsonschema::validator_for(&schema).map_err(|error| {
                TestCaseError::fail(error.to_string())
            })?.is_valid(&value);
            prop_assert!(valid || !simple.accepts(&value));
            // Whole numbers written with a point are the only ones that are left to the validator.
            let has_point = value.to_string().contains("1.0");
            let is_huge = value.to_string().contains("18446744073709551615");
            prop_assert!(has_point || is_huge || valid == simple.accepts(&value));
        }
    }
}
