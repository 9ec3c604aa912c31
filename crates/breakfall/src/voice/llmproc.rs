//! The voice of llmproc: availability in one sentence, arguments in detail, the rest hidden.

use super::{Voice, plain};
use crate::{Detail, FailureKind, FailureReport, Provenance};

const NOT_AVAILABLE: &str = "This tool is not available";
const UNEXPECTED: &str = "An unexpected error occurred while executing this tool";

/// Availability in one sentence, arguments in detail, the rest hidden.
#[derive(Clone, Copy, Debug)]
pub enum Llmproc {
    /// An unknown name is a tool that is not available.
    Terse,
    /// An unknown name is answered with those that exist, as RFC 015 has it.
    Listing,
}

impl Voice for Llmproc {
    fn failure(&self, failure: &FailureReport) -> String {
        use FailureKind as K;
        match (self, failure.kind) {
            (Self::Listing, K::UnknownTool) => listing(failure),
            (_, K::UnknownTool | K::Unavailable) => NOT_AVAILABLE.to_owned(),
            // What is only read from an error has no detail that could be told.
            (_, K::InvalidArguments | K::TruncatedArguments)
                if failure.provenance != Provenance::Unknown || failure.detail != Detail::None =>
            {
                format!("Error: {}", plain::brief(failure))
            }
            (_, K::Internal | K::Broken) => UNEXPECTED.to_owned(),
            _ if failure.provenance == Provenance::Unknown => UNEXPECTED.to_owned(),
            _ => match &failure.resource {
                Some(resource) => format!("Error: {}: {resource}", plain::brief(failure)),
                None => format!("Error: {}", plain::brief(failure)),
            },
        }
    }
}

fn listing(failure: &FailureReport) -> String {
    let available = match &failure.detail {
        Detail::Names { callable, .. } => callable.join(", "),
        _ => String::new(),
    };
    format!(
        "Error: Tool '{}' not found.\n\nAvailable tools: {available}\n\n\
         Please try again with one of the available tools.",
        failure.tool
    )
}
