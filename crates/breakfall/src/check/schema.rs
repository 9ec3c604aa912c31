//! A tool's schema, compiled once. The one file that names the validator's types for building.

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

use crate::{Error, ToolSpec};

/// Schemas come from strangers: how much memory one pattern may take.
const PATTERN_BYTES: usize = 1 << 20;

/// How many problems are worth telling.
const PROBLEMS: usize = 20;

/// A schema with its validator.
pub(crate) struct Schema {
    root: Value,
    validator: Validator,
}

impl Schema {
    /// Compiles the schema. References leave the document nowhere: nothing is fetched, and the
    /// pattern engine is the linear one.
    pub(crate) fn compile(spec: &ToolSpec) -> Result<Self, Error> {
        let unusable = |path: String, source: Box<dyn std::error::Error + Send + Sync>| {
            Error::Schema { tool: spec.name.clone(), path, source }
        };
        if super::parse::deeper_than(&spec.input_schema, super::MAX_DEPTH) {
            return Err(unusable("/".to_owned(), "it is nested too deeply".into()));
        }
        let validator = jsonschema::options()
            .with_pattern_options(
                PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES),
            )
            .should_validate_formats(true)
            .should_ignore_unknown_formats(true)
            .build(&spec.input_schema)
            .map_err(|error| {
                unusable(error.instance_path().to_string(), error.to_string().into())
            })?;
        Ok(Self { root: spec.input_schema.clone(), validator })
    }

    pub(crate) fn accepts(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    pub(super) fn errors<'a>(
        &'a self,
        value: &'a Value,
    ) -> impl Iterator<Item = ValidationError<'a>> {
        self.validator.iter_errors(value).take(PROBLEMS)
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
