//! Every name in a text that may be what a failure is about, each with the signs that speak for
//! it or against it: its shape, the words beside it, where it stands from the decisive phrase.

use std::ops::Range;

use super::among::signs_of_all;
use super::code::{is_of_the_code, is_type};
use super::letters::{
    BEYOND, COLON, DIGIT, DOT, LETTERS, LOWER, MARK_OR_EQUALS, ODD, SLASH, UNDERSCORE, UPPER, sorts,
};
use super::nameless::{is_nameless_field, is_nameless_of, tells_of_the_request};
use super::names::{Shape, tidy, tidy_of};
use super::parts::each_part;
use super::scene::{Scene, Spot, Word};
use super::signs::{REACH, Sign, Signs, on_line, relate, shape};
use super::vocabulary::{Known, is_plain_word, known, known_by};
use super::{About, forms, speaks};
use crate::classify::names::{self, Told};
use crate::classify::pattern::Marked;
use crate::classify::phrases::BUILT_IN;
use crate::classify::pieces::Pieces;
use crate::classify::quotes::Quotes;

/// How many candidates are weighed.
const MOST: usize = 96;

/// The sorts of small letters with a mark behind them.
const SMALL_COLON: u16 = LOWER | COLON;
const SMALL_DOT: u16 = LOWER | DOT;
const SMALL_ODD: u16 = LOWER | ODD;

/// How near to the decisive words a plain word must stand.
const NEAR: usize = 16;

/// How codes end that say in which way something failed.
const OUTCOMES: &[&str] = &[
    "Error",
    "Mismatch",
    "NOT_FOUND",
    "NotFound",
    "_conflict",
    "_denied",
    "_exists",
    "_failed",
    "_granted",
    "_mismatch",
    "DENIED",
    "ot_found",
];

/// A name that a failure may be about.
#[derive(Debug)]
pub(super) struct Candidate<'t> {
    pub(super) text: &'t str,
    /// What is so or not so.
    pub(super) signs: Signs,
    pub(super) beside: Beside<'t>,
    /// How far it stands before the decisive words, or behind them.
    pub(super) gaps: [usize; 2],
    /// Whether it is the type of the error itself: what is so of the others is told with it, and it
    /// names nothing.
    pub(super) is_type: bool,
}

/// The words beside a name.
#[derive(Debug, Default)]
pub(super) struct Beside<'t> {
    /// The name of its field.
    pub(super) field: Option<&'t str>,
    /// A word in the same token: `key=x`.
    pub(super) key: Option<&'t str>,
    pub(super) before: Option<&'t str>,
    pub(super) ago: Option<&'t str>,
    pub(super) after: Option<&'t str>,
}

/// The candidates of a failure, the likeliest first: what a form or quotes tell, then bare words and
/// the fields of a body, then what stands around the decisive part. No more of them are looked for
/// where those before are enough.
pub(super) fn candidates<'t>(
    about: &'t About<'t>,
    enough: impl Fn(&[Candidate<'t>], Stage) -> bool,
) -> Vec<Candidate<'t>> {
    let mut found = Vec::with_capacity(8);
    let own;
    let pieces = match about.pieces {
        Some(pieces) => pieces,
        None => {
            own = Pieces::of(about.said);
            &own
        }
    };
    let scene = Scene::of(about, pieces, &about.places, false);
    let marked = about.marked.unwrap_or_else(|| Marked::new(about.said));
    if let Some(form) = forms::find(about.kind, &marked) {
        let mut signs = Signs::default();
        signs.add(Sign::Form);
        scene.weigh(&scene.spot(&form), None, signs, &mut found);
    }
    scene.quoted(about.quotes, &mut found);
    if !found.is_empty() {
        signs_of_all(&mut found);
        if enough(&found, Stage::Quoted) {
            return found;
        }
    }
    scene.bare(about.quotes, &mut found);
    if let Some(body) = about.body {
        for (name, value) in &body.fields {
            let Some(text) = tidy(value).filter(|_| found.len() < MOST) else { continue };
            if is_nameless_field(name, text) {
                continue;
            }
            let mut signs = Signs::default();
            signs.add(Sign::Field);
            shape(text, sorts(text), about.status.is_some(), &mut signs);
            let beside = Beside { field: Some(name), ..Beside::default() };
            found.push(Candidate { text, signs, beside, gaps: [usize::MAX; 2], is_type: false });
        }
    }
    signs_of_all(&mut found);
    if about.around.is_empty() || enough(&found, Stage::Decisive) {
        return found;
    }
    for text in &about.around {
        let pieces = Pieces::of(text);
        let places = speaks(about.kind, text, &BUILT_IN.spoken_in(&pieces));
        let scene = Scene::of(about, &pieces, &places, true);
        let quotes = Quotes::of(text);
        scene.quoted(&quotes, &mut found);
        scene.bare(&quotes, &mut found);
    }
    signs_of_all(&mut found);
    found
}

