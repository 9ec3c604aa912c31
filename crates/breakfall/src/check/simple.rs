//! Schemas of the common kind: an object with named fields of plain types. What they accept is told
//! without the validator, which has the word in all other cases.

use std::slice::Iter;

use serde_json::{Map, Value, json};

use super::accepts::{Accepts, Seen, Source, same};
use super::limits::length;
use super::parse::{MAX_DEPTH, measure};
use super::skim::Opening;

/// Says yes where a schema surely accepts a value. No means that the validator is to be asked.
pub(super) struct Simple {
    pub(super) fields: Vec<Field>,
    pub(super) required: usize,
    /// How many fields there may be.
    pub(super) least: usize,
    pub(super) most: usize,
    /// What other fields may be; nothing where there are none.
    pub(super) others: Option<Accepts>,
    /// What the object is as a whole, where more is said of it.
    pub(super) more: Option<Box<Accepts>>,
}

pub(super) struct Field {
    pub(super) name: String,
    /// Its name as a text begins with it.
    pub(super) opening: Opening,
    pub(super) is_required: bool,
    pub(super) accepts: Accepts,
}

impl Field {
    /// One that must be there, whatever it is.
    fn required(name: &str) -> Self {
        let (opening, accepts) = (Opening::of(name), Accepts::Anything);
        Self { name: name.to_owned(), opening, is_required: true, accepts }
    }
}

impl Simple {
    /// The schema, if it is of that kind.
    pub(super) fn of(root: &Value) -> Option<Self> {
        let seen = Seen::default();
        let source = Source::new(root, &seen);
        let schema = source.resolved()?;
        if !schema.get("type").is_none_or(|kind| kind == "object") {
            return None;
        }
        let said = Accepts::parts(schema, &source)?;
        let mut said: Vec<_> = said.into_iter().map(Accepts::of_objects).collect();
        let simple = Self::of_object(schema, &source)?;
        let more = if said.len() > 1 { Some(Accepts::All(said)) } else { said.pop() };
        Some(Self { more: more.map(Box::new), ..simple })
    }

    /// What an object must be, by what these words say of it.
    pub(super) fn of_object(schema: &Map<String, Value>, source: &Source<'_>) -> Option<Self> {
        let others = match schema.get("additionalProperties") {
            None => Some(Accepts::Anything),
            Some(Value::Bool(false)) => None,
            Some(said) => Some(Accepts::of(said, source)?),
        };
        // Every name is a text.
        if schema.get("propertyNames").is_some_and(|said| *said != json!({"type": "string"})) {
            return None;
        }
        let mut fields = Vec::new();
        for (name, field) in schema.get("properties").map_or(Some(&Map::new()), Value::as_object)? {
            let accepts = Accepts::of_field(field, source)?;
            let opening = Opening::of(name);
            fields.push(Field { name: name.clone(), opening, is_required: false, accepts });
        }
        for name in schema.get("required").map_or(Some(&Vec::new()), Value::as_array)? {
            let Some(field) = fields.iter_mut().find(|field| field.name == *name) else {
                // What it may be is said of all others.
                matches!(others, Some(Accepts::Anything)).then_some(())?;
                fields.push(Field::required(name.as_str()?));
                continue;
            };
            field.is_required = true;
        }
        let required = fields.iter().filter(|field| field.is_required).count();
        let least = length(schema, "minProperties", 0)?;
        let most = length(schema, "maxProperties", usize::MAX)?;
        Some(Self { fields, required, least, most, others, more: None })
    }

