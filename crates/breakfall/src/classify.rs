//! An error of unknown origin becomes a kind, with what else can be read off it: the tool's own
//! declaration first, then types, codes and structured bodies, then names, and text last.

mod bare;
mod beginnings;
mod believe;
mod body;
mod codes;
mod decide;
mod explain;
mod keys;
mod logged;
mod material;
mod memory;
mod names;
mod passing;
mod pattern;
mod phrases;
mod pieces;
mod printed;
mod quotes;
mod read;
mod reports;
mod resource;
mod segment;
mod signals;
mod silent;
mod spelling;
mod types;
mod validators;
mod wait;
mod words;
mod wrapper;

pub(crate) use codes::http_status;
pub(crate) use explain::explain_as;
pub use explain::{Explanation, explain};
pub use phrases::PhraseRule;
pub use read::{Evidence, Reader, Reading};
pub use silent::{Silent, silent};
pub(crate) use silent::{may_be_silent, silent_output};
pub(crate) use types::{by_type, causes, name_of};
pub(crate) use validators::{is_key_of_a_validator, speaks_of_an_object};
pub use wait::retry_after;

use std::time::Duration;

use crate::failure::Words;
use crate::{Failure, FailureKind, MayPass, Provenance, Raised};

/// In how many causes a resource is looked for.
const CAUSES: usize = 4;

/// Decides the kind of a failure of a tool's that nobody declared. What a tool declared stands.
pub(crate) fn classify(failure: &mut Failure, reader: &Reader, tool: &str) {
    let facts = failure.facts();
    let is_open = facts.words != Words::Beside || facts.provenance == Provenance::Unknown;
    if facts.kind != FailureKind::Execution || !is_open {
        if is_open && facts.resource.is_none() {
            let named = named(failure, reader);
            failure.facts_mut().resource = named.filter(|resource| resource != tool);
        }
        return;
    }
    let evidence = Evidence {
        text: wrapper::inside(&facts.message, Some(tool)),
        type_name: facts.type_name.as_deref(),
        http_status: facts.status,
        json_rpc_code: facts.json_rpc_code,
        ..Evidence::default()
    };
    let told = reader
        .recall(&evidence, |reading| {
            (reading.kind != FailureKind::Execution).then(|| told(reading))
        })
        .or_else(|| of_its_causes(failure, reader))
        .unwrap_or_else(|| reader.recall(&evidence, told));
    let facts = failure.facts_mut();
    facts.kind = told.kind;
    facts.status = facts.status.or(told.status);
    facts.wait = facts.wait.or(told.wait);
    facts.may_pass = Some(told.may_pass);
    if facts.resource.is_none() {
        // A tool that is spoken of in its own error is not what that is about.
        facts.resource = told.resource.filter(|resource| resource != tool);
    }
}

/// What a failure takes of a reading.
struct Told {
    kind: FailureKind,
    status: Option<u16>,
    wait: Option<Duration>,
    may_pass: MayPass,
    resource: Option<String>,
}

fn told(reading: &Reading) -> Told {
    let Reading { kind, status, wait, may_pass, ref resource, .. } = *reading;
    Told { kind, status, wait, may_pass, resource: resource.clone() }
}

/// What a failure of a known kind is about: what its words name, where they tell the same kind.
fn named(failure: &Failure, reader: &Reader) -> Option<String> {
    let of = |text: &str, type_name: Option<&str>| {
        let evidence = Evidence { text, type_name, ..Evidence::default() };
        let is_same = |reading: &Reading| reading.kind == failure.kind();
        reader.recall(&evidence, |reading| reading.resource.clone().filter(|_| is_same(reading)))
    };
    let facts = failure.facts();
    of(&facts.message, facts.type_name.as_deref()).or_else(|| {
        let causes = causes(failure.source()?).filter_map(|cause| cause.downcast_ref::<Raised>());
        causes.take(CAUSES).find_map(|cause| of(cause.text(), Some(cause.type_name())))
    })
}

/// What an exception says that was raised from another: the first of its causes that tells a kind.
fn of_its_causes(failure: &Failure, reader: &Reader) -> Option<Told> {
    causes(failure.source()?).skip(1).find_map(|cause| {
        let cause = cause.downcast_ref::<Raised>()?;
        let evidence = Evidence {
            text: cause.text(),
            type_name: Some(cause.type_name()),
            ..Evidence::default()
        };
        reader.recall(&evidence, |reading| {
            (reading.kind != FailureKind::Execution).then(|| told(reading))
        })
    })
}
