//! A tool's schema, compiled once. The one file that names the validator's types for building.

use std::sync::OnceLock;

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

use super::fields::Fields;
use super::simple::Simple;
use super::sound::is_sound;
use crate::redact::{SHORTEST, is_secret_name};
use crate::{Error, ToolSpec};

/// Schemas come from strangers: how much memory one pattern may take.
const PATTERN_BYTES: usize = 1 << 20;

/// How many schemas may apply to one value. A few lines of references to references reach
/// billions.
const STEPS: u64 = 20_000;

/// How many schemas apply to one value, by way of references and combinations. References to
/// oneself end: they are followed only as deep as references may be nested in earnest.
fn steps(root: &Value, schema: &Value, depth: u8, seen: &mut u64) -> u64 {
    *seen += 1;
    if depth > 40 || *seen > STEPS {
        return *seen;
    }
    let target = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|pointer| root.pointer(pointer.strip_prefix('#')?));
    if let Some(target) = target.filter(|target| !std::ptr::eq(*target, root)) {
        steps(root, target, depth + 1, seen);
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        for branch in schema.get(key).and_then(Value::as_array).into_iter().flatten() {
            steps(root, branch, depth + 1, seen);
        }
    }
    // What applies to parts of the value counts once for each part: only where it begins matters.
    if depth == 0 {
        for key in ["properties", "$defs", "definitions"] {
            for part in
                schema.get(key).and_then(Value::as_object).into_iter().flat_map(|all| all.values())
            {
                let mut own = 0;
                if steps(root, part, 1, &mut own) > STEPS {
                    *seen = STEPS + 1;
                    return *seen;
                }
            }
        }
    }
    *seen
}

/// The validator of a schema, or of a part of it.
pub(super) fn validator(schema: &Value) -> Result<Validator, ValidationError<'static>> {
    jsonschema::options()
        .with_pattern_options(
            PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES),
        )
        .should_validate_formats(true)
        .should_ignore_unknown_formats(true)
        .build(schema)
}

/// A schema with its validator.
pub(crate) struct Schema {
    root: Value,
    /// Made when it is first asked, where the schema is surely sound.
    validator: OnceLock<Option<Validator>>,
    simple: Option<Simple>,
    fields: OnceLock<Option<Box<Fields>>>,
    /// Whether a field somewhere has the name of a secret.
    holds_secrets: bool,
}

/// Whether a field has the name of a secret, in whatever part of a schema.
fn holds_secrets(root: &Value) -> bool {
    let mut left = vec![root];
    while let Some(schema) = left.pop() {
        match schema {
            Value::Object(fields) => {
                let named = fields.get("properties").and_then(Value::as_object);
                if named.is_some_and(|named| named.keys().any(|name| is_secret_name(name))) {
                    return true;
                }
                left.extend(fields.values());
            }
            Value::Array(items) => left.extend(items),
            _ => {}
        }
    }
    false
}

impl Schema {
    /// Compiles the schema. References leave the document nowhere: nothing is fetched, and the
    /// pattern engine is the linear one.
    pub(crate) fn compile(spec: &mut ToolSpec) -> Result<Self, Error> {
        let tool = spec.name.clone();
        let unusable = |path: String, source: Box<dyn std::error::Error + Send + Sync>| {
            Error::Schema { tool, path, source }
        };
        if super::deeper_than(&spec.input_schema, super::MAX_DEPTH) {
            super::take_apart(std::mem::take(&mut spec.input_schema));
            return Err(unusable("/".to_owned(), "it is nested too deeply".into()));
        }
        if steps(&spec.input_schema, &spec.input_schema, 0, &mut 0) > STEPS {
            return Err(unusable("/".to_owned(), "checking one value takes too many steps".into()));
        }
        let validator = if is_sound(&spec.input_schema) {
            OnceLock::new()
        } else {
            let made = validator(&spec.input_schema).map_err(|error| {
                unusable(error.instance_path().to_string(), error.to_string().into())
            })?;
            OnceLock::from(Some(made))
        };
        let root = spec.input_schema.clone();
        let holds_secrets = holds_secrets(&root);
        let (simple, fields) = (Simple::of(&root), OnceLock::new());
        Ok(Self { root, validator, simple, fields, holds_secrets })
    }

    /// The secrets that arguments hold, by the names of their fields.
    pub(crate) fn secrets(&self, arguments: &Value) -> Vec<String> {
        let mut found = Vec::new();
        let mut left = if self.holds_secrets { vec![arguments] } else { Vec::new() };
        while let Some(value) = left.pop() {
            match value {
                Value::Object(fields) => {
                    let secrets = fields.iter().filter(|(name, _)| is_secret_name(name));
                    let texts = secrets.filter_map(|(_, value)| value.as_str());
                    found.extend(texts.filter(|text| text.len() >= SHORTEST).map(String::from));
                    left.extend(fields.values());
                }
                Value::Array(items) => left.extend(items),
                _ => {}
            }
        }
        found
    }

    /// How large a value is that it accepts; `None` where that is not simple to see.
    pub(super) fn weigh(&self, value: &Value) -> Option<usize> {
        self.simple.as_ref()?.weigh(value)
    }

    /// Whether a text surely is an object that it accepts, which is simple to see.
    pub(super) fn accepts_text(&self, text: &str) -> bool {
        self.simple.as_ref().is_some_and(|simple| simple.accepts_text(text))
    }

    pub(crate) fn accepts(&self, value: &Value) -> bool {
        self.weigh(value).is_some() || self.validates(value)
    }

    /// The validator's word, where it is not simple to see.
    pub(super) fn validates(&self, value: &Value) -> bool {
        self.validator().is_some_and(|validator| validator.is_valid(value))
    }

    /// Nothing where a schema only seemed to be sound: then no value fits.
    fn validator(&self) -> Option<&Validator> {
        self.validator.get_or_init(|| validator(&self.root).ok()).as_ref()
    }

    pub(super) fn errors<'a>(
        &'a self,
        value: &'a Value,
        most: usize,
    ) -> impl Iterator<Item = ValidationError<'a>> {
        let validator = self.validator().into_iter();
        validator.flat_map(|validator| validator.iter_errors(value)).take(most)
    }

    /// Its fields, where it says no more than which there are.
    pub(super) fn fields(&self) -> Option<&Fields> {
        self.fields.get_or_init(|| Fields::of(self).map(Box::new)).as_deref()
    }

    pub(super) fn root(&self) -> &Value {
        &self.root
    }

    /// What a schema stands for once its references within the document are followed.
    pub(super) fn resolve<'a>(&'a self, mut schema: &'a Value) -> &'a Value {
        for _ in 0..16 {
            let Some(pointer) = schema.get("$ref").and_then(Value::as_str) else { break };
            let Some(target) = pointer.strip_prefix('#').and_then(|p| self.root.pointer(p)) else {
                break;
            };
            schema = target;
        }
        schema
    }
}
