//! What a text says, by a table of phrases. Last in order of trust: words in a path, in quotes
//! or in the middle of another word do not count.

use std::ops::Range;
use std::sync::LazyLock;

use serde::Deserialize;

use super::beginnings::Beginnings;
use super::pieces::{Pieces, is_wordy};
use super::quotes::Quotes;
use crate::{Error, FailureKind};

/// How far behind the beginning of a phrase its end may stand.
const GAP: usize = 120;

/// How far a clause is looked through at a time.
const AHEAD: usize = 4 * GAP;

/// How many places of a text are looked at for its resource.
const PLACES: usize = 12;

/// How many phrases of a text count.
const SPOKEN: usize = 8 << 10;

/// A rule of the user's own: these words mean this kind. They come before the built-in ones.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PhraseRule {
    /// What the rule is called.
    pub id: String,
    /// The kind, by its name.
    pub kind: String,
    /// The phrases; `a…b` is a, then b on the same line. Case does not count.
    pub phrases: Vec<String>,
}

/// Phrases behind one scan.
pub(super) struct Phrases {
    rules: Vec<(FailureKind, String)>,
    all: Vec<Phrase>,
    beginnings: Beginnings,
    /// Whether a phrase ends in the clause in which it begins: `tool x: y not found` tells
    /// nothing of a tool. What a user writes holds as it is written.
    one_clause: bool,
}

struct Phrase {
    rule: usize,
    /// What must follow on the same line, in lower case.
    then: Option<Then>,
}

/// How a phrase ends, in lower case.
struct Then {
    text: Box<str>,
    /// Which of its letters is the rarest: there is least to compare where that stands.
    rarest: usize,
}

/// Letters from those that stand in most texts to those that stand in few.
const COMMON: &[u8] = b" etaoinsrhldcumfpgwybvk";

impl Then {
    fn new(text: String) -> Self {
        let common = |letter: u8| COMMON.iter().rev().position(|known| *known == letter);
        let rarest =
            (0..text.len()).min_by_key(|at| common(text.as_bytes()[*at]).map(|nth| nth + 1));
        Self { text: text.into_boxed_str(), rarest: rarest.unwrap_or(0) }
    }
}

/// Phrases that stand in a text: the rule of each, and where.
#[derive(Debug, Default)]
pub(super) struct Spoken(Vec<(usize, Range<usize>)>);

/// Where a rule found its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit<'p> {
    pub(super) kind: FailureKind,
    pub(super) rule: &'p str,
    pub(super) words: Range<usize>,
}

pub(super) static BUILT_IN: LazyLock<Phrases> = LazyLock::new(|| {
    let rows = include_str!("strerror.tsv").lines().chain(include_str!("phrases.tsv").lines());
    let rows = rows.filter(|line| !line.starts_with('#'));
    let rows = rows.filter_map(|line| {
        let mut fields = line.split('\t');
        let (kind, rule, phrases) = (fields.next()?, fields.next()?, fields.next()?);
        Some((
            kind.parse().ok()?,
            format!("text.{rule}"),
            phrases.split('|').map(ToOwned::to_owned).collect(),
        ))
    });
    Phrases { one_clause: true, ..Phrases::new(rows) }
});

impl Phrases {
    fn new(rows: impl Iterator<Item = (FailureKind, String, Vec<String>)>) -> Self {
        let (mut rules, mut all, mut beginnings) = (Vec::new(), Vec::new(), Vec::new());
        for (kind, rule, phrases) in rows {
            for phrase in phrases {
                let (begin, then) = match phrase.split_once('…') {
                    Some((begin, then)) => {
                        (begin.to_owned(), Some(Then::new(then.to_ascii_lowercase())))
                    }
                    None => (phrase, None),
                };
                all.push(Phrase { rule: rules.len(), then });
                beginnings.push(begin);
            }
            rules.push((kind, rule));
        }
        let beginnings = Beginnings::new(beginnings.iter().map(String::as_str));
        Self { rules, all, beginnings, one_clause: false }
    }

