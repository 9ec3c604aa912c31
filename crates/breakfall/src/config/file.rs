//! The file as it is written: every key may be missing. The comments are the descriptions in the
//! schema, which refuses what is not listed here; serde only reads what the schema let pass.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::telemetry::TelemetryTable;
use super::units::{Age, Size, Time, Wait};
use super::upstreams::UnknownTool;
use super::words::{ByKind, Switch};
use crate::{Batching, Checking, Effect, FailureKind, Preset, Repair, SilentRule};

/// The configuration of Breakfall: `breakfall.toml`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(title = "breakfall.toml")]
pub(crate) struct File {
    /// The guard itself.
    pub(super) guard: GuardTable,
    /// How tools are called that are not told otherwise.
    pub(super) defaults: CallTable,
    /// Real servers behind the guard, by name.
    pub(super) upstreams: BTreeMap<String, UpstreamTable>,
    /// Tools, by name.
    pub(super) tools: BTreeMap<String, ToolTable>,
    /// Where records are kept on disk, and how long.
    pub(super) store: StoreTable,
    /// Where spans and metrics of calls go. Without an endpoint nothing leaves the machine.
    pub(super) telemetry: TelemetryTable,
    /// What is removed from every text besides what looks like a secret.
    pub(super) redact: RedactTable,
    /// What the errors of your tools mean. These come before the built-in rules.
    pub(super) phrase: Vec<PhraseTable>,
    /// What your secrets look like, in the field names of gitleaks.
    pub(super) secret: Vec<SecretTable>,
    /// Trouble made on purpose; ignored unless `guard.faults` is true.
    pub(super) fault: Vec<FaultTable>,
}

/// The guard itself.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct GuardTable {
    /// The voice and the dispositions under one name.
    pub(super) preset: Option<Preset>,
    /// Whether a tool that does not exist stops the run.
    pub(super) strict: Option<bool>,
    /// Whether the trouble of the `[[fault]]` tables is made.
    pub(super) faults: Option<bool>,
    /// Which calls of a batch run side by side.
    pub(super) batching: Option<Batching>,
    /// How many calls of a batch run at once.
    #[schemars(range(min = 1, max = 10_000))]
    pub(super) concurrency: Option<usize>,
    /// Whether records keep the arguments, redacted.
    pub(super) keep_arguments: Option<bool>,
    /// Whether secrets go out of what tools return, too; out of errors they always do.
    pub(super) redact_results: Option<bool>,
    /// How a call of a tool that does not exist is answered.
    pub(super) unknown_tool: Option<UnknownTool>,
    /// The most of an error's text that the model gets.
    pub(super) max_error: Option<Size>,
    /// How many samples of failures are kept in memory.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub(super) samples: Option<usize>,
    /// The most memory that the samples take.
    pub(super) max_samples: Option<Size>,
    /// Whether the run goes on after a failure, by kind.
    pub(super) dispositions: ByKind,
}

/// How tools are called.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct CallTable {
    /// How long one attempt may take. Progress from the tool starts it anew.
    pub(super) attempt_timeout: Option<Time>,
    /// How long the call may take in all: waiting for a place, every attempt, the waits between
    /// them, the fallback.
    pub(super) total_timeout: Option<Time>,
    /// Whether and when a call that failed is tried again.
    #[schemars(extend("title" = "`false`, or a table of `attempts`, `first_delay`, `max_delay`"))]
    pub(super) retry: Option<Switch<RetryTable>>,
    /// What happens to a model that repeats itself; `false` lets it.
    #[schemars(extend("title" = "`false`, or a table of `warn_at`, `refuse_at`, `tool_failures`, `forget_after`"))]
    pub(super) repeats: Option<Switch<RepeatsTable>>,
    /// What happens to a failure that came as a success.
    pub(super) silent: Option<SilentRule>,
    /// What happens to arguments that the schema does not accept.
    pub(super) checking: Option<Checking>,
    /// For which tools malformed arguments are mended.
    pub(super) repair: Option<Repair>,
    /// The most that arguments may have.
    pub(super) max_arguments: Option<Size>,
    /// The most of an output that the model gets; more is cut in the middle.
    pub(super) max_output: Option<Size>,
    #[serde(flatten)]
    pub(super) gate: GateTable,
}

