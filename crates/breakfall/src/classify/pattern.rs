//! A compiled expression that gives its first group: bytes and ASCII, compiled when first used.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex_automata::Input;
use regex_automata::meta::Regex;

use super::{body, reports, resource, segment, signals, wait};
use crate::expression::{ascii, first_group};
use crate::keywords::Keywords;

/// Every pattern, those of resources first.
fn patterns() -> impl Iterator<Item = &'static Pattern> {
    let others = [body::PATTERNS, reports::PATTERNS, signals::PATTERNS, wait::PATTERNS];
    resource::patterns().chain(others.into_iter().flatten().copied())
}

/// Every hint of every pattern, in order, for one scan.
static HINTS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let hints = patterns().flat_map(|pattern| pattern.hints.iter().chain(pattern.also));
    let mut hints: Vec<&str> = hints.copied().collect();
    hints.extend(segment::LITERALS.iter().map(|literal| literal.words));
    hints.sort_unstable();
    hints.dedup();
    hints.truncate(64 * MARKS);
    hints
});

/// The scan for all hints, and which patterns each of them announces, a bit each.
static SCAN: LazyLock<(Keywords, Vec<u128>)> = LazyLock::new(|| {
    let mut by_hint = vec![0; HINTS.len()];
    for (nth, pattern) in patterns().enumerate().take(128) {
        for hint in pattern.hints.iter().filter_map(|hint| HINTS.binary_search(hint).ok()) {
            by_hint[hint] |= 1 << nth;
        }
    }
    (Keywords::new(HINTS.iter().copied(), false), by_hint)
});

/// How many words of marks there are: one bit for each hint.
const MARKS: usize = 6;

type Marks = [u64; MARKS];

/// Which hints stand in a text.
#[derive(Clone, Copy)]
pub(super) struct Marked<'t> {
    pub(super) text: &'t str,
    marks: Marks,
    /// Which patterns these announce.
    announced: u128,
}

impl<'t> Marked<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let (mut marks, mut announced) = ([0; MARKS], 0);
        // The last bit stands for nothing, and is always set.
        marks[MARKS - 1] = 1 << 63;
        let (scan, by_hint) = &*SCAN;
        scan.each(text, |hint, _, _| {
            marks[hint / 64 % MARKS] |= 1 << (hint % 64);
            announced |= by_hint[hint];
        });
        Self { text, marks, announced }
    }

    /// A text that was not looked through: every hint may stand in it.
    pub(super) fn unread(text: &'t str) -> Self {
        Self { text, marks: [u64::MAX; MARKS], announced: u128::MAX }
    }

    /// The patterns that may match, by their place in the list.
    pub(super) fn announced(&self) -> impl Iterator<Item = usize> {
        let mut left = self.announced;
        std::iter::from_fn(move || {
            let next = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (next < 128).then_some(next)
        })
    }

    /// Whether one of some patterns may match.
    pub(super) fn announces_any(&self, patterns: u128) -> bool {
        self.announced & patterns != 0
    }

    /// A part of the text: what stands in it stands in the whole, so that no pattern is missed.
    pub(super) fn part<'p>(&self, text: &'p str) -> Marked<'p> {
        Marked { text, ..*self }
    }
}

/// An expression with one group that matters.
pub(super) struct Pattern {
    source: &'static str,
    /// One of these stands in every text that it matches: looked for first, because that is
    /// cheap and most texts hold none. Empty where there is no such word.
    hints: &'static [&'static str],
    /// And one of these, where there are any.
    also: &'static [&'static str],
    /// Its place among all patterns, if its hints are looked for.
    place: OnceLock<Option<usize>>,
    also_marked: OnceLock<Marks>,
    regex: OnceLock<Option<Regex>>,
}

impl Pattern {
    pub(super) const fn new(hints: &'static [&'static str], source: &'static str) -> Self {
        Self::both(hints, &[], source)
    }

    /// The same, where one of others stands in every text that it matches, too.
    pub(super) const fn both(
        hints: &'static [&'static str],
        also: &'static [&'static str],
        source: &'static str,
    ) -> Self {
        Self {
            source,
            hints,
            also,
            place: OnceLock::new(),
            also_marked: OnceLock::new(),
            regex: OnceLock::new(),
        }
    }

    /// The first group of the first match, or the whole match where there is no group.
    pub(super) fn find(&self, text: &Marked) -> Option<Range<usize>> {
        self.find_from(text, 0).map(|(group, _)| group)
    }

    /// The same as text.
    pub(super) fn text<'t>(&self, text: &Marked<'t>) -> Option<&'t str> {
        self.find(text).and_then(|range| text.text.get(range))
    }

    /// The first group of the last match.
    pub(super) fn last<'t>(&self, text: &Marked<'t>) -> Option<&'t str> {
        let mut last = None;
        let mut at = 0;
        while let Some((group, end)) = self.find_from(text, at) {
            last = text.text.get(group);
            at = end.max(at + 1);
        }
        last
    }

    fn find_from(&self, text: &Marked, from: usize) -> Option<(Range<usize>, usize)> {
        if from > text.text.len() || !self.may_match(text) {
            return None;
        }
        let compile = || Regex::builder().syntax(ascii()).build(self.source).ok();
        let regex = self.regex.get_or_init(compile).as_ref()?;
        // Room for the groups is made only where there is something to put into it.
        let input = Input::new(text.text.as_bytes()).range(from..);
        let whole = regex.search(&input)?;
        let mut captures = regex.create_captures();
        regex.search_captures(&input.range(whole.range()), &mut captures);
        first_group(&captures).map(|(group, whole)| (group, whole.end))
    }

    /// Whether words stand in a text that stand in every text that it matches.
    pub(super) fn may_match(&self, text: &Marked) -> bool {
        let place = self.place.get_or_init(|| {
            let listed = self.hints.iter().all(|hint| HINTS.binary_search(hint).is_ok());
            let place = patterns().take(128).position(|known| std::ptr::eq(known, self));
            place.filter(|_| listed && !self.hints.is_empty())
        });
        if place.is_some_and(|place| text.announced >> place & 1 == 0) {
            return false;
        }
        let also = self.also_marked.get_or_init(|| mask(self.also));
        self.also.is_empty() || (0..MARKS).any(|nth| also[nth] & text.marks[nth] != 0)
    }
}

