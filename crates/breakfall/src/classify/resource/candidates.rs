//! Every name in a text that may be what a failure is about, each with the signs that speak for
//! it or against it: its shape, the words beside it, where it stands from the decisive phrase.

use std::ops::Range;

use super::names::{Shape, is_plain_word, tidy};
use super::signs::{
    REACH, Sign, Signs, is_closing, is_mark, is_mark_or_equals, is_opening, on_line, relate, shape,
};
use super::{About, forms};
use crate::FailureKind;
use crate::classify::names;
use crate::classify::pattern::Marked;
use crate::classify::quotes::Quotes;

/// How many candidates are weighed.
const MOST: usize = 96;

/// How near to the decisive words a plain word must stand.
const NEAR: usize = 16;

/// How many words of a text are looked at.
const WORDS: usize = 1_500;

/// A name that a failure may be about.
#[derive(Debug)]
pub(super) struct Candidate<'t> {
    pub(super) text: &'t str,
    /// What is so or not so.
    pub(super) signs: Signs,
    /// The words beside it, each with where it stands.
    pub(super) words: Vec<(&'static str, &'t str)>,
    /// How far it stands before the decisive words, or behind them.
    gaps: [usize; 2],
}

/// A text with its words, and where it speaks of the kind.
struct Scene<'t> {
    text: &'t str,
    kind: FailureKind,
    words: Vec<Range<usize>>,
    /// Where it begins to tell what to do.
    advice: Vec<usize>,
    places: &'t [Range<usize>],
    status: bool,
    outside: bool,
}

/// The candidates of a failure.
pub(super) fn candidates<'t>(about: &'t About<'t>) -> Vec<Candidate<'t>> {
    let mut found = Vec::new();
    let scene = Scene::of(about, about.said, &about.places, false);
    let marked = about.marked.unwrap_or_else(|| Marked::new(about.said));
    if let Some(form) = forms::find(about.kind, &marked) {
        let mut signs = Signs::default();
        signs.add(Sign::Form);
        scene.weigh(form, signs, &mut found);
    }
    scene.gather(about.quotes, &mut found);
    if let Some(body) = about.body {
        for (name, value) in &body.fields {
            let Some(text) = tidy(value) else { continue };
            let mut signs = Signs::default();
            signs.add(Sign::Field);
            shape(text, about.status.is_some(), &mut signs);
            let gaps = [usize::MAX; 2];
            push(&mut found, Candidate { text, signs, words: vec![("field", name)], gaps });
        }
    }
    for (text, places) in &about.around {
        Scene::of(about, text, places, true).gather(&Quotes::of(text), &mut found);
    }
    again(&mut found);
    nearest(&mut found);
    for one in &mut found {
        let (place, look) = (one.signs.place(), one.signs.look());
        one.words.push((place, look));
        if one.signs.has(Sign::BehindType) && one.signs.has(Sign::LineEnd) {
            one.words.push(("type says", look));
        }
    }
    found
}

fn push<'t>(found: &mut Vec<Candidate<'t>>, candidate: Candidate<'t>) {
    if found.len() < MOST {
        found.push(candidate);
    }
}

/// What is named more than once is more likely what it is about.
fn again(found: &mut [Candidate]) {
    let names = found.iter().filter(|one| !one.signs.has(Sign::Plain)).map(|one| one.text);
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    let twice: Vec<&str> =
        names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    names.dedup();
    let only = names.len() == 1;
    // In order, a name stands before what it is the beginning of.
    let longer = |pair: &&[&str]| {
        pair[1].strip_prefix(pair[0]).is_some_and(|rest| rest.starts_with(['/', '.', '\\']))
    };
    let longer: Vec<&str> = names.windows(2).filter(longer).map(|pair| pair[1]).collect();
    for one in found {
        one.signs.add_if(twice.binary_search(&one.text).is_ok(), Sign::Again);
        one.signs.add_if(only && !one.signs.has(Sign::Plain), Sign::OnlyName);
        one.signs.add_if(longer.binary_search(&one.text).is_ok(), Sign::Extends);
    }
}

