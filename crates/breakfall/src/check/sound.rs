//! Schemas that are surely sound: their validator can be made when it is first asked. What most calls
//! need is told without it, and making it takes more memory and time than all else of a tool.

use serde_json::Value;

use super::known::{TYPES, has_opposites};

/// How deep schemas lie within one another that are looked at.
const DEPTH: u8 = 8;

/// Whether the validator takes it for a schema. No means that it is to be asked.
pub(super) fn is_sound(root: &Value) -> bool {
    let is_draft = |said: &Value| said.as_str().is_some_and(|draft| !draft.ends_with("##"));
    has_opposites(root)
        && match root {
            Value::Object(words) => words.iter().all(|(word, said)| match word.as_str() {
                "$schema" => is_draft(said),
                word => is_said(word, said, DEPTH),
            }),
            _ => false,
        }
}

fn is_schema(schema: &Value, depth: u8) -> bool {
    match schema {
        Value::Bool(_) => true,
        Value::Object(words) => {
            depth > 0 && words.iter().all(|(word, said)| is_said(word, said, depth - 1))
        }
        _ => false,
    }
}

/// Whether a word may say this. Those that lead elsewhere, or hold what must be compiled to be seen
/// to be right, are not looked at.
fn is_said(word: &str, said: &Value, depth: u8) -> bool {
    match word {
        "title" | "description" | "format" => said.is_string(),
        "default" | "const" => true,
        "deprecated" | "readOnly" | "writeOnly" | "uniqueItems" => said.is_boolean(),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => said.is_number(),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            said.is_u64()
        }
        "type" => is_type(said) || is_set(said, is_type),
        "enum" => is_set(said, |_| true),
        "examples" => said.is_array(),
        "required" => said.as_array().is_some_and(Vec::is_empty) || is_set(said, Value::is_string),
        "items" | "additionalProperties" | "propertyNames" | "not" => is_schema(said, depth),
        "properties" => {
            said.as_object().is_some_and(|all| all.values().all(|one| is_schema(one, depth)))
        }
        "anyOf" | "oneOf" | "allOf" => {
            said.as_array().is_some_and(|all| !all.is_empty())
                && said.as_array().into_iter().flatten().all(|one| is_schema(one, depth))
        }
        _ => word.starts_with("x-"),
    }
}

fn is_type(said: &Value) -> bool {
    said.as_str().is_some_and(|said| said == "integer" || TYPES.contains(&said))
}

/// How many of them are compared with each other.
const COMPARED: usize = 64;

/// Whether it names some of these, each once.
fn is_set(said: &Value, is_one: impl Fn(&Value) -> bool) -> bool {
    let Some(all) = said.as_array() else { return false };
    let is_new = |(nth, one): (usize, &Value)| is_one(one) && !all[..nth].contains(one);
    (1..=COMPARED).contains(&all.len()) && all.iter().enumerate().all(is_new)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::samples::{field, schema, whole};
    use super::super::schema::validator;
    use super::*;

    #[test]
    fn what_most_servers_write_is_sound() {
        assert!(is_sound(&json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {
                "message": {"type": "string", "description": "What to say", "minLength": 1},
                "edits": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"oldText": {"type": "string"}},
                    "required": ["oldText"],
                    "additionalProperties": false,
                }},
                "limit": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}],
                    "default": null, "title": "Limit"},
                "order": {"enum": ["a", "b"]},
            },
            "required": ["message"],
        })));
    }

    #[test]
    fn what_leads_elsewhere_or_must_be_compiled_is_left_to_the_validator() {
        for word in [
            json!({"$ref": "#/$defs/a"}),
            json!({"$id": "a"}),
            json!({"pattern": "("}),
            json!({"patternProperties": {"(": true}}),
            json!({"multipleOf": 0}),
            json!({"$schema": "https://json-schema.org/draft/2020-12/schema"}),
        ] {
            assert!(!is_sound(&json!({"properties": {"a": word}})), "{word}");
        }
        assert!(!is_sound(&json!({"$schema": "http://json-schema.org/draft-04/schema#"})));
        let deep = (0..100).fold(json!({}), |inner, _| json!({"items": inner}));
        assert!(!is_sound(&deep));
    }

    #[test]
    fn a_word_that_says_what_it_may_not_is_never_sound() {
        let words = [
            "title",
            "description",
            "format",
            "default",
            "const",
            "deprecated",
            "readOnly",
            "uniqueItems",
            "minimum",
            "exclusiveMaximum",
            "minLength",
            "maxItems",
            "minProperties",
            "type",
            "enum",
            "examples",
            "required",
            "items",
            "additionalProperties",
            "propertyNames",
            "not",
            "properties",
            "anyOf",
            "oneOf",
            "allOf",
            "x-order",
            "nullable",
        ];
        let said = [
            json!(null),
            json!(true),
            json!(-1),
            json!(1),
            json!(1.5),
            json!(u64::MAX),
            json!("a"),
            json!("date"),
            json!("string"),
            json!("integer"),
            json!([]),
            json!(["string"]),
            json!(["a", "a"]),
            json!(["string", "a"]),
            json!([1, null]),
            json!([{}]),
            json!([true]),
            json!([{"type": "a"}]),
            json!({}),
            json!({"a": 1}),
            json!({"a": true}),
            json!({"type": "null"}),
            json!({"type": 1}),
        ];
        let drafts = [
            "https://json-schema.org/draft/2020-12/schema",
            "https://json-schema.org/draft/2020-12/schema#",
            "https://json-schema.org/draft/2019-09/schema",
            "http://json-schema.org/draft-07/schema",
            "http://json-schema.org/draft-07/schema#",
            "http://json-schema.org/draft-07/schema##",
        ];
        for draft in drafts {
            for word in words {
                for said in &said {
                    let schema = json!({"$schema": draft, "properties": {"a": {word: said}}});
                    assert!(!is_sound(&schema) || validator(&schema).is_ok(), "{schema}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_sound_the_validator_takes(
            schema in schema("[abc]", field()), whole in whole(3)
        ) {
            for mut schema in [schema, whole] {
                if let Some(words) = schema.as_object_mut() {
                    words.remove("$defs");
                }
                prop_assert!(!is_sound(&schema) || validator(&schema).is_ok(), "{schema}");
            }
        }
    }
}
