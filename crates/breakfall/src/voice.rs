//! A report becomes words for the model. Every sentence that a model sees stands in `voice/`.

mod brynhild;
mod json;
mod llmproc;
mod openagents;
mod plain;
mod reply;
mod sidekick;

pub use brynhild::Brynhild;
pub use json::Json;
pub use llmproc::Llmproc;
pub use openagents::Openagents;
pub use plain::{Plain, interrupted, written};
pub use reply::{Reply, StopReason};
pub use sidekick::Sidekick;

use crate::attempt::panics;
use crate::redact::cut_middle;
use crate::{FailureReport, InsteadReport, OutputReport, Report};

/// Speaks to the model.
pub trait Voice: Send + Sync {
    /// Words for a failure.
    fn failure(&self, failure: &FailureReport) -> String;

    /// Words for what failed beside an output.
    fn partial(&self, output: &OutputReport) -> String {
        plain::partial(output)
    }

    /// Words for a substitute that answered.
    fn instead(&self, instead: &InsteadReport) -> String {
        plain::instead(instead)
    }

    /// Output and error as one text, where a voice has a form of its own for them.
    fn frame(&self, output: Option<&str>, error: Option<&str>) -> Option<String> {
        let _ = (output, error);
        None
    }
}

/// How many times as much is told of what a program printed: the model asked for it, and mends what
/// it reads there.
const OF_PROGRAMS: usize = 4;

/// What is said of a report, by ours where there is no other voice; one that panics is replaced by
/// ours. The reply has no name and no address yet.
pub(crate) fn speak(voice: Option<&dyn Voice>, max_bytes: usize, report: Report) -> Reply {
    let told = match &report {
        Report::Output(output) => beside(voice, output),
        Report::Failure(failure) => {
            Some(words(voice, |voice| voice.failure(failure), || Plain.failure(failure)))
        }
    };
    let is_of_program = report.failure().is_some_and(|failure| failure.is_of_program);
    let max_bytes = if is_of_program { max_bytes.saturating_mul(OF_PROGRAMS) } else { max_bytes };
    let error = told.map(|text| cut_middle(text, max_bytes));
    let mut reply = Reply::of(report, error);
    if let Some(voice) = voice {
        let framed = panics::catch(|| voice.frame(reply.output(), reply.error())).unwrap_or(None);
        reply.frame(framed);
    }
    reply
}

/// A voice's words, or ours.
fn words(
    voice: Option<&dyn Voice>,
    theirs: impl FnOnce(&dyn Voice) -> String,
    ours: impl FnOnce() -> String,
) -> String {
    match voice.map(|voice| panics::catch(|| theirs(voice))) {
        Some(Ok(words)) => words,
        Some(Err(_)) | None => ours(),
    }
}

/// What is said beside an output: who answered, and what failed.
fn beside(voice: Option<&dyn Voice>, output: &OutputReport) -> Option<String> {
    let instead = output
        .instead
        .as_deref()
        .map(|instead| words(voice, |voice| voice.instead(instead), || plain::instead(instead)));
    let partial = (!output.problems.is_empty())
        .then(|| words(voice, |voice| voice.partial(output), || plain::partial(output)));
    match (instead, partial) {
        (Some(instead), Some(partial)) => Some(format!("{instead}\n{partial}")),
        (instead, partial) => instead.or(partial),
    }
}