/// How far candidates were looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// What a form or quotes tell.
    Quoted,
    /// All of the decisive part.
    Decisive,
}

/// Whether what is quoted is one name of two or three words, none of which is the sentence's.
fn is_title(quoted: &str) -> bool {
    let is_part = |word: &str| {
        let known = known(word);
        let is_said = known.is_common && !word.starts_with(|c: char| c.is_ascii_uppercase());
        word.bytes().all(|byte| byte.is_ascii_alphanumeric()) && !known.is_plain && !is_said
    };
    quoted.len() < 48
        && (2..4).contains(&quoted.split(' ').take(4).count())
        && quoted.starts_with(|c: char| c.is_ascii_uppercase())
        && quoted.split(' ').all(is_part)
}

impl<'t> Scene<'t> {
    /// Gathers what stands in quotes.
    fn quoted(&self, quotes: &Quotes, found: &mut Vec<Candidate<'t>>) {
        for (nth, quote) in quotes.0.iter().enumerate() {
            if self.in_reach(quote) {
                let mut signs = Signs::default();
                let mark = self.text[..quote.start].bytes().next_back();
                signs.add(if matches!(mark, Some(b'[' | b'<')) {
                    Sign::Bracketed
                } else {
                    Sign::Quoted
                });
                signs.add_if(nth == 0, Sign::FirstQuote);
                let last = nth.checked_sub(1).and_then(|last| quotes.0.get(last));
                let later = last.is_some_and(|last| {
                    let between = last.end..quote.start;
                    between.len() < REACH
                        && !self.breaks(&between)
                        && !self.is_other_clause(&between)
                });
                signs.add_if(later, Sign::LaterQuote);
                self.weigh(&self.spot(quote), None, signs, found);
            }
        }
    }

    /// Gathers what does not.
    fn bare(&self, quotes: &Quotes, found: &mut Vec<Candidate<'t>>) {
        // Quotations come in order and do not overlap.
        let mut next = 0;
        // Nor do places, and words come in order, too.
        let mut place = 0;
        for (nth, word) in self.words.iter().enumerate() {
            if found.len() >= MOST {
                break;
            }
            let range = word.range();
            if !self.in_reach(&range) {
                continue;
            }
            // Most words are plain, or the sentence's.
            while self.places.get(place).is_some_and(|place| place.range.end + NEAR <= word.start())
            {
                place += 1;
            }
            let beside = self.places.get(place).is_some_and(|p| p.range.start < word.end() + NEAR);
            let lower = self.small(word);
            let is_of_sentence = |small: &Range<usize>| {
                let known = || match word.key {
                    0 => known(&self.text[small.clone()]),
                    key => known_by(key),
                };
                !beside && self.is_in_sentence(small) || self.is_said(small, known())
            };
            if lower.is_some_and(|small| is_of_sentence(&small)) {
                continue;
            }
            while quotes.0.get(next).is_some_and(|quote| quote.end + 1 < word.end()) {
                next += 1;
            }
            let inside = quotes.0.get(next).filter(|quote| quote.start <= word.start());
            if inside.is_some_and(|quote| is_title(&self.text[quote.clone()])) {
                continue;
            }
            let inside = inside.is_some();
            let mut signs = Signs::default();
            signs.add_if(inside, Sign::InQuotes);
            each_part(self.text, *word, |part| {
                // What is quoted as a whole was taken as such.
                let known = quotes.0.binary_search_by_key(&part.start, |quote| quote.start);
                if !known.is_ok_and(|at| quotes.0[at].end == part.end) {
                    let whole = part.len() == word.end() - word.start();
                    let sorts = whole.then_some(word.sorts);
                    self.weigh(&self.spot_in(nth, &part), sorts, signs, found);
                }
            });
        }
    }

    /// The letters of a word of which all are in lower case, without a mark behind them.
    fn small(&self, word: &Word) -> Option<Range<usize>> {
        if word.sorts == LOWER {
            return Some(word.range());
        }
        if word.key == 0 || !matches!(word.sorts, SMALL_COLON | SMALL_DOT | SMALL_ODD) {
            return None;
        }
        // There is no mark between them, so that their ends tell where marks are.
        match &self.text.as_bytes()[word.range()] {
            [b'a'..=b'z', b':' | b'.' | b',' | b';']
            | [b'a'..=b'z', .., b'a'..=b'z', b':' | b'.' | b',' | b';'] => {
                Some(word.start()..word.end() - 1)
            }
            _ => None,
        }
    }

