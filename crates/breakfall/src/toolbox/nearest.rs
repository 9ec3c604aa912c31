//! Names that resemble the one the model wrote: for tools and for arguments alike.
//!
//! Resemblance is edit distance with case and separators aside (`readFile`, `read_file`), or
//! being the namespace or the last part of a name (`github` and `search` for `github__search`).

mod distance;
mod few;
mod letters;
mod names;
#[cfg(test)]
mod reference;
mod spelled;

use std::cell::LazyCell;
use std::cmp::Reverse;

use distance::Pattern;
pub(crate) use few::Few;
use letters::Letters;
pub(crate) use names::Names;
use spelled::Spelled;

/// The score of names that are the same but for case and separators.
const SAME: u32 = 1_000;

/// The score of a name that has a part of the other's; worse than any by edits.
const IS_PART: u32 = 500;

/// The score of a name that stands within the other.
const IS_WITHIN: u32 = 400;

/// The score of names so many edits apart, the longer of so many letters; nothing where they
/// differ in more than a third.
fn by_edits(edits: usize, longer: usize) -> Option<u32> {
    match edits {
        0 => Some(SAME),
        _ if edits * 3 > longer => None,
        _ => Some(900 - u32::try_from(edits * 800 / longer).unwrap_or(800)),
    }
}

/// The names that resemble `wanted`, nearest first, ties by name; at most `limit`. For a few
/// names that are asked for once.
pub(crate) fn nearest<'a>(
    wanted: &str,
    names: impl Iterator<Item = &'a str>,
    limit: usize,
) -> Vec<&'a str> {
    let letters = Letters::of(wanted);
    // Few of a few names come near enough to be compared letter by letter.
    let pattern =
        letters.as_ref().map(|letters| (letters, LazyCell::new(|| Pattern::new(letters.all()))));
    let mut near: Vec<(Reverse<u32>, &str)> = names
        .filter_map(|name| {
            let score = match (&pattern, &Letters::of(name)) {
                (Some((letters, pattern)), Some(other)) if other.is_plain() => {
                    resemblance(letters, pattern, other)
                }
                _ => Spelled::new(wanted).resemblance(name),
            };
            score.map(|score| (Reverse(score), name))
        })
        .collect();
    near.sort_unstable();
    near.truncate(limit);
    near.into_iter().map(|(_, name)| name).collect()
}

/// The longer and the shorter of two names, and what the shorter has and the longer lacks: it takes
/// an edit each, as does each letter more.
fn compared<'l>(one: &'l Letters, other: &'l Letters) -> (&'l Letters, &'l Letters, u64) {
    let is_longer = other.all().len() < one.all().len();
    let (long, short) = if is_longer { (one, other) } else { (other, one) };
    (long, short, short.signature & !long.signature)
}

/// Whether two names surely do not resemble one another. Most are told apart so.
#[inline]
fn is_far(one: &Letters, other: &Letters) -> bool {
    let (long, short, lacking) = compared(one, other);
    let (longer, shorter) = (long.all().len(), short.all().len());
    lacking != 0
        && one.is_one()
        && other.is_one()
        && 3 * (longer - shorter + lacking.count_ones() as usize) > longer
}

fn resemblance<'a, F: FnOnce() -> Pattern<'a>>(
    wanted: &Letters,
    pattern: &LazyCell<Pattern<'a>, F>,
    other: &Letters,
) -> Option<u32> {
    let (mine, its) = (wanted.all(), other.all());
    if mine.is_empty() || its.is_empty() {
        return None;
    }
    let (long, short, lacking) = compared(wanted, other);
    let (longer, more) = (long.all().len(), long.all().len() - short.all().len());
    if by_edits(more + lacking.count_ones() as usize, longer).is_some()
        && let Some(score) = by_edits(pattern.distance(its), longer)
    {
        return Some(score);
    }
    let is_mine = |part: &[u8]| part.len() > 2 && wanted.parts().any(|(_, own)| own == part);
    if !(wanted.is_one() && other.is_one())
        && other.parts().any(|(_, part)| part == mine || is_mine(part))
    {
        return Some(IS_PART);
    }
    let (long, short) = (long.all(), short.all());
    let is_within =
        lacking == 0 && short.len() > 2 && long.windows(short.len()).any(|window| window == short);
    is_within.then_some(IS_WITHIN)
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
