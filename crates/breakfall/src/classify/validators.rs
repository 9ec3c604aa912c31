//! What validators and languages write of what they were given: their own words, which name none of
//! its arguments.

/// What validators call the parts of what they say, as keys of JSON.
const KEYS: &[&str] = &[
    "code", "error", "expected", "input", "keys", "loc", "message", "msg", "path", "received",
    "type",
];

/// How JavaScript writes an object where a text belongs.
const OBJECT: &str = "[object Object]";

/// Whether a name that stands there is what a validator calls a part of what it says.
pub(crate) fn is_key_of_a_validator(text: &str, at: usize, name: &str) -> bool {
    let (before, behind) = (text.get(..at), text.get(at + name.len()..));
    KEYS.contains(&name)
        && before.is_some_and(|before| before.ends_with('"'))
        && behind.is_some_and(|behind| behind.starts_with("\":"))
}

/// Whether what was looked for is no name, but an object.
pub(crate) fn speaks_of_an_object(text: &str) -> bool {
    text.contains(OBJECT)
}