/// Of the names on either side of the decisive words, the next one.
fn nearest(found: &mut [Candidate]) {
    for (side, sign) in [(0, Sign::NextBefore), (1, Sign::NextBehind)] {
        let names =
            found.iter().filter(|one| !one.signs.has(Sign::Plain) || one.signs.has(Sign::Quoted));
        let least = names.map(|one| one.gaps[side]).min().unwrap_or(usize::MAX);
        for one in found.iter_mut().filter(|one| one.gaps[side] == least && least < REACH) {
            one.signs.add(sign);
        }
    }
}

impl<'t> Scene<'t> {
    fn of(about: &About, text: &'t str, places: &'t [Range<usize>], outside: bool) -> Self {
        let words = words_of(text);
        let advice = words.iter().filter(|word| is_advice(&text[(*word).clone()]));
        let advice = advice.map(|word| word.start).take(MOST).collect();
        let (kind, status) = (about.kind, about.status.is_some());
        Self { text, kind, words, advice, places, status, outside }
    }

    fn gather(&self, quotes: &Quotes, found: &mut Vec<Candidate<'t>>) {
        for (nth, quote) in quotes.0.iter().enumerate() {
            if self.in_reach(quote) {
                let mut signs = Signs::default();
                let mark = self.text[..quote.start].chars().next_back();
                signs.add(if matches!(mark, Some('[' | '<')) {
                    Sign::Bracketed
                } else {
                    Sign::Quoted
                });
                signs.add_if(nth == 0, Sign::FirstQuote);
                let last = nth.checked_sub(1).and_then(|last| quotes.0.get(last));
                let later = last.is_some_and(|last| {
                    let between = &self.text[last.end..quote.start];
                    between.len() < REACH && !between.contains('\n') && !between.contains(": ")
                });
                signs.add_if(later, Sign::LaterQuote);
                self.weigh(quote.clone(), signs, found);
            }
        }
        for word in &self.words {
            if !self.in_reach(word) {
                continue;
            }
            // Quotations come in order and do not overlap.
            let at = quotes.0.partition_point(|quote| quote.end + 1 < word.end);
            let inside = quotes.0.get(at).filter(|quote| quote.start <= word.start);
            let mut signs = Signs::default();
            signs.add_if(inside.is_some(), Sign::InQuotes);
            for part in parts(self.text, word) {
                // What is quoted as a whole was taken as such.
                let known = quotes.0.binary_search_by_key(&part.start, |quote| quote.start);
                if !known.is_ok_and(|at| quotes.0[at].end == part.end) {
                    self.weigh(part, signs, found);
                }
            }
        }
    }

    fn in_reach(&self, range: &Range<usize>) -> bool {
        range.start < REACH
            || range.end + REACH > self.text.len()
            || self.places.iter().any(|place| {
                place.start.saturating_sub(REACH) < range.end && range.start < place.end + REACH
            })
    }

    /// Adds what stands in a place, unless it cannot be a name.
    fn weigh(&self, range: Range<usize>, mut signs: Signs, found: &mut Vec<Candidate<'t>>) {
        let Some(text) = self.text.get(range.clone()).and_then(tidy) else { return };
        if found.len() >= MOST || !self.may_be_named(&range, text, signs) {
            return;
        }
        signs.add_if(self.outside, Sign::Outside);
        shape(text, self.status, &mut signs);
        let line = self.line(&range);
        on_line(self.text, &range, &line, &mut signs);
        let advised = |at: &usize| (line.start..range.start).contains(at);
        signs.add_if(self.advice.iter().any(advised), Sign::Advice);
        let words = self.beside(&range, &line, &mut signs);
        let mut gaps = [usize::MAX; 2];
        for place in self.places {
            relate(self.text, &range, place, &mut signs, &mut gaps);
        }
        let program = signs.has(Sign::LineStart) && signs.has(Sign::ThenColon);
        signs.add_if(program && !signs.has(Sign::Before), Sign::Program);
        // Nothing is said but a name: what a library raises for a key or a table.
        let whole = signs.has(Sign::WholeText) && !self.outside && !signs.has(Sign::Type);
        signs.add_if(whole && !text.contains(' ') && !text.contains('_'), Sign::WholeName);
        found.push(Candidate { text, signs, words, gaps });
    }