    pub(super) fn accepts(&self, value: &Value) -> bool {
        match (&self.others, value) {
            // There are mostly fewer fields that something is said of than fields.
            (Some(Accepts::Anything), Value::Object(given)) => {
                (self.least..=self.most).contains(&given.len())
                    && self.fields.iter().all(|field| match given.get(&field.name) {
                        Some(value) => field.accepts.accepts(value),
                        None => !field.is_required,
                    })
                    && self.accepts_whole(value)
            }
            _ => self.weigh(value).is_some(),
        }
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
                None if self.accepts_other(value) => {}
                None => return None,
            }
            bytes += name.len() + 4;
            bytes += match value {
                Value::String(text) => text.len() + 2,
                Value::Null | Value::Bool(_) | Value::Number(_) => 4,
                Value::Array(_) | Value::Object(_) => inside(value)?,
            };
        }
        let has_all = required == self.required && (self.least..=self.most).contains(&given.len());
        (has_all && (self.more.is_none() || self.accepts_whole(value))).then_some(bytes)
    }

    #[inline(never)]
    fn accepts_whole(&self, value: &Value) -> bool {
        self.more.as_ref().is_none_or(|more| more.accepts(value))
    }

    /// The field of a name. Both are mostly in the same order.
    #[inline]
    fn field<'s>(&'s self, name: &str, next: &mut Iter<'s, Field>) -> Option<&'s Field> {
        match next.next() {
            Some(field) if same(&field.name, name) => Some(field),
            _ => self.field_elsewhere(name, next),
        }
    }

    /// The same where they are not. What few fields need is apart, so that the others are looked at in
    /// few steps.
    #[inline(never)]
    fn field_elsewhere<'s>(&'s self, name: &str, next: &mut Iter<'s, Field>) -> Option<&'s Field> {
        let place = self.fields.iter().position(|field| field.name == name)?;
        *next = self.fields[place..].iter();
        next.next()
    }

    /// Whether a field that has no name here may be this.
    #[inline(never)]
    fn accepts_other(&self, value: &Value) -> bool {
        self.others.as_ref().is_some_and(|others| others.accepts(value))
    }
}

