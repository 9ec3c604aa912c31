//! What Breakfall makes of an error, for whoever wants to know why.

use std::sync::Arc;

use super::read::{Evidence, Reader};
use crate::config::Dispositions;
use crate::redact::{Redactor, Terms};
use crate::voice::{Plain, Voice};
use crate::{Failure, FailureReport, MayPass, Provenance, Report};

/// What an error comes to: the account of it, what decided, and what the model would be told.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Explanation {
    /// The account, free of secrets.
    pub failure: FailureReport,
    /// Which rule decided.
    pub rule: String,
    /// On what words.
    pub words: Option<String>,
    /// Could the same call succeed later?
    pub may_pass: MayPass,
    /// What the model would be told, if a tool called `tool` had raised it.
    pub told: String,
}

/// Explains an error as a guard with the defaults would take it; [`crate::Guard::explain`] as that
/// guard does.
pub fn explain(reader: &Reader, evidence: &Evidence) -> Explanation {
    let dispositions = Dispositions::default();
    let terms = Terms {
        tool: "tool",
        dispositions: &dispositions,
        max_output_bytes: usize::MAX,
        redacts_outputs: false,
    };
    explain_as(reader, &Redactor::default(), &terms, &Plain, evidence)
}

/// Explains an error on a guard's terms.
pub(crate) fn explain_as(
    reader: &Reader,
    redactor: &Redactor,
    terms: &Terms,
    voice: &dyn Voice,
    evidence: &Evidence,
) -> Explanation {
    let reading = reader.read(evidence);
    let mut failure = Failure::new(reading.kind, Provenance::Unknown, evidence.text.to_owned());
    let facts = failure.facts_mut();
    facts.type_name = evidence.type_name.map(|name| name.to_owned().into());
    facts.resource = reading.resource;
    facts.status = reading.status;
    facts.wait = reading.wait;
    facts.may_pass = Some(reading.may_pass);
    let words = reading.words.map(|words| redactor.clean(words, 80));
    match redactor.report(Err(failure), terms) {
        Report::Failure(failure) => Explanation {
            told: voice.failure(&failure),
            failure: Arc::unwrap_or_clone(failure),
            rule: reading.rule,
            words,
            may_pass: reading.may_pass,
        },
        Report::Output(_) => unreachable!("a failure is reported as one"),
    }
}
