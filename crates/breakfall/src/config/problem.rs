//! What is wrong with a configuration: where, what was given, what is accepted, what was meant.

use std::fmt::{self, Write};
use std::ops::Range;

use serde::Serialize;
use serde_json::Value;

use super::tree::{self, At, Places, Unreadable};
use super::{schema, units};
use crate::check::{describe, located};
use crate::redact::bounded;
use crate::toolbox::nearest;
use crate::{Problem, Redactor};

/// How many problems are worth telling.
pub(crate) const PROBLEMS: usize = 100;

/// How many characters of what was written are shown.
const SHOWN: usize = 60;

/// How much of it is looked at.
const SEEN: usize = 4 << 10;

/// What the validator says of what is not there.
const MISSING: &str = "; it is missing";

/// One thing wrong with a configuration, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ConfigProblem {
    /// The file, or the variable of the environment.
    pub origin: String,
    /// The line, from 1 on.
    pub line: Option<usize>,
    /// The column in characters, from 1 on.
    pub column: Option<usize>,
    /// The key, what is accepted, what was given, what was meant.
    #[serde(flatten)]
    pub problem: Problem,
}

impl ConfigProblem {
    /// What is wrong with a variable's name.
    pub(super) fn of_variable(name: String, problem: Problem) -> Self {
        Self { origin: name, line: None, column: None, problem }
    }
}

/// ``breakfall.toml:3:10: `guard.strict`: expected a boolean, got `"yes"` ``
impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.origin)?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, "{line}:{column}:")?;
        }
        let Problem { path, expected, remark, got, nearest } = &self.problem;
        if !path.is_empty() {
            write!(f, " `{path}`:")?;
        }
        // A list of what is accepted may be long: it comes last.
        match (remark, got) {
            (Some(remark), _) => write!(f, " {remark}")?,
            (None, Some(got)) => return write!(f, " expected {expected}, got `{got}`"),
            (None, None) => return write!(f, " expected {expected}"),
        }
        if let Some(nearest) = nearest {
            write!(f, "; nearest: `{nearest}`")?;
        }
        if !expected.is_empty() {
            write!(f, "; accepted: {expected}")?;
        }
        Ok(())
    }
}

/// What was written, to speak of it.
#[derive(Clone, Copy)]
pub(super) struct Written<'a> {
    pub(super) origin: &'a str,
    pub(super) text: &'a str,
    pub(super) value: &'a Value,
    pub(super) places: &'a Places,
}

