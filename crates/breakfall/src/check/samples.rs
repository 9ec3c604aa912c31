//! Schemas for tests: objects with fields of some kind.

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
