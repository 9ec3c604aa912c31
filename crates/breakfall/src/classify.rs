//! An error of unknown origin becomes a kind, with what else can be read off it: the tool's own
//! declaration first, then types, codes and structured bodies, then names, and text last.

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
pub(crate) use types::{by_type, causes, short_type_name};

use crate::{Failure, FailureKind, Provenance};

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
    let reading = reader.read(&evidence);
    let facts = failure.facts_mut();
    facts.kind = reading.kind;
    facts.status = facts.status.or(reading.status);
    facts.wait = facts.wait.or(reading.wait);
    facts.may_pass = Some(reading.may_pass);
    if facts.resource.is_none() {
        facts.resource = reading.resource;
    }
}
