//! The best answer to bad arguments is the call, corrected: the model's own values in the
//! accepted shape, and a list of those that had to be made up.

use std::borrow::Cow;
use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::scalars::{least, sample_text, scalar, within};
use super::{Schema, problems};
use crate::toolbox::nearest;
use crate::{Correction, Problem};

/// How deep the rewriting goes; what lies deeper is passed on as it is.
const DEPTH: usize = 12;

/// How often it starts over: what was hidden behind a wrong type shows when that is mended.
const ROUNDS: usize = 3;

/// How many values are looked at. A schema of ten lines can ask for billions.
const VALUES: usize = 2_000;

/// How many unknown names are taken for another's.
const RENAMED: usize = 20;

/// Among how many options the nearest is looked for.
const OPTIONS: usize = 1_000;

/// The arguments in the accepted shape; nothing where no such shape was found, because a
/// correction that would be refused again is worse than none.
pub(super) fn correct(schema: &Schema, value: &Value, problems: &[Problem]) -> Option<Correction> {
    let mut found = Found { made_up: Vec::new(), is_exact: true };
    let mut arguments = Cow::Borrowed(value);
    let mut problems = Cow::Borrowed(problems);
    for _ in 0..ROUNDS {
        let given = arguments.is_object().then_some(&*arguments);
        let mut rewriter = Rewriter { schema, problems: &problems, found, left: VALUES };
        let fitted = rewriter.fit(schema.root(), given, &mut String::new(), DEPTH);
        if rewriter.left == 0 || !fitted.is_object() {
            return None;
        }
        found = rewriter.found;
        if schema.accepts(&fitted) {
            found.made_up.sort();
            found.made_up.dedup();
            let is_exact = found.is_exact && found.made_up.is_empty() && value.is_object();
            return Some(Correction { arguments: fitted, made_up: found.made_up, is_exact });
        }
        problems = Cow::Owned(problems::all(schema, &fitted));
        arguments = Cow::Owned(fitted);
    }
    None
}

/// What became of the values on the way.
struct Found {
    made_up: Vec<String>,
    /// Nothing was guessed, renamed or left out.
    is_exact: bool,
}

struct Rewriter<'a> {
    schema: &'a Schema,
    problems: &'a [Problem],
    found: Found,
    left: usize,
}

