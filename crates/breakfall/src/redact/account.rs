//! What came of a call becomes an account that is safe to read: every text in it is cleaned.

use std::borrow::Cow;
use std::mem::take;
use std::sync::Arc;

use super::marks::MARK;
use super::memory::is_plain;
use super::{
    FailureReport, InsteadReport, ItemReport, KEPT, OutputReport, Redactor, Report, Terms, bounded,
    clean, cut_middle,
};
use crate::failure::{Facts, SourceSays};
use crate::tool::{Beside, Content};
use crate::{Detail, Failure, Outcome, Output, classify};

/// The most bytes of a tool's name that are echoed.
const NAME: usize = 64;

/// The most bytes of a type's name that are kept.
const TYPE: usize = 128;

impl Redactor {
    /// The account of an outcome.
    pub(crate) fn report(&self, outcome: Outcome, terms: &Terms) -> Report {
        match outcome {
            Ok(output) => Report::Output(Box::new(self.output(output, terms))),
            Err(failure) => Report::Failure(self.account(failure, terms)),
        }
    }

    /// The account of a failure; of one that was told last in the same words, the same.
    fn account(&self, failure: Failure, terms: &Terms) -> Arc<FailureReport> {
        if !is_plain(failure.facts()) {
            return Arc::new(self.anew(failure, terms));
        }
        self.told_before(&failure, terms).unwrap_or_else(|| {
            let account = Arc::new(self.anew(failure, terms));
            self.keep(&account);
            account
        })
    }

    fn output(&self, mut output: Output, terms: &Terms) -> OutputReport {
        let Beside { problems: failed, items, instead } = output.take_beside();
        let mut problems = Vec::new();
        for problem in failed {
            let failure = self.anew(problem.failure, terms);
            problems.push(ItemReport { item: self.name(problem.item, 256), failure });
        }
        let instead = instead.map(|instead| {
            let by = instead.by.map(|name| self.name(name, NAME));
            Box::new(InsteadReport { by, of: Arc::new(self.anew(instead.of, terms)) })
        });
        let payload = match &mut output.content {
            Content::Payload(payload) if terms.redacts_outputs => {
                Some(self.payload_without_secrets(take(&mut payload.whole)))
            }
            Content::Payload(payload) => Some(self.payload(take(&mut payload.whole))),
            Content::Text(_) | Content::Json(_) => None,
        };
        let mut text = output.into_text();
        let bytes = text.len();
        if terms.redacts_outputs {
            text = self.redact(&text).into_owned();
        }
        self.without_values(&mut text);
        let text = cut_middle(text, terms.max_output_bytes);
        OutputReport { text, bytes, problems, items, payload, instead }
    }

    /// The account of a failure, whatever was told before.
    pub(super) fn anew(&self, failure: Failure, terms: &Terms) -> FailureReport {
        let mut facts = failure.into_facts();
        let tool = self.name(bounded(terms.tool, 1024).to_owned(), NAME);
        let (message, removed) = clean::readable(self.clean(facts.message, KEPT));
        // A substitute has none of its own.
        let substitute = facts.substitute.take().map(|substitute| {
            let (tool, mut failure) = *substitute;
            failure.facts_mut().substitute = None;
            Box::new(self.anew(failure, &Terms { tool: &tool, ..*terms }))
        });
        let chain = facts.source.take().map(|source| self.chain(&*source, &message));
        facts.message = message;
        facts.detail = self.detail(facts.detail);
        // A name that is no literal of ours may be anything.
        facts.type_name = facts.type_name.map(|name| match name {
            Cow::Owned(name) => Cow::Owned(self.name(name, TYPE)),
            known @ Cow::Borrowed(_) => known,
        });
        let texts = || chain.iter().flatten().chain([&facts.message]);
        facts.resource = facts.resource.filter(|it| !is_of_a_secret(it, texts()));
        facts.resource = facts.resource.map(|resource| self.name(resource, 256));
        facts.backtrace = facts.backtrace.map(|backtrace| self.clean(backtrace, 4 * KEPT));
        let payload = facts.payload.take();
        facts.payload = payload.map(|payload| self.clean_payload(payload));
        FailureReport {
            substitute,
            chain: chain.unwrap_or_default(),
            removed_characters: removed,
            ..FailureReport::of(facts, tool, terms)
        }
    }

    /// Every cause in turn, outermost first; the message itself is not repeated.
    fn chain(&self, source: &(dyn std::error::Error + 'static), message: &str) -> Vec<String> {
        let mut chain: Vec<String> = Vec::new();
        for error in speakers(source) {
            // Most say what was said already.
            if says(error, message) {
                continue;
            }
            let text = self.clean(error.to_string(), KEPT);
            if text != message && chain.last() != Some(&text) {
                chain.push(text);
            }
        }
        chain
    }

    fn detail(&self, detail: Detail) -> Detail {
        match detail {
            Detail::Arguments { mut problems, correction } => {
                for problem in &mut problems {
                    self.problem(problem);
                }
                let correction = correction.and_then(|correction| self.correction(correction));
                Detail::Arguments { problems, correction }
            }
            Detail::Credential(name) => Detail::Credential(self.name(name, NAME)),
            other => other,
        }
    }

    /// What stands in quotes within a sentence of ours.
    pub(super) fn name(&self, text: String, max: usize) -> String {
        clean::one_line(self.clean(text, max))
    }
}

/// Whether a resource was read where a secret stood: what is one in its place is not known for one
/// without it.
fn is_of_a_secret<'t>(resource: &str, mut texts: impl Iterator<Item = &'t String> + Clone) -> bool {
    texts.clone().any(|text| has_mark(text)) && !texts.any(|text| text.contains(resource))
}

fn has_mark(text: &str) -> bool {
    memchr::memchr(b'[', text.as_bytes()).is_some_and(|at| text[at..].contains(MARK))
}

/// The causes of an error that say something of their own, and the error itself: an `io::Error` says
/// what the error within it says.
fn speakers<'e>(
    source: &'e (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'e (dyn std::error::Error + 'static)> {
    let mut is_said = false;
    classify::causes(source).filter(move |error| {
        let wraps = |error: &std::io::Error| error.get_ref().is_some();
        let says = error.downcast_ref::<std::io::Error>().is_some_and(wraps);
        !std::mem::replace(&mut is_said, says)
    })
}

/// Whether what a failure comes from, with all of its causes, says just what it says.
pub(super) fn says_no_more(facts: &Facts) -> bool {
    let Some(source) = facts.source.as_deref() else { return true };
    let known = usize::from(facts.source_says == SourceSays::TheWords);
    speakers(source).skip(known).all(|error| says(error, &facts.message))
}

/// Whether an error says just that.
fn says(error: &dyn std::error::Error, text: &str) -> bool {
    struct Left<'t>(&'t str);
    impl std::fmt::Write for Left<'_> {
        fn write_str(&mut self, part: &str) -> std::fmt::Result {
            self.0 = self.0.strip_prefix(part).ok_or(std::fmt::Error)?;
            Ok(())
        }
    }
    let mut left = Left(text);
    std::fmt::Write::write_fmt(&mut left, format_args!("{error}")).is_ok() && left.0.is_empty()
}
