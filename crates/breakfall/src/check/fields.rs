//! The problems of plain fields, found without the validator. Most arguments that are wrong are
//! fields of the wrong type, out of a range, not among those listed, unknown or missing: what the
//! validator says of them is known beforehand, and it takes many times as long to say it.

mod field;
mod fit;

use std::collections::HashSet;
use std::sync::OnceLock;

use field::Field;
use fit::is_plain_name;
use serde_json::{Map, Value};

use super::Schema;
use super::accepts::same;
use super::known::is_remark;
use super::problems::{NAMES, missing, only, or_by_its_end};
use super::words::{path_of, shown};
use crate::toolbox::Few;
use crate::{Correction, Problem};

/// The fields of a schema that says no more of the arguments than which they have, with the words
/// for what is wrong with each. Made when the first arguments do not fit.
pub(super) struct Fields {
    /// By name.
    all: Vec<Field>,
    required: Vec<String>,
    /// Whether there are no other fields than these.
    is_closed: bool,
    /// What is expected instead of a name that none of them has.
    only: String,
    /// The names that may be meant instead, and the same as they are looked for.
    named: Vec<String>,
    names: OnceLock<Few>,
    /// Whether each name is a path for itself.
    is_plainly_named: bool,
}

/// What is wrong with arguments.
pub(super) struct Told<'f> {
    /// In the validator's order.
    pub(super) problems: Vec<Problem>,
    /// The same for each field that was given, in their order, as far as they were looked at.
    flaws: Vec<Flaw<'f>>,
    /// Whether one that is unknown is near to one that is known.
    has_near: bool,
    has_missing: bool,
}

impl Told<'_> {
    /// Nothing is known of each field.
    pub(super) fn by_validator(problems: Vec<Problem>) -> Self {
        Self { problems, flaws: Vec::new(), has_near: false, has_missing: false }
    }
}

/// What is wrong with a field that was given.
enum Flaw<'f> {
    Nothing,
    /// There is no such field, and there may be none.
    Unknown,
    /// There is no such field; it may be all the same.
    Other,
    Broken(&'f Field),
    /// It is to be this.
    Fitted(Value),
}

impl Fields {
    /// Nothing where more is said of the arguments as a whole.
    pub(super) fn of(schema: &Schema) -> Option<Self> {
        let (mut properties, mut required, mut is_closed) = (None, None, false);
        for (word, said) in schema.root().as_object()? {
            match (word.as_str(), said) {
                ("type", Value::String(kind)) if kind == "object" => {}
                ("properties", Value::Object(all)) => properties = Some(all),
                ("required", Value::Array(all)) => required = Some(all.as_slice()),
                ("additionalProperties", Value::Bool(is_open)) => is_closed = !is_open,
                (word, _) if is_remark(word) => {}
                _ => return None,
            }
        }
        let properties = properties?;
        let required = required.unwrap_or_default().iter();
        let required = required.map(|name| name.as_str().map(str::to_owned));
        let required = required.collect::<Option<Vec<_>>>()?;
        let needed: HashSet<&str> = required.iter().map(String::as_str).collect();
        let field = |(name, said): (&String, &Value)| {
            Field::of(schema, name, said).required(needed.contains(name.as_str()))
        };
        let mut all: Vec<_> = properties.iter().map(field).collect();
        all.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        Some(Self {
            all,
            required,
            is_closed,
            only: only(properties.keys().map(String::as_str)),
            is_plainly_named: properties.keys().all(|name| is_plain_name(name)),
            names: OnceLock::new(),
            named: properties.keys().take(NAMES).cloned().collect(),
        })
    }

