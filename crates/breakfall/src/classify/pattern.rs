//! A compiled expression that gives its first group: bytes and ASCII, compiled when first used.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex_automata::Input;
use regex_automata::meta::Regex;

use super::{body, reports, resource, segment, signals, wait};
use crate::expression::{ascii, first_group};
use crate::keywords::Keywords;

/// Every hint of every pattern, in order, for one scan.
static HINTS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let listed = [body::PATTERNS, reports::PATTERNS, signals::PATTERNS, wait::PATTERNS];
    let patterns = listed.into_iter().flatten().copied().chain(resource::patterns());
    let hints = patterns.flat_map(|pattern| pattern.hints.iter().chain(pattern.also));
    let mut hints: Vec<&str> = hints.copied().collect();
    hints.extend(segment::LITERALS.iter().map(|literal| literal.words));
    hints.sort_unstable();
    hints.dedup();
    hints.truncate(64 * MARKS);
    hints
});

static SCAN: LazyLock<Keywords> = LazyLock::new(|| Keywords::new(HINTS.iter().copied(), false));

/// How many words of marks there are: one bit for each hint.
pub(super) const MARKS: usize = 6;

type Marks = [u64; MARKS];

/// Which hints stand in a text.
#[derive(Clone, Copy)]
pub(super) struct Marked<'t> {
    pub(super) text: &'t str,
    marks: Marks,
}

impl<'t> Marked<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        // The last bit stands for nothing, and is always set.
        let mut marks = [0; MARKS];
        marks[MARKS - 1] = 1 << 63;
        SCAN.each(text, |hint, _, _| marks[hint / 64 % MARKS] |= 1 << (hint % 64));
        Self { text, marks }
    }

    /// A text that was not looked through: every hint may stand in it.
    pub(super) fn unread(text: &'t str) -> Self {
        Self { text, marks: [u64::MAX; MARKS] }
    }

    /// The hints that stand in it, by their place in the list.
    pub(super) fn each(&self) -> impl Iterator<Item = usize> {
        let words = self.marks.iter().enumerate();
        words.flat_map(|(nth, word)| bits(u128::from(*word)).map(move |bit| 64 * nth + bit))
    }

    /// A part of the text: what stands in it stands in the whole, so that no pattern is missed.
    pub(super) fn part<'p>(&self, text: &'p str) -> Marked<'p> {
        Marked { text, marks: self.marks }
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
    masks: OnceLock<[Marks; 2]>,
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
        Self { source, hints, also, masks: OnceLock::new(), regex: OnceLock::new() }
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

    /// Its hints, by their place in the list; none where one of them is not there.
    pub(super) fn hints(&self) -> Option<Vec<usize>> {
        self.hints.iter().map(|hint| HINTS.binary_search(hint).ok()).collect()
    }

    /// Whether words stand in a text that stand in every text that it matches.
    pub(super) fn may_match(&self, text: &Marked) -> bool {
        let masks = self.masks.get_or_init(|| [mask(self.hints), mask(self.also)]);
        let stands =
            |mask: &Marks| (0..MARKS).fold(0, |any, nth| any | mask[nth] & text.marks[nth]);
        stands(&masks[0]) != 0 && stands(&masks[1]) != 0
    }
}

/// Which bits are set.
pub(super) fn bits(mut of: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = of.trailing_zeros() as usize;
        of &= of.wrapping_sub(1);
        (next < 128).then_some(next)
    })
}

/// A bit for each of some hints. Where there are none, or one is not listed, all of them: then the
/// pattern is looked for each time, which costs more and changes nothing.
fn mask(hints: &[&str]) -> Marks {
    let mut mask = [0; MARKS];
    for hint in hints {
        match HINTS.binary_search(hint) {
            Ok(index) => mask[index / 64] |= 1 << (index % 64),
            Err(_) => return [u64::MAX; MARKS],
        }
    }
    if hints.is_empty() { [u64::MAX; MARKS] } else { mask }
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
    }
}
