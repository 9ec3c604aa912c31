//! The same tools as rig and rmcp have them: the same work behind their dispatch by name.

mod mcp;
mod rig;

pub use mcp::{Connection, Router, asked, object};
pub use rig::Rig;

/// What is called, as a model would write it.
#[derive(Clone, Copy)]
pub enum Case {
    /// A tool that answers.
    Success,
    /// The same with next to no work.
    Small,
    /// A tool that fails with 200 bytes of text.
    Failure,
    /// A name that is no tool's, and nearly one's.
    Unknown,
}

impl Case {
    /// The name that is called.
    pub fn tool(self) -> &'static str {
        match self {
            Self::Success => "search",
            Self::Small => "greet",
            Self::Failure => "fails",
            Self::Unknown => "serach",
        }
    }

    /// The arguments of the n-th call: no two calls are the same.
    pub fn arguments(self, n: u32) -> serde_json::Value {
        let mut value = match self {
            Self::Small => breakfall_counts::greeted(),
            Self::Success | Self::Failure | Self::Unknown => breakfall_counts::arguments(),
        };
        match self {
            Self::Small => value["name"] = name(n).into(),
            Self::Success | Self::Failure | Self::Unknown => value["limit"] = n.into(),
        }
        value
    }

    /// What the n-th call is answered with, where it succeeds.
    pub fn answer(self, n: u32) -> Option<String> {
        match self {
            Self::Success => Some(format!("{n} results for `where is the error`, Newest first")),
            Self::Small => Some(format!("Hello, {}!", name(n))),
            Self::Failure | Self::Unknown => None,
        }
    }

    /// Whether something is what the n-th call is answered with.
    pub fn is_answered(self, n: u32, given: &str) -> bool {
        self.answer(n).is_none_or(|answer| given.contains(&answer))
    }
}

fn name(n: u32) -> String {
    format!("Ada Lovelace {n}")
}
