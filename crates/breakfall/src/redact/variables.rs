//! Variables that a program is started with: which of them must never come back.

use super::Redactor;
use super::entropy::is_mask;
use super::names::{is_secret_name, is_suspicious};

/// The shortest secret that is looked for wherever it stands, and the shortest that is a mere word:
/// shorter ones would tear every text apart.
pub(crate) const SHORTEST: usize = 6;
const SHORTEST_WORD: usize = 12;

/// The secrets in an environment variable: all of it under a secret's name, and otherwise what looks
/// like one by itself, such as the password in an address.
///
/// ```
/// # use breakfall::secrets_in_variable;
/// assert_eq!(secrets_in_variable("DB_PASSWORD", "otter-9921"), ["otter-9921"]);
/// assert_eq!(secrets_in_variable("POSTGRES_PASSWORD", "postgres"), [""; 0]);
/// assert_eq!(secrets_in_variable("NODE_ENV", "production"), [""; 0]);
/// ```
pub fn secrets_in_variable<'v>(name: &str, value: &'v str) -> Vec<&'v str> {
    if is_secret_name(name) {
        return if is_told_apart(value) { vec![value] } else { Vec::new() };
    }
    let folded = name.to_ascii_lowercase();
    if !value.contains("://") && !is_suspicious(&folded, name) {
        return Vec::new();
    }
    let redactor = Redactor::default();
    let found = redactor.find(value).into_iter().filter_map(|span| value.get(span.start..span.end));
    found.filter(|secret| is_told_apart(secret)).collect()
}

/// Whether a value stands in no text by chance.
fn is_told_apart(value: &str) -> bool {
    let is_word = value.bytes().all(|byte| byte.is_ascii_lowercase());
    let least = if is_word { SHORTEST_WORD } else { SHORTEST };
    value.len() >= least && !is_mask(value)
}
