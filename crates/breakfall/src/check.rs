//! Raw arguments become checked [`Arguments`], or a failure that lists every problem at once and
//! shows the model's own call in the accepted shape.

mod fields;
mod formats;
mod parse;
mod problems;
mod repair;
mod rewrite;
mod scalars;
mod schema;
mod simple;
mod wanted;
mod words;

use serde_json::Value;

pub use parse::MAX_DEPTH;
pub(crate) use parse::{Measured, Tamed, deeper_than, take_apart, tame};
pub(crate) use problems::located;
pub(crate) use repair::mend_value;
pub(crate) use schema::Schema;
pub(crate) use words::describe;

use crate::attempt::{CallKey, Checking, Policy, Repair};
use crate::{Correction, Detail, Failure, FailureKind, Problem, ToolSpec};

/// Checked input. Only the check builds it.
#[derive(Debug)]
pub struct Arguments {
    value: Value,
    /// As the model wrote them, when nothing was changed.
    text: Option<Box<str>>,
    /// What was mended on the way, for the record.
    pub(crate) repairs: Vec<&'static str>,
    /// What the schema forbids and the policy let pass: shown if the tool refuses the call.
    pub(crate) diagnosis: Option<Box<(Vec<Problem>, Option<Correction>)>>,
}

impl Arguments {
    fn of(value: Value) -> Self {
        Self { value, text: None, repairs: Vec::new(), diagnosis: None }
    }

    /// The arguments as JSON.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The arguments as the model wrote them, when they came as a text and nothing was changed:
    /// to be passed on to the letter, with numbers that no type of ours holds.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// What was mended in them; nothing where they are as the model wrote them.
    pub fn repairs(&self) -> &[&'static str] {
        &self.repairs
    }

    pub(crate) fn copied(&self) -> Self {
        Self {
            value: self.value.clone(),
            text: self.text.clone(),
            repairs: Vec::new(),
            diagnosis: None,
        }
    }
}

/// Checks raw arguments against a tool's schema.
#[inline]
pub(crate) fn check(
    raw: Measured,
    spec: &ToolSpec,
    schema: &Schema,
    policy: &Policy,
) -> Result<Arguments, Failure> {
    let raw = match raw.accepted(policy.max_argument_bytes) {
        Ok(value) => return Ok(Arguments::of(value)),
        Err(raw) => raw,
    };
    let may_repair = match policy.repair {
        Repair::Never => false,
        Repair::Repeatable => spec.effect.may_repeat(),
        Repair::Always => true,
    };
    let parse::Parsed { value, text, mut repairs } =
        parse::parse(raw, &spec.name, policy.max_argument_bytes, may_repair)?;
    if policy.checking == Checking::Off || schema.accepts(&value) {
        return Ok(Arguments { value, text, repairs, diagnosis: None });
    }
    if may_repair && let Some(value) = repair::unstring(&value, schema) {
        repairs.push(repair::STRINGIFIED);
        return Ok(Arguments { value, text: None, repairs, diagnosis: None });
    }
    let problems = problems::all(schema, &value);
    let correction = rewrite::correct(schema, &value, &problems);
    match policy.checking {
        Checking::Off | Checking::Strict => Err(Failure::found(
            FailureKind::InvalidArguments,
            Detail::Arguments { problems, correction },
        )
        .of_call(|| CallKey::of(&spec.name, &value))),
        Checking::Warn => Ok(Arguments {
            value,
            text,
            repairs,
            diagnosis: Some(Box::new((problems, correction))),
        }),
        Checking::Diagnose => {
            // What is only written otherwise is passed on as the schema wants it.
            // The schema has nothing against it then, and whatever the tool says is about more.
            if let Some(found) = correction.as_ref().filter(|found| found.is_exact) {
                repairs.push(repair::COERCED);
                let value = found.arguments.clone();
                return Ok(Arguments { value, text: None, repairs, diagnosis: None });
            }
            Ok(Arguments {
                value,
                text,
                repairs,
                diagnosis: Some(Box::new((problems, correction))),
            })
        }
    }
}
