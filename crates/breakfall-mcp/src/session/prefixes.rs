//! What stands before the names of tools where there are several servers.

use std::iter::once;

/// Between a server's key and a tool's name.
const SEPARATOR: &str = "__";

/// A prefix for each server, none of which begins another: whose a name is can always be told. A
/// server whose key reads like another's with a tool (`a__b` beside `a`) is called otherwise.
pub(super) fn prefixes(keys: &[&str]) -> Vec<String> {
    if keys.len() < 2 {
        return vec![String::new(); keys.len()];
    }
    let of = |name: &str| format!("{name}{SEPARATOR}");
    let mut all: Vec<String> = keys.iter().map(|key| of(key)).collect();
    for (at, key) in keys.iter().enumerate() {
        let others: Vec<String> =
            all.iter().enumerate().filter(|it| it.0 != at).map(|it| it.1.clone()).collect();
        if others.iter().any(|other| all[at].starts_with(other.as_str())) {
            let is_free = |prefix: &String| {
                !others
                    .iter()
                    .any(|it| it.starts_with(prefix.as_str()) || prefix.starts_with(it.as_str()))
            };
            let mut prefixes = plain_names(key).map(|name| of(&name));
            all[at] = prefixes.find(is_free).unwrap_or_default();
        }
    }
    all
}

/// Names like a key, in which no separator stands.
fn plain_names(key: &str) -> impl Iterator<Item = String> {
    let words: Vec<&str> = key.split('_').filter(|word| !word.is_empty()).collect();
    let plain = if words.is_empty() { "server".to_owned() } else { words.join("_") };
    once(plain.clone()).chain((2..).map(move |number| format!("{plain}_{number}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_prefix_begins_another() {
        for (keys, expected) in [
            (&["a"][..], &[""][..]),
            (&["git", "web"], &["git__", "web__"]),
            (&["a", "a__b"], &["a__", "a_b__"]),
            (&["a__b", "a"], &["a_b__", "a__"]),
            (&["a", "a_", "a__b", "a_b"], &["a__", "a_2__", "a_b_2__", "a_b__"]),
            (&["_", "__"], &["___", "server__"]),
            (&["a__b", "c"], &["a__b__", "c__"]),
        ] {
            assert_eq!(prefixes(keys), expected, "{keys:?}");
        }
    }
}
