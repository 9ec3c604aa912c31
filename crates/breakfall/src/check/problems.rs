//! Every problem of the arguments at once: path, expected, got. The one file that reads the
//! validator's errors.

use std::borrow::Cow;
use std::fmt::Write;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::Location;
use serde_json::Value;

use super::{Schema, formats};
use crate::Problem;
use crate::toolbox::nearest;

/// How much of a name or pattern of the schema's is shown.
const SHOWN: usize = 60;

/// How much of a value the redactor gets to see before it is cut short.
pub(super) const SEEN: usize = 8 << 10;

/// How many problems are worth telling a model.
pub(super) const PROBLEMS: usize = 20;

/// Among how many names the nearest is looked for.
const NAMES: usize = 1_000;

/// How many options of a list are shown.
const OPTIONS: usize = 10;

/// How many bytes a number or a name mostly takes, and a list of them.
const SHORT: usize = 24;
const LIST: usize = 96;

/// Every problem, in the order of the arguments.
pub(super) fn all(schema: &Schema, value: &Value) -> Vec<Problem> {
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

    fn problem(&self, expected: String) -> Found {
        let problem = Problem {
            path: path(self.at.as_str(), self.value),
            expected,
            got: Some(shown(self.instance)),
            ..Problem::default()
        };
        Found { at: self.at.clone(), name: None, problem }
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
            let mut expected = wanted.map_or_else(|| "a value".to_owned(), |s| describe(schema, s));
            expected.push_str("; it is missing");
            return out.push(place.inside(name, Problem { expected, ..Problem::default() }));
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let context = place.context(schema);
            return out.extend(
                unexpected.iter().take(place.most).map(|name| superfluous(name, context, place)),
            );
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
        Kind::MinLength { limit } => format!("at least {limit} characters"),
        Kind::MaxLength { limit } => format!("at most {limit} characters"),
        Kind::MinItems { limit } => format!("at least {limit} items"),
        Kind::MaxItems { limit } => format!("at most {limit} items"),
        Kind::AdditionalItems { limit } => format!("at most {limit} items"),
        Kind::MinProperties { limit } => format!("at least {limit} fields"),
        Kind::MaxProperties { limit } => format!("at most {limit} fields"),
        Kind::UniqueItems => "items that differ from one another".to_owned(),
        Kind::Pattern { pattern } => format!("text that matches `{}`", clip(pattern)),
        Kind::Format { format } => formatted(format),
        Kind::AnyOf { context: branches } | Kind::OneOfNotValid { context: branches } => {
            match meant(branches, place.at) {
                Some(errors) => {
                    return errors
                        .iter()
                        .for_each(|error| one(schema, error, place.value, place.most, out));
                }
                None => describe(schema, place.context(schema)),
            }
        }
        Kind::OneOfMultipleValid { .. } => "exactly one of the accepted shapes".to_owned(),
        Kind::FalseSchema => "no such argument".to_owned(),
        Kind::PropertyNames { .. } => "other field names".to_owned(),
        Kind::Contains => "an item that is missing".to_owned(),
        Kind::Not { .. } => "another value".to_owned(),
        other => format!("a value accepted by `{}`", other.keyword()),
    };
    out.push(place.problem(expected));
}

/// An argument that does not exist: the near miss named, or the accepted names listed.
fn superfluous(name: &str, context: &Value, place: &Place) -> Found {
    let accepted = context.get("properties").and_then(Value::as_object);
    let accepted = || accepted.into_iter().flat_map(|all| all.keys().map(String::as_str));
    let near = nearest(name, accepted().take(NAMES), 1).first().map(ToString::to_string);
    let mut expected = String::with_capacity(LIST);
    for name in accepted().take(OPTIONS) {
        expected.push_str(if expected.is_empty() { "only `" } else { ", `" });
        expected.push_str(name);
        expected.push('`');
    }
    if expected.is_empty() {
        expected.push_str("no arguments");
    }
    let got = place.instance.get(name).map(shown);
    place.inside(name, Problem { expected, got, nearest: near, ..Problem::default() })
}

/// What a schema accepts, in a few words.
pub(crate) fn describe(schema: &Schema, wanted: &Value) -> String {
    describe_within(schema, wanted, 3)
}

