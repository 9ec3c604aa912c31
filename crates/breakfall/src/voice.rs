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
pub(crate) use reply::Spoken;
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

/// What is said of a report. A voice that panics is replaced by ours.
pub(crate) fn speak(voice: &dyn Voice, max_bytes: usize, mut report: Report) -> Spoken {
    let told = match &report {
        Report::Output(output) => beside(voice, output),
        Report::Failure(failure) => Some(
            panics::catch(|| voice.failure(failure)).unwrap_or_else(|_| Plain.failure(failure)),
        ),
    };
    let error = told.map(|text| cut_middle(text, max_bytes));
    let (output, is_error) = match &mut report {
        Report::Output(output) => {
            let text = std::mem::take(&mut output.text);
            let nothing = output.items.is_some_and(|items| items <= output.problems.len());
            (Some(text), nothing && !output.problems.is_empty())
        }
        Report::Failure(_) => (None, true),
    };
    let framed = panics::catch(|| voice.frame(output.as_deref(), error.as_deref())).unwrap_or(None);
    Spoken::new(framed, output, error, is_error, report)
}

/// What is said beside an output: who answered, and what failed.
fn beside(voice: &dyn Voice, output: &OutputReport) -> Option<String> {
    let instead = output.instead.as_deref().map(|instead| {
        panics::catch(|| voice.instead(instead)).unwrap_or_else(|_| plain::instead(instead))
    });
    let partial = (!output.problems.is_empty()).then(|| {
        panics::catch(|| voice.partial(output)).unwrap_or_else(|_| plain::partial(output))
    });
    match (instead, partial) {
        (Some(instead), Some(partial)) => Some(format!("{instead}\n{partial}")),
        (instead, partial) => instead.or(partial),
    }
}
