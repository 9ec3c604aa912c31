//! Variables of the environment over the file: `BREAKFALL_DEFAULTS__RETRY__ATTEMPTS=5`.

use std::ffi::OsString;

use serde_json::Value;

use super::problem::{ConfigProblem, no_such_key};
use super::tree::{At, Places};
use super::{schema, tree};
use crate::Problem;

/// What the names of our variables begin with.
const PREFIX: &str = "BREAKFALL_";

/// What stands between two keys.
const BETWEEN: &str = "__";

/// The largest value.
const LARGEST: usize = 64 << 10;

/// Puts what the variables say over what the file says. The order of the variables does not count.
pub(super) fn apply(
    variables: impl Iterator<Item = (OsString, OsString)>,
    value: &mut Value,
    places: &mut Places,
) -> Vec<ConfigProblem> {
    let mut ours: Vec<(String, OsString)> = variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .filter(|(name, _)| keys_of(name).is_some())
        .collect();
    ours.sort();
    let mut problems = Vec::new();
    for (name, given) in ours {
        if let Err(problem) = one(&name, given, value, places) {
            problems.push(ConfigProblem::of_variable(name, problem));
        }
    }
    problems
}

/// The keys in a name of ours; a name without two keys is somebody else's.
fn keys_of(name: &str) -> Option<&str> {
    let (prefix, keys) = name.split_at_checked(PREFIX.len())?;
    (prefix.eq_ignore_ascii_case(PREFIX) && keys.contains(BETWEEN)).then_some(keys)
}

fn one(name: &str, given: OsString, value: &mut Value, places: &mut Places) -> Result<(), Problem> {
    let remark = |words: &str| Problem { remark: Some(words.to_owned()), ..Problem::default() };
    let given = given.into_string().map_err(|_| remark("its value is not UTF-8"))?;
    if given.len() > LARGEST {
        return Err(remark("its value is longer than 64 KiB"));
    }
    let keys = fold(keys_of(name).unwrap_or_default());
    let path = path(&keys, schema::document(), Some(value)).ok_or_else(|| unknown(&keys))?;
    let parsed = tree::value(given.trim());
    let takes_text = schema::at(&path).is_some_and(schema::is_text);
    let new = match parsed {
        Some(parsed) if !takes_text || parsed.is_string() => parsed,
        _ => Value::String(given.clone()),
    };
    set(value, places, &path, new, At::Variable { name: name.to_owned(), text: given });
    Ok(())
}

/// The path that a name means. Names of tools and upstreams may hold what stands between keys:
/// those that the file has come first, then the shortest that leads to a key.
fn path(keys: &str, schema: &'static Value, value: Option<&Value>) -> Option<Vec<String>> {
    let own = schema::is_named_by_user(schema);
    let in_file = value.and_then(Value::as_object).filter(|_| own);
    let mut known: Vec<&str> = schema::keys(schema);
    known.extend(in_file.into_iter().flat_map(|fields| fields.keys()).map(String::as_str));
    known.sort_by_key(|name| std::cmp::Reverse(name.len()));
    for name in known {
        let Some(rest) = keys.strip_prefix(fold(name).as_str()) else { continue };
        if rest.is_empty() {
            return Some(vec![name.to_owned()]);
        }
        let inside = value.and_then(|value| value.get(name));
        if let Some(found) = deeper(name, rest, schema, inside) {
            return Some(found);
        }
    }
    if !own || keys.is_empty() {
        return None;
    }
    let ends = keys.match_indices(BETWEEN).map(|(at, _)| at).filter(|at| *at > 0);
    let mut deep = ends.filter_map(|at| deeper(&keys[..at], &keys[at..], schema, None));
    deep.next().or_else(|| (!keys.contains(BETWEEN)).then(|| vec![keys.to_owned()]))
}

fn deeper(
    name: &str,
    rest: &str,
    schema: &'static Value,
    inside: Option<&Value>,
) -> Option<Vec<String>> {
    let rest = rest.strip_prefix(BETWEEN)?;
    let mut found = path(rest, schema::inside(schema, name)?, inside)?;
    found.insert(0, name.to_owned());
    Some(found)
}

/// What is said of a name that means nothing: how far it goes, and what is accepted there.
fn unknown(keys: &str) -> Problem {
    let mut schema = schema::document();
    for part in keys.split(BETWEEN) {
        let known = schema::keys(schema);
        let name = known.iter().find(|name| fold(name) == part).copied();
        let next = schema::inside(schema, name.unwrap_or(part));
        match next.filter(|_| name.is_some() || schema::is_named_by_user(schema)) {
            Some(next) => schema = next,
            None => return no_such_key(part, &known),
        }
    }
    no_such_key(keys, &schema::keys(schema))
}

/// As names are compared: case does not count, and what a variable's name cannot hold is `_`.
fn fold(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
        .collect()
}

/// Puts a value where the path leads; what is in the way is no table and goes.
fn set(value: &mut Value, places: &mut Places, path: &[String], new: Value, at: At) {
    let Some((first, rest)) = path.split_first() else {
        *value = new;
        *places = Places { at: Some(at), ..Places::default() };
        return;
    };
    if !value.is_object() {
        *value = Value::Object(serde_json::Map::new());
    }
    if let Some(fields) = value.as_object_mut() {
        let inside = places.inside.entry(first.clone()).or_default();
        set(fields.entry(first.clone()).or_insert(Value::Null), inside, rest, new, at);
    }
}
