//! What happens in a run, as it happens, for the person who watches.

use std::time::Duration;

use breakfall::{Call, Detail, Disposition, Reply, Report};

use crate::error::ModelError;
use crate::repair::Note;
use crate::stop::{Stop, fact};

/// Something that happened in a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The model says this.
    Text(&'a str),
    /// The model thinks this.
    Reasoning(&'a str),
    /// The model writes a call.
    CallDelta {
        /// Which call of its answer.
        index: usize,
        /// The tool.
        tool: &'a str,
        /// More of the arguments.
        arguments: &'a str,
    },
    /// A call begins.
    ToolStart(&'a Call),
    /// A call was answered.
    ToolReply(&'a Reply),
    /// The model is asked again. What it said of this answer so far does not count.
    Retry {
        /// Why.
        why: Again<'a>,
        /// After this wait.
        wait: Duration,
        /// How often it was asked before.
        asked: u32,
    },
    /// The model wrote calls of these tools into its text. Those that only read are run, the others
    /// are not.
    Hidden {
        /// Run.
        run: &'a [String],
        /// Not run; the model is told.
        not_run: &'a [String],
    },
    /// Something was mended in the history.
    Mended(&'a Note),
    /// The history could not be saved from here on; the conversation goes on.
    NotSaved(&'a str),
    /// The run ended.
    Stop(&'a Stop),
}

/// Why a model is asked again.
#[derive(Clone, Copy, Debug)]
pub enum Again<'a> {
    /// It did not answer.
    Error(&'a ModelError),
    /// It answered nothing.
    Empty,
}

impl Event<'_> {
    /// One quiet line for a person, where there is something to say: never for what simply goes
    /// well, never more than the fact.
    pub fn line(&self) -> Option<String> {
        match self {
            Self::Text(_) | Self::Reasoning(_) | Self::CallDelta { .. } | Self::ToolStart(_) => {
                None
            }
            Self::ToolReply(reply) => failed(reply),
            Self::Retry { why, wait, .. } => Some(again(*why, *wait)),
            Self::Hidden { run, not_run } => {
                let names = |tools: &[String]| tools.join(", ");
                let ran = (!run.is_empty()).then(|| format!("run: {}", names(run)));
                let not = (!not_run.is_empty()).then(|| format!("not run: {}", names(not_run)));
                let what: Vec<String> = [ran, not].into_iter().flatten().collect();
                Some(format!("The model wrote calls into its text ({}).", what.join("; ")))
            }
            Self::Mended(note) => Some(format!("History mended: {note}.")),
            Self::NotSaved(why) => {
                Some(format!("The conversation is not saved from here on: {why}."))
            }
            Self::Stop(stop) => stop.words(),
        }
    }
}

fn failed(reply: &Reply) -> Option<String> {
    match reply.report() {
        // The end of the run says it.
        Report::Failure(failure)
            if failure.disposition == Disposition::Fatal
                || failure.detail == Detail::NotStarted =>
        {
            None
        }
        Report::Failure(failure) => Some(fact(failure)),
        Report::Output(output) if output.problems.is_empty() => None,
        Report::Output(output) => {
            let failed = output.problems.len();
            Some(match output.items {
                Some(items) => format!("`{}` failed for {failed} of {items}.", reply.tool),
                None => format!("`{}` failed for {failed}.", reply.tool),
            })
        }
    }
}

fn again(why: Again<'_>, wait: Duration) -> String {
    let what = match why {
        Again::Error(error) => {
            let words = error.words();
            // Only the fact: what to do is done.
            words.split_once(". ").map_or(words.clone(), |(fact, _)| format!("{fact}."))
        }
        Again::Empty => "The model answered nothing.".to_owned(),
    };
    let seconds = wait.as_secs_f64();
    if seconds >= 1.0 {
        format!("{what} Asking again in {} s.", seconds.ceil())
    } else {
        format!("{what} Asking again.")
    }
}
