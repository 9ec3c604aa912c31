//! An error of unknown origin becomes a kind: by type and code first, by text last.

mod codes;
mod types;

pub(crate) use codes::http_status;
pub(crate) use types::{by_type, causes, short_type_name};

use crate::{Failure, FailureKind, Provenance};

/// Decides the kind of a failure that nobody declared. What a tool declared stands.
pub(crate) fn classify(failure: &mut Failure) {
    let facts = failure.facts();
    if facts.kind != FailureKind::Execution || facts.provenance != Provenance::Unknown {
        return;
    }
    if let Some(status) = facts.status {
        failure.facts_mut().kind = http_status(status);
    }
}