fn describe_within(schema: &Schema, wanted: &Value, depth: usize) -> String {
    let wanted = schema.resolve(wanted);
    if let Some(options) = wanted.get("enum") {
        return one_of(options);
    }
    if let Some(constant) = wanted.get("const") {
        return format!("`{}`", clip(&constant.to_string()));
    }
    if let Some(format) = wanted.get("format").and_then(Value::as_str)
        && wanted.get("type").is_some_and(|kind| kind == "string")
    {
        return formatted(format);
    }
    let branches = ["anyOf", "oneOf"].iter().find_map(|key| wanted.get(key)?.as_array());
    if let Some(branches) = branches.filter(|_| depth > 0) {
        let mut words: Vec<String> = Vec::new();
        for branch in branches.iter().take(OPTIONS) {
            for word in describe_within(schema, branch, depth - 1).split(" or ") {
                if !words.iter().any(|known| known == word) {
                    words.push(word.to_owned());
                }
            }
        }
        return words.join(" or ");
    }
    let items = wanted.get("items").filter(|_| depth > 0);
    match wanted.get("type") {
        Some(Value::String(kind)) if kind == "array" && items.is_some_and(Value::is_object) => {
            let item = items.map(|items| describe_within(schema, items, depth - 1));
            format!("an array, each item {}", item.unwrap_or_default())
        }
        Some(Value::String(kind)) => bounded(article(kind), wanted),
        Some(Value::Array(kinds)) => {
            let kinds: Vec<_> = kinds.iter().filter_map(Value::as_str).map(article).collect();
            kinds.join(" or ")
        }
        _ if wanted.get("properties").is_some() => "an object".to_owned(),
        _ => "a value".to_owned(),
    }
}

fn bounded(kind: &str, wanted: &Value) -> String {
    match (wanted.get("minimum"), wanted.get("maximum")) {
        (Some(least), Some(most)) => format!("{kind} from {least} to {most}"),
        (Some(least), None) => format!("{kind}, at least {least}"),
        (None, Some(most)) => format!("{kind}, at most {most}"),
        (None, None) => kind.to_owned(),
    }
}

fn one_of(options: &Value) -> String {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut listed = String::with_capacity(LIST);
    listed.push_str("one of ");
    for (number, option) in options.iter().take(OPTIONS).enumerate() {
        listed.push_str(if number == 0 { "`" } else { ", `" });
        push_clipped(&mut listed, &json(option));
        listed.push('`');
    }
    if options.len() > OPTIONS {
        let _ = write!(listed, ", {} more", options.len() - OPTIONS);
    }
    listed
}

fn formatted(format: &str) -> String {
    match formats::example(format) {
        Some((what, example)) => format!("{what} like `{example}`"),
        None => format!("text in the format `{}`", clip(format)),
    }
}

fn article(kind: &str) -> &'static str {
    match kind {
        "string" => "a string",
        "integer" => "an integer",
        "number" => "a number",
        "boolean" => "a boolean",
        "array" => "an array",
        "object" => "an object",
        "null" => "`null`",
        _ => "a value",
    }
}

/// A value as the model wrote it: the redactor sees it before it is cut short.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(items) if items.len() > 8 => format!("an array of {} items", items.len()),
        Value::Object(fields) if fields.len() > 8 => {
            format!("an object of {} fields", fields.len())
        }
        Value::String(text) if text.len() > SEEN => {
            json(&Value::String(text[..text.floor_char_boundary(SEEN)].to_owned()))
        }
        value => json(value),
    }
}

fn bound(words: &str, limit: &Value) -> String {
    let mut bound = String::with_capacity(words.len() + SHORT);
    let _ = write!(bound, "{words}{limit}");
    bound
}

/// A value as JSON; any can be written.
fn json(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn clip(text: &str) -> String {
    let mut clipped = String::new();
    push_clipped(&mut clipped, text);
    clipped
}

fn push_clipped(to: &mut String, text: &str) {
    // A text has no more characters than bytes.
    let end = if text.len() > SHOWN { text.char_indices().nth(SHOWN) } else { None };
    match end {
        Some((end, _)) => {
            to.push_str(&text[..end]);
            to.push('…');
        }
        None => to.push_str(text),
    }
}

/// `/filters/0/date` as `filters[0].date`; a number is an index only where an array is.
pub(super) fn path(pointer: &str, root: &Value) -> String {
    let mut path = String::with_capacity(pointer.len() + SHORT);
    // Most arguments lie no deeper.
    if let (Some(name), Value::Object(_)) = (pointer.strip_prefix('/'), root)
        && !name.bytes().any(|byte| matches!(byte, b'/' | b'~'))
    {
        push_clipped(&mut path, name);
        return path;
    }
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
