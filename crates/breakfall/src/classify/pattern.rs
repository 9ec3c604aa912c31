//! A compiled expression that gives its first group: bytes and ASCII, compiled when first used.

use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::Input;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;

/// An expression with one group that matters.
pub(super) struct Pattern {
    source: &'static str,
    regex: OnceLock<Option<Regex>>,
}

impl Pattern {
    pub(super) const fn new(source: &'static str) -> Self {
        Self { source, regex: OnceLock::new() }
    }

    /// The first group of the first match, or the whole match where there is no group.
    pub(super) fn find(&self, text: &str) -> Option<Range<usize>> {
        self.find_from(text, 0).map(|(group, _)| group)
    }

    /// The same as text.
    pub(super) fn text<'t>(&self, text: &'t str) -> Option<&'t str> {
        self.find(text).and_then(|range| text.get(range))
    }

    /// The first group of the last match.
    pub(super) fn last<'t>(&self, text: &'t str) -> Option<&'t str> {
        let mut last = None;
        let mut at = 0;
        while let Some((group, end)) = self.find_from(text, at) {
            last = text.get(group);
            at = end.max(at + 1);
        }
        last
    }

    fn find_from(&self, text: &str, from: usize) -> Option<(Range<usize>, usize)> {
        let compile = || {
            Regex::builder()
                .syntax(syntax::Config::new().unicode(false).utf8(false))
                .build(self.source)
                .ok()
        };
        let regex = self.regex.get_or_init(compile).as_ref()?;
        if from > text.len() {
            return None;
        }
        let mut captures = regex.create_captures();
        regex.search_captures(&Input::new(text.as_bytes()).range(from..), &mut captures);
        let whole = captures.get_match()?;
        let group = (1..captures.group_len()).find_map(|group| captures.get_group(group));
        let range = group.map_or(whole.range(), |group| group.start..group.end);
        Some((range, whole.end()))
    }
}