    /// The user's own rules.
    pub(super) fn of_user(rules: &[PhraseRule]) -> Result<Self, Error> {
        let rows: Result<Vec<_>, Error> = rules
            .iter()
            .map(|rule| {
                if rule.phrases.iter().any(|phrase| phrase.trim().is_empty()) {
                    return Err(Error::EmptyPhrase { id: rule.id.clone() });
                }
                Ok((rule.kind.parse()?, rule.id.clone(), rule.phrases.clone()))
            })
            .collect();
        Ok(Self::new(rows?.into_iter()))
    }

    /// The first rule of the table with a phrase in the text, and where its longest phrase stands.
    pub(super) fn find(&self, text: &str, quotes: &Quotes) -> Option<Hit<'_>> {
        self.first(text, &self.spoken(text), quotes)
    }

    /// The same, of phrases that were found before.
    pub(super) fn first(&self, text: &str, spoken: &Spoken, quotes: &Quotes) -> Option<Hit<'_>> {
        let mut best: Option<(usize, &Range<usize>)> = None;
        for (rule, words) in &spoken.0 {
            // Of one rule, the longest phrase says most.
            let better = best.is_none_or(|(known, longest)| {
                *rule < known || *rule == known && words.len() > longest.len()
            });
            if better && !quotes.hide(text, words) {
                best = Some((*rule, words));
            }
        }
        best.map(|(rule, words)| {
            let (kind, rule) = &self.rules[rule];
            Hit { kind: *kind, rule, words: words.clone() }
        })
    }

    /// Every place in which a text speaks of a kind, in order; phrases that overlap are one.
    pub(super) fn places(&self, kind: FailureKind, spoken: &Spoken) -> Vec<Range<usize>> {
        let of_kind = spoken.0.iter().filter(|(rule, _)| self.rules[*rule].0 == kind);
        joined(of_kind.map(|(_, words)| words.clone()).collect())
    }

    /// Every phrase that stands in a text, in the order in which their beginnings end; of those
    /// that end in the same place, the longest first.
    pub(super) fn spoken(&self, text: &str) -> Spoken {
        self.spoken_in(&Pieces::of(text))
    }

    /// The same of a text of which the words are known.
    pub(super) fn spoken_in(&self, pieces: &Pieces) -> Spoken {
        let text = pieces.text;
        let mut spoken: Vec<(usize, usize, usize, Range<usize>)> = Vec::with_capacity(16);
        let mut clause = Clause::new(text, self.one_clause);
        self.beginnings.each_in(pieces, |all, at| {
            if !stands_alone(text, at.start, at.end) || is_condition(text, at.end) {
                return;
            }
            for &nth in all {
                let phrase = &self.all[nth];
                let end = match &phrase.then {
                    None => Some(at.end),
                    Some(then) => follows(&clause.behind(at.end), then).map(|end| at.end + end),
                };
                if let Some(end) = end.filter(|end| !is_ordinal(text, *end)) {
                    spoken.push((at.end, nth, phrase.rule, at.start..end));
                }
            }
        });
        spoken.sort_unstable_by_key(|(begun, nth, _, words)| (*begun, words.start, *nth));
        Spoken(spoken.into_iter().take(SPOKEN).map(|(_, _, rule, words)| (rule, words)).collect())
    }
}

/// Where clauses end in a text: looked for once for all phrases that begin before.
struct Clause<'t> {
    bytes: &'t [u8],
    /// Whether a clause ends with a colon, too.
    with_colons: bool,
    /// From where on it was looked for an end, and as far as none stands.
    from: usize,
    until: usize,
    /// Whether an end stands there: behind the first letter of it where that is a colon.
    end: Option<usize>,
}

impl<'t> Clause<'t> {
    fn new(text: &'t str, with_colons: bool) -> Self {
        Self { bytes: text.as_bytes(), with_colons, from: 1, until: 0, end: None }
    }