/// A bit for each of some patterns, by its place in the list; of one that is not listed, all.
pub(super) fn bits(of: &[&Pattern]) -> u128 {
    of.iter().fold(0, |bits, pattern| {
        let place = patterns().take(128).position(|known| std::ptr::eq(known, *pattern));
        bits | place.map_or(u128::MAX, |place| 1 << place)
    })
}

/// A bit for each of some hints. Where one is not listed, all of them: then the pattern is looked for
/// each time, which costs more and changes nothing.
fn mask(hints: &[&str]) -> Marks {
    let mut mask = [0; MARKS];
    for hint in hints {
        match HINTS.binary_search(hint) {
            Ok(index) => mask[index / 64] |= 1 << (index % 64),
            Err(_) => return [u64::MAX; MARKS],
        }
    }
    mask
}

/// Words that are looked for as they are.
pub(super) struct Literal {
    words: &'static str,
    index: OnceLock<Option<usize>>,
}

impl Literal {
    pub(super) const fn new(words: &'static str) -> Self {
        Self { words, index: OnceLock::new() }
    }

    /// Where they stand first.
    pub(super) fn first_of(&self, text: &Marked) -> Option<usize> {
        self.places(text)?.next()
    }

    /// Where they stand last.
    pub(super) fn last_of(&self, text: &Marked) -> Option<usize> {
        self.places(text)?.last()
    }

    fn places<'t>(&self, text: &Marked<'t>) -> Option<memchr::memmem::FindIter<'t, 'static>> {
        self.may_stand_in(text)
            .then(|| memchr::memmem::find_iter(text.text.as_bytes(), self.words.as_bytes()))
    }

    fn may_stand_in(&self, text: &Marked) -> bool {
        let known = || HINTS.binary_search(&self.words).ok();
        let index = self.index.get_or_init(known);
        index.is_none_or(|index| text.marks[index / 64] >> (index % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_found_where_its_hint_stands() {
        static CODE: Pattern = Pattern::new(&["ode"], r"code (\d+)");
        static OWN: Pattern = Pattern::new(&["not in the list of hints"], r"code (\d+)");
        assert_eq!(CODE.text(&Marked::new("exit code 7")), Some("7"));
        assert_eq!(CODE.text(&Marked::new("nothing")), None);
        assert_eq!(OWN.text(&Marked::new("exit code 7")), Some("7"));
    }

    #[test]
    fn a_pattern_whose_hints_are_not_listed_is_looked_for_where_no_hint_stands() {
        static OWN: Pattern = Pattern::both(&["not listed"], &["nor is this"], r"(\d+)");
        let marked = Marked::new("7");
        assert_eq!(marked.announced().count(), 0);
        assert_eq!(OWN.text(&marked), Some("7"));
    }

    #[test]
    fn every_pattern_is_listed_and_every_hint_has_its_bit() {
        let listed = [
            (include_str!("body.rs"), body::PATTERNS.len()),
            (include_str!("reports.rs"), reports::PATTERNS.len()),
            (include_str!("signals.rs"), signals::PATTERNS.len()),
            (include_str!("wait.rs"), wait::PATTERNS.len()),
            (include_str!("resource/forms.rs"), resource::patterns().count()),
        ];
        for (source, listed) in listed {
            let made = |by: &str| source.matches(by).count();
            assert_eq!(made("Pattern::new(") + made("Pattern::both("), listed);
        }
        let source = include_str!("segment.rs");
        assert_eq!(source.matches("Literal::new(").count(), segment::LITERALS.len());
        assert!(HINTS.len() < 64 * MARKS, "{} hints", HINTS.len());
        assert!(patterns().count() <= 128, "{} patterns", patterns().count());
        let announced = SCAN.1.iter().fold(0, |all, announced| all | announced);
        assert_eq!(announced.count_ones() as usize, patterns().count());
    }
}
