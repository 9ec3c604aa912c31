//! The problems of plain fields, found without the validator. Most arguments that are wrong are
//! fields of the wrong type, out of a range, not among those listed, unknown or missing: what the
//! validator says of them is known beforehand, and it takes many times as long to say it.

use serde_json::{Map, Value};

use super::Schema;
use super::accepts::{is_number_format, is_remark};
use super::problems::{missing, superfluous};
use super::words::{articles, bound, one_of, path_of, shown};
use crate::Problem;

/// How often a reference may lead to another.
const REFERENCES: usize = 4;

/// Every problem, at most `most`, in the validator's order. Nothing where only the validator can
/// tell.
pub(super) fn all(schema: &Schema, value: &Value, most: usize) -> Option<Vec<Problem>> {
    let (root, given) = (Root::of(schema.root())?, value.as_object()?);
    let mut all = Vec::with_capacity(given.len().min(most));
    // The validator sees what is missing first, but for one that is missing where others are
    // forbidden.
    let is_last = root.is_closed && root.required.len() == 1;
    if !is_last {
        root.add_missing(schema, given, &mut all)?;
    }
    let mut unknown = Vec::new();
    for (name, value) in given {
        if all.len() >= most {
            break;
        }
        match root.properties.get(name) {
            Some(Value::Bool(true)) => {}
            Some(field) => add_broken(schema, field.as_object()?, (name, value), &mut all)?,
            None if root.is_closed && unknown.len() < most => {
                let problem = superfluous(name, Some(root.properties), Some(value));
                unknown.push(Problem { path: path_of(name), ..problem });
            }
            None => {}
        }
    }
    all.append(&mut unknown);
    if is_last {
        root.add_missing(schema, given, &mut all)?;
    }
    all.truncate(most);
    // What is refused has a problem; one that is not seen here is the validator's to tell.
    (!all.is_empty()).then_some(all)
}

/// What is said of the arguments as a whole.
struct Root<'a> {
    properties: &'a Map<String, Value>,
    required: &'a [Value],
    /// Whether there are no other properties than these.
    is_closed: bool,
}

impl<'a> Root<'a> {
    /// Nothing where more is said.
    fn of(schema: &'a Value) -> Option<Self> {
        let (mut properties, mut required, mut is_closed) = (None, None, false);
        for (word, said) in schema.as_object()? {
            match (word.as_str(), said) {
                ("type", Value::String(kind)) if kind == "object" => {}
                ("properties", Value::Object(all)) => properties = Some(all),
                ("required", Value::Array(all)) => required = Some(all.as_slice()),
                ("additionalProperties", Value::Bool(is_open)) => is_closed = !is_open,
                (word, _) if is_remark(word) => {}
                _ => return None,
            }
        }
        let (properties, required) = (properties?, required.unwrap_or_default());
        Some(Self { properties, required, is_closed })
    }

    fn add_missing(
        &self,
        schema: &Schema,
        given: &Map<String, Value>,
        all: &mut Vec<Problem>,
    ) -> Option<()> {
        for name in self.required {
            let name = name.as_str()?;
            if !given.contains_key(name) {
                let problem = missing(schema, self.properties.get(name));
                all.push(Problem { path: path_of(name), ..problem });
            }
        }
        Some(())
    }
}

/// Adds what is wrong with a field: a keyword at a time, each for itself, the type first.
fn add_broken<'a>(
    schema: &'a Schema,
    field: &'a Map<String, Value>,
    (name, value): (&str, &Value),
    all: &mut Vec<Problem>,
) -> Option<()> {
    let problem = |expected: String| {
        let (path, got) = (path_of(name), Some(shown(value)));
        Problem { path, expected, got, ..Problem::default() }
    };
    let first = all.len();
    let mut is_out_of_bounds = false;
    let mut field = Some(field);
    let mut references = 0;
    while let Some(keywords) = field.take() {
        for (word, said) in keywords {
            match word.as_str() {
                "type" => {
                    if let Some(expected) = type_broken(said, value).ok()? {
                        all.insert(first, problem(expected));
                    }
                }
                "$ref" => {
                    references += 1;
                    field = referred(schema, keywords, said).filter(|_| references < REFERENCES);
                    field?;
                }
                word => {
                    let Some(expected) = broken(word, said, value).ok()? else { continue };
                    all.push(problem(expected));
                    // Bounds that no value keeps are told in an order that is the validator's.
                    let is_bound = word.starts_with('m');
                    if is_bound && is_out_of_bounds {
                        return None;
                    }
                    is_out_of_bounds |= is_bound;
                }
            }
        }
    }
    Some(())
}