impl Written<'_> {
    /// Every problem that the schema or a unit tells, in the order of the file.
    pub(super) fn check(&self) -> Vec<ConfigProblem> {
        // Where nothing is written nothing is wrong, and the schema need not be made.
        if self.value.as_object().is_some_and(serde_json::Map::is_empty) {
            return Vec::new();
        }
        let found = schema::compiled().map(|all| located(all, self.value, PROBLEMS));
        let mut wrong: Vec<(Vec<String>, Problem)> = Vec::new();
        for (pointer, problem) in found.unwrap_or_default() {
            let path = segments(&pointer);
            // Of one place the first problem is the plainest.
            if !wrong.iter().any(|(known, _)| *known == path) {
                wrong.push((path, problem));
            }
        }
        misfits(self.value, schema::document(), &mut Vec::new(), &mut wrong);
        let mut unread = tree::unread(self.value);
        unread.retain(|path| !wrong.iter().any(|(known, _)| known == path));
        let mut problems: Vec<_> =
            wrong.iter().map(|(path, found)| self.mismatch(path, found)).collect();
        problems.extend(unread.iter().map(|path| self.at(path, At::value, no_number())));
        in_order(&mut problems);
        problems.truncate(PROBLEMS);
        problems
    }

    /// A key that is not known, one that is missing, or a value that is not accepted.
    fn mismatch(&self, path: &[String], found: &Problem) -> ConfigProblem {
        let Some(wanted) = schema::at(path) else { return self.unknown(path) };
        let options = schema::options(wanted);
        let expected = if options.is_empty() {
            accepted(wanted, get(self.value, path))
                .unwrap_or_else(|| in_words_of_toml(&found.expected))
        } else {
            listed(options.iter().map(|word| format!("`\"{word}\"`")))
        };
        let Some(given) = get(self.value, path) else {
            let expected = expected.trim_end_matches(MISSING).to_owned();
            let remark = Some("it is missing".to_owned());
            return self.at(path, At::key, Problem { expected, remark, ..Problem::default() });
        };
        let got = self.shown(path, given);
        let remark = (!options.is_empty()).then(|| format!("`{got}` is not accepted"));
        let near = given.as_str().map(|given| nearest(given, options.iter().copied(), 1));
        let nearest = near.and_then(|near| near.first().map(|word| format!("\"{word}\"")));
        self.at(
            path,
            At::value,
            Problem { expected, remark, got: Some(got), nearest, ..Problem::default() },
        )
    }

    fn unknown(&self, path: &[String]) -> ConfigProblem {
        let (last, outer) = path.split_last().map_or(("", path), |(last, outer)| (last, outer));
        let keys = schema::at(outer).map(schema::keys).unwrap_or_default();
        self.at(path, At::key, no_such_key(last, &keys))
    }

    /// A path as it is called in problems.
    pub(super) fn key<S: AsRef<str>>(&self, path: &[S]) -> String {
        key(path, self.value)
    }

    /// A problem in words of its own.
    pub(super) fn remark<S: AsRef<str>>(&self, path: &[S], remark: String) -> ConfigProblem {
        self.at(path, At::key, Problem { remark: Some(remark), ..Problem::default() })
    }

    pub(super) fn unreadable(&self, found: &Unreadable) -> ConfigProblem {
        let (line, column) = self.position(found.span.start);
        let problem = Problem { remark: Some(found.why.clone()), ..Problem::default() };
        let origin = self.origin.to_owned();
        ConfigProblem { origin, line: Some(line), column: Some(column), problem }
    }

    fn at<S: AsRef<str>>(
        &self,
        path: &[S],
        part: fn(&At) -> Option<&Range<usize>>,
        problem: Problem,
    ) -> ConfigProblem {
        let (at, _) = self.places.find(path);
        let position = at.and_then(part).map(|span| self.position(span.start));
        let origin = match at {
            Some(At::Variable { name, .. }) => name,
            _ => self.origin,
        };
        ConfigProblem {
            origin: origin.to_owned(),
            line: position.map(|(line, _)| line),
            column: position.map(|(_, column)| column),
            problem: Problem { path: key(path, self.value), ..problem },
        }
    }

    /// Line and column, in characters, from 1 on.
    fn position(&self, byte: usize) -> (usize, usize) {
        let before = &self.text[..self.text.floor_char_boundary(byte)];
        let line = before.rsplit('\n').next().unwrap_or_default();
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    }

    /// What was written, on one line, without secrets.
    fn shown(&self, path: &[String], given: &Value) -> String {
        let json = given.to_string();
        let text = match self.places.find(path) {
            (Some(At::Variable { text, .. }), true) => text,
            (Some(At::File { value, .. }), true) if !given.is_object() => {
                self.text.get(value.clone()).unwrap_or(&json)
            }
            _ => &json,
        };
        let text = Redactor::default().redact(bounded(text, SEEN)).into_owned();
        let line = text.trim().lines().next().unwrap_or_default();
        let letters = line.chars().take(SHOWN);
        let mut shown: String =
            letters.map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
        if line.chars().count() > SHOWN || text.trim().lines().count() > 1 {
            shown.push('…');
        }
        shown
    }
}

/// In the order of the file, what the environment says first.
pub(super) fn in_order(problems: &mut [ConfigProblem]) {
    problems.sort_by(|a, b| (a.line, a.column, &a.origin).cmp(&(b.line, b.column, &b.origin)));
}

