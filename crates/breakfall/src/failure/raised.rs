//! An exception of another language becomes a failure: its type, its codes and its causes are kept
//! apart, so that nothing must be read off a text that is known already.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use super::{Failure, FailureKind, Provenance, Words};
use crate::classify;

/// An exception of another language, as a door saw it.
///
/// ```
/// use breakfall::{Failure, FailureKind, Raised};
///
/// let cause = Raised::new("OSError", "[Errno 28] No space left on device").errno(28);
/// let raised = Raised::new("RuntimeError", "could not save").caused_by(cause);
/// assert_eq!(Failure::raised(raised).kind(), FailureKind::System);
/// ```
#[derive(Debug, Default)]
pub struct Raised {
    type_name: String,
    text: String,
    errno: Option<i32>,
    status: Option<u16>,
    wait: Option<Duration>,
    traceback: Option<String>,
    cause: Option<Box<Raised>>,
    is_told: bool,
    is_outermost: bool,
}

impl Raised {
    /// An exception with the name of its type and its text.
    pub fn new(type_name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { type_name: type_name.into(), text: text.into(), ..Self::default() }
    }

    /// The operating system's number for it.
    pub fn errno(mut self, number: i32) -> Self {
        self.errno = Some(number);
        self
    }

    /// The HTTP status that it came with.
    pub fn status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// How long it asks to wait.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = Some(wait);
        self
    }

    /// Where it happened, for the record.
    pub fn traceback(mut self, traceback: impl Into<String>) -> Self {
        self.traceback = Some(traceback.into());
        self
    }

    /// What it was raised from. A door bounds the chain: another language may make it a ring.
    pub fn caused_by(mut self, cause: Self) -> Self {
        self.cause = Some(Box::new(cause));
        self
    }

    /// Its text is meant for the model.
    pub fn told(mut self) -> Self {
        self.is_told = true;
        self
    }

    pub(crate) fn type_name(&self) -> &str {
        &self.type_name
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn number(&self) -> Option<i32> {
        self.errno
    }

    /// It and what it was raised from, outermost first.
    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |raised| raised.cause.as_deref())
    }
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Beside the failure stands the name of the outermost.
        if self.is_outermost {
            f.write_str(&self.text)
        } else if self.text.is_empty() {
            f.write_str(&self.type_name)
        } else {
            write!(f, "{}: {}", self.type_name, self.text)
        }
    }
}

impl StdError for Raised {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}

impl Failure {
    /// An exception of another language: its codes decide, then its names and words, and where
    /// they say nothing those of what it was raised from.
    pub fn raised(mut raised: Raised) -> Self {
        raised.is_outermost = true;
        let provenance = if raised.is_told { Provenance::Tool } else { Provenance::Unknown };
        let mut failure = Self::new(FailureKind::Execution, provenance, raised.text.clone());
        failure.0.words = if raised.is_told { Words::Telling } else { Words::Beside };
        failure.0.type_name = Some(raised.type_name.clone().into());
        failure.0.backtrace = raised.traceback.take();
        failure.0.wait = raised.chain().find_map(|raised| raised.wait);
        let status = raised.chain().find_map(|raised| raised.status);
        failure.0.source = Some(Box::new(raised));
        classify::by_type(&mut failure);
        match status {
            Some(status) => failure.status_is(status),
            None => failure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reader;

    fn read(raised: Raised) -> Failure {
        let mut failure = Failure::raised(raised);
        classify::classify(&mut failure, &Reader::default(), "");
        failure
    }

    #[test]
    fn codes_decide_before_words() {
        use FailureKind as K;
        let cause = |cause| Raised::new("RuntimeError", "it failed").caused_by(cause);
        for (raised, kind) in [
            (Raised::new("OSError", "it is full").errno(28), K::System),
            (Raised::new("OSError", "no").errno(111), K::Network),
            (Raised::new("HTTPError", "not found in cache").status(503), K::Upstream),
            (cause(Raised::new("HTTPError", "no").status(401)), K::Authentication),
            (cause(Raised::new("OSError", "no").errno(13)), K::Permission),
            (cause(cause(Raised::new("ConnectTimeout", ""))), K::Timeout),
            (Raised::new("FileNotFoundError", "notes.txt"), K::NotFound),
        ] {
            let told = format!("{raised:?}");
            assert_eq!(read(raised).kind(), kind, "{told}");
        }
    }

    #[test]
    fn what_an_exception_of_a_known_kind_names_is_its_resource() {
        let missing = "[Errno 2] No such file or directory: '/etc/weather/config.yaml'";
        let missing = || Raised::new("FileNotFoundError", missing).errno(2);
        let resource = |raised| read(raised).resource().map(ToOwned::to_owned);
        assert_eq!(resource(missing()).as_deref(), Some("/etc/weather/config.yaml"));
        let outer = Raised::new("RuntimeError", "could not start").caused_by(missing());
        assert_eq!(resource(outer).as_deref(), Some("/etc/weather/config.yaml"));
        assert_eq!(resource(Raised::new("OSError", "no").errno(13)), None);
        let mut bare = Failure::from(std::io::Error::from_raw_os_error(2));
        classify::classify(&mut bare, &Reader::default(), "");
        assert_eq!((bare.kind(), bare.resource()), (FailureKind::NotFound, None));
    }

    #[test]
    fn words_for_the_model_are_its_own_and_read_as_well() {
        let failure = read(Raised::new("ToolException", "no such city: `Rmoe`").told());
        assert_eq!(failure.provenance(), Provenance::Tool);
        assert_eq!(failure.kind(), FailureKind::NotFound);
        let failure = read(Raised::new("KeyError", "'x'"));
        assert_eq!(failure.provenance(), Provenance::Unknown);
    }

    #[test]
    fn wait_and_traceback_are_kept() {
        let cause = Raised::new("HTTPError", "").status(429).wait(Duration::from_secs(7));
        let failure = read(Raised::new("Busy", "").caused_by(cause).traceback("line 3"));
        assert_eq!(failure.wait(), Some(Duration::from_secs(7)));
        assert_eq!(failure.facts().backtrace.as_deref(), Some("line 3"));
        assert_eq!(failure.type_name(), Some("Busy"));
    }

    #[test]
    fn causes_are_told_with_their_types() {
        let raised = Raised::new("RuntimeError", "outer").caused_by(Raised::new("KeyError", "'x'"));
        let failure = Failure::raised(raised);
        let told: Vec<String> = failure
            .source()
            .map(|source| classify::causes(source).map(ToString::to_string).collect())
            .unwrap_or_default();
        assert_eq!(told, ["outer", "KeyError: 'x'"]);
    }
}