    /// Whether it can be a name at all: quoted, or by a form, or neither a plain word nor a status.
    fn may_be_named(&self, range: &Range<usize>, text: &str, signs: Signs) -> bool {
        if signs.has(Sign::Quoted) || signs.has(Sign::Bracketed) {
            return text.contains(|c: char| c.is_alphanumeric());
        }
        if signs.has(Sign::Form) {
            return !is_plain_word(text) || text.starts_with(|c: char| c.is_ascii_uppercase());
        }
        let status = text.len() == 3 && matches!(text.parse(), Ok(400_u16..=599));
        // A type of C++, as it stands in the name of a function.
        if text.starts_with("std::") || text.ends_with('&') || text.ends_with("&,") {
            return false;
        }
        text.contains(|c: char| c.is_alphanumeric())
            && !status
            && !is_plain_word(text)
            && !self.says(range, text)
    }

    /// Whether this is a word of a sentence: it looks like one, and is far from the decisive words.
    fn says(&self, range: &Range<usize>, text: &str) -> bool {
        text.bytes().all(|b| b.is_ascii_lowercase())
            && !self.places.is_empty()
            && self.text[..range.start].ends_with(' ')
            && !self.text[..range.start].ends_with(": ")
            && !self
                .places
                .iter()
                .any(|place| place.start < range.end + NEAR && range.start < place.end + NEAR)
    }

    /// The line on which something stands, as far as it matters.
    fn line(&self, range: &Range<usize>) -> Range<usize> {
        let text = self.text;
        let from = text.ceil_char_boundary(range.start.saturating_sub(REACH));
        let until = text.floor_char_boundary((range.end + REACH).min(text.len()));
        let start = text[from..range.start].rfind('\n').map_or(from, |at| from + at + 1);
        let end = text[range.end..until].find('\n').map_or(until, |at| range.end + at);
        start..end
    }

    /// The words on either side.
    fn beside(
        &self,
        range: &Range<usize>,
        line: &Range<usize>,
        signs: &mut Signs,
    ) -> Vec<(&'static str, &'t str)> {
        let mut words = Vec::with_capacity(10);
        let first = self.words.partition_point(|word| word.end <= range.start);
        let last = self.words.partition_point(|word| word.start < range.end);
        let word = |at: Option<usize>| {
            let word = self.words.get(at?)?;
            let on_line = word.start >= line.start && word.end <= line.end;
            on_line.then(|| self.text[word.clone()].trim_matches(is_mark))
        };
        // A word in the same token: `module'x'`, `key=x`.
        let token = self.words.get(first).map_or(range.start, |word| word.start.min(range.start));
        let glued =
            self.text[token.max(line.start)..range.start].trim_end_matches(is_mark_or_equals);
        let key = glued.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next();
        words.extend(key.filter(|key| !key.is_empty()).map(|key| ("key", key)));
        let ago = word(first.checked_sub(2));
        if let Some(before) = word(first.checked_sub(1)) {
            let before = if before.is_empty() { ago.unwrap_or_default() } else { before };
            signs.add_if(names::is_type_name(before), Sign::BehindType);
            signs.add_if(before.contains('/') || Shape::of(before).file, Sign::BehindName);
            words.push(("behind a", sort_of(before)));
            if !before.contains(|c: char| c.is_ascii_digit() || matches!(c, '/' | '.' | '_')) {
                words.push(("before", before));
                words.push((by_kind(self.kind), before));
            }
        }
        words.extend(ago.map(|ago| ("ago", ago)));
        words.extend(word(Some(last)).map(|after| ("after", after)));
        words
    }
}

