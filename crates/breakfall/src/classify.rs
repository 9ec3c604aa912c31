//! An error of unknown origin becomes a kind, with what else can be read off it: the tool's own
//! declaration first, then types, codes and structured bodies, then names, and text last.

mod beginnings;
mod believe;
mod body;
mod codes;
mod decide;
mod explain;
mod keys;
mod names;
mod pattern;
mod phrases;
mod quotes;
mod read;
mod reports;
mod resource;
mod segment;
mod signals;
mod silent;
mod spelling;
mod types;
mod wait;
mod words;

pub(crate) use codes::http_status;
pub(crate) use explain::explain_as;
pub use explain::{Explanation, explain};
pub use phrases::PhraseRule;
pub use read::{Evidence, Reader, Reading};
pub(crate) use silent::silent_output;
pub use silent::{Silent, silent};
pub(crate) use types::{by_type, causes, io_error_kind, short_type_name};

use crate::{Failure, FailureKind, Provenance, Raised};

/// Decides the kind of a failure that nobody declared. What a tool declared stands.
pub(crate) fn classify(failure: &mut Failure, reader: &Reader) {
    let facts = failure.facts();
    let is_open = facts.is_unread || facts.provenance == Provenance::Unknown;
    if facts.kind != FailureKind::Execution || !is_open {
        return;
    }
    let evidence = Evidence {
        text: &facts.message,
        type_name: facts.type_name.as_deref(),
        http_status: facts.status,
        json_rpc_code: facts.json_rpc_code,
        ..Evidence::default()
    };
    let mut reading = reader.read(&evidence);
    if reading.kind == FailureKind::Execution {
        reading = of_its_causes(failure, reader).unwrap_or(reading);
    }
    let facts = failure.facts_mut();
    facts.kind = reading.kind;
    facts.status = facts.status.or(reading.status);
    facts.wait = facts.wait.or(reading.wait);
    facts.may_pass = Some(reading.may_pass);
    if facts.resource.is_none() {
        facts.resource = reading.resource;
    }
}

/// What an exception says that was raised from another: the first of its causes that tells a kind.
fn of_its_causes(failure: &Failure, reader: &Reader) -> Option<Reading> {
    causes(failure.source()?).skip(1).find_map(|cause| {
        let cause = cause.downcast_ref::<Raised>()?;
        let evidence = Evidence {
            text: cause.text(),
            type_name: Some(cause.type_name()),
            ..Evidence::default()
        };
        Some(reader.read(&evidence)).filter(|reading| reading.kind != FailureKind::Execution)
    })
}
