//! Every problem of the arguments at once: path, expected, got. The one file that reads the
//! validator's errors.

use std::borrow::Cow;
use std::fmt::Write;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::Location;
use serde_json::{Map, Value};

use super::Schema;
pub(super) use super::fields::Told;
use super::words::{
    LIST, OPTIONS, article, bound, clip, describe, formatted, one_of, path_of, push_clipped, shown,
    so_many,
};
use crate::Problem;
use crate::toolbox::nearest;

/// How much of a value the redactor gets to see before it is cut short.
pub(super) const SEEN: usize = 8 << 10;

/// How many problems are worth telling a model.
pub(super) const PROBLEMS: usize = 20;

/// Behind what is expected of something that is not there.
const MISSING: &str = "; it is missing";

/// Among how many names the nearest is looked for.
pub(super) const NAMES: usize = 1_000;

/// Every problem, in the order of the arguments.
pub(super) fn all<'s>(schema: &'s Schema, value: &Value) -> Told<'s> {
    let told = schema.fields().and_then(|fields| fields.told(schema, value, PROBLEMS));
    told.unwrap_or_else(|| Told::by_validator(all_found(schema, value)))
}

/// The same by the validator, which can tell them all.
pub(super) fn all_found(schema: &Schema, value: &Value) -> Vec<Problem> {
    found(schema, value, PROBLEMS).into_iter().map(|found| found.problem).collect()
}

/// Every problem with its place as a JSON pointer.
pub(crate) fn located(schema: &Schema, value: &Value, most: usize) -> Vec<(String, Problem)> {
    let pointer = |found: &Found| match &found.name {
        None => found.at.as_str().to_owned(),
        Some(name) => {
            format!("{}/{}", found.at.as_str(), name.replace('~', "~0").replace('/', "~1"))
        }
    };
    found(schema, value, most).into_iter().map(|found| (pointer(&found), found.problem)).collect()
}

fn found(schema: &Schema, value: &Value, most: usize) -> Vec<Found> {
    let mut problems: Vec<Found> = Vec::new();
    for error in schema.errors(value, most) {
        one(schema, &error, value, most, &mut problems);
    }
    problems.dedup();
    problems.truncate(most);
    problems
}

/// A problem, and where it is: at this place, or with what has or should have this name there.
#[derive(PartialEq)]
struct Found {
    at: Location,
    name: Option<String>,
    problem: Problem,
}

fn one(
    schema: &Schema,
    error: &ValidationError,
    value: &Value,
    most: usize,
    problems: &mut Vec<Found>,
) {
    let place = Place {
        at: error.instance_path(),
        value,
        instance: error.instance(),
        keyword: error.schema_path(),
        most,
    };
    read(schema, error.kind(), &place, problems);
}

/// The branch that was meant: the right type, its constants kept, the fewest errors.
fn meant<'e>(
    branches: &'e [Vec<ValidationError<'static>>],
    at: &Location,
) -> Option<&'e [ValidationError<'static>]> {
    let mut best: Option<(usize, &[ValidationError])> = None;
    for errors in branches {
        let other_type = errors
            .iter()
            .any(|error| matches!(error.kind(), Kind::Type { .. }) && error.instance_path() == at);
        let constants = errors
            .iter()
            .filter(|error| matches!(error.kind(), Kind::Constant { .. } | Kind::Enum { .. }))
            .count();
        let cost = errors.len() + 10 * constants;
        if !other_type && !errors.is_empty() && best.is_none_or(|(least, _)| cost < least) {
            best = Some((cost, errors));
        }
    }
    best.map(|(_, errors)| errors)
}

/// Where a problem is.
struct Place<'a> {
    at: &'a Location,
    value: &'a Value,
    instance: &'a Value,
    /// Where the keyword that found it stands in the schema.
    keyword: &'a Location,
    /// How many problems are worth telling.
    most: usize,
}

impl<'a> Place<'a> {
    /// The schema that the keyword belongs to.
    fn context(&self, schema: &'a Schema) -> &'a Value {
        let keyword = self.keyword.as_str();
        let parent = keyword.rsplit_once('/').map_or("", |(parent, _keyword)| parent);
        schema.root().pointer(parent).unwrap_or(&Value::Null)
    }

    /// The fields of an object that may have none at all.
    fn without_fields(&self) -> Option<&'a Map<String, Value>> {
        let keyword = self.keyword.as_str().rsplit('/').next();
        let is_of_fields =
            matches!(keyword, Some("additionalProperties" | "unevaluatedProperties"));
        self.value.pointer(self.at.as_str()).filter(|_| is_of_fields)?.as_object()
    }