/// What sort of word stands beside a name: what is known of none of them is known of its like.
fn sort_of(word: &str) -> &'static str {
    let (first, rest) = word.as_bytes().split_at(word.len().min(1));
    match first.first() {
        Some(b'a'..=b'z' | b'A'..=b'Z') if is_plain_word(word) => "plain word",
        Some(b'a'..=b'z') if rest.iter().all(u8::is_ascii_lowercase) => "word",
        Some(b'A'..=b'Z') if rest.iter().all(u8::is_ascii_lowercase) => "capital word",
        _ => "name",
    }
}

/// Where the words of a text stand.
fn words_of(text: &str) -> Vec<Range<usize>> {
    let mut words = Vec::with_capacity(64);
    let mut start = None;
    let mut next = |at: usize, space: bool| match (space, start) {
        (true, Some(from)) => {
            words.push(from..at);
            start = None;
            words.len() < WORDS
        }
        (false, None) => {
            start = Some(at);
            true
        }
        _ => true,
    };
    if text.is_ascii() {
        text.bytes().enumerate().all(|(at, byte)| next(at, byte.is_ascii_whitespace()));
    } else {
        let mut all = text.char_indices();
        all.all(|(at, c)| next(at, c.is_whitespace() || c == '：'));
    }
    next(text.len(), true);
    words
}

fn is_advice(word: &str) -> bool {
    matches!(word, "mean" | "try" | "Try" | "see" | "See" | "run" | "Run" | "use" | "Use")
}

/// The words before a candidate, apart for the kinds in which they mean other things.
fn by_kind(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Permission => "before, denied",
        FailureKind::Conflict | FailureKind::Precondition => "before, in conflict",
        FailureKind::UnknownTool => "before, tool",
        _ => "before, missing",
    }
}

/// A word as it stands, and what stands in it: `key=x`, `f(x)`, `x:12:5`.
fn parts(text: &str, word: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let simple = text.as_bytes()[word.clone()].iter().all(u8::is_ascii_alphanumeric);
    let all = if simple { [Some(word.clone()), None, None, None] } else { inner(text, word) };
    all.into_iter().flatten().filter(|part| !part.is_empty())
}

fn inner(text: &str, word: &Range<usize>) -> [Option<Range<usize>>; 4] {
    let whole = &text[word.clone()];
    let start = whole.len() - whole.trim_start_matches(is_opening).len();
    let end = whole.trim_end_matches(|c| is_closing(c) || c == '.').len().max(start);
    let core = word.start + start..word.start + end;
    let inner = &text[core.clone()];
    let mut all = [Some(core.clone()), None, None, None];
    let scheme = inner.find("://").unwrap_or(inner.len());
    if !inner.starts_with('-') {
        for (slot, (at, _)) in all[1..].iter_mut().zip(inner[..scheme].match_indices('=')) {
            let value = inner[at + 1..].trim_start_matches(is_opening);
            // `x==1.2` is a name with its version.
            if value.starts_with('=') || inner[..at].ends_with('=') {
                continue;
            }
            let from = core.end - value.len();
            let end = value.find([',', ']', ')', '"', '\'', ';', '}', '[']).unwrap_or(value.len());
            *slot = Some(from..from + end);
        }
    }
    if all[3].is_none() {
        // A file with a line, what a verb or a program says it of, what a function is given.
        let behind = |at: usize| core.start + at + 1..core.end;
        let file = |part: &str| part.starts_with('/') || Shape::of(part).file;
        all[3] = match inner[..scheme].find([':', '(', '[']) {
            Some(at) if inner[at..].starts_with(['(', '[']) => {
                let inside = inner[at + 1..].trim_end_matches(is_closing);
                Some(core.start + at + 1..core.start + at + 1 + inside.len())
            }
            Some(at) if inner[at + 1..].starts_with(|c: char| c.is_ascii_digit()) => {
                Some(core.start..core.start + at).filter(|_| inner[..at].contains('.'))
            }
            Some(at) if at > 1 && file(&inner[at + 1..]) => Some(behind(at)),
            _ => None,
        };
    }
    all
}
