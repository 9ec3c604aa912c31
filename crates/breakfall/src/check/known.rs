//! Which words of a schema are known here.

use serde_json::{Map, Value};

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
    // What no draft knows, and others write into schemas.
    "example",
    "nullable",
    "enumNames",
    "enumDescriptions",
    "markdownDescription",
];

/// Whether a word of a schema says nothing of what is accepted.
pub(super) fn is_remark(word: &str) -> bool {
    REMARKS.contains(&word) || word.starts_with("x-")
}

/// How schemars writes the types of Rust, and what others call texts: the validator knows no such
/// formats.
const NAMED: &[&str] = &[
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int",
    "uint",
    "float",
    "double",
    "base64url",
    "binary",
    "byte",
    "directory-path",
    "file-path",
    "json",
    "json-string",
    "markdown",
    "password",
    "path",
    "url",
];

/// Whether a format is a name and no more: the validator knows no such format.
pub(super) fn is_named_format(format: &str) -> bool {
    NAMED.contains(&format)
}

/// The word that names a type, and those that say something of one other than an object.
const OF_OTHERS: &[&str] = &[
    "type",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "items",
    "minItems",
    "maxItems",
    "uniqueItems",
    "multipleOf",
];

/// Those that say something of an object.
const OF_OBJECT: &[&str] = &[
    "properties",
    "required",
    "additionalProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
];

/// The words that say what a schema is about, whatever its type.
pub(super) const DECIDING: &[&str] =
    &["$ref", "const", "enum", "anyOf", "oneOf", "allOf", "not", "if"];

/// What goes with one of them, and says nothing without.
const WITH_IF: &[&str] = &["then", "else"];

/// The types that there are.
pub(super) const TYPES: [&str; 6] = ["null", "boolean", "number", "string", "array", "object"];

/// The drafts that know every word that is known here.
const DRAFTS: &[&str] = &[
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema",
];

/// Whether what is refused here is refused by the validator, too: to an older draft some words say
/// nothing.
pub(super) fn has_opposites(root: &Value) -> bool {
    let is_known = |draft: &str| DRAFTS.contains(&draft.trim_end_matches('#'));
    root.get("$schema").is_none_or(|draft| draft.as_str().is_some_and(is_known))
}

/// Whether a word says something of every type.
pub(super) fn is_deciding(word: &str) -> bool {
    DECIDING.contains(&word) || WITH_IF.contains(&word)
}

/// Whether a word says something of an object.
pub(super) fn is_of_object(word: &str) -> bool {
    OF_OBJECT.contains(&word)
}

/// Whether a word says something of a type.
pub(super) fn is_of_type(word: &str) -> bool {
    OF_OTHERS.contains(&word) || is_of_object(word)
}

/// Whether a schema says nothing with other words than these.
pub(super) fn has_only(schema: &Map<String, Value>, is_known: impl Fn(&str) -> bool) -> bool {
    schema.keys().all(|word| is_known(word) || is_remark(word))
}

#[cfg(test)]
mod tests {
    use super::super::schema::validator;
    use super::*;

    #[test]
    fn the_validator_does_not_know_what_is_only_named() {
        for format in NAMED {
            let validator = validator(&serde_json::json!({ "format": format }));
            let accepts = |text: &str| validator.as_ref().is_ok_and(|it| it.is_valid(&text.into()));
            assert!(accepts("") && accepts(" \n\0ü%%{[("), "{format}");
        }
    }
}