    fn problem(&self, expected: String) -> Found {
        let problem = Problem {
            path: path(self.at.as_str(), self.value),
            expected,
            got: Some(shown(self.instance)),
            ..Problem::default()
        };
        Found { at: self.at.clone(), name: None, problem }
    }

    /// Where a constant tells the accepted shapes apart, each of them is accepted.
    fn tell_apart(&self, schema: &'a Schema, found: &mut Found) {
        let inside = found.at.as_str().strip_prefix(self.at.as_str()).unwrap_or_default();
        let name = match &found.name {
            Some(name) if inside.is_empty() => name.as_str(),
            None => inside.strip_prefix('/').unwrap_or_default(),
            Some(_) => return,
        };
        let context = self.context(schema);
        let shapes = context.get("anyOf").or(context.get("oneOf")).and_then(Value::as_array);
        let constant = |shape| {
            let property = schema.resolve(shape).get("properties")?.get(name)?;
            schema.resolve(property).get("const").cloned()
        };
        let constants = shapes.into_iter().flatten().map(constant).collect::<Option<Vec<_>>>();
        let Some(constants) = constants.filter(|all| all.len() > 1) else { return };
        let missing = if found.name.is_some() { MISSING } else { "" };
        found.problem.expected = format!("{}{missing}", one_of(&Value::Array(constants)));
    }

    /// The problem with what has or should have this name in here.
    fn inside(&self, name: &str, problem: Problem) -> Found {
        let mut path = path(self.at.as_str(), self.value);
        if !path.is_empty() {
            path.push('.');
        }
        push_clipped(&mut path, name);
        Found {
            at: self.at.clone(),
            name: Some(name.to_owned()),
            problem: Problem { path, ..problem },
        }
    }
}

fn read<'a>(schema: &'a Schema, kind: &Kind, place: &Place<'a>, out: &mut Vec<Found>) {
    let expected = match kind {
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let wanted = place.context(schema).get("properties").and_then(|all| all.get(name));
            return out.push(place.inside(name, missing(schema, wanted)));
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let accepted = place.context(schema).get("properties").and_then(Value::as_object);
            return out.extend(unexpected.iter().take(place.most).map(|name| {
                place.inside(name, superfluous(name, accepted, place.instance.get(name)))
            }));
        }
        Kind::Type { kind: TypeKind::Single(kind) } => article(kind.as_str()).to_owned(),
        Kind::Type { kind: TypeKind::Multiple(kinds) } => {
            kinds.iter().map(|kind| article(kind.as_str())).collect::<Vec<_>>().join(" or ")
        }
        Kind::Enum { options } => one_of(options),
        Kind::Constant { expected_value } => format!("`{expected_value}`"),
        Kind::Minimum { limit } => bound("at least ", limit),
        Kind::Maximum { limit } => bound("at most ", limit),
        Kind::ExclusiveMinimum { limit } => bound("more than ", limit),
        Kind::ExclusiveMaximum { limit } => bound("less than ", limit),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        Kind::MinLength { limit } => so_many("at least", *limit, "character"),
        Kind::MaxLength { limit } => so_many("at most", *limit, "character"),
        Kind::MinItems { limit } => so_many("at least", *limit, "item"),
        Kind::MaxItems { limit } => so_many("at most", *limit, "item"),
        Kind::AdditionalItems { limit } => format!("at most {limit} items"),
        Kind::MinProperties { limit } => so_many("at least", *limit, "field"),
        Kind::MaxProperties { limit } => so_many("at most", *limit, "field"),
        Kind::UniqueItems => "items that differ from one another".to_owned(),
        Kind::Pattern { pattern } => format!("text that matches `{}`", clip(pattern)),
        Kind::Format { format } => formatted(format),
        Kind::AnyOf { context: branches } | Kind::OneOfNotValid { context: branches } => {
            match meant(branches, place.at) {
                Some(errors) => {
                    let first = out.len();
                    for error in errors {
                        one(schema, error, place.value, place.most, out);
                    }
                    let found = out.get_mut(first..).unwrap_or_default();
                    return found.iter_mut().for_each(|found| place.tell_apart(schema, found));
                }
                None => describe(schema, place.context(schema)),
            }
        }
        Kind::OneOfMultipleValid { .. } => "exactly one of the accepted shapes".to_owned(),
        Kind::FalseSchema => {
            match place.without_fields() {
                // The validator tells of one of the fields, and not of its name.
                Some(fields) => {
                    return out.extend(fields.iter().take(place.most).map(|(name, got)| {
                        place.inside(name, superfluous(name, None, Some(got)))
                    }));
                }
                None => "no such argument".to_owned(),
            }
        }
        Kind::PropertyNames { .. } => "other field names".to_owned(),
        Kind::Contains => "an item that is missing".to_owned(),
        Kind::Not { .. } => "another value".to_owned(),
        other => format!("a value accepted by `{}`", other.keyword()),
    };
    out.push(place.problem(expected));
}

