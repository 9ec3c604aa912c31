//! The rules of an attempt, as plain data.

use std::time::Duration;

/// How a tool is called. One for the guard, and one for each tool that needs another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How long one attempt may take.
    pub attempt_timeout: Duration,
    /// What happens to arguments that the schema does not accept.
    pub checking: Checking,
    /// For which tools malformed arguments are mended.
    pub repair: Repair,
    /// The most bytes that arguments may have.
    pub max_argument_bytes: usize,
    /// The most bytes of an output that the model gets; more is cut in the middle.
    pub max_output_bytes: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            attempt_timeout: Duration::from_secs(30),
            checking: Checking::Strict,
            repair: Repair::Repeatable,
            max_argument_bytes: 4 << 20,
            max_output_bytes: 100 << 10,
        }
    }
}

/// What happens to arguments that the schema does not accept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checking {
    /// The call is refused before it is dispatched.
    #[default]
    Strict,
    /// The call is dispatched, with what loses nothing written in the accepted type; if the
    /// tool refuses it, the model is told every problem. For tools that accept more than their
    /// schema says.
    Diagnose,
    /// The call is dispatched as it is; if the tool refuses it, the model is told every problem.
    Warn,
    /// Nothing is checked.
    Off,
}

/// For which tools malformed arguments are mended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repair {
    /// For none.
    Never,
    /// For those whose calls may be repeated.
    #[default]
    Repeatable,
    /// For every tool, also where a misread call does harm.
    Always,
}
