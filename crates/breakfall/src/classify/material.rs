//! An error taken apart, and what its words tell by the table of phrases.

use std::borrow::Cow;
use std::ops::Range;

use super::bare::says_nothing;
use super::believe::of_an_answer;
use super::body::Body;
use super::decide::{Verdict, is_unauthorized};
use super::pattern::Marked;
use super::phrases::{BUILT_IN, Hit, Spoken};
use super::pieces::Pieces;
use super::quotes::Quotes;
use super::read::Evidence;
use super::segment::Segment;
use super::signals::json_rpc_in;
use crate::FailureKind;

/// An error taken apart.
#[derive(Clone, Copy)]
pub(super) struct Material<'a> {
    pub(super) evidence: &'a Evidence<'a>,
    /// What is read of the text.
    pub(super) whole: Marked<'a>,
    pub(super) segment: &'a Segment<'a>,
    /// What is read of the decisive part.
    pub(super) marked: Marked<'a>,
    pub(super) body: Option<&'a Body>,
    /// What the body says, or the decisive part of the text.
    pub(super) said: &'a str,
    /// The words of that.
    pub(super) pieces: &'a Pieces<'a>,
    pub(super) quotes: &'a Quotes,
    pub(super) spoken: &'a Spoken,
    pub(super) status: Option<u16>,
}

impl Material<'_> {
    /// The JSON-RPC code that it came with, or that it tells.
    pub(super) fn json_rpc(&self) -> Option<i64> {
        let body = || self.body.and_then(|body| body.json_rpc);
        self.evidence.json_rpc_code.or_else(body).or_else(|| json_rpc_in(&self.marked))
    }

    /// What the text says, by the table of phrases.
    pub(super) fn phrase(&self) -> Option<Verdict> {
        if says_nothing(self.said) {
            return None;
        }
        let first = |quotes: &Quotes| BUILT_IN.first(self.said, self.spoken, quotes);
        let hit = match first(self.quotes) {
            // That there is no connection is said of a password, too, and then why in quotes.
            Some(hit) if hit.rule == "text.connection" => {
                let quoted = first(&Quotes::default());
                let quoted = quoted.filter(|quoted| quoted.kind == FailureKind::Authentication);
                quoted.or_else(|| self.behind_a_pipe(&hit)).unwrap_or(hit)
            }
            Some(hit) => hit,
            None => first(&Quotes::default())?,
        };
        let told = |kind: FailureKind, rule: &'static str, place: Range<usize>| Verdict {
            kind,
            rule: Cow::Borrowed(rule),
            words: self.said.get(place.clone()).map(ToOwned::to_owned),
            place: Some(place),
        };
        let phrase = told(hit.kind, hit.rule, hit.words);
        let denied = || BUILT_IN.places(FailureKind::Permission, self.spoken).into_iter().next();
        let denied = if is_unauthorized(&phrase) { denied() } else { None };
        let phrase =
            denied.map_or(phrase, |denied| told(FailureKind::Permission, "text.denied", denied));
        Some(of_an_answer(phrase, self.said))
    }

    /// What Docker's daemon says of a call, in quotes: it has one status for whatever went wrong.
    pub(super) fn of_a_daemon(&self, status: u16) -> Option<Verdict> {
        if status != 500 || !self.said.contains("http+docker://") {
            return None;
        }
        let hit = BUILT_IN.first(self.said, self.spoken, &Quotes::default())?;
        let words = self.said.get(hit.words.clone())?;
        let told = Verdict { place: Some(hit.words), ..Verdict::new(hit.kind, hit.rule, words) };
        (told.kind != FailureKind::Upstream).then_some(told)
    }

    /// What was missing for the program at the other end of a pipe that broke: `tar (child): x: No
    /// such file or directory`, and then `Broken pipe`.
    fn behind_a_pipe(&self, hit: &Hit) -> Option<Hit<'static>> {
        const MISSING: &str = "No such file or directory";
        let is_pipe = self.said.get(hit.words.clone())?.eq_ignore_ascii_case("broken pipe");
        let before = self.said.get(..hit.words.start).filter(|_| is_pipe)?;
        let at = before.find(MISSING)?;
        let words = at..at + MISSING.len();
        Some(Hit { kind: FailureKind::NotFound, rule: "text.missing-file", words })
    }
}
