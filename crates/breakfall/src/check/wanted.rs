//! What a schema wants, for who rewrites a value to fit it.

use serde_json::Value;

use super::Schema;
use super::scalars::scalar;

/// What a schema says of what it accepts.
#[derive(Default)]
pub(super) struct Wanted<'a> {
    pub(super) constant: Option<&'a Value>,
    pub(super) options: Option<&'a [Value]>,
    is_elsewhere: bool,
    any_of: Option<&'a [Value]>,
    one_of: Option<&'a [Value]>,
    all_of: Option<&'a [Value]>,
    pub(super) kind: Option<&'a Value>,
    pub(super) properties: Option<&'a Value>,
    pub(super) required: &'a [Value],
    /// Whether there are no other properties than these.
    pub(super) is_closed: bool,
    default: Option<&'a Value>,
    examples: Option<&'a Value>,
    example: Option<&'a Value>,
}

impl<'a> Wanted<'a> {
    /// What is wanted, and the schema that says so once its references are followed.
    pub(super) fn of(schema: &'a Schema, wanted: &'a Value) -> (&'a Value, Self) {
        let here = Self::read(wanted);
        if !here.is_elsewhere {
            return (wanted, here);
        }
        let there = schema.resolve(wanted);
        (there, Self::read(there))
    }

    /// Read once from end to end: most schemas say little of all that is asked for.
    fn read(schema: &'a Value) -> Self {
        let mut wanted = Self::default();
        for (word, said) in schema.as_object().into_iter().flatten() {
            let list = || said.as_array().map(Vec::as_slice);
            match word.as_str() {
                "$ref" => wanted.is_elsewhere = true,
                "const" => wanted.constant = Some(said),
                "enum" => wanted.options = list(),
                "anyOf" => wanted.any_of = list(),
                "oneOf" => wanted.one_of = list(),
                "allOf" => wanted.all_of = list(),
                "type" => wanted.kind = Some(said),
                "properties" => wanted.properties = Some(said),
                "required" => wanted.required = list().unwrap_or_default(),
                "additionalProperties" => wanted.is_closed = *said == Value::Bool(false),
                "default" => wanted.default = Some(said),
                "examples" => wanted.examples = said.get(0),
                "example" => wanted.example = Some(said),
                _ => {}
            }
        }
        wanted
    }

    /// Whether other schemas say what is accepted.
    pub(super) fn is_combined(&self) -> bool {
        self.any_of.or(self.one_of).or(self.all_of).is_some()
    }

    /// A value that the author of the schema gives.
    pub(super) fn own(&self) -> Option<&'a Value> {
        let own = self.default.or(self.examples).or(self.example);
        own.filter(|own| !own.is_null())
    }
}

/// The branch of `anyOf`, `oneOf` or `allOf` that fits what was given best, and whether it is the only
/// one that can be meant.
pub(super) fn branch<'a>(
    schema: &'a Schema,
    wanted: &Wanted<'a>,
    given: Option<&Value>,
) -> Option<(&'a Value, bool)> {
    let branches = wanted.any_of.or(wanted.one_of).or(wanted.all_of);
    let branches = branches.filter(|_| wanted.properties.is_none())?;
    // How well a branch fits: its constants kept, the same type, readable as its type, anything
    // but null.
    let keeps = |branch: &Value| {
        let constant = |(name, part): (&String, &Value)| {
            let constant = schema.resolve(part).get("const")?;
            Some(given?.get(name)? == constant)
        };
        let parts = branch.get("properties").and_then(Value::as_object);
        parts.is_some_and(|parts| parts.iter().filter_map(constant).any(|kept| kept))
    };
    let fits = |branch: &Value| {
        let branch = schema.resolve(branch);
        if keeps(branch) {
            return 4;
        }
        match (branch.get("type").and_then(Value::as_str), given) {
            (Some(kind), Some(given)) if is(kind, given) => 3,
            (None, Some(given)) if given.is_object() && branch.get("properties").is_some() => 3,
            (Some(kind), Some(given)) => match scalar(kind, given) {
                Some(same) if same == *given => 3,
                Some(_) => 2,
                None => u8::from(kind != "null"),
            },
            (kind, _) => u8::from(kind != Some("null")),
        }
    };
    // The first of the best, as the author of the schema listed them.
    let best = branches.iter().rev().max_by_key(|branch| fits(branch))?;
    let is_null =
        |branch: &&Value| schema.resolve(branch).get("type").is_some_and(|it| it == "null");
    let others = branches.iter().filter(|branch| !is_null(branch)).count();
    let is_sure = others < 2 || wanted.all_of.is_some() || keeps(schema.resolve(best));
    Some((best, is_sure))
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        _ => false,
    }
}

/// Which of the accepted types to aim at.
pub(super) fn kind_for<'a>(wanted: &Wanted<'a>, given: Option<&Value>) -> &'a str {
    match wanted.kind {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => kind_among(kinds.iter().filter_map(Value::as_str), given),
        _ if wanted.properties.is_some() => "object",
        _ => "any",
    }
}

/// Which of several types to aim at: one that the value can be read as, or the first.
pub(super) fn kind_among<'a>(
    mut kinds: impl Iterator<Item = &'a str> + Clone,
    given: Option<&Value>,
) -> &'a str {
    let readable = kinds
        .clone()
        .find(|kind| given.is_some_and(|given| is(kind, given) || scalar(kind, given).is_some()));
    readable.or_else(|| kinds.find(|kind| *kind != "null")).unwrap_or("string")
}
