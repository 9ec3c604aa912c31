//! How failures are made: on purpose by a tool, from any error by `?`, or by the guard's own steps.

use std::any::TypeId;
use std::borrow::Cow;
use std::error::Error as StdError;
use std::time::Duration;

use serde_json::value::RawValue;

use super::{
    Block, Detail, Failure, FailureKind, Problem, Provenance, Source, SourceSays, Words,
    backtrace_if_asked,
};
use crate::attempt::CallKey;
use crate::classify;

/// What a tool says to the model on purpose.
impl Failure {
    fn said(kind: FailureKind, message: impl Into<String>) -> Self {
        Self::new(kind, Provenance::Tool, message.into())
    }

    fn about(kind: FailureKind, resource: impl Into<String>) -> Self {
        Self::said(kind, String::new()).resource_is(resource)
    }

    /// The resource does not exist.
    pub fn not_found(resource: impl Into<String>) -> Self {
        Self::about(FailureKind::NotFound, resource)
    }

    /// An argument is not acceptable: which (`` "`limit`" ``), and why.
    pub fn invalid(argument: impl AsRef<str>, why: impl Into<String>) -> Self {
        let path = argument.as_ref().trim_matches('`').to_owned();
        let problem = Problem { path, remark: Some(why.into()), ..Problem::default() };
        let mut failure = Self::said(FailureKind::InvalidArguments, String::new());
        failure.0.detail = Detail::Arguments { problems: vec![problem], correction: None };
        failure
    }

    /// Arguments are not acceptable: every problem at once.
    pub fn invalid_all(problems: Vec<Problem>) -> Self {
        let mut failure = Self::said(FailureKind::InvalidArguments, String::new());
        failure.0.detail = Detail::Arguments { problems, correction: None };
        failure
    }

    /// Something else must be done first: say what.
    pub fn precondition(first: impl Into<String>) -> Self {
        Self::said(FailureKind::Precondition, first)
    }

    /// The resource is in the way: it exists already, or someone else changed it.
    pub fn conflict(resource: impl Into<String>) -> Self {
        Self::about(FailureKind::Conflict, resource)
    }

    /// The tool gave up waiting after this time.
    pub fn timeout(after: Duration) -> Self {
        let mut failure = Self::said(FailureKind::Timeout, String::new());
        failure.0.detail = Detail::Elapsed(after);
        failure
    }

    /// Too many requests; `wait` when the service told how long.
    pub fn rate_limited(wait: Option<Duration>) -> Self {
        let mut failure = Self::said(FailureKind::RateLimited, String::new());
        failure.0.wait = wait;
        failure
    }

    /// Access to the resource is not allowed.
    pub fn permission(resource: impl Into<String>) -> Self {
        Self::about(FailureKind::Permission, resource)
    }

    /// The service cannot be reached.
    pub fn network(message: impl Into<String>) -> Self {
        Self::said(FailureKind::Network, message)
    }

    /// The remote service failed.
    pub fn upstream(message: impl Into<String>) -> Self {
        Self::said(FailureKind::Upstream, message)
    }

    /// The service answered with something unreadable.
    pub fn invalid_output(message: impl Into<String>) -> Self {
        Self::said(FailureKind::InvalidOutput, message)
    }

    /// The tool failed, in its own words for the model.
    pub fn execution(message: impl Into<String>) -> Self {
        Self::said(FailureKind::Execution, message)
    }

    /// A fault inside the tool. The model sees none of the message.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Internal, Provenance::Hidden, message.into())
    }

    /// The tool cannot be used now.
    pub fn unavailable(message: impl Into<String>) -> Self {
        let mut failure = Self::said(FailureKind::Unavailable, message);
        failure.0.detail = Detail::Blocked(Block::Declared);
        failure
    }

    /// The tool was stopped.
    pub fn cancelled() -> Self {
        Self::said(FailureKind::Cancelled, String::new())
    }

    /// A credential is missing or wrong: its name, never its value.
    pub fn authentication(credential: impl Into<String>) -> Self {
        let mut failure = Self::said(FailureKind::Authentication, String::new());
        failure.0.detail = Detail::Credential(credential.into());
        failure
    }

    /// A person must raise a limit.
    pub fn quota_exceeded(message: impl Into<String>) -> Self {
        Self::said(FailureKind::QuotaExceeded, message)
    }

    /// The machine is out of memory, disk or handles.
    pub fn system(message: impl Into<String>) -> Self {
        Self::said(FailureKind::System, message)
    }

    /// The tool's own words for the model; what they mean is read off them.
    pub fn told(words: impl Into<String>) -> Self {
        let mut failure = Self::said(FailureKind::Execution, words);
        failure.0.words = Words::Telling;
        failure
    }

    /// The server that runs the tool stopped before it answered.
    pub fn gone(why: impl Into<String>) -> Self {
        let mut failure = Self::new(FailureKind::Network, Provenance::Unknown, why.into());
        failure.0.detail = Detail::Gone;
        failure
    }

    /// A failure by the HTTP status that a service answered with, and the body's words.
    pub fn http(status: u16, message: impl Into<String>) -> Self {
        let mut failure =
            Self::new(classify::http_status(status), Provenance::Unknown, message.into());
        failure.0.status = Some(status);
        failure
    }
}

