//! The JSON Schema of the file: printed for editors, and what a file is checked against.

use std::sync::LazyLock;

use schemars::Schema as Draft;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::Value;

use super::file::File;
use crate::check::Schema;
use crate::{Error, ToolSpec};

/// How many references may lead to one another.
const REFERENCES: usize = 8;

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let tidied = RecursiveTransform(tidy as fn(&mut Draft));
    let settings = SchemaSettings::draft2020_12().with_transform(tidied);
    settings.into_generator().into_root_schema_for::<File>().to_value()
});

static COMPILED: LazyLock<Result<Schema, Error>> = LazyLock::new(|| {
    Schema::compile(&mut ToolSpec::new("breakfall.toml", "").schema(DOCUMENT.clone()))
});

/// The schema as a document.
pub(super) fn document() -> &'static Value {
    &DOCUMENT
}

/// The schema with its validator. It is our own, and a test sees to it that it compiles.
pub(super) fn compiled() -> Option<&'static Schema> {
    COMPILED.as_ref().ok()
}

/// TOML has no `null`, and what a table does not list is refused.
fn tidy(schema: &mut Draft) {
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            schema.insert("type".to_owned(), kind);
        }
    }
    if let Some(Value::Array(branches)) = schema.get_mut("anyOf") {
        branches.retain(|branch| branch.get("type").is_none_or(|kind| kind != "null"));
        if let [Value::Object(only)] = branches.as_slice() {
            let only = only.clone();
            schema.remove("anyOf");
            for (key, value) in only {
                if schema.get(&key).is_none() {
                    schema.insert(key, value);
                }
            }
        }
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    if schema.get("properties").is_some() {
        schema.remove("unevaluatedProperties");
        schema.insert("additionalProperties".to_owned(), false.into());
    }
    let is_rust = |format: &str| {
        ["uint", "int", "float", "double"].iter().any(|name| format.starts_with(name))
    };
    if schema.get("format").and_then(Value::as_str).is_some_and(is_rust) {
        schema.remove("format");
    }
}

/// What a schema stands for.
pub(super) fn resolved(mut schema: &'static Value) -> &'static Value {
    for _ in 0..REFERENCES {
        let Some(pointer) = schema.get("$ref").and_then(Value::as_str) else { break };
        let Some(target) = pointer.strip_prefix('#').and_then(|at| DOCUMENT.pointer(at)) else {
            break;
        };
        schema = target;
    }
    schema
}

/// A schema, and those of which it accepts any.
fn branches(schema: &'static Value) -> impl Iterator<Item = &'static Value> {
    let schema = resolved(schema);
    let any = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    std::iter::once(schema).chain(any.map(resolved))
}

/// The schema of what stands inside, by key or index.
pub(super) fn inside(schema: &'static Value, name: &str) -> Option<&'static Value> {
    branches(schema).find_map(|branch| {
        let listed = branch.get("properties").and_then(|all| all.get(name));
        let other = || branch.get("additionalProperties").filter(|other| other.is_object());
        listed.or_else(other).or_else(|| branch.get("items"))
    })
}

/// The schema at a place of the file.
pub(super) fn at<S: AsRef<str>>(path: &[S]) -> Option<&'static Value> {
    path.iter().try_fold(document(), |schema, name| inside(schema, name.as_ref()))
}

/// The keys that a table accepts.
pub(super) fn keys(schema: &'static Value) -> Vec<&'static str> {
    let listed = branches(schema).filter_map(|branch| branch.get("properties")?.as_object());
    listed.flat_map(|all| all.keys()).map(String::as_str).collect()
}

/// Whether a table accepts keys of the user's own.
pub(super) fn is_named_by_user(schema: &'static Value) -> bool {
    let free = |branch: &Value| {
        let is_table = branch.get("type").is_some_and(|kind| kind == "object");
        is_table && branch.get("properties").is_none()
    };
    branches(schema).any(free)
}

/// The words that are accepted, where they are a closed list.
pub(super) fn options(schema: &'static Value) -> Vec<&'static str> {
    let words = branches(schema).flat_map(|branch| {
        let listed = branch.get("enum").and_then(Value::as_array).into_iter().flatten();
        listed.chain(branch.get("const"))
    });
    words.filter_map(Value::as_str).collect()
}

/// Whether text is accepted, and nothing else.
pub(super) fn is_text(schema: &'static Value) -> bool {
    resolved(schema).get("type").is_some_and(|kind| kind == "string") || !options(schema).is_empty()
}

/// Whether a number must be a whole one.
pub(super) fn is_whole(schema: &'static Value) -> bool {
    branches(schema).any(|branch| branch.get("type").is_some_and(|kind| kind == "integer"))
}