    /// What stands behind the beginning of a phrase: as far as its end may stand and begin.
    fn behind(&mut self, from: usize) -> (&'t [u8], usize) {
        let near = &self.bytes[from..self.bytes.len().min(from + GAP)];
        let is_known = self.from <= from
            && (from + near.len() <= self.until || self.end.is_some() && from <= self.until);
        if !is_known {
            self.look(from);
        }
        let until = self.end.map_or(near.len(), |end| (end - from).min(near.len()));
        (near, until)
    }

    fn look(&mut self, from: usize) {
        let ahead = &self.bytes[from..self.bytes.len().min(from + AHEAD)];
        let mut marks = memchr::memchr2_iter(b'\n', b':', ahead);
        let end = marks
            .find(|at| ahead[*at] == b'\n' || self.with_colons && ahead.get(at + 1) == Some(&b' '));
        self.from = from;
        self.until = from + end.unwrap_or(ahead.len());
        self.end = end.map(|at| from + at + usize::from(ahead[at] == b':'));
    }
}

/// Where an ending ends, when it begins in a clause.
fn follows((near, until): &(&[u8], usize), then: &Then) -> Option<usize> {
    let text = then.text.as_bytes();
    let Some(rarest) = text.get(then.rarest) else { return Some(0) };
    let last = near.len().checked_sub(text.len())?.min(*until);
    let (lower, upper) = (*rarest, rarest.to_ascii_uppercase());
    let mut start = 0;
    loop {
        let from = near.get(start + then.rarest..=last + then.rarest)?;
        start += memchr::memchr2(lower, upper, from)?;
        if near[start..start + text.len()].eq_ignore_ascii_case(text) {
            return Some(start + text.len());
        }
        start += 1;
    }
}

/// Ranges in order, those that overlap as one.
pub(super) fn joined(mut places: Vec<Range<usize>>) -> Vec<Range<usize>> {
    places.sort_by_key(|place| place.start);
    places.dedup_by(|next, place| {
        let overlaps = next.start < place.end;
        if overlaps {
            place.end = place.end.max(next.end);
        }
        overlaps
    });
    places.truncate(PLACES);
    places
}

/// Whether a phrase says what should be or might be: `check that the file exists`, `if it exists`.
fn is_condition(text: &str, end: usize) -> bool {
    const REACH: usize = 48;
    if !text.as_bytes()[..end].ends_with(b" exists") {
        return false;
    }
    let before = &text[text.ceil_char_boundary(end.saturating_sub(REACH))..end];
    let clause = before.rsplit(['\n', '.', ';', ':']).next().unwrap_or(before);
    !clause.contains("already")
        && clause
            .split(' ')
            .any(|word| matches!(word, "if" | "that" | "whether" | "sure" | "ensure"))
}

/// What goes on behind `first` where that is an order in time, and no number.
const IN_TIME: &[&str] = &["and", "before", "by", "if", "or", "then", "to", "using", "via", "with"];

/// Whether a phrase ends in the first of several, not in what comes first: `run the first step`.
fn is_ordinal(text: &str, end: usize) -> bool {
    if !text.as_bytes()[..end].ends_with(b" first") {
        return false;
    }
    let next = text[end..].strip_prefix(' ').unwrap_or_default();
    let next = next.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    !next.is_empty() && !IN_TIME.contains(&next)
}