    /// Every problem, at most `most`. Nothing where only the validator can tell.
    pub(super) fn told(&self, schema: &Schema, value: &Value, most: usize) -> Option<Told<'_>> {
        let given = value.as_object()?;
        let problems = Vec::with_capacity(given.len().min(most));
        let flaws = Vec::with_capacity(given.len());
        let mut told = Told { problems, flaws, has_near: false, has_missing: false };
        let (mut next, mut required) = (0, 0);
        for (name, value) in given {
            if told.problems.len() >= most {
                break;
            }
            told.flaws.push(match self.field(name, &mut next) {
                Some(field) => {
                    required += usize::from(field.is_required);
                    let is_broken = field.add_broken(value, &mut told.problems)?;
                    if is_broken { Flaw::Broken(field) } else { Flaw::Nothing }
                }
                None if self.is_closed => Flaw::Unknown,
                None => Flaw::Other,
            });
        }
        // The validator sees what is missing first, but for one that is missing where others are
        // forbidden.
        told.has_missing = self.required.len() != required;
        let is_last = self.is_closed && self.required.len() == 1;
        if told.has_missing && !is_last {
            let missing = self.missing(schema, given).collect::<Vec<_>>();
            told.problems.splice(0..0, missing);
        }
        for ((name, value), flaw) in given.iter().zip(&told.flaws) {
            if matches!(flaw, Flaw::Unknown) && told.problems.len() < most {
                let problem = self.superfluous(name, value);
                told.has_near |= problem.nearest.is_some();
                told.problems.push(problem);
            }
        }
        if told.has_missing && is_last {
            told.problems.extend(self.missing(schema, given));
        }
        told.problems.truncate(most);
        // What is refused has a problem; one that is not seen here is the validator's to tell.
        (!told.problems.is_empty()).then_some(told)
    }

    /// Arguments of which the problems were told, in the accepted shape; or as they are, where that
    /// takes more than to replace values.
    pub(super) fn correct<'f>(
        &'f self,
        told: &mut Told<'f>,
        value: Value,
    ) -> Result<Correction, Value> {
        match (self.fitting(told, &value), value) {
            (Some(fitting), Value::Object(given)) => Ok(fitting.into_correction(given)),
            (_, value) => Err(value),
        }
    }

    /// The field of a name. Those that are given are mostly in the same order.
    fn field(&self, name: &str, next: &mut usize) -> Option<&Field> {
        if !self.all.get(*next).is_some_and(|field| same(&field.name, name)) {
            *next = self.all.binary_search_by(|field| field.name.as_str().cmp(name)).ok()?;
        }
        *next += 1;
        self.all.get(*next - 1)
    }

    fn missing<'a>(
        &'a self,
        schema: &'a Schema,
        given: &'a Map<String, Value>,
    ) -> impl Iterator<Item = Problem> + 'a {
        let properties = schema.root().get("properties");
        self.required.iter().filter(|name| !given.contains_key(*name)).map(move |name| {
            let problem = missing(schema, properties.and_then(|all| all.get(name)));
            Problem { path: path_of(name), ..problem }
        })
    }

    fn superfluous(&self, name: &str, value: &Value) -> Problem {
        let names = self.names.get_or_init(|| Few::new(self.named.iter().map(String::as_str)));
        Problem {
            path: path_of(name),
            expected: self.only.clone(),
            got: Some(shown(value)),
            nearest: or_by_its_end(
                names.nearest(name),
                name,
                self.named.iter().map(String::as_str),
            )
            .map(ToOwned::to_owned),
            remark: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::problems::{PROBLEMS, all_found};
    use super::super::rewrite::rewrite;
    use super::super::samples::schema;
    use super::*;
    use crate::ToolSpec;

    fn all(schema: &Schema, value: &Value, most: usize) -> Option<Vec<Problem>> {
        schema.fields()?.told(schema, value, most).map(|told| told.problems)
    }

    /// The problems and the correction, where they are told here.
    fn corrected(schema: &Schema, value: &Value) -> Option<(Vec<Problem>, Correction)> {
        let fields = schema.fields()?;
        let mut told = fields.told(schema, value, PROBLEMS)?;
        let correction = fields.correct(&mut told, value.clone()).ok()?;
        Some((told.problems, correction))
    }

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
            Just(json!({"enum": ["aa", "ab", "AA", "üa"], "maxLength": 1})),
            Just(json!({"enum": []})),
            Just(json!({"type": ["integer", "boolean"], "maximum": 2, "default": 1})),
            Just(json!({"type": "string", "minLength": 7, "examples": ["a"]})),
            Just(json!({"type": "number", "exclusiveMinimum": 0, "maximum": 9})),
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
            "[12.]{1,2}|true|False|AA|Ab".prop_map(|text| json!(text)),
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

        #[test]
        fn what_is_fitted_here_is_what_rewriting_the_whole_gives(
            schema in schema("[abcd./~]", field()),
            values in proptest::collection::vec(value(), 4),
        ) {
            let mut spec = ToolSpec::new("asked", "").schema(schema);
            let schema = Schema::compile(&mut spec).map_err(|error| {
                TestCaseError::fail(error.to_string())
            })?;
            for value in values.iter().filter(|value| !schema.accepts(value)) {
                if let Some((problems, correction)) = corrected(&schema, value) {
                    let whole = rewrite(&schema, value, &problems);
                    let exact = |it: &Correction| it.is_exact;
                    prop_assert_eq!(whole.as_ref().map(exact), Some(correction.is_exact));
                    let written = correction.arguments.to_string();
                    prop_assert_eq!(whole.as_ref().map(|it| it.arguments.to_string()), Some(written));
                    prop_assert!(schema.validates(&correction.arguments));
                    prop_assert_eq!(whole, Some(correction));
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

    #[test]
    fn what_is_plain_is_fitted_here() {
        let schema = json!({
            "type": "object",
            "properties": {
                "query": { "type": "string", "minLength": 1 },
                "limit": { "type": ["integer", "null"], "minimum": 1, "maximum": 100 },
                "order": { "$ref": "#/$defs/order" },
                "tags": { "type": "array" },
                "exact": { "type": "boolean" },
            },
            "required": ["query", "tags", "exact"],
            "additionalProperties": false,
            "$defs": { "order": { "enum": ["newest", "oldest"] } },
        });
        let mut spec = ToolSpec::new("asked", "").schema(schema);
        let schema = Schema::compile(&mut spec).ok();
        let corrected =
            |value| schema.as_ref().and_then(|schema| corrected(schema, &value)).map(|it| it.1);
        let told = corrected(json!({"query": 7, "limit": "7", "order": "newst", "tags": []}));
        let arguments =
            json!({"query": "7", "limit": 7, "order": "newest", "tags": [], "exact": false});
        let made_up = vec!["exact".to_owned()];
        assert_eq!(told, Some(Correction { arguments, made_up, is_exact: false, written: None }));
        let told = corrected(json!({"query": 7, "tags": [], "exact": "true"}));
        let arguments = json!({"query": "7", "tags": [], "exact": true});
        assert_eq!(
            told,
            Some(Correction { arguments, made_up: Vec::new(), is_exact: true, written: None })
        );
        // What is renamed, and what holds others, is not.
        assert_eq!(corrected(json!({"qery": "a", "tags": [], "exact": true})), None);
        assert_eq!(corrected(json!({"query": "a", "tags": "b", "exact": true})), None);
    }
}