impl Rewriter<'_> {
    fn fit(
        &mut self,
        wanted: &Value,
        given: Option<&Value>,
        path: &mut String,
        depth: usize,
    ) -> Value {
        let wanted = self.schema.resolve(wanted);
        self.left = self.left.saturating_sub(1);
        let tired = depth == 0 || self.left == 0;
        match given {
            Some(given) if tired || self.is_fine(path) => return given.clone(),
            None if tired => return Value::Null,
            _ => {}
        }
        if let Some(constant) = wanted.get("const") {
            if given.is_some_and(|given| given != constant) {
                self.make_up_at(path);
            }
            return constant.clone();
        }
        if let Some(options) = wanted.get("enum").and_then(Value::as_array) {
            return self.choose(options, given, path);
        }
        if let Some(branch) = branch(self.schema, wanted, given) {
            return self.fit(branch, given, path, depth - 1);
        }
        match kind_for(wanted, given) {
            "object" => self.object(wanted, given, path, depth),
            "array" => self.array(wanted, given, path, depth),
            kind => match given.and_then(|given| scalar(kind, given)) {
                Some(value) if within(wanted, &value) => value,
                _ => self.make_up(wanted, kind, path),
            },
        }
    }

    /// Whether no problem lies at this path or below it.
    fn is_fine(&self, path: &str) -> bool {
        !self.problems.iter().any(|problem| {
            problem.path.strip_prefix(path).is_some_and(|rest| path.is_empty() || ends_name(rest))
        })
    }

    /// Whether no problem lies with what has this name at this path.
    fn is_fine_inside(&self, path: &str, name: &str) -> bool {
        if path.is_empty() {
            return self.is_fine(name);
        }
        !self.problems.iter().any(|problem| {
            let rest = problem.path.strip_prefix(path).and_then(|rest| rest.strip_prefix('.'));
            rest.and_then(|rest| rest.strip_prefix(name)).is_some_and(ends_name)
        })
    }

    /// The option meant, where one is near; else the first, made up.
    fn choose(&mut self, options: &[Value], given: Option<&Value>, path: &str) -> Value {
        if let Some(given) = given {
            if options.contains(given) {
                return given.clone();
            }
            let names: Vec<Cow<'_, str>> = options.iter().take(OPTIONS).map(text).collect();
            if let Some(near) = nearest(&text(given), names.iter().map(|name| &**name), 1).first()
                && let Some(option) = options.iter().find(|option| text(option) == **near)
            {
                self.found.is_exact = false;
                return option.clone();
            }
        }
        self.make_up_at(path);
        options.first().cloned().unwrap_or(Value::Null)
    }

    fn object(
        &mut self,
        wanted: &Value,
        given: Option<&Value>,
        path: &mut String,
        depth: usize,
    ) -> Value {
        let unread = given.and_then(Value::as_str).and_then(|text| serde_json::from_str(text).ok());
        let something = given.is_some_and(|given| !given.is_null());
        let given = unread.as_ref().or(given).and_then(Value::as_object);
        if something && given.is_none() && !path.is_empty() {
            self.make_up_at(path);
        }
        let empty = Map::new();
        let properties = wanted.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let required: Vec<&str> = wanted
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let closed = wanted.get("additionalProperties") == Some(&Value::Bool(false));
        let mut fitted = Map::new();
        let mut renamed = 0;
        for (name, value) in given.unwrap_or(&empty) {
            let known = properties.contains_key(name);
            let open = !closed || self.is_fine_inside(path, name);
            let missing = |wanted: &&str| {
                required.contains(wanted) && !given.is_some_and(|given| given.contains_key(*wanted))
            };
            let meant = if known {
                Some(name.as_str())
            } else if renamed < RENAMED {
                renamed += 1;
                let names = properties.keys().map(String::as_str).take(OPTIONS);
                // An argument that is allowed as it stands is taken for another only when they
                // differ by a slip of the finger.
                let slip = |near: &&str| open && missing(near) && is_slip(name, near);
                nearest(name, names, 1).first().copied().filter(|near| {
                    slip(near) || !open && !given.is_some_and(|given| given.contains_key(*near))
                })
            } else {
                None
            };
            match meant
                .filter(|meant| !fitted.contains_key(*meant))
                .and_then(|meant| Some((meant, properties.get(meant)?)))
            {
                Some((meant, wanted)) => {
                    let before = self.found.made_up.len();
                    // What is wrong with a value is known under the name that the model wrote.
                    let value = self.within(name, path, |this, path| {
                        this.fit(wanted, Some(value), path, depth - 1)
                    });
                    self.found.is_exact &= known;
                    if !known {
                        let (old, new) = (inside(path, name), inside(path, meant));
                        for made_up in &mut self.found.made_up[before..] {
                            if let Some(rest) = made_up.strip_prefix(&old) {
                                *made_up = format!("{new}{rest}");
                            }
                        }
                    }
                    fitted.insert(meant.to_owned(), value);
                }
                None if open => {
                    fitted.insert(name.clone(), value.clone());
                }
                None => self.found.is_exact = false,
            }
        }
        for name in required {
            if !fitted.contains_key(name) {
                let wanted = properties.get(name).unwrap_or(&Value::Bool(true));
                let value =
                    self.within(name, path, |this, path| this.fit(wanted, None, path, depth - 1));
                fitted.insert(name.to_owned(), value);
            }
        }
        Value::Object(fitted)
    }

    fn array(
        &mut self,
        wanted: &Value,
        given: Option<&Value>,
        path: &mut String,
        depth: usize,
    ) -> Value {
        let any = Value::Bool(true);
        let item = wanted.get("items").unwrap_or(&any);
        let least = wanted.get("minItems").and_then(Value::as_u64).unwrap_or(0).min(8);
        let unread = given
            .and_then(Value::as_str)
            .and_then(|text| serde_json::from_str(text).ok())
            .filter(Value::is_array);
        let items: &[Value] = match unread.as_ref().or(given) {
            Some(Value::Array(items)) => items,
            // One where a list is wanted: a list of one.
            Some(one) => std::slice::from_ref(one),
            None => &[],
        };
        let mut fitted: Vec<Value> = Vec::new();
        for (index, value) in items.iter().enumerate() {
            let value =
                self.at(index, path, |this, path| this.fit(item, Some(value), path, depth - 1));
            fitted.push(value);
        }
        while (fitted.len() as u64) < least && self.left > 0 {
            let index = fitted.len();
            let value = self.at(index, path, |this, path| this.fit(item, None, path, depth - 1));
            fitted.push(value);
        }
        if given.is_none() && fitted.is_empty() {
            self.make_up_at(path);
        }
        Value::Array(fitted)
    }

    fn make_up_at(&mut self, path: &str) {
        self.found.made_up.push(path.to_owned());
    }

    /// A value of the right type. The model is told to replace it.
    fn make_up(&mut self, wanted: &Value, kind: &str, path: &str) -> Value {
        self.make_up_at(path);
        let own = ["default", "examples", "example"].iter().find_map(|key| {
            let own = wanted.get(key)?;
            if *key == "examples" { own.get(0).cloned() } else { Some(own.clone()) }
        });
        if let Some(own) = own.filter(|own| !own.is_null()) {
            return own;
        }
        match kind {
            "integer" | "number" => least(wanted),
            "boolean" => json!(false),
            "null" => Value::Null,
            _ => json!(sample_text(wanted)),
        }
    }

    fn within<T>(
        &mut self,
        name: &str,
        path: &mut String,
        then: impl FnOnce(&mut Self, &mut String) -> T,
    ) -> T {
        let before = path.len();
        if before > 0 {
            path.push('.');
        }
        path.push_str(name);
        let result = then(self, path);
        path.truncate(before);
        result
    }

    fn at<T>(
        &mut self,
        index: usize,
        path: &mut String,
        then: impl FnOnce(&mut Self, &mut String) -> T,
    ) -> T {
        let before = path.len();
        let _ = write!(path, "[{index}]");
        let result = then(self, path);
        path.truncate(before);
        result
    }
}

