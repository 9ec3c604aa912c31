//! What went wrong, for the person at the terminal.

use std::error::Error;
use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

/// A command that failed: what, why, and what to do.
#[derive(Debug)]
pub(crate) struct Failed {
    /// Nothing where all was said already.
    what: Option<String>,
    cause: Option<Box<dyn Error + Send + Sync>>,
    hint: Option<&'static str>,
    status: u8,
}

impl Failed {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: Some(what.into()), cause: None, hint: None, status: 1 }
    }

    /// All that is to be said was printed.
    pub(crate) fn silently() -> Self {
        Self { what: None, cause: None, hint: None, status: 1 }
    }

    /// An error with its causes.
    pub(crate) fn of(error: &dyn Error) -> Self {
        let failed = Self::new(error.to_string());
        match error.source() {
            Some(cause) => failed.because(cause.to_string()),
            None => failed,
        }
    }

    pub(crate) fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    pub(crate) fn hint(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }

    /// Ends the program with another exit status.
    pub(crate) fn status(mut self, status: u8) -> Self {
        self.status = status;
        self
    }

    pub(crate) fn exit(&self) -> ExitCode {
        ExitCode::from(self.status)
    }

    pub(crate) fn is_closed_pipe(&self) -> bool {
        self.cause
            .as_ref()
            .and_then(|cause| cause.downcast_ref::<io::Error>())
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// `error: …`, causes indented, blank line, `hint: …`.
impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(what) = &self.what else { return Ok(()) };
        writeln!(f, "error: {what}")?;
        let mut cause = self.cause.as_deref().map(|cause| cause as &dyn Error);
        while let Some(error) = cause {
            writeln!(f, "  caused by: {error}")?;
            cause = error.source();
        }
        if let Some(hint) = self.hint {
            writeln!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

/// Why a line could not be printed.
static UNPRINTED: Mutex<Option<io::Error>> = Mutex::new(None);

/// Prints a line, and remembers when that cannot be done.
pub(crate) fn printed(line: fmt::Arguments<'_>) {
    if let Err(error) = writeln!(io::stdout(), "{line}")
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        *UNPRINTED.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }
}

/// Whether every line was printed, as far as somebody reads.
pub(crate) fn all_was_printed() -> Result<(), Failed> {
    let flushed = io::stdout().flush().err();
    let flushed = flushed.filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
    let failed = UNPRINTED.lock().unwrap_or_else(PoisonError::into_inner).take().or(flushed);
    failed.map_or(Ok(()), |error| Err(writing(error)))
}

/// Writing to the terminal or a pipe failed.
pub(crate) fn writing(error: io::Error) -> Failed {
    Failed::new("could not write the output").because(error)
}

/// Reading standard input failed.
pub(crate) fn reading(error: io::Error) -> Failed {
    Failed::new("could not read standard input").because(error)
}
