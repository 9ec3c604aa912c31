//! A call that did not succeed: which of the closed list of ways, what is known of it, and who said so.
//!
//! A [`Failure`] is for the model as much as for the developer; our own faults and bad
//! configuration are an [`Error`](crate::Error) instead.

mod advice;
mod detail;
mod kind;
mod make;
mod raised;
mod reference;

use std::backtrace::Backtrace;
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use serde_json::value::RawValue;

pub use advice::Advice;
pub(crate) use advice::Standing;
pub use detail::{Block, Correction, Detail, Problem};
pub use kind::{Disposition, FailureKind, Gravity, MayPass};
pub use make::IntoFailure;
pub use raised::Raised;
pub use reference::Reference;

use crate::attempt::CallKey;

/// What a tool or the guard returns for a call: an output or a failure.
pub type Outcome = Result<crate::Output, Failure>;

/// Any error that a tool may pass on with `?`.
pub(crate) type Source = Box<dyn std::error::Error + Send + Sync + 'static>;

/// A call that did not succeed.
///
/// A tool speaks to the model on purpose through the constructors, one for each kind that a
/// tool may raise, or passes on any [`std::error::Error`] with `?`:
///
/// ```
/// use breakfall::{Failure, FailureKind};
///
/// fn read(path: &str) -> Result<String, Failure> {
///     if path.is_empty() {
///         return Err(Failure::invalid("`path`", "it must not be empty"));
///     }
///     Ok(std::fs::read_to_string(path)?)
/// }
///
/// assert_eq!(read("").unwrap_err().kind(), FailureKind::InvalidArguments);
/// assert_eq!(read("/no/such/file").unwrap_err().kind(), FailureKind::NotFound);
/// ```
pub struct Failure(Box<Facts>);

/// Who found the words of a failure, which decides what the model may see of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// The guard itself: every word is ours or the model's own.
    Guard,
    /// The tool spoke to the model on purpose: quoted, bounded, cleaned.
    Tool,
    /// An error of unknown origin: only its facts are shown, its text goes to the record.
    Unknown,
    /// A panic, or a fault of ours: for the developer alone, in every voice.
    Hidden,
}

/// What the words of a failure are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    /// The kind is known without them.
    Beside,
    /// The tool's, who told of the failure with them: the kind is read off them.
    Telling,
    /// What a program said that the call brought along, and the tool only passes on.
    OfProgram,
}

/// What the source of a failure says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceSays {
    /// The words of the failure, to the letter.
    TheWords,
    /// That is not known.
    Anything,
}

/// Everything known of a failure before redaction. Only the redactor reads all of it.
pub(crate) struct Facts {
    pub(crate) kind: FailureKind,
    pub(crate) provenance: Provenance,
    /// The words: the tool's own for the model, or the text of the error.
    pub(crate) message: String,
    pub(crate) resource: Option<String>,
    pub(crate) status: Option<u16>,
    pub(crate) wait: Option<Duration>,
    pub(crate) detail: Detail,
    pub(crate) attempts: u32,
    /// Could the same call succeed later? Where more is known than the kind tells.
    pub(crate) may_pass: Option<MayPass>,
    /// The call never reached what does the work.
    pub(crate) not_dispatched: bool,
    /// The call was dispatched and its result is not known.
    pub(crate) may_have_taken_effect: bool,
    /// What runs the tool was started anew, and this is the first that is told of it since.
    pub(crate) is_anew: bool,
    /// How often the model made this call in this run and it failed in this way.
    pub(crate) times: u32,
    /// Whether its words tell the kind.
    pub(crate) words: Words,
    /// The JSON-RPC code it came with.
    pub(crate) json_rpc_code: Option<i64>,
    /// What a door passes on beside the words.
    pub(crate) payload: Option<Box<RawValue>>,
    /// Which call it was, for the loop guard.
    pub(crate) key: Option<CallKey>,
    /// The substitute that was tried and failed, too.
    pub(crate) substitute: Option<Box<(String, Failure)>>,
    pub(crate) type_name: Option<Cow<'static, str>>,
    pub(crate) source: Option<Source>,
    pub(crate) source_says: SourceSays,
    pub(crate) backtrace: Option<String>,
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, provenance: Provenance, message: String) -> Self {
        Self(Box::new(Facts {
            kind,
            provenance,
            message,
            resource: None,
            status: None,
            wait: None,
            detail: Detail::None,
            attempts: 1,
            may_pass: None,
            not_dispatched: false,
            may_have_taken_effect: false,
            is_anew: false,
            times: 1,
            words: Words::Beside,
            json_rpc_code: None,
            payload: None,
            key: None,
            substitute: None,
            type_name: None,
            source: None,
            source_says: SourceSays::Anything,
            backtrace: None,
        }))
    }

    /// Which way the call failed.
    pub fn kind(&self) -> FailureKind {
        self.0.kind
    }

    /// Who found its words.
    pub fn provenance(&self) -> Provenance {
        self.0.provenance
    }

    /// The words, unredacted: for code that decides, not for any reader.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What is missing, denied or in the way, when it is known.
    pub fn resource(&self) -> Option<&str> {
        self.0.resource.as_deref()
    }

    /// What is known beyond the words.
    pub fn detail(&self) -> &Detail {
        &self.0.detail
    }

    /// The name of the error's type, when one was passed on.
    pub fn type_name(&self) -> Option<&str> {
        self.0.type_name.as_deref()
    }

    /// The error passed on by the tool.
    pub fn source(&self) -> Option<&(dyn std::error::Error + Send + Sync + 'static)> {
        self.0.source.as_deref()
    }

    /// How long to wait before the same call may pass, when it is known.
    pub fn wait(&self) -> Option<Duration> {
        self.0.wait
    }

    /// Could the same call succeed later?
    pub fn may_pass(&self) -> MayPass {
        self.0.may_pass.unwrap_or(self.0.kind.may_pass())
    }

    /// Whether who dispatched the call says that it never reached what does the work. Neither words
    /// nor the type of an error prove that: they may tell of a later step.
    pub fn never_dispatched(&self) -> bool {
        self.0.not_dispatched
    }

    /// Whether the tool answered, and told of the failure in words.
    pub(crate) fn is_told(&self) -> bool {
        self.0.words != Words::Beside
    }

    /// Whether what the tool was told to run failed, and it only says so.
    pub(crate) fn is_of_program(&self) -> bool {
        self.0.words == Words::OfProgram
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.0
    }

    pub(crate) fn facts_mut(&mut self) -> &mut Facts {
        &mut self.0
    }

    pub(crate) fn into_facts(self) -> Facts {
        *self.0
    }
}

/// The text may hold a secret, so it is not printed: a [`Report`](crate::Report) is for reading.
impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failure")
            .field("kind", &self.0.kind)
            .field("provenance", &self.0.provenance)
            .field("type_name", &self.0.type_name)
            .finish_non_exhaustive()
    }
}

/// The backtrace at this point, when the environment asks for one (`RUST_BACKTRACE`).
pub(crate) fn backtrace_if_asked() -> Option<String> {
    let backtrace = Backtrace::capture();
    (backtrace.status() == std::backtrace::BacktraceStatus::Captured).then(|| backtrace.to_string())
}
