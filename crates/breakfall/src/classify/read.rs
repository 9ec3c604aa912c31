//! An error becomes a reading: taken apart, its kind decided, its resource and its wait found.

use std::time::Duration;

use super::body::Body;
use super::decide::{Material, Verdict, decide, may_pass};
use super::pattern::Marked;
use super::phrases::{BUILT_IN, PhraseRule, Phrases};
use super::quotes::Quotes;
use super::segment::{Segment, bounded};
use super::signals::status_in;
use super::words::Words;
use super::{resource, wait};
use crate::{Error, FailureKind, MayPass};

/// What is known of an error that nobody declared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    /// Its text.
    pub text: &'a str,
    /// The name of its type, where the caller knows it.
    pub type_name: Option<&'a str>,
    /// The HTTP status it came with.
    pub http_status: Option<u16>,
    /// The exit code of the program that wrote it.
    pub exit_code: Option<i64>,
    /// The JSON-RPC code it came with.
    pub json_rpc_code: Option<i64>,
}

/// What an error comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Which way it is a failure.
    pub kind: FailureKind,
    /// Which rule decided.
    pub rule: String,
    /// On what words.
    pub words: Option<String>,
    /// What is missing, denied or in the way.
    pub resource: Option<String>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// How long it asks to wait.
    pub wait: Option<Duration>,
    /// Could the same call succeed later?
    pub may_pass: MayPass,
}

/// Reads errors. The user's own phrases come before the built-in ones.
#[derive(Default)]
pub struct Reader {
    own: Option<Phrases>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

impl Reader {
    /// A reader with rules of the user's own.
    pub fn with_rules(rules: &[PhraseRule]) -> Result<Self, Error> {
        let own = if rules.is_empty() { None } else { Some(Phrases::of_user(rules)?) };
        Ok(Self { own })
    }

    /// Reads an error.
    pub fn read(&self, evidence: &Evidence) -> Reading {
        Self::taken_apart(evidence, |material, text| self.reading(material, text))
    }

    /// What the weights of a resource's signs are learned from: its candidates, each with its
    /// signs, and first what speaks for none.
    #[doc(hidden)]
    pub fn signs(&self, evidence: &Evidence) -> Vec<(String, Vec<String>)> {
        Self::taken_apart(evidence, |material, text| {
            let verdict = decide(material, self.own.as_ref());
            material.about(&verdict, text).map(|about| about.signs()).unwrap_or_default()
        })
    }

    /// The words that are asked where no rule knows a phrase: what their weights are learned from.
    #[doc(hidden)]
    pub fn words(evidence: &Evidence) -> Vec<String> {
        Self::taken_apart(evidence, |material, _| {
            Words::of(material.said, evidence.type_name).spelled()
        })
    }

    fn taken_apart<T>(evidence: &Evidence, then: impl FnOnce(&Material, &str) -> T) -> T {
        let text = bounded(evidence.text);
        let whole = Marked::new(&text);
        let segment = Segment::of(&whole);
        let marked = whole.part(segment.text);
        let body = Body::of(&marked);
        let said =
            body.as_ref().map(|body| body.messages.join("\n")).filter(|said| !said.is_empty());
        let said = said.as_deref().unwrap_or(segment.text);
        let quotes = Quotes::of(said);
        let spoken = BUILT_IN.spoken(said);
        let status = evidence
            .http_status
            .filter(|status| *status >= 100)
            .or_else(|| status_in(&marked).or_else(|| body.as_ref().and_then(|body| body.status)));
        let material = Material {
            evidence,
            segment: &segment,
            marked,
            body: body.as_ref(),
            said,
            quotes: &quotes,
            spoken: &spoken,
            status,
        };
        then(&material, &text)
    }

    fn reading(&self, material: &Material, text: &str) -> Reading {
        let verdict = decide(material, self.own.as_ref());
        let resource = material.about(&verdict, text).and_then(|about| about.resource());
        Reading {
            may_pass: may_pass(&verdict, text),
            kind: verdict.kind,
            rule: verdict.rule.into_owned(),
            words: verdict.words,
            resource,
            status: material.status,
            wait: wait::wait(&material.marked.part(text)),
        }
    }
}

impl<'a> Material<'a> {
    /// What is needed to find the resource.
    fn about(&self, verdict: &Verdict, text: &'a str) -> Option<resource::About<'a>> {
        let mut about = resource::About::new(verdict.kind, self.said, self.quotes, self.spoken)?;
        about.decided_by(verdict.place.clone());
        about.body = self.body;
        about.marked = (self.said.len() == self.marked.text.len()).then_some(self.marked);
        about.status = self.status;
        let decisive = self.segment.text;
        if let Some(before) = self.body.and_then(|body| decisive.get(..body.start)) {
            about = about.with_around(before);
        }
        if decisive.len() < text.len() {
            // The cause stands behind its wrapper.
            let before = text.rfind(decisive).and_then(|at| text.get(..at));
            about = about.with_around(before.unwrap_or(text));
        }
        Some(about)
    }
}
