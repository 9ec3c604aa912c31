//! A compiled expression that gives its first group: bytes and ASCII, compiled when first used.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind};
use regex_automata::Input;
use regex_automata::meta::Regex;

use crate::expression::{ascii, first_group};

/// Every hint of every pattern, for one scan. A hint that is not listed here is looked for each
/// time, which costs more and changes nothing.
const HINTS: &[&str] = &[
    " lock ",
    "(1",
    "(2",
    "(3",
    "(Errno::",
    "*** [",
    "-->",
    "40",
    "404",
    "41",
    "42",
    "43",
    "44",
    "45",
    "49",
    "50",
    "51",
    "52",
    ":  ",
    ": 0",
    ": 2",
    ": 3",
    ": 4",
    ": 5",
    ": status code",
    ":0:",
    ":1:",
    ":2:",
    ":3:",
    ":4:",
    ":5:",
    ":6:",
    ":7:",
    ":8:",
    ":9:",
    "<BucketName",
    "<Code>",
    "<Key>",
    "<Message>",
    "<Resource",
    "An error occurred (",
    "Cannot ",
    "Caused by:",
    "Could not find artifact",
    "Duplicate entry",
    "EA",
    "EACCES",
    "EADDRINUSE",
    "EB",
    "EBUSY",
    "EC",
    "ED",
    "EE",
    "EEXIST",
    "EF",
    "EH",
    "EI",
    "EISDIR",
    "EJ",
    "EL",
    "EM",
    "EN",
    "ENOENT",
    "ENOTDIR",
    "ENOTEMPTY",
    "EO",
    "EP",
    "EPERM",
    "ER",
    "EROFS",
    "ERROR",
    "ERROR ",
    "ERRORS",
    "ES",
    "ET",
    "ETRY",
    "EU",
    "EW",
    "EX",
    "FAIL",
    "FATAL",
    "FATAL:  ",
    "For url",
    "HTTP ",
    "Key (",
    "MS",
    "Ms",
    "Protected branch",
    "SQL",
    "Sql",
    "StatusCode.",
    "Traceback (most recent call last)",
    "UND",
    "UNIQUE constraint",
    "WinError",
    "[Errno",
    "able ",
    "again",
    "ail",
    "ait",
    "already exists",
    "arning",
    "atabase ",
    "athspec ",
    "back",
    "cannot load such",
    "ccess Denied",
    "ccess denied",
    "characters",
    "chema ",
    "code = ",
    "command denied",
    "connecting",
    "ction ",
    "curl: (",
    "daemon socket",
    "did NOT",
    "dup key",
    "elation ",
    "equence ",
    "equest",
    "ermission denied for",
    "eset",
    "ethod ",
    "etry",
    "for url",
    "grpc-status",
    "has no attribute",
    "he method ",
    "iew ",
    "ind",
    "is not running",
    "issing scope",
    "ith the ",
    "listen ",
    "lugin ",
    "ms",
    "must be owner",
    "nable to locate package",
    "ndex ",
    "not authorized on",
    "not authorized to perform",
    "not have access",
    "not ok",
    "npm error path",
    "o module named",
    "o such ",
    "ocker daemon",
    "ode",
    "ole ",
    "ollection ",
    "ollowing ",
    "olumn ",
    "ommand ",
    "ommand not found",
    "onflict in",
    "onstraint (",
    "ool",
    "ool ",
    "ool call",
    "ool:",
    "opic ",
    "os error",
    "ouldn't find",
    "patch failed",
    "problem",
    "reak",
    "rrno",
    "rror",
    "satisfies the requirement",
    "spawn",
    "to database '",
    "tream ",
    "ttribute:",
    "unction",
    "unction ",
    "undefined",
    "unexpected state",
    "uplicates value",
    "url=",
    "utside ",
    "vailable",
    "valid tool",
    "valuation:",
    "when requesting",
    "xisting ",
    "xit",
    "ype ",
];

static SCAN: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasickBuilder::new().kind(Some(AhoCorasickKind::DFA)).build(HINTS).ok());

/// Which hints stand in a text.
#[derive(Clone, Copy)]
pub(super) struct Marked<'t> {
    pub(super) text: &'t str,
    marks: [u64; 4],
}

impl<'t> Marked<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut marks = [0; 4];
        match &*SCAN {
            Some(scan) => {
                for hit in scan.find_overlapping_iter(text) {
                    let index = hit.pattern().as_usize();
                    marks[index / 64] |= 1 << (index % 64);
                }
            }
            None => marks = [u64::MAX; 4],
        }
        Self { text, marks }
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
    mask: OnceLock<[u64; 4]>,
    regex: OnceLock<Option<Regex>>,
}

impl Pattern {
    pub(super) const fn new(hints: &'static [&'static str], source: &'static str) -> Self {
        Self { source, hints, mask: OnceLock::new(), regex: OnceLock::new() }
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

    fn may_match(&self, text: &Marked) -> bool {
        let mask = self.mask.get_or_init(|| {
            let mut mask = [0; 4];
            for hint in self.hints {
                match HINTS.iter().position(|known| known == hint) {
                    Some(index) => mask[index / 64] |= 1 << (index % 64),
                    None => return [u64::MAX; 4],
                }
            }
            mask
        });
        self.hints.is_empty()
            || *mask == [u64::MAX; 4]
            || mask.iter().zip(&text.marks).any(|(mask, marks)| mask & marks != 0)
    }
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

    /// Where they stand last.
    pub(super) fn last_of(&self, text: &Marked) -> Option<usize> {
        let known = || HINTS.iter().position(|known| *known == self.words);
        match self.index.get_or_init(known) {
            Some(index) if text.marks[index / 64] >> (index % 64) & 1 == 0 => None,
            _ => text.text.rfind(self.words),
        }
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
        assert!(HINTS.len() <= 256);
    }
}