    /// Adds what stands in a place, unless it cannot be a name. Of a whole word, the sorts of its
    /// letters are known, and that it is not plain where they are all of lower case.
    fn weigh(
        &self,
        spot: &Spot,
        known: Option<u16>,
        mut signs: Signs,
        found: &mut Vec<Candidate<'t>>,
    ) {
        let range = spot.range.clone();
        let Some(there) = self.text.get(range.clone()) else { return };
        let made_of = known.unwrap_or_else(|| sorts(there));
        let Some(text) = tidy_of(there, made_of) else { return };
        let sorts = if text.len() == there.len() { made_of } else { sorts(text) };
        if found.len() >= MOST
            || known != Some(LOWER) && !self.may_be_named(&range, text, sorts, signs)
            || !signs.has(Sign::Form) && self.names_nothing(&range, text, sorts)
        {
            return;
        }
        let line = self.line(&range);
        if !signs.has(Sign::Form) && is_of_the_code(self.text, &range, &line) {
            return;
        }
        let is_type = !signs.has(Sign::Form) && is_type(self.text, &range, &line);
        signs.add_if(self.outside, Sign::Outside);
        shape(text, sorts, self.status, &mut signs);
        on_line(self, &range, &line, &mut signs);
        signs.add_if(self.advises(&(line.start..range.start)), Sign::Advice);
        let beside = self.beside(spot, &line, &mut signs);
        if !signs.has(Sign::Form) && tells_of_the_request(&beside, text) {
            return;
        }
        let mut gaps = [usize::MAX; 2];
        // In order: what is too far away is passed over.
        let far = self.places.partition_point(|place| place.range.end + REACH < range.start);
        for place in &self.places[far..] {
            if place.range.start > range.end + REACH {
                break;
            }
            relate(self, spot, place, &mut signs, &mut gaps);
        }
        let program = signs.has(Sign::LineStart) && signs.has(Sign::ThenColon);
        signs.add_if(program && !signs.has(Sign::Before), Sign::Program);
        // Nothing is said but a name: what a library raises for a key or a table.
        let whole = signs.has(Sign::WholeText) && !self.outside && !signs.has(Sign::Type);
        signs.add_if(whole && !text.contains(' ') && !text.contains('_'), Sign::WholeName);
        found.push(Candidate { text, signs, beside, gaps, is_type });
    }

    /// Whether it is nothing but what decided, or no name of anything.
    fn names_nothing(&self, range: &Range<usize>, text: &str, sorts: u16) -> bool {
        // A sentence in quotes that says so, too.
        let is_decisive = |Spot { range: place, .. }: &Spot| {
            place == range
                || range.start <= place.start && place.end <= range.end && text.contains(' ')
        };
        self.places.iter().any(is_decisive)
            || self.code == Some(text)
            || self.is_kind(text)
            || is_nameless_of(self.text, range, text, sorts)
    }

