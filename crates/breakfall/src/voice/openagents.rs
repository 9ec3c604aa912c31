//! The voice of OpenAgents: `Error executing tool NAME: MESSAGE`.

use super::{Voice, plain};
use crate::{FailureKind, FailureReport};

/// `Error executing tool NAME: MESSAGE`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Openagents;

impl Voice for Openagents {
    fn failure(&self, failure: &FailureReport) -> String {
        format!("Error executing tool {}: {}", failure.tool, message(failure))
    }
}

/// A named resource is told with what happened to it; else the error's own words.
fn message(failure: &FailureReport) -> String {
    let what = match failure.kind {
        FailureKind::NotFound => "Resource not found",
        FailureKind::Permission => "Permission denied",
        FailureKind::Conflict => "Resource conflict",
        FailureKind::UnknownTool => return format!("Tool not found: {}", failure.tool),
        _ => return plain::disclosed(failure),
    };
    match &failure.resource {
        Some(resource) => format!("{what}: {resource}"),
        None => plain::disclosed(failure),
    }
}
