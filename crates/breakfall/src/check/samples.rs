//! Schemas and values for tests: objects with fields of some kind.

use proptest::prelude::*;
use serde_json::{Value, json};

/// Objects with such fields under names of such letters, some of them required, open or closed.
pub(super) fn schema(
    letters: &'static str,
    field: impl Strategy<Value = Value>,
) -> impl Strategy<Value = Value> {
    let fields = proptest::collection::btree_map(letters, field, 0..6);
    let closed = prop_oneof![Just(None), Just(Some(true)), Just(Some(false))];
    (fields, closed, any::<[bool; 6]>()).prop_map(|(fields, closed, required)| {
        let named = fields.keys().zip(required).filter(|(_, is)| *is);
        let named: Vec<_> = named.map(|(name, _)| name.clone()).collect();
        let mut schema = json!({
            "type": "object",
            "properties": fields,
            "required": named,
            "$defs": { "word": { "enum": ["a", "c"] }, "again": { "$ref": "#/$defs/word" } },
        });
        if let Some(closed) = closed {
            schema["additionalProperties"] = json!(closed);
        }
        schema
    })
}

/// What a simple schema may say of a field.
pub(super) fn field() -> impl Strategy<Value = Value> {
    let plain = prop_oneof![
        Just(json!(true)),
        Just(json!({"description": "anything"})),
        Just(json!({"type": "null"})),
        Just(json!({"type": "boolean"})),
        Just(json!({"type": "number", "format": "double"})),
        Just(json!({"type": "array"})),
        Just(json!({"type": "object"})),
        Just(json!({"type": "array", "items": {"type": "integer", "minimum": 1}})),
        Just(json!({"type": ["array", "null"], "items": {"$ref": "#/$defs/word"}, "minItems": 1})),
        Just(json!({"type": "array", "maxItems": 2, "items": {"type": "array", "items": true}})),
        Just(json!({"type": "object", "properties": {"a": {"type": "integer"}},
            "required": ["a"], "additionalProperties": false})),
        Just(json!({"type": "object", "propertyNames": {"type": "string"},
            "additionalProperties": {"type": "integer"}})),
        Just(json!({"type": "number", "minimum": -1, "maximum": 3})),
        Just(json!({"type": "number", "exclusiveMinimum": 0})),
        Just(json!({"type": "integer", "exclusiveMinimum": -1, "minimum": 1, "maximum": 3})),
        Just(json!({"type": "integer", "exclusiveMaximum": 2, "minimum": i64::MIN})),
        Just(json!({"type": "number", "minimum": 0.5, "exclusiveMaximum": 3})),
        Just(json!({"type": "number", "exclusiveMinimum": 0.5, "maximum": 1.0})),
        Just(json!({"type": "integer", "multipleOf": 2, "maximum": 3})),
        Just(json!({"type": "number", "multipleOf": 3})),
        Just(json!({"type": "array", "uniqueItems": true, "items": {"type": "string"}})),
        Just(json!({"type": "object", "minProperties": 1, "maxProperties": 1})),
        Just(json!({"type": "string", "minLength": 1, "not": {"const": "a"}})),
        Just(json!({"type": "string", "pattern": "^[ab]", "not": {"const": "a"}})),
        Just(json!({"type": ["string", "null"], "pattern": "^[^b]{2,3}$", "minLength": 1})),
        Just(json!({"not": {"enum": ["a", "ab"]}, "x-order": 1})),
        Just(json!({"allOf": [{"type": "string"}, {"maxLength": 3, "type": "string"}]})),
        Just(json!({"type": "string", "anyOf": [{"const": "a"}, {"enum": ["b", "c"]}]})),
        Just(json!({"enum": ["a", 1, null, true], "nullable": true})),
        Just(json!({"type": "integer", "const": 1})),
        Just(json!({"type": ["integer", "string"], "enum": ["a", 1, 2]})),
        Just(json!({"type": ["string", "null"]})),
        Just(json!({"enum": ["a", "b"]})),
        Just(json!({"const": "a"})),
        Just(json!({"$ref": "#/$defs/word"})),
        Just(json!({"oneOf": [{"const": "a", "type": "string"}, {"const": "b"}]})),
        Just(
            json!({"oneOf": [{"type": "integer", "minimum": 1}, {"enum": ["a", "b"]}, {"type": "null"}]})
        ),
        Just(json!({"oneOf": [{"type": "array"}, {"type": "object", "maxProperties": 1}]})),
        Just(json!({"oneOf": [{"const": "a"}, {"type": "string", "minLength": 2}]})),
        Just(json!({"type": "string", "pattern": "(^|b)a(b|c)?$"})),
        Just(json!({"format": "date"})),
        Just(json!({"type": "string", "format": "json"})),
        Just(json!({"type": ["string", "null"], "format": "date", "not": {"const": "a"}})),
        Just(json!({"type": "array", "contains": {"$ref": "#/$defs/again"}})),
        Just(
            json!({"if": {"type": "object"}, "then": {"required": ["b"]}, "else": {"minimum": 0}})
        ),
        Just(json!({"type": "object", "patternProperties": {"^[ab]$": {"type": "integer"}}})),
        Just(json!({"oneOf": [{"type": "null"}, {"type": "integer"}, {"minimum": 2}]})),
        (0_u64..3, 2_u64..5)
            .prop_map(|(min, max)| json!({"type": "string", "minLength": min, "maxLength": max})),
        (-2_i64..2, 0_i64..4)
            .prop_map(|(min, max)| json!({"type": "integer", "minimum": min, "maximum": max})),
    ];
    let either = proptest::collection::vec(plain.clone(), 1..3);
    prop_oneof![3 => plain, 1 => either.prop_map(|all| json!({"anyOf": all}))]
}

