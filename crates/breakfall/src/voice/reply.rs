//! What was said to the model, with the account behind it.

use std::mem::take;
use std::sync::OnceLock;

use serde_json::value::RawValue;

use crate::{Call, Disposition, FailureKind, FailureReport, OutputReport, Reference, Report};

/// The answer to a call, under its id.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Reply {
    /// The caller's id.
    pub id: String,
    /// The name that was called.
    pub tool: String,
    /// What the model is told.
    pub text: String,
    /// Whether nothing came of the call.
    pub is_error: bool,
    /// How many attempts there were.
    pub attempts: u32,
    /// Where they are not simply the text.
    parts: Option<Box<Both>>,
    account: Account,
}

/// Why a run stops before its work is done. A run that stalled is not one that completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The model made the same failing call again and again.
    Stalled,
    /// A failure that only a person can mend.
    Failed(FailureKind),
}

/// The account of a call, in no more room than a plain output needs.
#[derive(Clone, Debug)]
enum Account {
    Told(Report),
    /// Of an output of so many bytes, and nothing else: made when somebody asks for it. Few do.
    Plain(usize, OnceLock<Box<Report>>),
}

/// Output and error.
#[derive(Clone, Debug)]
struct Both {
    output: Option<String>,
    error: Option<String>,
}

impl Reply {
    /// What is said of a report, with what is said beside an output or of a failure.
    pub(super) fn of(mut report: Report, error: Option<String>) -> Self {
        let (text, parts, is_error) = match (&mut report, error) {
            (Report::Output(output), None) => (take(&mut output.text), None, false),
            (Report::Output(report), Some(error)) => {
                let output = take(&mut report.text);
                let nothing = report.items.is_some_and(|items| items <= report.problems.len());
                let gap = if output.is_empty() { "" } else { "\n\n" };
                let text = format!("{output}{gap}{error}");
                let both = Both { output: Some(output), error: Some(error) };
                (text, Some(Box::new(both)), nothing && !report.problems.is_empty())
            }
            (Report::Failure(_), error) => (error.unwrap_or_default(), None, true),
        };
        let (id, tool) = (String::new(), String::new());
        Self { id, tool, text, is_error, attempts: 0, parts, account: Account::Told(report) }
    }

    /// The answer of a tool that gave a text and nothing else, at its first attempt.
    #[inline]
    pub(crate) fn plain(call: &mut Call, text: String) -> Self {
        let (id, tool) = (take(&mut call.id), take(&mut call.tool));
        let account = Account::Plain(text.len(), OnceLock::new());
        Self { id, tool, text, is_error: false, attempts: 1, parts: None, account }
    }

    /// Puts output and error into a voice's own form, where it has one.
    pub(super) fn frame(&mut self, framed: Option<String>) {
        let Some(framed) = framed else { return };
        let text = std::mem::replace(&mut self.text, framed);
        if self.parts.is_none() {
            let failed = self.failure().is_some();
            let (output, error) = if failed { (None, Some(text)) } else { (Some(text), None) };
            self.parts = Some(Box::new(Both { output, error }));
        }
    }

    /// The same under the call's id, which is taken from it.
    #[inline(never)]
    pub(crate) fn to(mut self, call: &mut Call) -> Self {
        self.id = take(&mut call.id);
        self.tool = take(&mut call.tool);
        self
    }

    /// Whether everything that was asked for was done.
    pub fn success(&self) -> bool {
        match self.told() {
            None => true,
            Some(Report::Output(output)) => output.problems.is_empty(),
            Some(Report::Failure(_)) => false,
        }
    }

    /// What the tool returned; on partial success too.
    pub fn output(&self) -> Option<&str> {
        match &self.parts {
            Some(both) => both.output.as_deref(),
            None => self.failure().is_none().then_some(&self.text),
        }
    }

    /// What went wrong, in the voice's words; on partial success too.
    pub fn error(&self) -> Option<&str> {
        match &self.parts {
            Some(both) => both.error.as_deref(),
            None => self.failure().is_some().then_some(&self.text),
        }
    }

    /// What the tool returned for the door to pass on to the letter; of a failure, what it came in,
    /// for the door to pass on what is not words.
    pub fn payload(&self) -> Option<&RawValue> {
        match self.told()? {
            Report::Output(output) => output.payload.as_deref(),
            Report::Failure(failure) => failure.payload.as_deref(),
        }
    }

    /// The account of the call, for the developer.
    pub fn report(&self) -> &Report {
        match &self.account {
            Account::Told(report) => report,
            Account::Plain(bytes, report) => report
                .get_or_init(|| Box::new(Report::Output(Box::new(OutputReport::of_bytes(*bytes))))),
        }
    }

    /// The account of the call, where there is more to it than a plain output.
    fn told(&self) -> Option<&Report> {
        match &self.account {
            Account::Told(report) => Some(report),
            Account::Plain(..) => None,
        }
    }

    fn failure(&self) -> Option<&FailureReport> {
        self.told()?.failure()
    }

    /// Which way it failed.
    pub fn kind(&self) -> Option<FailureKind> {
        self.failure().map(|failure| failure.kind)
    }

    /// Whether the run goes on, when the call or an item of it failed.
    pub fn disposition(&self) -> Option<Disposition> {
        match self.told()? {
            Report::Failure(failure) => Some(failure.disposition),
            Report::Output(output) => output.problems.iter().map(|p| p.failure.disposition).max(),
        }
    }

    /// Whether the run must stop.
    pub fn is_fatal(&self) -> bool {
        self.disposition() == Some(Disposition::Fatal)
    }

    /// Why the run must stop, when it must.
    pub fn stop_reason(&self) -> Option<StopReason> {
        if !self.is_fatal() {
            return None;
        }
        match self.told()? {
            Report::Failure(failure) if failure.kind == FailureKind::Repeated => {
                Some(StopReason::Stalled)
            }
            Report::Failure(failure) => Some(StopReason::Failed(failure.kind)),
            Report::Output(output) => output
                .problems
                .iter()
                .find(|problem| problem.failure.disposition == Disposition::Fatal)
                .map(|problem| StopReason::Failed(problem.failure.kind)),
        }
    }

    /// The tool that answered instead of the one that was called; empty for a fixed value.
    pub fn substitute(&self) -> Option<&str> {
        self.told()?.substitute().filter(|_| !self.is_error)
    }

    /// The hash that leads from this text to the log and the record.
    pub fn reference(&self) -> Option<Reference> {
        self.failure().map(|failure| failure.reference)
    }
}