/// What the guard raises.
impl Failure {
    /// The tool was left by a way that only its door knows (an interrupt of another language): the
    /// call is recorded as abandoned, and the reply is for nobody.
    pub fn left() -> Self {
        Self::found(FailureKind::Cancelled, Detail::Left)
    }

    /// A failure of a kind with nothing known of it: for tests and for doors that relay a kind.
    pub fn of_kind(kind: FailureKind) -> Self {
        Self::found(kind, Detail::None)
    }
}

/// Facts added to a failure.
impl Failure {
    /// Names what is missing, denied or in the way.
    pub fn resource_is(mut self, resource: impl Into<String>) -> Self {
        self.0.resource = Some(resource.into());
        self
    }

    /// Where it happened, for the record.
    pub fn traceback(mut self, traceback: impl Into<String>) -> Self {
        self.0.backtrace = Some(traceback.into());
        self
    }

    /// Tells how long to wait.
    pub fn wait_for(mut self, wait: Duration) -> Self {
        self.0.wait = Some(wait);
        self
    }

    /// Tells that the call never reached what does the work (the program did not start, the
    /// connection was refused), so that it may be tried again whatever it does.
    pub fn not_dispatched(mut self) -> Self {
        self.0.not_dispatched = true;
        self
    }

    /// Tells that what runs the tool was started anew since it last answered: what it held, such as
    /// an open page or a session, is gone.
    pub fn anew(mut self) -> Self {
        self.0.is_anew = true;
        self
    }

    /// Tells the HTTP status, which decides the kind where nothing better is known.
    pub fn status_is(mut self, status: u16) -> Self {
        self.0.status = Some(status);
        if self.0.kind == FailureKind::Execution {
            self.0.kind = classify::http_status(status);
        }
        self
    }

    /// Tells the JSON-RPC code that the words came with.
    pub fn json_rpc_code_is(mut self, code: i64) -> Self {
        self.0.json_rpc_code = Some(code);
        self
    }

    /// Keeps what the failure came in, for the door to pass on what is not words
    /// ([`Reply::payload`](crate::Reply::payload)).
    pub fn payload(mut self, payload: Box<RawValue>) -> Self {
        self.0.payload = Some(payload);
        self
    }

    /// Adds the tool's own words for the model.
    pub fn saying(mut self, message: impl Into<String>) -> Self {
        self.0.message = message.into();
        self.0.source_says = SourceSays::Anything;
        self.0.provenance = Provenance::Tool;
        self
    }

    /// Keeps the error behind it for the developer.
    pub fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self.0.source_says = SourceSays::Anything;
        self
    }
}

/// What an error of unknown origin becomes.
impl Failure {
    /// Any boxed error: `anyhow::Error` and the like, which do not pass through `?`.
    pub fn from_error(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::caught(source.into(), None)
    }

    pub(crate) fn caught(source: Source, type_name: Option<Cow<'static, str>>) -> Self {
        let mut failure =
            Self::new(FailureKind::Execution, Provenance::Unknown, source.to_string());
        failure.0.type_name = type_name;
        failure.0.backtrace = backtrace_if_asked();
        failure.0.source = Some(source);
        failure.0.source_says = SourceSays::TheWords;
        classify::by_type(&mut failure);
        failure
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::caught(Box::new(error), Some(classify::name_of::<E>()))
    }
}

/// What a typed function may fail with: a [`Failure`], any error, a boxed one, `anyhow::Error`,
/// or a text, which speaks to the model.
pub trait IntoFailure {
    /// The failure.
    fn into_failure(self) -> Failure;
}

impl IntoFailure for Failure {
    fn into_failure(self) -> Failure {
        self
    }
}

impl<E: Into<Source> + 'static> IntoFailure for E {
    fn into_failure(self) -> Failure {
        let full = std::any::type_name::<E>();
        let said = TypeId::of::<E>() == TypeId::of::<String>()
            || TypeId::of::<E>() == TypeId::of::<&'static str>();
        let source: Source = self.into();
        if said {
            return Failure::execution(source.to_string());
        }
        let known = !full.contains("dyn ") && !full.starts_with("anyhow");
        Failure::caught(source, known.then(classify::name_of::<E>))
    }
}

/// What the guard's own steps find.
impl Failure {
    pub(crate) fn found(kind: FailureKind, detail: Detail) -> Self {
        let mut failure = Self::new(kind, Provenance::Guard, String::new());
        failure.0.detail = detail;
        failure
    }

    /// The guard itself failed: `message` is for the developer.
    pub(crate) fn broken(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Broken, Provenance::Hidden, message.into())
    }

    /// The same failure of a call that the loop guard knows again.
    pub(crate) fn of_call(mut self, key: impl FnOnce() -> CallKey) -> Self {
        self.0.key.get_or_insert_with(key);
        self
    }

    /// The same failure, after a substitute failed, too.
    pub(crate) fn and_of_its_substitute(mut self, name: Option<&str>, second: Self) -> Self {
        self.0.substitute = name.map(|name| Box::new((name.to_owned(), second)));
        self
    }

    /// A call that failed so many times in the same way, and is not run any more.
    pub(crate) fn repeated(times: u32, is_stalled: bool) -> Self {
        Self::found(FailureKind::Repeated, Detail::Repeated { times, is_stalled }).not_dispatched()
    }

    /// A call of a batch that stopped before its turn.
    pub(crate) fn not_started() -> Self {
        Self::found(FailureKind::Cancelled, Detail::NotStarted).not_dispatched()
    }
}
