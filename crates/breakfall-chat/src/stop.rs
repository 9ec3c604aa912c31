//! Why a run ended: typed, and true.

use breakfall::{Detail, FailureKind, FailureReport, Plain, Reply, Report, StopReason, Voice};

use crate::error::ModelError;

/// Why a run ended.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Stop {
    /// The model is done.
    Done,
    /// The model was stopped in the middle of its answer because that was long enough.
    CutOff,
    /// The model answered nothing, however often it was asked.
    Empty,
    /// A tool failed in a way that only a person can mend.
    Fatal(Fatal),
    /// The model made the same failing call again and again.
    Stalled(Fatal),
    /// A limit was reached.
    Limit(Limit),
    /// Somebody stopped it.
    Cancelled,
    /// The model did not answer.
    Model(ModelError),
}

/// A failure that ended a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Fatal {
    /// The tool.
    pub tool: String,
    /// Which way it failed.
    pub kind: FailureKind,
    /// What a person is told: what happened, and what to do.
    pub words: String,
}

/// A limit of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// How often the model is asked.
    Turns(u32),
    /// How many calls it makes.
    Calls(u32),
    /// How many tokens it reads and writes.
    Tokens(u64),
    /// How long it takes.
    Time(std::time::Duration),
}

impl Stop {
    /// Whether the run ended because its work is done.
    pub fn is_done(&self) -> bool {
        *self == Self::Done
    }

    /// What a person is told; nothing where the model said it all.
    pub fn words(&self) -> Option<String> {
        Some(match self {
            Self::Done => return None,
            Self::CutOff => {
                "The answer was cut off: the model wrote as much as it may. Ask it to go on."
                    .to_owned()
            }
            Self::Empty => {
                "The model answered nothing, asked again and again. Ask in another way.".to_owned()
            }
            Self::Fatal(fatal) | Self::Stalled(fatal) => fatal.words.clone(),
            Self::Limit(limit) => limit.words(),
            Self::Cancelled => "Stopped.".to_owned(),
            Self::Model(error) => error.words(),
        })
    }

    /// Why a reply ends the run, if it does.
    pub(crate) fn of(reply: &Reply) -> Option<Self> {
        let reason = reply.stop_reason()?;
        let failure = match reply.report() {
            Report::Failure(failure) => failure,
            Report::Output(output) => output
                .problems
                .iter()
                .map(|problem| &problem.failure)
                .find(|failure| failure.disposition == breakfall::Disposition::Fatal)?,
        };
        let words = format!("{} {}", fact(failure), to_do(failure));
        let fatal = Fatal { tool: failure.tool.clone(), kind: failure.kind, words };
        Some(match reason {
            StopReason::Stalled => Self::Stalled(fatal),
            StopReason::Failed(_) => Self::Fatal(fatal),
        })
    }
}

impl Limit {
    fn words(self) -> String {
        let what = match self {
            Self::Turns(most) => format!("the model was asked {most} times"),
            Self::Calls(most) => format!("the model made {most} calls"),
            Self::Tokens(most) => format!("{most} tokens were used"),
            Self::Time(most) => format!("{} s went by", most.as_secs_f64().round()),
        };
        format!("Stopped at a limit: {what}. Say something to go on.")
    }
}

/// What happened, in one line: the same fact that the model is told.
pub(crate) fn fact(failure: &FailureReport) -> String {
    let told = Plain.failure(failure);
    let line = told.lines().next().unwrap_or_default();
    let line = line.strip_suffix(" It said:").unwrap_or(line);
    // What a list would follow.
    line.strip_suffix(':').map_or_else(|| line.to_owned(), |line| format!("{line}."))
}

/// What a person can do about it.
fn to_do(failure: &FailureReport) -> String {
    use FailureKind as K;
    let words = match failure.kind {
        K::Authentication => match &failure.detail {
            Detail::Credential(name) => return format!("Check {name}."),
            _ => "Check its credentials.",
        },
        K::QuotaExceeded => "Raise its limit, or wait until it is renewed.",
        K::System => "Free memory, disk or handles on its machine.",
        K::Permission => "Give it access, or do without it.",
        K::Network | K::Upstream | K::Timeout | K::RateLimited | K::Unavailable => {
            "See whether its service is up, then go on."
        }
        K::Repeated => "Say what to do instead.",
        _ => return format!("Look at its record, ref {}.", failure.reference),
    };
    words.to_owned()
}
