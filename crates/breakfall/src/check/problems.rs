//! Every problem of the arguments at once: path, expected, got. The one file that reads the
//! validator's errors.

use std::fmt::Write;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
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

/// Every problem, in the order of the arguments.
pub(super) fn all(schema: &Schema, value: &Value) -> Vec<Problem> {
    located(schema, value, PROBLEMS).into_iter().map(|(_, problem)| problem).collect()
}

/// Every problem with its place as a JSON pointer.
pub(crate) fn located(schema: &Schema, value: &Value, most: usize) -> Vec<Located> {
    let mut problems: Vec<Located> = Vec::new();
    for error in schema.errors(value, most) {
        one(schema, &error, value, most, &mut problems);
    }
    problems.dedup();
    problems.truncate(most);
    problems
}

/// Where, as a JSON pointer, and what.
type Located = (String, Problem);

fn one(
    schema: &Schema,
    error: &ValidationError,
    value: &Value,
    most: usize,
    problems: &mut Vec<Located>,
) {
    let at = error.instance_path().to_string();
    let place = Place { pointer: &at, value, instance: error.instance(), most };
    let parent = error.schema_path().to_string();
    let parent = parent.rsplit_once('/').map_or("", |(parent, _keyword)| parent);
    let context = schema.root().pointer(parent).unwrap_or(&Value::Null);
    read(schema, error.kind(), context, &place, problems);
}

/// The branch that was meant: the right type, its constants kept, the fewest errors.
fn meant<'e>(
    branches: &'e [Vec<ValidationError<'static>>],
    at: &str,
) -> Option<&'e [ValidationError<'static>]> {
    let mut best: Option<(usize, &[ValidationError])> = None;
    for errors in branches {
        let other_type = errors.iter().any(|error| {
            matches!(error.kind(), Kind::Type { .. }) && error.instance_path().to_string() == at
        });
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
    pointer: &'a str,
    value: &'a Value,
    instance: &'a Value,
    /// How many problems are worth telling.
    most: usize,
}

impl Place<'_> {
    fn problem(&self, expected: impl Into<String>) -> Located {
        let problem = Problem {
            path: path(self.pointer, self.value),
            expected: expected.into(),
            got: Some(shown(self.instance)),
            ..Problem::default()
        };
        (self.pointer.to_owned(), problem)
    }

    /// The problem with what has or should have this name in here.
    fn inside(&self, name: &str, problem: Problem) -> Located {
        let outer = path(self.pointer, self.value);
        let shown = clip(name);
        let path = if outer.is_empty() { shown } else { format!("{outer}.{shown}") };
        let name = name.replace('~', "~0").replace('/', "~1");
        (format!("{}/{name}", self.pointer), Problem { path, ..problem })
    }
}

fn read(schema: &Schema, kind: &Kind, context: &Value, place: &Place, out: &mut Vec<Located>) {
    let expected = match kind {
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let wanted = context.get("properties").and_then(|all| all.get(name));
            let wanted = wanted.map_or_else(|| "a value".to_owned(), |s| describe(schema, s));
            let expected = format!("{wanted}; it is missing");
            return out.push(place.inside(name, Problem { expected, ..Problem::default() }));
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
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
        Kind::Minimum { limit } => format!("at least {limit}"),
        Kind::Maximum { limit } => format!("at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("less than {limit}"),
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
            match meant(branches, place.pointer) {
                Some(errors) => {
                    return errors
                        .iter()
                        .for_each(|error| one(schema, error, place.value, place.most, out));
                }
                None => describe(schema, context),
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
fn superfluous(name: &str, context: &Value, place: &Place) -> Located {
    let accepted: Vec<&str> = context
        .get("properties")
        .and_then(Value::as_object)
        .map(|all| all.keys().map(String::as_str).take(NAMES).collect())
        .unwrap_or_default();
    let near = nearest(name, accepted.iter().copied(), 1).first().map(ToString::to_string);
    let expected = if accepted.is_empty() {
        "no arguments".to_owned()
    } else {
        let listed = accepted.iter().take(OPTIONS).map(|name| format!("`{name}`"));
        format!("only {}", listed.collect::<Vec<_>>().join(", "))
    };
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
    let mut listed: Vec<_> =
        options.iter().take(OPTIONS).map(|o| format!("`{}`", clip(&o.to_string()))).collect();
    if options.len() > OPTIONS {
        listed.push(format!("{} more", options.len() - OPTIONS));
    }
    format!("one of {}", listed.join(", "))
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
            Value::String(text[..text.floor_char_boundary(SEEN)].to_owned()).to_string()
        }
        value => value.to_string(),
    }
}

fn clip(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// `/filters/0/date` as `filters[0].date`; a number is an index only where an array is.
pub(super) fn path(pointer: &str, root: &Value) -> String {
    let mut path = String::new();
    let mut here = Some(root);
    for segment in pointer.split('/').skip(1) {
        let name = segment.replace("~1", "/").replace("~0", "~");
        match here {
            Some(Value::Array(items)) => {
                let _ = write!(path, "[{name}]");
                here = name.parse().ok().and_then(|index: usize| items.get(index));
            }
            _ => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&clip(&name));
                here = here.and_then(|value| value.get(&name));
            }
        }
    }
    path
}