/// How large a value within arguments is, where it is not nested too deeply.
#[inline(never)]
fn inside(value: &Value) -> Option<usize> {
    let mut bytes = 0;
    measure(value, MAX_DEPTH - 1, &mut bytes).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::samples::{field, schema, value, whole};
    use super::super::schema::validator;
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
    fn what_says_more_of_an_object_is_left_to_the_validator() {
        for schema in [
            json!(true),
            json!({"type": "object", "patternProperties": {"a": true}}),
            json!({"type": "object", "required": ["a"], "additionalProperties": false}),
            json!({"type": "object", "propertyNames": {"pattern": "^a"}}),
            json!({"type": "object", "additionalProperties": {"format": "ipv4"}}),
            json!({"type": "object", "properties":
                {"a": {"$ref": "#/properties/b", "minLength": 1}, "b": true}}),
            json!({"$ref": "#"}),
            json!({"$ref": "#/$defs/a", "type": "object", "$defs": {"a": {"type": "object"}}}),
            json!({"anyOf": [{"$ref": "#"}]}),
            json!({"if": {"const": 0.5}}),
            // To a draft that knows no conditions, they say nothing.
            json!({"$schema": "http://json-schema.org/draft-06/schema#", "if": {"required": ["a"]}}),
            json!({"$schema": "http://json-schema.org/draft-04/schema#",
                "not": {"required": ["a"]}}),
        ] {
            assert!(Simple::of(&schema).is_none(), "{schema}");
        }
    }

    #[test]
    fn what_is_said_of_the_whole_object_is_simple() {
        let whole = |said: Value| {
            let mut schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
            if let (Some(all), Value::Object(said)) = (schema.as_object_mut(), said) {
                all.extend(said);
            }
            schema
        };
        let (one, other) = (json!({"a": "x"}), json!({"b": 1}));
        for (schema, accepts) in [
            (whole(json!({"required": ["a"]})), [true, false]),
            (whole(json!({"anyOf": [{"required": ["b"]}, {"minProperties": 2}]})), [false, true]),
            (whole(json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]})), [true, true]),
            (whole(json!({"oneOf": [{"required": ["a"]}, {"maxProperties": 1}]})), [false, true]),
            (whole(json!({"not": {"required": ["b"]}})), [true, false]),
            (whole(json!({"not": {"properties": {"a": {"const": "x"}}}})), [false, false]),
            (
                whole(
                    json!({"if": {"required": ["a"]}, "then": {"properties": {"a": {"minLength": 2}}}}),
                ),
                [false, true],
            ),
            (whole(json!({"if": {"required": ["a"]}, "else": {"required": ["c"]}})), [true, false]),
            (
                json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "required": ["b"]}}}),
                [false, true],
            ),
            (json!({"properties": {"a": false}}), [false, true]),
        ] {
            let simple = Simple::of(&schema).unwrap_or_else(|| panic!("{schema}"));
            assert_eq!([&one, &other].map(|value| simple.accepts(value)), accepts, "{schema}");
        }
    }

    #[test]
    fn what_says_more_of_a_field_is_left_to_the_validator_by_itself() {
        let odd = [
            json!({"type": "string", "pattern": "(a|b)*a(a|b){12}"}),
            json!({"type": "string", "format": "duration"}),
            json!({"type": "integer", "minimum": 0.5}),
            json!({"type": "number", "multipleOf": 0.5}),
            json!({"const": 0.5}),
            json!({"$ref": "#/$defs/a", "minLength": 1}),
            json!({"type": "array", "contains": {"const": 1}}),
            json!({"type": "object", "patternProperties": {"^a": {"type": "string"}}}),
        ];
        let schema = |field: &Value| json!({"type": "object", "properties": {"a": field}, "$defs": {"a": {"type": "string"}}});
        for field in &odd {
            let simple = Simple::of(&schema(field)).unwrap_or_else(|| panic!("{field}"));
            assert!(matches!(simple.fields[0].accepts, Accepts::Odd(_)), "{field}");
        }
        let many: Map<String, Value> =
            (0..9).map(|nth| (nth.to_string(), json!({"format": "ipv4"}))).collect();
        assert!(Simple::of(&json!({"type": "object", "properties": many})).is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn what_is_accepted_here_the_validator_accepts(schema in schema("[abc]", field()), value in value()) {
            let simple = Simple::of(&schema).ok_or_else(|| TestCaseError::fail("not simple"))?;
            let valid = validator(&schema).map_err(|error| {
                TestCaseError::fail(error.to_string())
            })?.is_valid(&value);
            prop_assert!(valid || !simple.accepts(&value));
            // Numbers with a point, and huge ones, are the only ones that are left to the validator.
            let has_point = value.to_string().contains("1.0");
            let is_huge = value.to_string().contains("18446744073709551615");
            let has_half = value.to_string().contains("0.5");
            prop_assert!(has_point || has_half || is_huge || valid == simple.accepts(&value));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn a_whole_object_is_judged_as_the_validator_does(
            schema in schema("[abc]", field()),
            said in whole(3),
            value in value(),
        ) {
            let mut schema = schema;
            schema["allOf"] = json!([said]);
            // A format may make a part of it odd.
            let Some(simple) = Simple::of(&schema) else { return Ok(()) };
            let valid = validator(&schema).map_err(|error| {
                TestCaseError::fail(error.to_string())
            })?.is_valid(&value);
            let accepts = simple.accepts(&value);
            prop_assert!(valid || !accepts);
            prop_assert!(!valid || !Accepts::Object(Box::new(simple)).refuses(&value));
            // Numbers with a point, huge ones, and what matches no pattern may go either way.
            let is_sure = !["1.0", "0.5", "18446744073709551615"].iter().any(|odd| value.to_string().contains(odd));
            let is_spelled = ["format", "pattern", "uniqueItems"].iter().any(|word| schema.to_string().contains(word));
            prop_assert!(!is_sure || is_spelled || accepts == valid);
        }
    }
}