/// What lets calls through to a tool, or to all tools of an upstream.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct GateTable {
    /// When calls are held back after failures; `false` never holds them back.
    #[schemars(extend("title" = "`false`, or a table of `consecutive`, `percent`, `floor`, `window`, `open_for`, `max_open`, `successes`"))]
    pub(super) breaker: Option<Switch<BreakerTable>>,
    /// How many of the calls may be repeats; `false` is no limit. Of a tool that belongs to an
    /// upstream, the upstream's counts.
    #[schemars(extend("title" = "`false`, or a table of `percent`, `window`, `floor`"))]
    pub(super) budget: Option<Switch<BudgetTable>>,
    /// How many calls run at once; `false` is no limit.
    #[schemars(extend("title" = "`false`, or an integer from 1 to 100000"))]
    pub(super) concurrency: Option<Switch<Places>>,
    /// How many calls wait for a place; the next is refused.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub(super) queue: Option<usize>,
    /// How long a call waits for a place.
    pub(super) queue_timeout: Option<Wait>,
}

/// How many calls run at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Places(#[schemars(range(min = 1, max = 100_000))] pub(super) usize);

/// Whether and when a call that failed is tried again: only where the failure may pass, and only
/// where the tool's effect allows it or the call never reached the tool.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct RetryTable {
    /// How many attempts in all, the first among them.
    #[schemars(range(min = 1, max = 100))]
    pub(super) attempts: Option<u32>,
    /// The longest first wait; each wait is drawn from nought to its longest.
    pub(super) first_delay: Option<Wait>,
    /// The longest wait, which doubling leads to.
    pub(super) max_delay: Option<Wait>,
}

/// When calls are held back after failures, and for how long.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct BreakerTable {
    /// So many failures in a row.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(super) consecutive: Option<u32>,
    /// Or so many of a hundred calls…
    #[schemars(range(min = 1, max = 100))]
    pub(super) percent: Option<u32>,
    /// …of at least so many…
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(super) floor: Option<u32>,
    /// …within this time.
    pub(super) window: Option<Time>,
    /// How long the first time; each failed probe doubles it.
    pub(super) open_for: Option<Time>,
    /// The longest time.
    pub(super) max_open: Option<Time>,
    /// How many probes in turn must succeed.
    #[schemars(range(min = 1, max = 1_000))]
    pub(super) successes: Option<u32>,
}

/// How many of the calls may be repeats.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct BudgetTable {
    /// So many repeats for a hundred calls…
    #[schemars(range(min = 0, max = 10_000))]
    pub(super) percent: Option<u32>,
    /// …within this time…
    pub(super) window: Option<Time>,
    /// …but so many in any case.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub(super) floor: Option<u32>,
}

/// What happens to a model that repeats itself within a run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct RepeatsTable {
    /// The same call failing so many times in the same way is told so.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(super) warn_at: Option<u32>,
    /// So many times it is not run any more.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(super) refuse_at: Option<u32>,
    /// A tool that failed so many times in a run, whatever the arguments, is out for the rest of
    /// it; a success halves the count.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(super) tool_failures: Option<u32>,
    /// After so long a time without the call it is forgotten.
    pub(super) forget_after: Option<Time>,
}

/// A real server behind the guard: how it is reached, and what lets calls through to all its tools.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct UpstreamTable {
    /// The program that is the server. No shell is involved.
    #[schemars(length(min = 1))]
    pub(super) command: Option<String>,
    /// The program's arguments.
    pub(super) args: Vec<String>,
    /// Variables that the program gets beside the harmless ones.
    pub(super) env: BTreeMap<String, String>,
    /// The directory in which the program runs.
    pub(super) cwd: Option<PathBuf>,
    /// The address of a server that is there already.
    #[schemars(regex(pattern = r"^https?://."))]
    #[schemars(extend("title" = "an address that begins with `http://` or `https://`"))]
    pub(super) url: Option<String>,
    /// Headers that every request to the address carries; `${NAME}` stands for a variable's value.
    pub(super) headers: BTreeMap<String, String>,
    /// Whether what it says of its tools is believed: that they only read, that they may be
    /// repeated. Until told otherwise of a program, not of an address.
    pub(super) trusted: Option<bool>,
    #[serde(flatten)]
    pub(super) gate: GateTable,
    /// How its tools are called that are not told otherwise.
    pub(super) defaults: CallTable,
}

/// How one tool is called, and what answers instead of it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ToolTable {
    #[serde(flatten)]
    pub(super) call: CallTable,
    /// May a call be repeated? Stands above what the tool says of itself.
    pub(super) effect: Option<Effect>,
    /// Whether the run goes on after a failure of this tool, by kind.
    pub(super) dispositions: ByKind,
    /// What answers instead of the tool when it cannot do its work.
    pub(super) fallback: Option<FallbackTable>,
}

/// What answers instead of a tool: another tool, or a fixed value.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct FallbackTable {
    /// Another tool.
    pub(super) tool: Option<String>,
    /// The other tool's arguments: "$name" stands for the argument of that name, "$$…" for a text
    /// that begins with `$`. The same arguments where there is none.
    pub(super) arguments: Option<Map<String, Value>>,
    /// A fixed answer.
    pub(super) value: Option<Value>,
    /// For which failures; until told otherwise for those that are the tool's and not the call's.
    pub(super) on: Option<Vec<FailureKind>>,
}