/// What a reference leads to; nothing where more is said beside it.
fn referred<'a>(
    schema: &'a Schema,
    keywords: &Map<String, Value>,
    said: &Value,
) -> Option<&'a Map<String, Value>> {
    let is_alone = keywords.keys().all(|word| word == "$ref" || is_remark(word));
    let pointer = said.as_str().filter(|_| is_alone)?;
    schema.root().pointer(pointer.strip_prefix('#')?)?.as_object()
}

/// What only the validator can tell.
struct Untold;

/// What a keyword expects of a value that breaks it.
fn broken(word: &str, said: &Value, value: &Value) -> Result<Option<String>, Untold> {
    let whole = |number: Option<i64>| number.ok_or(Untold);
    let length = |text: &str| text.chars().count() as u64;
    let most = || said.as_u64().ok_or(Untold);
    Ok(match (word, value) {
        ("enum", _) => {
            let options = said.as_array().ok_or(Untold)?;
            told_apart(value, options)?;
            (!options.contains(value)).then(|| one_of(said))
        }
        ("const", _) => {
            told_apart(value, std::slice::from_ref(said))?;
            (said != value).then(|| format!("`{said}`"))
        }
        ("minimum", Value::Number(number)) => {
            (whole(number.as_i64())? < whole(said.as_i64())?).then(|| bound("at least ", said, ""))
        }
        ("maximum", Value::Number(number)) => {
            (whole(number.as_i64())? > whole(said.as_i64())?).then(|| bound("at most ", said, ""))
        }
        ("minLength", Value::String(text)) => {
            (length(text) < most()?).then(|| bound("at least ", said, " characters"))
        }
        ("maxLength", Value::String(text)) => {
            (length(text) > most()?).then(|| bound("at most ", said, " characters"))
        }
        ("format", Value::String(_)) if said.as_str().is_some_and(is_number_format) => None,
        _ if says_nothing_of(word, value) => None,
        _ => return Err(Untold),
    })
}

/// Whether a keyword has nothing to say of a value of that type.
fn says_nothing_of(word: &str, value: &Value) -> bool {
    match word {
        "minimum" | "maximum" | "multipleOf" | "exclusiveMinimum" | "exclusiveMaximum" => {
            !value.is_number()
        }
        "minLength" | "maxLength" | "format" | "pattern" => !value.is_string(),
        "items" | "minItems" | "maxItems" | "uniqueItems" => !value.is_array(),
        "properties" | "required" | "additionalProperties" => !value.is_object(),
        word => is_remark(word),
    }
}

fn type_broken(said: &Value, value: &Value) -> Result<Option<String>, Untold> {
    let kinds = match said {
        Value::Array(kinds) => kinds.as_slice(),
        kind => std::slice::from_ref(kind),
    };
    let mut fits = false;
    for kind in kinds {
        fits |= is_of(kind.as_str().ok_or(Untold)?, value)?;
    }
    Ok((!fits).then(|| articles(kinds)))
}

/// Two are the same only where they are written alike: numbers are not, and what holds others may
/// hold numbers.
fn told_apart(value: &Value, others: &[Value]) -> Result<(), Untold> {
    let is_word = |value: &Value| value.is_string() || value.is_null() || value.is_boolean();
    if is_word(value) || others.iter().all(is_word) { Ok(()) } else { Err(Untold) }
}

