//! The voice of Sidekick: five lines, or one.

use super::{Voice, plain};
use crate::FailureReport;

/// How many characters of a message the short form shows.
const SHORT: usize = 500;

/// Five lines, or one.
#[derive(Clone, Copy, Debug)]
pub enum Sidekick {
    /// What its tool node answers.
    Long,
    /// `[TOOL ERROR] NAME failed with TYPE: MESSAGE`.
    Short,
}

impl Voice for Sidekick {
    fn failure(&self, failure: &FailureReport) -> String {
        let (tool, error_type) = (&failure.tool, &failure.error_type);
        let message = match &failure.resource {
            Some(resource) if failure.message.is_empty() => {
                format!("{}: {resource}", plain::brief(failure))
            }
            _ => plain::disclosed(failure),
        };
        match self {
            Self::Long => format!(
                "Tool Execution Failed\nTool: {tool}\nError Type: {error_type}\n\
                 Message: {message}\n\nThe tool failed and cannot be used for this request."
            ),
            Self::Short => {
                let message: String = message.chars().take(SHORT).collect();
                format!("[TOOL ERROR] {tool} failed with {error_type}: {message}")
            }
        }
    }
}
