//! The best answer to bad arguments is the call, corrected: the model's own values in the
//! accepted shape, and a list of those that had to be made up.

use std::borrow::Cow;
use std::fmt::Write;

use serde_json::{Map, Value};

use super::Schema;
use super::problems::{self, Told};
use super::scalars::{keeps_all, sample, scalar, within};
use super::wanted::{Wanted, branch, kind_for};
use crate::toolbox::nearest;
use crate::{Correction, Problem};

/// How deep the rewriting goes; what lies deeper is passed on as it is.
const DEPTH: usize = 12;

/// How often it starts over: what was hidden behind a wrong type shows when that is mended.
const ROUNDS: usize = 3;

/// How many values are looked at. A schema of ten lines can ask for billions.
const VALUES: usize = 2_000;

/// How many bytes most paths take.
const PATH: usize = 64;

/// How many unknown names are taken for another's.
const RENAMED: usize = 20;

/// Among how many options the nearest is looked for.
const OPTIONS: usize = 1_000;

/// The arguments in the accepted shape; nothing where no such shape was found, because a
/// correction that would be refused again is worse than none.
pub(super) fn correct<'s>(
    schema: &'s Schema,
    value: Value,
    told: &mut Told<'s>,
) -> Option<Correction> {
    match schema.fields() {
        Some(fields) => match fields.correct(told, value) {
            Ok(correction) => {
                debug_assert!(schema.accepts(&correction.arguments), "what is fitted fits");
                Some(correction)
            }
            Err(value) => rewrite(schema, &value, &told.problems),
        },
        None => rewrite(schema, &value, &told.problems),
    }
}

/// The same by going through all of the schema.
pub(super) fn rewrite(schema: &Schema, value: &Value, problems: &[Problem]) -> Option<Correction> {
    let mut found = Found { made_up: Vec::new(), is_exact: true, confirms: false };
    let mut arguments = Cow::Borrowed(value);
    let mut problems = Cow::Borrowed(problems);
    for _ in 0..ROUNDS {
        let given = arguments.is_object().then_some(&*arguments);
        let mut rewriter = Rewriter { schema, problems: &problems, found, left: VALUES, chosen: 0 };
        let fitted = rewriter.fit(schema.root(), given, &mut String::with_capacity(PATH), DEPTH);
        if rewriter.left == 0 || rewriter.found.confirms || !fitted.is_object() {
            return None;
        }
        found = rewriter.found;
        if schema.accepts(&fitted) {
            found.made_up.sort();
            found.made_up.dedup();
            let is_exact = found.is_exact && found.made_up.is_empty() && value.is_object();
            let (made_up, written) = (found.made_up, None);
            return Some(Correction { arguments: fitted, made_up, is_exact, written });
        }
        problems = Cow::Owned(problems::all(schema, &fitted).problems);
        arguments = Cow::Owned(fitted);
    }
    None
}

/// What became of the values on the way.
struct Found {
    made_up: Vec<String>,
    /// Nothing was guessed, renamed or left out.
    is_exact: bool,
    /// One of them says that something is wanted: nobody says that for a model, nor for who it asks.
    confirms: bool,
}

struct Rewriter<'a> {
    schema: &'a Schema,
    problems: &'a [Problem],
    found: Found,
    left: usize,
    /// Within how many shapes that we chose among others.
    chosen: usize,
}

impl<'a> Rewriter<'a> {
    fn fit(
        &mut self,
        wanted: &Value,
        given: Option<&Value>,
        path: &mut String,
        depth: usize,
    ) -> Value {
        self.left = self.left.saturating_sub(1);
        let tired = depth == 0 || self.left == 0;
        match given {
            Some(given) if tired || self.is_fine(path) => return given.clone(),
            None if tired => return Value::Null,
            _ => {}
        }
        let (schema, wanted) = Wanted::of(self.schema, wanted);
        if let Some(constant) = wanted.constant {
            match given {
                Some(given) if given == constant => {}
                // What is only one of several is the model's to choose.
                None if self.chosen == 0 => self.found.is_exact = false,
                _ => self.make_up_at(path),
            }
            return constant.clone();
        }
        if let Some(options) = wanted.options {
            return self.choose(options, given, path);
        }
        if let Some((branch, is_sure)) = branch(self.schema, &wanted, given) {
            let chosen = usize::from(!is_sure);
            self.found.is_exact &= is_sure;
            self.chosen += chosen;
            let fitted = self.fit(branch, given, path, depth - 1);
            self.chosen -= chosen;
            return fitted;
        }
        match kind_for(&wanted, given) {
            "object" => self.object(&wanted, given, path, depth),
            "array" => self.array(schema, given, path, depth),
            kind => match given.and_then(|given| scalar(kind, given)) {
                Some(value) if within(schema, &value) => {
                    self.found.is_exact &= given.is_none_or(|given| keeps_all(given, &value));
                    value
                }
                _ => self.make_up(schema, wanted.own(), kind, path),
            },
        }
    }

