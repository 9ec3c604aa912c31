//! Names that resemble the one the model wrote: for tools and for arguments alike.

use std::cmp::Reverse;

/// How much of a name counts, so that a hostile one costs no more than an honest one.
const READ: usize = 64;

/// The names that resemble `wanted`, nearest first, ties by name; at most `limit`.
///
/// Resemblance is edit distance with case and separators aside (`readFile`, `read_file`), or
/// being the namespace or the last part of a name (`github` and `search` for `github__search`).
pub(crate) fn nearest<'a>(
    wanted: &str,
    names: impl Iterator<Item = &'a str>,
    limit: usize,
) -> Vec<&'a str> {
    let wanted = Folded::new(wanted);
    let mut near: Vec<(Reverse<u32>, &str)> = names
        .filter_map(|name| wanted.resemblance(name).map(|score| (Reverse(score), name)))
        .collect();
    near.sort_unstable();
    near.truncate(limit);
    near.into_iter().map(|(_, name)| name).collect()
}

/// A name with case and separators aside, and its parts.
struct Folded {
    whole: String,
    parts: Vec<String>,
}

impl Folded {
    fn new(name: &str) -> Self {
        let name: String = name.chars().take(READ).collect();
        let parts = parts(&name).map(fold).filter(|part| !part.is_empty()).collect();
        Self { whole: fold(&name), parts }
    }

    /// Between 1 (barely) and 1,000 (the same but for case and separators).
    fn resemblance(&self, name: &str) -> Option<u32> {
        let name: &str = name.char_indices().nth(READ).map_or(name, |(end, _)| &name[..end]);
        let whole = fold(name);
        if whole.is_empty() || self.whole.is_empty() {
            return None;
        }
        if whole == self.whole {
            return Some(1_000);
        }
        let longer = whole.chars().count().max(self.whole.chars().count());
        let distance = strsim::osa_distance(&self.whole, &whole);
        let by_edits = (distance * 3 <= longer)
            .then(|| 900 - u32::try_from(distance * 800 / longer).unwrap_or(800));
        let by_part = parts(name)
            .map(fold)
            .any(|part| part == self.whole || self.parts.contains(&part) && part.len() > 2)
            .then_some(500);
        let by_inclusion = (self.whole.len() >= 3
            && (whole.contains(&self.whole) || self.whole.contains(&whole) && whole.len() >= 3))
            .then_some(400);
        by_edits.max(by_part).max(by_inclusion)
    }
}

/// The parts of a namespaced name: `github__search`, `files.read`, `a/b`, `a:b`.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split("__").flat_map(|part| part.split(['.', '/', ':']))
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    const NAMES: &[&str] = &[
        "github__search",
        "list_files",
        "read_file",
        "search_files",
        "sequential-thinking__sequentialthinking",
        "write_file",
    ];

    #[test]
    fn finds_what_was_meant() {
        for (wanted, found) in [
            ("serach_files", "search_files"),
            ("ReadFile", "read_file"),
            ("read-file", "read_file"),
            ("sequential-thinking", "sequential-thinking__sequentialthinking"),
            ("sequentialthinking", "sequential-thinking__sequentialthinking"),
            ("search", "github__search"),
            ("github", "github__search"),
            ("gitlab__search", "github__search"),
            ("mcp__files__read_file", "read_file"),
        ] {
            let near = nearest(wanted, NAMES.iter().copied(), 10);
            assert_eq!(near.first(), Some(&found), "{wanted}: {near:?}");
        }
    }

    #[test]
    fn finds_nothing_where_nothing_resembles() {
        for wanted in ["", "💥", "deploy", "x", "``", &"a".repeat(1_000_000)] {
            assert!(nearest(wanted, NAMES.iter().copied(), 10).is_empty(), "{wanted:.20}");
        }
    }

    #[test]
    fn is_bounded_and_in_a_stable_order() {
        let names: Vec<String> = (0..5_000).map(|n| format!("tool_{n}")).collect();
        let near = nearest("tool_x", names.iter().map(String::as_str), 10);
        assert_eq!(near.len(), 10);
        assert_eq!(near, nearest("tool_x", names.iter().rev().map(String::as_str), 10));
    }
}
