//! The voice of Brynhild: a result of three fields, both output and error on partial success.

use serde::Serialize;

use super::{Voice, plain};
use crate::{FailureReport, OutputReport};

/// `{"success": …, "output": …, "error": …}`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Brynhild;

/// The fields in the order in which that system writes them.
#[derive(Serialize)]
struct Result3<'a> {
    success: bool,
    output: &'a str,
    error: Option<&'a str>,
}

impl Voice for Brynhild {
    fn failure(&self, failure: &FailureReport) -> String {
        match &failure.resource {
            Some(resource) if failure.message.is_empty() => {
                format!("{}: {resource}", plain::brief(failure))
            }
            _ => plain::disclosed(failure),
        }
    }

    fn partial(&self, output: &OutputReport) -> String {
        let line = |problem: &crate::ItemReport| {
            format!("{}: {}", problem.item, plain::disclosed(&problem.failure))
        };
        output.problems.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn frame(&self, output: Option<&str>, error: Option<&str>) -> Option<String> {
        let result =
            Result3 { success: error.is_none(), output: output.unwrap_or_default(), error };
        serde_json::to_string(&result).ok()
    }
}
