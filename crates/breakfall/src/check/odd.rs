//! What few fields say is left to the validator, one field at a time: the others of their object are
//! seen to fit without it.

use jsonschema::Validator;
use serde_json::Value;

use super::parse::{MAX_DEPTH, deeper_than};
use super::schema::validator;

/// What the validator says of a field by itself.
pub(super) struct Odd(Validator);

/// What leads out of a schema, or has a place within the whole: it is not the same by itself.
const ELSEWHERE: &[&str] =
    &["$id", "id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor"];

/// Where schemas lie that others refer to.
const DEFINITIONS: &[&str] = &["$defs", "definitions"];

impl Odd {
    /// The field's schema by itself, with what it refers to; nothing where it cannot be taken out.
    pub(super) fn of(field: &Value, root: &Value) -> Option<Self> {
        let mut alone = field.as_object()?.clone();
        let said = |word: &str| root.get(word).map(|said| (word.to_owned(), said.clone()));
        alone.extend(said("$schema"));
        if refers_to_definitions(field, root)? {
            // Its own would stand in the place of the root's.
            DEFINITIONS.iter().all(|word| field.get(word).is_none()).then_some(())?;
            alone.extend(DEFINITIONS.iter().filter_map(|word| said(word)));
        }
        validator(&Value::Object(alone)).ok().map(Self)
    }

    /// The validator may go as deep as a value is nested.
    pub(super) fn accepts(&self, value: &Value) -> bool {
        !deeper_than(value, MAX_DEPTH) && self.0.is_valid(value)
    }

    pub(super) fn refuses(&self, value: &Value) -> bool {
        !deeper_than(value, MAX_DEPTH) && !self.0.is_valid(value)
    }
}

/// Whether a schema refers to definitions of the root; nothing where it, or these, may refer to more.
fn refers_to_definitions(schema: &Value, root: &Value) -> Option<bool> {
    let is_word = |schema: &Value, word: &&str| schema.get(*word).is_some_and(|it| !it.is_object());
    let mut left = vec![schema];
    let mut refers = false;
    (!ELSEWHERE.iter().any(|word| is_word(root, word))).then_some(())?;
    while let Some(schema) = left.pop() {
        match schema {
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => {
                (!ELSEWHERE.iter().any(|word| is_word(schema, word))).then_some(())?;
                left.extend(fields.values());
                let Some(target) = fields.get("$ref") else { continue };
                let target = target.as_str()?.strip_prefix("#/")?;
                let is_there =
                    DEFINITIONS.iter().any(|word| target.split('/').next() == Some(*word));
                is_there.then_some(())?;
                if !refers {
                    left.extend(DEFINITIONS.iter().filter_map(|word| root.get(*word)));
                    refers = true;
                }
            }
            _ => {}
        }
    }
    Some(refers)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_is_taken_out_with_what_it_refers_to() {
        let root = json!({"$defs": {"day": {"format": "date"}, "days": {"items": {"$ref": "#/$defs/day"}}}});
        let days = Odd::of(&json!({"type": "array", "$ref": "#/$defs/days"}), &root);
        let accepts = |value| days.as_ref().map(|days| days.accepts(&value));
        assert_eq!(accepts(json!(["2026-01-31"])), Some(true));
        assert_eq!(accepts(json!(["tomorrow"])), Some(false));
        assert_eq!(accepts(json!("2026-01-31")), Some(false));
    }

    #[test]
    fn a_value_without_a_bottom_is_not_gone_into() {
        let root = json!({"$defs": {"node": {"type": "array", "items": {"$ref": "#/$defs/node"}}}});
        let node = Odd::of(&json!({"$ref": "#/$defs/node", "minItems": 1}), &root);
        let deep = (0..100_000).fold(json!([]), |inner, _| Value::Array(vec![inner]));
        assert_eq!(node.map(|node| node.accepts(&deep)), Some(false));
        super::super::take_apart(deep);
    }

    #[test]
    fn what_has_a_place_within_the_whole_stays_there() {
        let node = json!({"$defs": {"node": {"properties": {"next": {"$ref": "#"}}}}});
        assert!(Odd::of(&json!({"$ref": "#/$defs/node"}), &node).is_none());
        for field in [
            json!({"$ref": "#"}),
            json!({"$ref": "#/properties/a"}),
            json!({"$ref": "other.json#/$defs/a"}),
            json!({"$id": "a", "type": "string"}),
            json!({"items": {"$dynamicRef": "#node"}}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": true}}),
            json!({"$ref": 7}),
            json!({"$ref": "#/$defs/a/../../properties/a"}),
            json!({"pattern": "("}),
        ] {
            assert!(
                Odd::of(&field, &json!({"$defs": {"a": {"type": "string"}}})).is_none(),
                "{field}"
            );
        }
        assert!(
            Odd::of(&json!({"format": "date"}), &json!({"$id": "https://example.org/a"})).is_none()
        );
    }
}