    /// Whether no problem lies at this path or below it.
    fn is_fine(&self, path: &str) -> bool {
        !self.problems.iter().any(|problem| {
            problem.path.strip_prefix(path).is_some_and(|rest| path.is_empty() || ends_name(rest))
        })
    }

    /// The first problem with what has this name at this path.
    fn problem_inside(&self, path: &str, name: &str) -> Option<&'a Problem> {
        self.problems.iter().find(|problem| {
            let rest = match path {
                "" => Some(problem.path.as_str()),
                path => problem.path.strip_prefix(path).and_then(|rest| rest.strip_prefix('.')),
            };
            rest.and_then(|rest| rest.strip_prefix(name)).is_some_and(ends_name)
        })
    }

    /// The option meant, where one is near; else the first, made up.
    fn choose(&mut self, options: &[Value], given: Option<&Value>, path: &str) -> Value {
        if let Some(given) = given.filter(|given| options.contains(given)) {
            return given.clone();
        }
        self.found.confirms |= confirms(path);
        // Nothing is near to no word.
        let given = given.filter(|given| !given.is_null());
        if let Some(option) = given.and_then(|given| nearest_option(options, &text(given))) {
            self.found.is_exact = false;
            return option.clone();
        }
        self.make_up_at(path);
        options.first().cloned().unwrap_or(Value::Null)
    }

    fn object(
        &mut self,
        wanted: &Wanted<'_>,
        given: Option<&Value>,
        path: &mut String,
        depth: usize,
    ) -> Value {
        let unread = given.and_then(Value::as_str).and_then(|text| serde_json::from_str(text).ok());
        let something = given.is_some_and(|given| !given.is_null());
        let given = unread.as_ref().or(given).and_then(Value::as_object);
        let is_made_up = given.is_none() && !path.is_empty();
        let before = self.found.made_up.len();
        if something && is_made_up {
            self.make_up_at(path);
        }
        let empty = Map::new();
        let properties = wanted.properties.and_then(Value::as_object).unwrap_or(&empty);
        let required = || wanted.required.iter().filter_map(Value::as_str);
        let mut fitted = Map::new();
        let mut renamed = 0;
        let lone = given.filter(|_| wanted.is_closed);
        let lone = lone.and_then(|given| lone_name(given, properties, wanted.required));
        for (name, value) in given.unwrap_or(&empty) {
            if let Some(wanted) = properties.get(name) {
                let value = self.within(name, path, |this, path| {
                    this.fit(wanted, Some(value), path, depth - 1)
                });
                fitted.insert(name.clone(), value);
                continue;
            }
            let problem = if wanted.is_closed { self.problem_inside(path, name) } else { None };
            let is_free = |name: &str| {
                !given.is_some_and(|given| given.contains_key(name)) && !fitted.contains_key(name)
            };
            let meant = if renamed < RENAMED { meant(name, problem, wanted) } else { None };
            renamed += 1;
            let meant = meant.or(lone.filter(|(old, _)| old == name).map(|(_, new)| new));
            let meant = meant.filter(|meant| is_free(meant));
            match meant.and_then(|meant| Some((meant, properties.get(meant)?))) {
                Some((meant, wanted)) => {
                    self.found.is_exact = false;
                    let value = self.renamed((name, meant), path, |this, path| {
                        this.fit(wanted, Some(value), path, depth - 1)
                    });
                    fitted.insert(meant.to_owned(), value);
                }
                None if problem.is_none() => {
                    fitted.insert(name.clone(), value.clone());
                }
                None => self.found.is_exact = false,
            }
        }
        for name in required() {
            if !fitted.contains_key(name) {
                let wanted = properties.get(name).unwrap_or(&Value::Bool(true));
                let value =
                    self.within(name, path, |this, path| this.fit(wanted, None, path, depth - 1));
                fitted.insert(name.to_owned(), value);
            }
        }
        // One with nothing in it says something, too: no condition is every one.
        if is_made_up && self.found.made_up.len() == before {
            self.make_up_at(path);
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
        let words: Vec<Value>;
        let items: &[Value] = match unread.as_ref().or(given) {
            Some(Value::Array(items)) => items,
            // A command in one text: word by word where it has nothing but words.
            Some(Value::String(line)) if is_command(path) && line.contains(' ') => {
                self.found.is_exact = false;
                words = line.split_whitespace().map(Value::from).collect();
                if line.contains(IN_SHELLS) {
                    self.make_up_at(path);
                }
                &words
            }
            // One where a list is wanted: most likely a list of one.
            Some(one) => {
                self.found.is_exact = false;
                std::slice::from_ref(one)
            }
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
    fn make_up(&mut self, wanted: &Value, own: Option<&Value>, kind: &str, path: &str) -> Value {
        self.make_up_at(path);
        sample(wanted, own, kind)
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

    /// Within what has another name from now on. What is wrong with its value is known under the
    /// name that the model wrote.
    fn renamed<T>(
        &mut self,
        (old, new): (&str, &str),
        path: &mut String,
        then: impl FnOnce(&mut Self, &mut String) -> T,
    ) -> T {
        let before = self.found.made_up.len();
        let result = self.within(old, path, then);
        let (old, new) = (inside(path, old), inside(path, new));
        for made_up in &mut self.found.made_up[before..] {
            if let Some(rest) = made_up.strip_prefix(&old) {
                *made_up = format!("{new}{rest}");
            }
        }
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

/// What means more than itself in a command.
const IN_SHELLS: [char; 13] = ['"', '\'', '\\', '|', '&', ';', '$', '`', '<', '>', '*', '(', '\n'];

/// Whether a list of words is wanted here, as programs are started with.
fn is_command(path: &str) -> bool {
    let name = path.rsplit('.').next().unwrap_or_default();
    ["command", "cmd", "args", "argv", "arguments"].contains(&name)
}

/// Whether what stands here says that something is wanted.
pub(super) fn confirms(path: &str) -> bool {
    let name = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    ["confirm", "acknowledge", "approve", "agree", "consent"].iter().any(|it| name.contains(it))
}

fn inside(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Whether a name ends where this begins.
fn ends_name(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(['.', '['])
}

/// The property that was meant by another name.
fn meant<'n>(name: &str, problem: Option<&'n Problem>, wanted: &Wanted<'n>) -> Option<&'n str> {
    // The nearest was looked for when the problem was found.
    if let Some(problem) = problem {
        return problem.nearest.as_deref();
    }
    let properties = wanted.properties?.as_object()?;
    let near = nearest(name, properties.keys().map(String::as_str).take(OPTIONS), 1);
    // An argument that is allowed as it stands is taken for another only when they differ by a
    // slip of the finger.
    let is_required = |near: &str| wanted.required.iter().any(|name| name == near);
    near.first().copied().filter(|near| is_required(near) && is_slip(name, near))
}

/// The only name that is not accepted, and the only one that is needed and not given: most likely the
/// same, where the value is of the type that is wanted.
fn lone_name<'v>(
    given: &'v Map<String, Value>,
    properties: &Map<String, Value>,
    required: &'v [Value],
) -> Option<(&'v str, &'v str)> {
    let mut unknown = given.iter().filter(|(name, _)| !properties.contains_key(*name));
    let (name, value) = unknown.next().filter(|_| unknown.next().is_none())?;
    let needed = required.iter().filter_map(Value::as_str);
    let mut missing = needed.filter(|needed| !given.contains_key(*needed));
    let missing = missing.next().filter(|_| missing.next().is_none())?;
    let kind = properties.get(missing)?.get("type")?.as_str()?;
    let is_same = match value {
        Value::String(_) => kind == "string",
        Value::Number(_) => matches!(kind, "integer" | "number"),
        Value::Bool(_) => kind == "boolean",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
        Value::Null => false,
    };
    is_same.then_some((name, missing))
}

/// The option that is nearest as a text.
fn nearest_option<'a>(options: &'a [Value], given: &str) -> Option<&'a Value> {
    let listed = &options[..options.len().min(OPTIONS)];
    let written: Vec<Cow<'_, str>>;
    let near = if listed.iter().all(Value::is_string) {
        nearest(given, listed.iter().filter_map(Value::as_str), 1)
    } else {
        written = listed.iter().map(text).collect();
        nearest(given, written.iter().map(|option| &**option), 1)
    };
    let near = *near.first()?;
    options.iter().find(|option| text(option) == near)
}

/// A text as it stands, anything else as JSON.
pub(super) fn text(value: &Value) -> Cow<'_, str> {
    value.as_str().map_or_else(|| value.to_string().into(), Cow::Borrowed)
}

/// Whether two names differ by at most two letters.
fn is_slip(one: &str, other: &str) -> bool {
    strsim::osa_distance(&one.to_lowercase(), &other.to_lowercase()) <= 2.min(one.len() / 3)
}
