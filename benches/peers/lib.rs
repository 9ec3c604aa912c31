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
    /// A tool that fails with 200 bytes of text.
    Failure,
    /// A name that is no tool's, and nearly one's.
    Unknown,
}

impl Case {
    /// Every case.
    pub const ALL: [Self; 3] = [Self::Success, Self::Failure, Self::Unknown];

    /// The name that is called.
    pub fn tool(self) -> &'static str {
        match self {
            Self::Success => "search",
            Self::Failure => "fails",
            Self::Unknown => "serach",
        }
    }
}

/// The arguments of the n-th call: no two calls are the same.
pub fn arguments(n: u32) -> serde_json::Value {
    let mut value = breakfall_counts::arguments();
    value["limit"] = n.into();
    value
}

/// What `search` answers to the n-th call.
pub fn answer(n: u32) -> String {
    format!("{n} results for `where is the error`, Newest first")
}