/// Where records are kept on disk, and how long.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct StoreTable {
    /// Whether records are kept on disk at all.
    pub(super) keep: Option<bool>,
    /// A file, "sqlite:FILE" or "postgres://…"; until told otherwise `breakfall.db` in the
    /// directory of the user's data.
    #[schemars(length(min = 1))]
    pub(super) place: Option<String>,
    /// How long samples of calls are kept.
    pub(super) records: Option<Age>,
    /// How long counts by minute are kept.
    pub(super) minutes: Option<Age>,
    /// How long counts by hour are kept, and groups that were not seen any more.
    pub(super) hours: Option<Age>,
}

/// What is removed from every text besides what looks like a secret.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct RedactTable {
    /// Environment variables whose values are secrets.
    pub(super) variables: Vec<String>,
}

/// These words mean this kind of failure.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub(crate) struct PhraseTable {
    /// What the rule is called.
    pub(super) id: String,
    /// The kind.
    pub(super) kind: FailureKind,
    /// The phrases; "a…b" is a, then b on the same line. Case does not count.
    #[schemars(length(min = 1))]
    pub(super) phrases: Vec<Phrase>,
}

/// Words that an error is known by.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(title = "text that is not empty and does not begin with `…`")]
pub(crate) struct Phrase(#[schemars(regex(pattern = r"^[^…]"))] pub(super) String);

/// What a secret looks like.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SecretTable {
    /// What the secret is called in its replacement.
    #[schemars(length(min = 1))]
    pub(super) id: String,
    /// What it is, for whoever reads the file.
    #[serde(default, rename = "description")]
    pub(super) _description: Option<String>,
    /// Where it stands; the first group is the secret, the whole match where there is none.
    #[schemars(length(min = 1))]
    pub(super) regex: String,
    /// The group that is the secret, where it is not the first.
    #[serde(default, rename = "secretGroup")]
    #[schemars(range(min = 0, max = 100))]
    pub(super) secret_group: Option<usize>,
    /// Words of gitleaks' own, for whoever reads the file.
    #[serde(default, rename = "tags")]
    pub(super) _tags: Vec<String>,
    /// One of these must stand in the text, whatever its case; none means always.
    #[serde(default)]
    pub(super) keywords: Vec<String>,
    /// How random the secret must be, in bits a character.
    #[serde(default)]
    #[schemars(range(min = 0, max = 8))]
    pub(super) entropy: f32,
    /// What is no secret although it matches.
    #[serde(default)]
    pub(super) allowlists: Vec<AllowTable>,
}

/// What is no secret although it matches.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct AllowTable {
    /// Why, for whoever reads the file.
    #[serde(rename = "description")]
    pub(super) _description: Option<String>,
    /// Expressions for the secret.
    pub(super) regexes: Vec<String>,
    /// Words in the secret.
    pub(super) stopwords: Vec<String>,
}

/// Trouble made on purpose.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub(crate) struct FaultTable {
    /// The tool, by its name; `*` stands for any letters.
    #[schemars(length(min = 1))]
    pub(super) tool: String,
    /// What goes wrong.
    pub(super) trouble: TroubleWord,
    /// Of `fail`: in which way.
    pub(super) kind: Option<FailureKind>,
    /// Of `http`: the status.
    #[schemars(range(min = 100, max = 599))]
    pub(super) status: Option<u16>,
    /// Of `http`: the body.
    pub(super) body: Option<String>,
    /// Of `http`: what its `Retry-After` says.
    pub(super) retry_after: Option<Wait>,
    /// Of `latency`: how much later the tool begins.
    pub(super) time: Option<Wait>,
    /// Of `flood`: how much comes.
    pub(super) bytes: Option<Size>,
    /// For so many of the calls: 0 is none, 1 is all.
    #[schemars(range(min = 0, max = 1))]
    pub(super) probability: Option<f64>,
    /// Only for calls whose arguments have these fields with these values.
    pub(super) when: Option<Map<String, Value>>,
    /// Makes chance repeatable: the same calls meet the same trouble.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    pub(super) seed: Option<u64>,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TroubleWord {
    /// The tool begins later.
    Latency,
    /// The tool is never called and nothing comes.
    Hang,
    /// The tool is not called and fails in this way.
    Fail,
    /// The tool is not called and a service answers with this status.
    Http,
    /// The tool is called and its answer is unreadable.
    Garbage,
    /// The tool is called and half of its answer is missing.
    Truncated,
    /// The tool is not called and panics.
    Panic,
    /// The tool is not called and so many bytes come.
    Flood,
}
