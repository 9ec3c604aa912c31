//! What a text says, by a table of phrases. Last in order of trust: words in a path, in quotes
//! or in the middle of another word do not count.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, MatchKind};
use serde::Deserialize;

use super::quotes::Quotes;
use crate::{Error, FailureKind};

/// How far behind the beginning of a phrase its end may stand.
const GAP: usize = 120;

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
    beginnings: Option<AhoCorasick>,
    /// What must follow some beginnings: looked for once in a text, not once for each of them.
    endings: Option<AhoCorasick>,
    /// Whether a phrase ends in the clause in which it begins: `tool x: y not found` tells
    /// nothing of a tool. What a user writes holds as it is written.
    one_clause: bool,
}

struct Phrase {
    rule: usize,
    /// Which ending must follow on the same line.
    then: Option<usize>,
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
            rule.to_owned(),
            phrases.split('|').map(ToOwned::to_owned).collect(),
        ))
    });
    Phrases { one_clause: true, ..Phrases::new(rows) }
});

impl Phrases {
    fn new(rows: impl Iterator<Item = (FailureKind, String, Vec<String>)>) -> Self {
        let (mut rules, mut phrases, mut beginnings) = (Vec::new(), Vec::new(), Vec::new());
        let mut endings: Vec<String> = Vec::new();
        for (kind, rule, words) in rows {
            for phrase in words {
                let (begin, then) = match phrase.split_once('…') {
                    Some((begin, then)) => {
                        let then = then.to_ascii_lowercase();
                        let known = endings.iter().position(|known| *known == then);
                        let index = known.unwrap_or_else(|| {
                            endings.push(then);
                            endings.len() - 1
                        });
                        (begin.to_owned(), Some(index))
                    }
                    None => (phrase, None),
                };
                phrases.push(Phrase { rule: rules.len(), then });
                beginnings.push(begin);
            }
            rules.push((kind, rule));
        }
        let scan = |words: &[String], kind: Option<AhoCorasickKind>| {
            AhoCorasickBuilder::new()
                .kind(kind)
                .ascii_case_insensitive(true)
                .match_kind(MatchKind::Standard)
                .build(words)
                .ok()
        };
        // There are few endings, and the fastest machine for them is small.
        let beginnings = scan(&beginnings, None);
        let endings = scan(&endings, Some(AhoCorasickKind::DFA));
        Self { rules, all: phrases, beginnings, endings, one_clause: false }
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

    /// Every phrase that stands in a text.
    pub(super) fn spoken(&self, text: &str) -> Spoken {
        Spoken(self.hits(text).take(SPOKEN).collect())
    }

    /// Where an ending ends, when it stands near enough on the same line.
    fn follows(
        &self,
        text: &str,
        from: usize,
        then: usize,
        endings: &[(usize, Range<usize>)],
    ) -> Option<usize> {
        // They come in order of their ends.
        let behind = endings.partition_point(|(_, at)| at.end <= from);
        let near = endings[behind..].iter().take_while(|(_, at)| at.end <= from + GAP);
        let (_, at) = near.into_iter().find(|(which, at)| *which == then && at.start >= from)?;
        let gap = text.get(from..at.start)?;
        let crosses = gap.contains('\n') || self.one_clause && gap.contains(": ");
        (!crosses).then_some(at.end)
    }

    fn endings_in(&self, text: &str) -> Vec<(usize, Range<usize>)> {
        let all = self.endings.iter().flat_map(|endings| endings.find_overlapping_iter(text));
        all.take(SPOKEN).map(|hit| (hit.pattern().as_usize(), hit.range())).collect()
    }

    /// Every phrase that stands in a text, with its rule.
    fn hits<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (usize, Range<usize>)> + 't {
        let all =
            self.beginnings.iter().flat_map(move |phrases| phrases.find_overlapping_iter(text));
        let mut endings: Option<Vec<(usize, Range<usize>)>> = None;
        all.filter_map(move |hit| {
            let phrase = &self.all[hit.pattern().as_usize()];
            if !stands_alone(text, hit.start(), hit.end()) || is_condition(text, hit.end()) {
                return None;
            }
            let end = match &phrase.then {
                None => hit.end(),
                Some(then) => {
                    let endings = endings.get_or_insert_with(|| self.endings_in(text));
                    self.follows(text, hit.end(), *then, endings)?
                }
            };
            Some((phrase.rule, hit.start()..end))
        })
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

/// Whether a phrase is neither a part of a word nor of a path.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let bytes = text.as_bytes();
    let wordy = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    // A plural is the same word.
    let end =
        if bytes.get(end) == Some(&b's') && !wordy(bytes.get(end + 1)) { end + 1 } else { end };
    let first_wordy = wordy(bytes.get(start));
    let last_wordy = wordy(bytes.get(end - 1));
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
    // The word around it, up to white space: a path or a file's name is no statement.
    let before = bytes[..start].iter().rev().take_while(|b| !b.is_ascii_whitespace()).count();
    let behind = bytes[end..].iter().take_while(|b| !b.is_ascii_whitespace()).count();
    let glued = |part: &[u8]| part.iter().any(|b| matches!(b, b'/' | b'\\' | b'-'));
    let head = &bytes[start - before..start];
    let tail = &bytes[end..end + behind];
    let path_before =
        first_wordy && head.last().is_some_and(|b| matches!(b, b'/' | b'\\' | b'-' | b'.'));
    let path_behind = last_wordy && matches!(tail.first(), Some(b'/' | b'\\' | b'-'));
    let file = last_wordy
        && tail.first() == Some(&b'.')
        && tail.get(1).is_some_and(u8::is_ascii_alphanumeric);
    !(path_before && (glued(head) || head.len() > 1) || path_behind || file)
}