    /// Whether it is a code that says no more than in which way it failed: `PersistedQueryNotFound`.
    fn is_kind(&self, text: &str) -> bool {
        // The last letters of these: most names have another.
        if !matches!(text.as_bytes().last(), Some(b'n' | b'r' | b'h' | b'D' | b'd' | b's')) {
            return false;
        }
        let is_code = || {
            let inner = text.bytes().skip(1).any(|byte| byte == b'_' || byte.is_ascii_uppercase());
            inner && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        text.ends_with("_exception")
            || OUTCOMES.iter().any(|end| text.ends_with(end))
                && is_code()
                && names::tell(text) == Some(Told::Surely(self.kind))
    }

    /// Whether it can be a name at all: quoted, or by a form, or neither a plain word nor a status.
    fn may_be_named(&self, range: &Range<usize>, text: &str, sorts: u16, signs: Signs) -> bool {
        let lettered = sorts & (LETTERS | DIGIT) != 0
            || sorts & BEYOND != 0 && text.contains(char::is_alphanumeric);
        if signs.has(Sign::Quoted) || signs.has(Sign::Bracketed) {
            return lettered;
        }
        if signs.has(Sign::Form) {
            return !is_plain_word(text)
                || text.starts_with(|c: char| c.is_ascii_uppercase())
                || self.stands_out(range);
        }
        let status = sorts == DIGIT && text.len() == 3 && matches!(text.parse(), Ok(400_u16..=599));
        // A type of C++, as it stands in the name of a function.
        let has_signs = sorts & !(LETTERS | DIGIT) != 0;
        if has_signs && (text.starts_with("std::") || text.ends_with('&') || text.ends_with("&,")) {
            return false;
        }
        let says = sorts == LOWER && self.says(range);
        let plain = match sorts {
            LOWER => self.is_said(range, known(&self.text[range.clone()])),
            _ => is_plain_word(text) || self.opens_sentence(range, text),
        };
        lettered && !status && !says && !plain
    }

    /// Whether it is such a word with a capital: `Board not found`.
    fn opens_sentence(&self, range: &Range<usize>, text: &str) -> bool {
        let is_capital = match text.as_bytes() {
            [first, rest @ ..] => {
                first.is_ascii_uppercase() && rest.iter().all(u8::is_ascii_lowercase)
            }
            [] => false,
        };
        is_capital && known(text).is_common && !self.stands_out(range)
    }

    /// Whether it is a word that sentences are made of, and no name.
    fn is_said(&self, range: &Range<usize>, known: &Known) -> bool {
        let is_name = || self.stands_out(range) && (known.is_common || self.is_asked_for(range));
        (known.is_plain || known.is_common) && !is_name()
    }

    /// Whether it stands behind what says that there is no such thing: `no such volume: data`.
    fn is_asked_for(&self, range: &Range<usize>) -> bool {
        let is_none = |place: &Spot| {
            let words = self.text.as_bytes().get(place.range.clone()).unwrap_or_default();
            words.get(..8).is_some_and(|begin| begin.eq_ignore_ascii_case(b"no such "))
        };
        self.places.iter().any(|place| place.range.end + 2 == range.start && is_none(place))
    }

    /// Whether a word is all that stands behind a colon, or opens a line before one.
    fn stands_out(&self, range: &Range<usize>) -> bool {
        let bytes = self.text.as_bytes();
        // Most words stand between two spaces.
        if bytes.get(range.end) == Some(&b' ') {
            return false;
        }
        let (before, behind) = (&bytes[..range.start], &bytes[range.end..]);
        let ends = matches!(behind, [] | [b'\n' | b'\r', ..] | [b'.'] | [b'.', b'\n', ..]);
        let opens = before.is_empty() || before.ends_with(b"\n");
        before.ends_with(b": ") && ends || opens && behind.starts_with(b": ")
    }

    /// Whether what looks like one is a word of a sentence: it is far from the decisive words.
    fn says(&self, range: &Range<usize>) -> bool {
        self.is_in_sentence(range) && !self.is_beside(range, NEAR)
    }

    /// Whether a word stands behind another, in a text that says what it is about.
    fn is_in_sentence(&self, range: &Range<usize>) -> bool {
        let before = &self.text.as_bytes()[..range.start];
        !self.places.is_empty() && before.ends_with(b" ") && !before.ends_with(b": ")
    }

    /// The words on either side.
    fn beside(&self, spot: &Spot, line: &Range<usize>, signs: &mut Signs) -> Beside<'t> {
        let Spot { range, before, behind } = spot;
        // The first word that is not all before it, and the first that is all behind it.
        let over = |at: usize| self.words.get(at).is_some_and(|word| word.end() > range.start);
        let first = before.checked_sub(1).filter(|last| over(*last)).unwrap_or(*before);
        let holds = self.words.get(*behind).is_some_and(|word| word.start() < range.end);
        let last = behind + usize::from(holds);
        // A word in the same token: `module'x'`, `key=x`.
        let token = self.words.get(first).map_or(range.start, |word| word.start().min(range.start));
        let glued = MARK_OR_EQUALS.trim_end(&self.text[token.max(line.start)..range.start]);
        let key = glued.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next();
        let key = key.filter(|key| !key.is_empty());
        let ago = self.word(first.checked_sub(2), line);
        let before = self.word(first.checked_sub(1), line);
        let before =
            before.map(|word| if word.0.is_empty() { ago.unwrap_or_default() } else { word });
        if let Some((before, sorts)) = before {
            let typed = sorts & (UPPER | UNDERSCORE) != 0 && names::is_type_name(before);
            signs.add_if(typed, Sign::BehindType);
            let named =
                sorts & (SLASH | DOT) != 0 && (before.contains('/') || Shape::of(before).file);
            signs.add_if(named, Sign::BehindName);
        }
        let said = |word: Option<(&'t str, u16)>| word.map(|(word, _)| word);
        let after = said(self.word(Some(last), line));
        Beside { field: None, key, before: said(before), ago: said(ago), after }
    }
}
