//! Headers that are sent with what we say: which of them must never come back.

/// The secret in a header, where it holds one: by its name, or because nobody writes so long a
/// value by hand. One that says `main` must not take every `main` out of what tools return.
///
/// ```
/// assert_eq!(breakfall::secret_in_header("Authorization", "Bearer abcd"), Some("abcd"));
/// assert_eq!(breakfall::secret_in_header("X-Tenant", "main"), None);
/// ```
pub fn secret_in_header<'v>(name: &str, value: &'v str) -> Option<&'v str> {
    let name = name.to_ascii_lowercase();
    let marks = ["auth", "cookie", "key", "token", "secret", "password", "credential", "session"];
    if !marks.iter().any(|mark| name.contains(mark)) && value.len() < 20 {
        return None;
    }
    // "Bearer x": what is behind the first word is the secret, the word is none.
    match value.split_once(' ') {
        Some((how, shown)) if how.bytes().all(|it| it.is_ascii_alphabetic()) => Some(shown),
        _ => Some(value),
    }
}
