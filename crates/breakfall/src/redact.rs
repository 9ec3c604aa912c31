//! An outcome becomes a [`Report`]: the safe account of a call that both audiences read.
//!
//! Nothing leaves a call but through here. Secrets go first, then length.

mod clean;
mod places;
mod report;

use std::borrow::Cow;

pub use report::{FailureReport, ItemReport, OutputReport, Report};

use crate::classify;
use crate::config::Dispositions;
use crate::failure::{Advice, Facts};
use crate::{Correction, Detail, Failure, Outcome, Output, Problem, Reference};

/// The most bytes of one text of a failure that are kept for the developer.
const KEPT: usize = 8 << 10;

/// The most bytes of a tool's name that are echoed.
const NAME: usize = 64;

/// Removes secrets.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    values: Vec<String>,
}

/// What the guard decided for one call: needed to report it.
pub(crate) struct Terms<'a> {
    pub(crate) tool: &'a str,
    pub(crate) dispositions: &'a Dispositions,
    pub(crate) max_output_bytes: usize,
}

impl Redactor {
    /// Removes this exact value wherever it stands. Values of fewer than four bytes are left:
    /// they would tear every text apart.
    pub(crate) fn add_value(&mut self, value: impl Into<String>) {
        let value = value.into();
        if value.len() >= 4 {
            self.values.push(value);
            self.values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        }
    }

    /// The text without its secrets.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for value in &self.values {
            if text.contains(value.as_str()) {
                text = Cow::Owned(text.replace(value.as_str(), "[redacted:value]"));
            }
        }
        match places::redact(&text) {
            Some(redacted) => Cow::Owned(redacted),
            None => text,
        }
    }

    /// The account of an outcome.
    pub(crate) fn report(&self, outcome: Outcome, terms: &Terms) -> Report {
        match outcome {
            Ok(output) => Report::Output(self.output(output, terms)),
            Err(failure) => Report::Failure(Box::new(self.failure(failure, terms))),
        }
    }

    fn output(&self, mut output: Output, terms: &Terms) -> OutputReport {
        let problems = std::mem::take(&mut output.problems)
            .into_iter()
            .map(|problem| ItemReport {
                item: self.name(problem.item, 256),
                failure: self.failure(problem.failure, terms),
            })
            .collect();
        let items = output.items;
        let text = output.into_text();
        let bytes = text.len();
        OutputReport { text: cut_middle(text, terms.max_output_bytes), bytes, problems, items }
    }

    fn failure(&self, failure: Failure, terms: &Terms) -> FailureReport {
        let Facts {
            kind,
            provenance,
            message,
            resource,
            status,
            wait,
            detail,
            attempts,
            may_have_taken_effect,
            type_name,
            source,
            backtrace,
        } = failure.into_facts();
        let tool = self.name(terms.tool.to_owned(), NAME);
        let message = self.clean(message, KEPT);
        let chain = source.map(|source| self.chain(&*source, &message)).unwrap_or_default();
        FailureReport {
            disposition: terms.dispositions.of(terms.tool, kind),
            advice: Advice::of(kind, &detail, wait, may_have_taken_effect),
            reference: Reference::of(kind, &tool, &message),
            error_type: type_name.unwrap_or(Cow::Borrowed(kind.type_name())),
            detail: self.detail(detail),
            resource: resource.map(|resource| self.name(resource, 256)),
            backtrace: backtrace.map(|backtrace| self.clean(backtrace, 4 * KEPT)),
            tool,
            kind,
            provenance,
            message,
            status,
            wait,
            attempts,
            may_have_taken_effect,
            chain,
        }
    }

    /// Every cause in turn, outermost first; the message itself is not repeated.
    fn chain(&self, source: &(dyn std::error::Error + 'static), message: &str) -> Vec<String> {
        let mut chain: Vec<String> = Vec::new();
        for error in classify::causes(source) {
            let text = self.clean(error.to_string(), KEPT);
            if text != message && chain.last() != Some(&text) {
                chain.push(text);
            }
        }
        chain
    }

    fn detail(&self, detail: Detail) -> Detail {
        match detail {
            Detail::Arguments { problems, correction } => Detail::Arguments {
                problems: problems.into_iter().map(|problem| self.problem(problem)).collect(),
                correction: correction.and_then(|correction| self.correction(correction)),
            },
            Detail::Credential(name) => Detail::Credential(self.name(name, NAME)),
            other => other,
        }
    }

    fn problem(&self, problem: Problem) -> Problem {
        // The name beside a value tells that it is a secret: they are read together.
        let got = problem.got.map(|got| {
            let beside = format!("{}={got}", problem.path);
            match self.redact(&beside).strip_prefix(&format!("{}=", problem.path)) {
                Some(got) => self.name(got.to_owned(), 256),
                None => "[redacted]".to_owned(),
            }
        });
        Problem {
            path: self.name(problem.path, 256),
            expected: self.clean(problem.expected, 512),
            got,
            nearest: problem.nearest,
        }
    }

    /// A correction that repeats a secret is not shown at all: half of it would be no call.
    fn correction(&self, correction: Correction) -> Option<Correction> {
        let text = correction.arguments.to_string();
        (self.redact(&text) == text).then_some(correction)
    }

    /// What stands in quotes within a sentence of ours.
    fn name(&self, text: String, max: usize) -> String {
        clean::one_line(self.clean(text, max))
    }

    /// Without secrets, then bounded.
    pub(crate) fn clean(&self, text: String, max: usize) -> String {
        let text = match self.redact(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(redacted) => redacted,
        };
        cut_middle(text, max)
    }
}

/// At most `max` bytes and a note of what is missing: head and tail say more than a head alone.
pub(crate) fn cut_middle(text: String, max: usize) -> String {
    if text.len() <= max {
        return text;
    }
    let head = text.floor_char_boundary(max - max / 3);
    let tail = text.ceil_char_boundary(text.len() - max / 3);
    let cut = tail - head;
    format!("{}…[{cut} of {} bytes cut]…{}", &text[..head], text.len(), &text[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_keeps_head_and_tail_and_tells_the_size() {
        let text = format!("{}{}", "a".repeat(100), "ü".repeat(100));
        let cut = cut_middle(text, 30);
        assert!(cut.starts_with("aaaaaaaaaaaaaaaaaaaa…["), "{cut}");
        assert!(cut.contains("of 300 bytes cut") && cut.ends_with("üüüüü"), "{cut}");
    }

    #[test]
    fn registered_values_go_wherever_they_stand() {
        let mut redactor = Redactor::default();
        redactor.add_value("hunter2");
        redactor.add_value("hunter2-and-more");
        redactor.add_value("abc");
        assert_eq!(
            redactor.redact("x hunter2-and-more y hunter2 abc"),
            "x [redacted:value] y [redacted:value] abc"
        );
    }
}