/// What is asked for and not there.
pub(super) fn missing(schema: &Schema, wanted: Option<&Value>) -> Problem {
    let mut expected = wanted.map_or_else(|| "a value".to_owned(), |s| describe(schema, s));
    expected.push_str(MISSING);
    Problem { expected, ..Problem::default() }
}

/// An argument that does not exist: the near miss named, or the accepted names listed.
fn superfluous(name: &str, accepted: Option<&Map<String, Value>>, got: Option<&Value>) -> Problem {
    let accepted = || accepted.into_iter().flat_map(|all| all.keys().map(String::as_str));
    let near = nearest(name, accepted().take(NAMES), 1).first().copied();
    let near = or_by_its_end(near, name, accepted().take(NAMES)).map(ToOwned::to_owned);
    let expected = only(accepted());
    Problem { expected, got: got.map(shown), nearest: near, ..Problem::default() }
}

/// The nearest name; or the one that is the last word of what was written, where the nearest is not
/// only a letter away: of `path` and `file_hash`, `file_path` is the first.
pub(super) fn or_by_its_end<'n>(
    near: Option<&'n str>,
    written: &str,
    mut accepted: impl Iterator<Item = &'n str>,
) -> Option<&'n str> {
    let end = last_word(written);
    let is_end = |name: &&str| name.len() > 2 && name.eq_ignore_ascii_case(end);
    match near {
        Some(near) if strsim::osa_distance(written, near) < 2 => Some(near),
        near => accepted.find(is_end).or(near),
    }
}

/// The last word of a name; nothing where it is only one.
fn last_word(name: &str) -> &str {
    let bytes = name.as_bytes();
    let begins = |at: &usize| match (bytes[at - 1], bytes[*at]) {
        (before, _) if !before.is_ascii_alphanumeric() => true,
        (before, letter) => before.is_ascii_lowercase() && letter.is_ascii_uppercase(),
    };
    let last = (1..bytes.len()).rev().find(begins);
    last.and_then(|at| name.get(at..)).unwrap_or_default()
}

/// The names that are accepted, as far as they are listed.
pub(super) fn only<'n>(accepted: impl Iterator<Item = &'n str>) -> String {
    let mut expected = String::with_capacity(LIST);
    for name in accepted.take(OPTIONS) {
        expected.push_str(if expected.is_empty() { "only `" } else { ", `" });
        expected.push_str(name);
        expected.push('`');
    }
    if expected.is_empty() {
        expected.push_str("no arguments");
    }
    expected
}

/// `/filters/0/date` as `filters[0].date`; a number is an index only where an array is.
pub(super) fn path(pointer: &str, root: &Value) -> String {
    // Most arguments lie no deeper.
    if let (Some(name), Value::Object(_)) = (pointer.strip_prefix('/'), root)
        && !name.bytes().any(|byte| matches!(byte, b'/' | b'~'))
    {
        return path_of(name);
    }
    let mut path = String::with_capacity(pointer.len());
    let mut here = Some(root);
    for segment in pointer.split('/').skip(1) {
        let name: Cow<'_, str> = if segment.contains('~') {
            segment.replace("~1", "/").replace("~0", "~").into()
        } else {
            segment.into()
        };
        match here {
            Some(Value::Array(items)) => {
                let _ = write!(path, "[{name}]");
                here = name.parse().ok().and_then(|index: usize| items.get(index));
            }
            _ => {
                if !path.is_empty() {
                    path.push('.');
                }
                push_clipped(&mut path, &name);
                here = here.and_then(|value| value.get(&*name));
            }
        }
    }
    path
}