/// Whether a phrase is neither a part of a word nor of a path.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let bytes = text.as_bytes();
    // Between spaces, most do.
    let before = start.checked_sub(1).and_then(|at| bytes.get(at));
    if [before, bytes.get(end)].iter().all(|byte| byte.is_none_or(u8::is_ascii_whitespace)) {
        return true;
    }
    let wordy = |byte: Option<&u8>| byte.copied().is_some_and(is_wordy);
    // A plural is the same word.
    let end =
        if bytes.get(end) == Some(&b's') && !wordy(bytes.get(end + 1)) { end + 1 } else { end };
    let first_wordy = wordy(bytes.get(start));
    let last_wordy = wordy(end.checked_sub(1).and_then(|last| bytes.get(last)));
    if first_wordy && start > 0 && wordy(bytes.get(start - 1))
        || last_wordy && wordy(bytes.get(end))
    {
        // `throttl` and `cannot read propert` are meant as beginnings.
        let beginning = !wordy(start.checked_sub(1).and_then(|at| bytes.get(at)))
            && (text[start..end].ends_with("throttl") || text[start..end].ends_with("propert"));
        if !beginning {
            return false;
        }
    }
    // A path or a file's name is no statement.
    let is_spaced =
        |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_none_or(u8::is_ascii_whitespace);
    let path_before = first_wordy
        && match start.checked_sub(1).and_then(|at| bytes.get(at)) {
            Some(b'/' | b'\\' | b'-') => true,
            Some(b'.') => !is_spaced(start.checked_sub(2)),
            _ => false,
        };
    let path_behind = last_wordy
        && match bytes.get(end) {
            Some(b'/' | b'\\' | b'-') => true,
            Some(b'.') => bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric),
            _ => false,
        };
    !path_before && !path_behind
}

#[cfg(test)]
mod tests {
    use aho_corasick::AhoCorasick;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    /// Every phrase of the table, with a word between its parts.
    static TABLE: LazyLock<Vec<String>> = LazyLock::new(|| {
        let lines = include_str!("strerror.tsv").lines().chain(include_str!("phrases.tsv").lines());
        let phrases = lines.filter(|line| !line.starts_with('#')).filter_map(|line| {
            Some(line.split('\t').nth(2)?.split('|').map(|phrase| phrase.replace('…', " x ")))
        });
        phrases.flatten().collect()
    });

    /// Every phrase that stands in a text, looked for in every place.
    fn slowly(text: &str) -> Vec<(usize, Range<usize>)> {
        let hits = EVERYWHERE.find_overlapping_iter(text).filter_map(|hit| {
            let phrase = &BUILT_IN.all[hit.pattern().as_usize()];
            if !stands_alone(text, hit.start(), hit.end()) || is_condition(text, hit.end()) {
                return None;
            }
            let end = match &phrase.then {
                None => hit.end(),
                Some(then) => {
                    let near = &text[hit.end()..text.floor_char_boundary(hit.end() + GAP)];
                    let at = near.to_ascii_lowercase().find(&*then.text)?;
                    let crosses = near[..at].contains('\n') || near[..at].contains(": ");
                    (!crosses).then_some(hit.end() + at + then.text.len())?
                }
            };
            if is_ordinal(text, end) {
                return None;
            }
            Some((phrase.rule, hit.start()..end))
        });
        hits.take(SPOKEN).collect()
    }

    static EVERYWHERE: LazyLock<AhoCorasick> = LazyLock::new(|| {
        let lines = include_str!("strerror.tsv").lines().chain(include_str!("phrases.tsv").lines());
        let phrases = lines.filter(|line| !line.starts_with('#')).filter_map(|line| {
            let begin = |phrase: &'static str| phrase.split('…').next().unwrap_or_default();
            Some(line.split('\t').nth(2)?.split('|').map(begin))
        });
        AhoCorasick::builder().ascii_case_insensitive(true).build(phrases.flatten()).unwrap()
    });

    #[test]
    fn every_phrase_of_the_table_is_found_where_a_word_begins() {
        assert_eq!(EVERYWHERE.patterns_len(), BUILT_IN.all.len());
        for phrase in TABLE.iter() {
            let text = format!("{phrase} of {}", phrase.to_uppercase());
            assert_eq!(BUILT_IN.spoken(&text).0, slowly(&text), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn phrases_are_found_as_if_every_place_were_looked_at(
            parts in prop::collection::vec(
                (select(TABLE.as_slice()), select(vec![" ", "", "\n", ": ", "/", "-", "s ", ". ", "_", "é", "\""])),
                1..12,
            ),
            upper: bool,
        ) {
            let text: String = parts.iter().flat_map(|(phrase, between)| [&**phrase, between]).collect();
            let text = if upper { text.to_ascii_uppercase() } else { text };
            prop_assert_eq!(BUILT_IN.spoken(&text).0, slowly(&text));
        }
    }
}
