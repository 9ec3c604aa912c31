//! Raw arguments become checked [`Arguments`], or a failure that lists every problem at once and
//! shows the model's own call in the accepted shape.

mod accepts;
mod fields;
mod formats;
mod known;
mod limits;
mod odd;
mod parse;
mod pattern;
mod problems;
mod repair;
mod rewrite;
#[cfg(test)]
mod samples;
mod scalars;
mod schema;
mod simple;
mod skim;
mod sound;
mod wanted;
mod words;

use std::sync::OnceLock;

use serde_json::Value;

pub use parse::MAX_DEPTH;
pub(crate) use parse::{Measured, Tamed, deeper_than, measure, take_apart, tame};
pub(crate) use problems::located;
pub(crate) use repair::mend_value;
pub(crate) use schema::Schema;
pub(crate) use words::describe;

use crate::attempt::{CallKey, Checking, Policy, Repair};
use crate::{Correction, Detail, Entry, Failure, FailureKind, Problem, RawArguments};

/// Checked input. Only the check builds it.
#[derive(Debug)]
pub struct Arguments {
    given: Given,
    remarks: Option<Box<Remarks>>,
}

#[derive(Debug)]
enum Given {
    Read {
        value: Value,
        /// As the model wrote them, when nothing was changed.
        text: Option<Box<str>>,
    },
    /// Seen to fit where they stand, and read when somebody asks for their value.
    Skimmed { text: String, value: OnceLock<Value> },
}

/// What few arguments have: boxed, so that the others are moved without room for it.
#[derive(Debug, Default)]
struct Remarks {
    /// What was mended on the way, for the record.
    repairs: Vec<&'static str>,
    /// What the schema forbids and the policy let pass: shown if the tool refuses the call.
    diagnosis: Option<(Vec<Problem>, Option<Correction>)>,
}

impl Arguments {
    fn of(value: Value) -> Self {
        Self { given: Given::Read { value, text: None }, remarks: None }
    }

    fn skimmed(text: String) -> Self {
        Self { given: Given::Skimmed { text, value: OnceLock::new() }, remarks: None }
    }

    fn mended(value: Value, text: Option<Box<str>>, repairs: Vec<&'static str>) -> Self {
        let remarks = Remarks { repairs, diagnosis: None };
        let remarks = (!remarks.repairs.is_empty()).then(|| Box::new(remarks));
        Self { given: Given::Read { value, text }, remarks }
    }

    fn diagnosed(mut self, problems: Vec<Problem>, correction: Option<Correction>) -> Self {
        self.remarks.get_or_insert_default().diagnosis = Some((problems, correction));
        self
    }

    pub(crate) fn diagnosis(&self) -> Option<&(Vec<Problem>, Option<Correction>)> {
        self.remarks.as_ref()?.diagnosis.as_ref()
    }

    /// The arguments as JSON.
    #[inline]
    pub fn value(&self) -> &Value {
        match &self.given {
            Given::Read { value, .. } => value,
            Given::Skimmed { text, value } => value.get_or_init(|| parse::skimmed(text)),
        }
    }

    /// The arguments as the model wrote them, when they came as a text and nothing was changed:
    /// to be passed on to the letter, with numbers that no type of ours holds.
    pub fn text(&self) -> Option<&str> {
        match &self.given {
            Given::Read { text, .. } => text.as_deref(),
            Given::Skimmed { text, .. } => Some(text),
        }
    }

    /// Their text, where nobody has read it yet.
    #[inline]
    pub(crate) fn unread(&self) -> Option<&str> {
        match &self.given {
            Given::Skimmed { text, value } if value.get().is_none() => Some(text),
            _ => None,
        }
    }

    /// What was mended in them; nothing where they are as the model wrote them.
    pub fn repairs(&self) -> &[&'static str] {
        self.remarks.as_ref().map_or(&[], |remarks| &remarks.repairs)
    }

    pub(crate) fn copied(&self) -> Self {
        let given = match &self.given {
            Given::Read { value, text } => Given::Read { value: value.clone(), text: text.clone() },
            Given::Skimmed { text, value } => {
                Given::Skimmed { text: text.clone(), value: value.clone() }
            }
        };
        Self { given, remarks: None }
    }
}

/// Checks raw arguments against a tool's schema, and puts them in their place.
#[inline]
pub(crate) fn check<'a>(
    mut raw: Measured<'_>,
    entry: &Entry,
    schema: &Schema,
    policy: &Policy,
    place: &'a mut Option<Arguments>,
) -> Result<&'a Arguments, Failure> {
    match raw.accepted(policy.max_argument_bytes) {
        Some(RawArguments::Json(value)) => Ok(place.insert(Arguments::of(value))),
        Some(RawArguments::Text(text)) => Ok(place.insert(Arguments::skimmed(text))),
        Some(RawArguments::CutOff(_)) | None => {
            Ok(place.insert(checked(raw, entry, schema, policy)?))
        }
    }
}

fn checked(
    mut raw: Measured<'_>,
    entry: &Entry,
    schema: &Schema,
    policy: &Policy,
) -> Result<Arguments, Failure> {
    let mut is_refused = false;
    if let Some(value) = raw.value(policy.max_argument_bytes) {
        if policy.checking == Checking::Off || schema.validates(value) {
            return Ok(Arguments::of(value.take()));
        }
        is_refused = true;
    }
    let spec = &entry.spec;
    let may_repair = match policy.repair {
        Repair::Never => false,
        Repair::Repeatable => spec.effect.may_repeat(),
        Repair::Always => true,
    };
    let parse::Parsed { value, text, mut repairs } =
        parse::parse(raw, &spec.name, policy.max_argument_bytes, may_repair)?;
    if !is_refused && (policy.checking == Checking::Off || schema.accepts(&value)) {
        return Ok(Arguments::mended(value, text, repairs));
    }
    // Who reads them itself may read another form, or read another value in it than we would.
    if entry.tool.accepts(&value) {
        return Ok(Arguments::mended(value, text, repairs));
    }
    if may_repair && let Some(value) = repair::unstring(&value, schema) {
        repairs.push(repair::STRINGIFIED);
        return Ok(Arguments::mended(value, None, repairs));
    }
    let mut told = problems::all(schema, &value);
    match policy.checking {
        Checking::Off | Checking::Strict => {
            let key = CallKey::of(&spec.name, &value);
            let correction = rewrite::correct(schema, value, &mut told);
            let detail = Detail::Arguments { problems: told.problems, correction };
            Err(Failure::found(FailureKind::InvalidArguments, detail).of_call(|| key))
        }
        Checking::Warn => {
            let correction = rewrite::correct(schema, value.clone(), &mut told);
            Ok(Arguments::mended(value, text, repairs).diagnosed(told.problems, correction))
        }
        Checking::Diagnose => match rewrite::correct(schema, value.clone(), &mut told) {
            // What is only written otherwise is passed on as the schema wants it.
            // The schema has nothing against it then, and whatever the tool says is about more.
            Some(found) if found.is_exact => {
                repairs.push(repair::COERCED);
                Ok(Arguments::mended(found.arguments, None, repairs))
            }
            correction => {
                Ok(Arguments::mended(value, text, repairs).diagnosed(told.problems, correction))
            }
        },
    }
}