/// What a schema may say of an object as a whole, and of whatever else there is: so deep.
pub(super) fn whole(depth: u32) -> impl Strategy<Value = Value> {
    let named = proptest::collection::btree_map("[abc]", field(), 1..3);
    let leaf = prop_oneof![
        proptest::collection::btree_set("[abcd]", 1..3)
            .prop_map(|names| json!({"required": names})),
        named.prop_map(|fields| json!({"properties": fields})),
        (0..4).prop_map(|most| json!({"maxProperties": most})),
        field(),
        any::<bool>().prop_map(Value::Bool),
    ];
    leaf.prop_recursive(depth, 12, 3, |inner| {
        let some = proptest::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            (inner.clone(), inner.clone(), inner.clone(), 0..4).prop_map(
                |(fits, then, otherwise, way)| match way {
                    0 => json!({"if": fits, "then": then}),
                    1 => json!({"if": fits, "else": otherwise}),
                    2 => json!({"then": then, "else": otherwise}),
                    _ => json!({"if": fits, "then": then, "else": otherwise}),
                }
            ),
            inner.clone().prop_map(|not| json!({"not": not})),
            some.clone().prop_map(|all| json!({"oneOf": all})),
            some.clone().prop_map(|all| json!({"anyOf": all})),
            some.prop_map(|all| json!({"allOf": all})),
        ]
    })
}

/// What may be given, mostly an object.
pub(super) fn value() -> impl Strategy<Value = Value> {
    let plain = prop_oneof![
        Just(json!(null)),
        Just(json!(true)),
        (-4_i64..6).prop_map(|number| json!(number)),
        Just(json!(1.0)),
        Just(json!(0.5)),
        Just(json!(u64::MAX)),
        "[abü]{0,5}".prop_map(|text| json!(text)),
        Just(json!("2026-01-31")),
        Just(json!([1])),
        Just(json!([])),
        Just(json!(["a", "c"])),
        Just(json!(["a", "c", "a"])),
        Just(json!({"a": 1, "b": 2})),
        Just(json!([[1], [], "a"])),
        Just(json!([[1], []])),
        Just(json!({"a": 1})),
        Just(json!({"a": "b"})),
        Just(json!({"b": 1})),
        Just(json!({})),
    ];
    let object = proptest::collection::btree_map("[abcd]", plain, 0..5);
    prop_oneof![9 => object.prop_map(|fields| json!(fields)), 1 => Just(json!("a"))]
}