fn inside(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Whether a name ends where this begins.
fn ends_name(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(['.', '['])
}

/// A text as it stands, anything else as JSON.
fn text(value: &Value) -> Cow<'_, str> {
    value.as_str().map_or_else(|| value.to_string().into(), Cow::Borrowed)
}

/// Whether two names differ by at most two letters.
fn is_slip(one: &str, other: &str) -> bool {
    strsim::osa_distance(&one.to_lowercase(), &other.to_lowercase()) <= 2.min(one.len() / 3)
}

/// The branch of `anyOf`, `oneOf` or `allOf` that fits what was given best.
fn branch<'a>(schema: &'a Schema, wanted: &'a Value, given: Option<&Value>) -> Option<&'a Value> {
    let branches = ["anyOf", "oneOf", "allOf"]
        .iter()
        .find_map(|key| wanted.get(key)?.as_array())
        .filter(|_| wanted.get("properties").is_none())?;
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
    branches.iter().rev().max_by_key(|branch| fits(branch))
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        _ => false,
    }
}

/// Which of the accepted types to aim at.
fn kind_for<'a>(wanted: &'a Value, given: Option<&Value>) -> &'a str {
    match wanted.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            let readable = kinds.clone().find(|kind| {
                given.is_some_and(|given| is(kind, given) || scalar(kind, given).is_some())
            });
            readable.or_else(|| kinds.find(|kind| *kind != "null")).unwrap_or("string")
        }
        _ if wanted.get("properties").is_some() => "object",
        _ => "any",
    }
}
