//! The fast ways are held to the plain one, name by name.

use std::cmp::Reverse;

use proptest::prelude::*;

use super::spelled::Spelled;
use super::{Few, Names, nearest};

/// What the guard tells of at most.
const LIMIT: usize = 10;

fn plainly<'a>(wanted: &str, names: impl Iterator<Item = &'a str>, limit: usize) -> Vec<&'a str> {
    let wanted = Spelled::new(wanted);
    let mut near: Vec<(Reverse<u32>, &str)> = names
        .filter_map(|name| wanted.resemblance(name).map(|score| (Reverse(score), name)))
        .collect();
    near.sort_unstable();
    near.truncate(limit);
    near.into_iter().map(|(_, name)| name).collect()
}

/// Compares all of them on names of which each seventh may be out of use.
fn compare(wanted: &str, names: &[String], out: usize) {
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let callable = |number: usize| number % 7 != out;
    let told =
        || names.iter().enumerate().filter(|(number, _)| callable(*number)).map(|(_, name)| *name);
    let expected = plainly(wanted, told(), LIMIT);
    let all = Names::new(names.iter().copied());
    let found = all.nearest::<LIMIT>(wanted, callable);
    let found: Vec<&str> = found.numbers().map(|number| &**all.name(number)).collect();
    assert_eq!(found, expected, "{wanted} among {}", names.len());
    assert_eq!(nearest(wanted, told(), LIMIT), expected, "{wanted} among {}", names.len());
    let first = plainly(wanted, told(), 1);
    assert_eq!(nearest(wanted, told(), 1), first, "{wanted}");
    // In whatever order they come.
    let few = Few::new(told().collect::<Vec<_>>().into_iter().rev());
    assert_eq!(few.nearest(wanted), first.first().copied(), "{wanted}");
}

/// Words that names are made of, so that many resemble one another.
const WORDS: &[&str] = &[
    "read",
    "write",
    "file",
    "files",
    "search",
    "list",
    "get",
    "github",
    "tool",
    "other",
    "issue",
    "Issue",
    "create",
    "a",
    "ab",
    "ba",
    "abc",
    "7",
    "42",
    "x1",
    "thinking",
    "sequential",
    "é",
    "ß",
    "İ",
    "İİİİİİİİİİİİİİİİİİİİİİİİİİİİİİİİİİİİ",
    "\u{212a}ey",
    "名前",
    "",
];

const BETWEEN: &[&str] = &["", "_", "__", "___", "-", ".", "/", ":", "_._", "💥"];

fn name() -> impl Strategy<Value = String> {
    let word = (0..WORDS.len(), 0..BETWEEN.len()).prop_map(|(w, b)| (WORDS[w], BETWEEN[b]));
    prop_oneof![
        8 => proptest::collection::vec(word.clone(), 0..6).prop_map(|words| {
            words.into_iter().flat_map(|(word, between)| [word, between]).collect()
        }),
        2 => (0..4_000_u32).prop_map(|n| format!("other_tool_{n}")),
        2 => "[a-cA-C_.]{0,12}",
        2 => "[a-z0-9]{40,90}",
        1 => proptest::collection::vec(word, 10..30).prop_map(|words| {
            words.into_iter().flat_map(|(word, between)| [word, between]).collect()
        }),
        1 => "\\PC{0,20}",
    ]
}

/// What a hurried writer makes of a name.
fn slipped(name: &str, slips: &[(usize, u8)]) -> String {
    let mut letters: Vec<char> = name.chars().collect();
    for (at, slip) in slips {
        let at = at % (letters.len() + 1);
        match slip {
            0 => letters.insert(at, 'e'),
            1 if at + 1 < letters.len() => letters.swap(at, at + 1),
            2 if at < letters.len() => letters[at] = 'q',
            3 if at < letters.len() => letters[at] = letters[at].to_ascii_uppercase(),
            _ if at < letters.len() => {
                letters.remove(at);
            }
            _ => {}
        }
    }
    letters.into_iter().collect()
}

fn cases(few: u32) -> ProptestConfig {
    let many = std::env::var("BREAKFALL_CASES").ok().and_then(|many| many.parse().ok());
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(many.unwrap_or(few)) }
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn a_few_names_are_found_as_the_plain_way_finds_them(
        names in proptest::collection::vec(name(), 0..40),
        other in name(),
        chosen in 0..60_usize,
        slips in proptest::collection::vec((0..40_usize, 0..5_u8), 0..8),
        out in 0..14_usize,
    ) {
        let wanted = slipped(names.get(chosen).unwrap_or(&other), &slips);
        compare(&wanted, &names, out);
    }
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn so_are_many(
        names in proptest::collection::vec(name(), 500..3_000),
        other in name(),
        chosen in 0..4_000_usize,
        slips in proptest::collection::vec((0..40_usize, 0..5_u8), 0..4),
        out in 0..14_usize,
    ) {
        let wanted = slipped(names.get(chosen).unwrap_or(&other), &slips);
        compare(&wanted, &names, out);
    }
}
