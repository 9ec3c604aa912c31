//! Types in the cause chain that tell the kind by themselves.

use std::any::TypeId;
use std::borrow::Cow;
use std::error::Error;
use std::io;

use crate::{Failure, FailureKind, Provenance, Raised};

/// How far down a chain of causes is looked; a chain may be a ring.
const CAUSES: usize = 16;

/// The innermost cause whose type is known decides: it is the root, the others wrap it.
pub(crate) fn by_type(failure: &mut Failure) {
    let Some(source) = failure.source() else { return };
    let (mut kind, mut panicked) = (None, false);
    for error in causes(source) {
        kind = kind_of(error, &mut panicked).or(kind);
    }
    let facts = failure.facts_mut();
    if let Some(kind) = kind {
        facts.kind = kind;
    }
    if panicked {
        // Its text is the text of a panic.
        facts.provenance = Provenance::Hidden;
    }
}

/// An error and what it wraps, outermost first. `io::Error` hands out the source of what it
/// wraps, not the wrapped error itself.
pub(crate) fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| {
        match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        }
    })
    .take(CAUSES)
}

fn kind_of(error: &(dyn Error + 'static), panicked: &mut bool) -> Option<FailureKind> {
    if let Some(error) = error.downcast_ref::<io::Error>() {
        return io_kind(error);
    }
    if let Some(number) = error.downcast_ref::<Raised>().and_then(Raised::number) {
        return io_kind(&io::Error::from_raw_os_error(number));
    }
    if error.is::<tokio::time::error::Elapsed>() {
        return Some(FailureKind::Timeout);
    }
    if let Some(error) = error.downcast_ref::<serde_json::Error>() {
        return match error.io_error_kind() {
            Some(kind) => io_kind(&kind.into()),
            None => Some(FailureKind::InvalidOutput),
        };
    }
    if let Some(error) = error.downcast_ref::<tokio::task::JoinError>() {
        let cancelled = error.is_cancelled();
        *panicked |= error.is_panic();
        return Some(if cancelled { FailureKind::Cancelled } else { FailureKind::Internal });
    }
    None
}

fn io_kind(error: &io::Error) -> Option<FailureKind> {
    use FailureKind as K;
    use io::ErrorKind as E;
    Some(match error.kind() {
        E::NotFound => K::NotFound,
        E::PermissionDenied | E::ReadOnlyFilesystem => K::Permission,
        E::ConnectionRefused
        | E::ConnectionReset
        | E::ConnectionAborted
        | E::HostUnreachable
        | E::NetworkUnreachable
        | E::NetworkDown
        | E::AddrNotAvailable
        | E::BrokenPipe => K::Network,
        E::NotConnected | E::DirectoryNotEmpty => K::Precondition,
        E::AlreadyExists | E::AddrInUse | E::ResourceBusy | E::ExecutableFileBusy | E::Deadlock => {
            K::Conflict
        }
        E::TimedOut => K::Timeout,
        E::InvalidInput
        | E::InvalidData
        | E::NotADirectory
        | E::IsADirectory
        | E::FileTooLarge
        | E::ArgumentListTooLong => K::InvalidArguments,
        E::OutOfMemory | E::StorageFull => K::System,
        E::QuotaExceeded => K::QuotaExceeded,
        // Too many open files, of the process or of the machine: no kind of their own in std.
        _ if matches!(error.raw_os_error(), Some(23 | 24)) => K::System,
        _ => return None,
    })
}

/// The name of a type as a reader knows it. By far the most are of one, whose name is known before.
#[inline]
pub(crate) fn name_of<E: 'static>() -> Cow<'static, str> {
    if TypeId::of::<E>() == TypeId::of::<io::Error>() {
        return Cow::Borrowed("IoError");
    }
    short_type_name(std::any::type_name::<E>())
}

/// `std::io::error::Error` is `IoError`, a name that says more than `Error` is kept.
fn short_type_name(full: &'static str) -> Cow<'static, str> {
    let letters = full.as_bytes();
    let mut end = letters.iter().position(|letter| *letter == b'<').unwrap_or(full.len());
    // The parts of its path, the last one first.
    let mut next = || {
        let start = letters[..end].iter().rposition(|letter| *letter == b':');
        let part = full.get(start.map_or(0, |at| at + 1)..end).unwrap_or_default();
        end = start.unwrap_or_default().saturating_sub(1);
        part
    };
    let last = next();
    if last != "Error" {
        return Cow::Borrowed(last);
    }
    let mut module = next();
    while matches!(module, "error" | "errors") {
        module = next();
    }
    let mut name = String::with_capacity(module.len() + last.len());
    for word in module.split('_') {
        let mut letters = word.chars();
        if let Some(letter) = letters.next() {
            name.push(letter.to_ascii_uppercase());
        }
        name.push_str(letters.as_str());
    }
    name.push_str("Error");
    Cow::Owned(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("while reading the settings")]
    struct Wrapper(#[source] io::Error);

    fn kind(error: impl Error + Send + Sync + 'static) -> FailureKind {
        Failure::from(error).kind()
    }

    #[test]
    fn the_innermost_cause_decides() {
        assert_eq!(kind(io::Error::from(io::ErrorKind::PermissionDenied)), FailureKind::Permission);
        assert_eq!(kind(Wrapper(io::ErrorKind::NotFound.into())), FailureKind::NotFound);
        assert_eq!(
            kind(Wrapper(io::Error::other(io::Error::from(io::ErrorKind::TimedOut)))),
            FailureKind::Timeout
        );
        assert_eq!(kind(io::Error::from_raw_os_error(24)), FailureKind::System);
        assert_eq!(kind(serde_json::from_str::<u8>("x").unwrap_err()), FailureKind::InvalidOutput);
    }

    #[test]
    fn a_type_that_tells_nothing_is_an_execution_failure() {
        assert_eq!(kind("x".parse::<u8>().unwrap_err()), FailureKind::Execution);
    }

    #[test]
    fn type_names_are_those_a_reader_knows() {
        for (full, short) in [
            ("std::io::error::Error", "IoError"),
            ("serde_json::error::Error", "SerdeJsonError"),
            ("reqwest::error::Error", "ReqwestError"),
            ("core::num::error::ParseIntError", "ParseIntError"),
            ("my::Wrapper<std::io::Error>", "Wrapper"),
        ] {
            assert_eq!(short_type_name(full), short);
        }
        let full = std::any::type_name::<io::Error>();
        assert_eq!(name_of::<io::Error>(), short_type_name(full));
    }
}
