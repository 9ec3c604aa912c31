//! Answers every tool call of a model: what can go on goes on, what cannot stops with the true
//! reason.
//!
//! # The flow of a call
//!
//! ```text
//! handle(call):  open record → run → redact → speak → close record
//! run(call):     find → check → attempt (admit → execute → classify → settle → again?) → fallback, once
//! ```
//!
//! | step | module | turns | into |
//! |---|---|---|---|
//! | find | `toolbox` | a name | a tool, or the names that exist |
//! | check | `check` | raw arguments | [`Arguments`], or every problem at once |
//! | attempt | `attempt` | a tool and arguments | an [`Outcome`] |
//! | classify | `classify` | any error | a [`FailureKind`] |
//! | redact | `redact` | an outcome | a [`Report`] |
//! | speak | `voice` | a report | a [`Reply`] |
//! | record | `journal` | a reply | a [`Record`], counts, logs |
//!
//! Start at [`Guard::handle`].
//!
//! Guides by task: what an error means ([`guides::errors`]), secrets ([`guides::secrets`]), tools
//! that are slow, flaky or gone ([`guides::holding_out`]), the file `breakfall.toml`
//! ([`guides::configuration`]), spans and metrics ([`guides::telemetry`]).

mod attempt;
mod call;
mod check;
mod classify;
mod config;
mod dice;
mod error;
mod expression;
mod failure;
mod fallback;
mod fault;
mod guard;
mod halves;
mod journal;
mod keywords;
mod patience;
mod redact;
mod stretch;
mod tool;
mod toolbox;
mod trace;
mod voice;
pub mod wire;
mod written;

// `#[tool]` names this crate; so do its own tests.
extern crate self as breakfall;

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

#[doc(hidden)]
pub mod macros;

/// Guides by task.
pub mod guides {
    #[doc = include_str!("../../../docs/configuration.md")]
    pub mod configuration {}
    #[doc = include_str!("../../../docs/errors.md")]
    pub mod errors {}
    #[doc = include_str!("../../../docs/secrets.md")]
    pub mod secrets {}
    #[doc = include_str!("../../../docs/holding-out.md")]
    pub mod holding_out {}
    #[doc = include_str!("../../../docs/telemetry.md")]
    pub mod telemetry {}
    #[doc = include_str!("../../../docs/mcp.md")]
    pub mod mcp {}
    #[doc = include_str!("../../../docs/python.md")]
    pub mod python {}
    #[doc = include_str!("../../../docs/journal.md")]
    pub mod journal {}
}

pub use breakfall_macros::tool;

pub use attempt::{
    BreakerRules, BreakerState, BudgetRules, Checking, GateRules, GateState, Policy, Repair,
    RepeatRules, Retry, SilentRule, Trip, TripCause, Try, Turned, Whose,
};
pub use call::{Attachment, Call, RawArguments};
pub use check::{Arguments, MAX_DEPTH};
pub use classify::{
    Evidence, Explanation, PhraseRule, Reader, Reading, Silent, explain, retry_after, silent,
};
pub use config::{
    Config, ConfigProblem, ConfiguredStore, ConfiguredTelemetry, ConfiguredUpstream, Preset, Reach,
    UnknownTool, filled,
};
pub use error::Error;
pub use failure::{
    Advice, Block, Correction, Detail, Disposition, Failure, FailureKind, Gravity, IntoFailure,
    MayPass, Outcome, Problem, Provenance, Raised, Reference,
};
pub use fallback::Fallback;
pub use fault::{Fault, Trouble, failure_of};
pub use guard::{Batching, Guard, GuardBuilder};
pub use halves::without_halves;
pub use journal::{Calendar, Counts, Ending, LogLines, Memory, Record, Sink};
pub use patience::Patience;
pub use redact::{
    Allowlist, FailureReport, InsteadReport, ItemReport, OutputReport, RedactingStream, Redactor,
    Report, SecretRule, Span, is_hidden, secret_in_header, secrets_in_variable,
};
pub use tool::{
    BoxFuture, Context, Effect, Elsewhere, Entry, Held, IntoOutput, ItemProblem, Output, Progress,
    Tool, ToolSpec, blocking, blocking_with, function, function_with, require_input,
};
pub use toolbox::{Scope, Toolbox};
pub use trace::Trace;
pub use voice::{
    Brynhild, Json, Llmproc, Openagents, Plain, Reply, Sidekick, StopReason, Voice, interrupted,
    written,
};