/// Whole numbers that are written with a point are the validator's.
fn is_of(kind: &str, value: &Value) -> Result<bool, Untold> {
    Ok(match kind {
        "string" => value.is_string(),
        "integer" if value.is_f64() => return Err(Untold),
        "integer" | "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => return Err(Untold),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::problems::all_found;
    use super::super::samples::schema;
    use super::*;
    use crate::ToolSpec;

    fn field() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(json!(true)),
            Just(json!({"type": "number", "description": "any"})),
            Just(json!({"type": "boolean", "default": true})),
            Just(json!({"type": "null"})),
            Just(json!({"type": "array", "items": {"type": "string"}, "minItems": 1})),
            Just(json!({"type": "object", "properties": {"a": {}}, "required": ["a"]})),
            Just(json!({"type": "string", "pattern": "^a"})),
            Just(json!({"type": "string", "format": "date"})),
            Just(json!({"type": "integer", "format": "uint32", "minimum": 0, "multipleOf": 2})),
            Just(json!({"type": ["string", "null", "integer"], "maxLength": 2})),
            Just(json!({"type": ["object", "boolean"]})),
            Just(json!({"minimum": 3, "maxLength": 1})),
            Just(json!({"type": "string", "enum": ["a", "b\"", "ü"], "maxLength": 2})),
            Just(json!({"enum": ["a", 1, null, [1]]})),
            Just(json!({"const": 1, "type": "integer", "minimum": 1})),
            Just(json!({"const": "a", "type": "string"})),
            Just(json!({"$ref": "#/$defs/word", "description": "one"})),
            Just(json!({"$ref": "#/$defs/again"})),
            Just(json!({"anyOf": [{"type": "string"}, {"type": "null"}]})),
            (0_u64..4, 0_u64..5).prop_map(
                |(min, max)| json!({"type": "string", "minLength": min, "maxLength": max})
            ),
            (-2_i64..4, 0_i64..4)
                .prop_map(|(min, max)| json!({"type": "integer", "minimum": min, "maximum": max})),
        ]
    }

    fn value() -> impl Strategy<Value = Value> {
        let plain = prop_oneof![
            Just(json!(null)),
            Just(json!(true)),
            (-4_i64..6).prop_map(|number| json!(number)),
            Just(json!(1.0)),
            Just(json!(0.5)),
            Just(json!(u64::MAX)),
            "[abü\"\n]{0,5}".prop_map(|text| json!(text)),
            Just(json!([1])),
            Just(json!({"a": 1})),
        ];
        let object = proptest::collection::btree_map("[abcdef/~]", plain, 0..6);
        prop_oneof![19 => object.prop_map(|fields| json!(fields)), 1 => Just(json!("a"))]
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(500)
        })]

        #[test]
        fn what_is_told_here_the_validator_tells_in_the_same_words(
            schema in schema("[abcd/~]", field()),
            values in proptest::collection::vec(value(), 4),
            most in 1_usize..8,
        ) {
            let mut spec = ToolSpec::new("asked", "").schema(schema);
            let schema = Schema::compile(&mut spec).map_err(|error| {
                TestCaseError::fail(error.to_string())
            })?;
            for value in values.iter().filter(|value| !schema.accepts(value)) {
                let mut told = all_found(&schema, value);
                told.truncate(most);
                if let Some(here) = all(&schema, value, most) {
                    prop_assert_eq!(here, told);
                }
            }
        }
    }

    #[test]
    fn what_is_plain_is_told_here() {
        let schema = json!({
            "type": "object",
            "properties": {
                "query": { "type": "string", "minLength": 1 },
                "limit": { "type": "integer", "minimum": 1, "maximum": 100 },
                "order": { "$ref": "#/$defs/order" },
                "tags": { "type": "array", "items": { "type": "string" } },
            },
            "required": ["query", "tags"],
            "additionalProperties": false,
            "$defs": { "order": { "enum": ["newest", "oldest"] } },
        });
        let value = json!({"query": "", "limit": 0, "order": "biggest", "tags": "a", "page": 1});
        let mut spec = ToolSpec::new("asked", "").schema(schema);
        let told = Schema::compile(&mut spec).ok().and_then(|schema| all(&schema, &value, 20));
        let paths = told.iter().flatten().map(|problem| problem.path.as_str());
        assert_eq!(paths.collect::<Vec<_>>(), ["limit", "order", "query", "tags", "page"]);
    }
}