/// What the schema cannot tell: that units are within their limits, and whole numbers whole.
fn misfits(
    value: &Value,
    schema: &'static Value,
    path: &mut Vec<String>,
    wrong: &mut Vec<(Vec<String>, Problem)>,
) {
    if wrong.len() > PROBLEMS {
        return;
    }
    let mut look_inside = |name: &str, value: &Value| {
        if let Some(schema) = schema::inside(schema, name) {
            path.push(name.to_owned());
            misfits(value, schema, path, wrong);
            path.pop();
        }
    };
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| look_inside(name, field));
        }
        Value::Array(items) => {
            let numbered = items.iter().enumerate();
            numbered.for_each(|(index, item)| look_inside(&index.to_string(), item));
        }
        scalar => {
            let format = schema::resolved(schema).get("format").and_then(Value::as_str);
            // To JSON Schema `3.0` is an integer; TOML tells them apart, and so does serde.
            if (format.is_some_and(|format| !units::is_in_format(format, scalar))
                || scalar.is_f64() && schema::is_whole(schema))
                && !wrong.iter().any(|(known, _)| known == path)
            {
                wrong.push((path.clone(), Problem::default()));
            }
        }
    }
}

/// What is said of a key that does not exist.
pub(super) fn no_such_key(key: &str, accepted: &[&str]) -> Problem {
    let near = nearest(key, accepted.iter().copied(), 1);
    Problem {
        remark: Some("there is no such key".to_owned()),
        expected: listed(accepted.iter().map(|key| format!("`{key}`"))),
        nearest: near.first().map(ToString::to_string),
        ..Problem::default()
    }
}

/// What is said of a number that cannot be read where any value is accepted.
fn no_number() -> Problem {
    let remark = Some("this number is too large, or none at all".to_owned());
    Problem { remark, ..Problem::default() }
}

fn in_words_of_toml(words: &str) -> String {
    words.replace("an object", "a table").replace("a boolean", "`true` or `false`")
}

fn get<'v>(value: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(value, |here, name| match here {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        here => here.get(name),
    })
}

impl At {
    fn key(&self) -> Option<&Range<usize>> {
        match self {
            Self::File { key, .. } => Some(key),
            Self::Variable { .. } => None,
        }
    }

    fn value(&self) -> Option<&Range<usize>> {
        match self {
            Self::File { value, .. } => Some(value),
            Self::Variable { .. } => None,
        }
    }
}

/// What is accepted, in words; nothing where the validator says it as well: of an array that is
/// wrong itself, how long it must be.
fn accepted(wanted: &'static Value, given: Option<&Value>) -> Option<String> {
    let resolved = schema::resolved(wanted);
    if let Some(title) = wanted.get("title").or_else(|| resolved.get("title")) {
        return title.as_str().map(ToOwned::to_owned);
    }
    let more = if given.is_some_and(Value::is_array) { "" } else { "items" };
    let says_more = ["minimum", "maximum", more].iter().any(|key| resolved.get(key).is_some());
    let schema = schema::compiled().filter(|_| says_more)?;
    Some(in_words_of_toml(&describe(schema, resolved)))
}

fn listed(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

/// The parts of a JSON pointer.
fn segments(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~")).collect()
}

/// A path as TOML writes it: `tools."files.read".retry`, `fault[0].kind`.
fn key<S: AsRef<str>>(path: &[S], root: &Value) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let mut key = String::new();
    let mut here = Some(root);
    for part in path {
        let part = part.as_ref();
        if let Some(Value::Array(items)) = here {
            let _ = write!(key, "[{part}]");
            here = part.parse::<usize>().ok().and_then(|index| items.get(index));
            continue;
        }
        if !key.is_empty() {
            key.push('.');
        }
        let short: String = part.chars().take(SHOWN).collect();
        if !short.is_empty() && short.chars().all(is_bare) {
            key.push_str(&short);
        } else {
            key.push_str(&Value::from(short).to_string());
        }
        here = here.and_then(|value| value.get(part));
    }
    key
}
