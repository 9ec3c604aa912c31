//! The rules of an attempt, as plain data.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

/// How a tool is called. One for the guard, and one for each tool that needs another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How long one attempt may take. Progress from the tool starts it anew.
    pub attempt_timeout: Duration,
    /// How long the call may take in all: waiting for a place, every attempt, the waits between
    /// them, the fallback.
    pub total_timeout: Duration,
    /// Whether and when a call that failed is tried again.
    pub retry: Retry,
    /// What lets calls through to the tool.
    pub gate: GateRules,
    /// What happens to a model that repeats itself.
    pub repeats: RepeatRules,
    /// What happens to a failure that came as a success.
    pub silent: SilentRule,
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
            // MCP clients give up at 60 s.
            total_timeout: Duration::from_secs(55),
            retry: Retry::default(),
            gate: GateRules::default(),
            repeats: RepeatRules::default(),
            silent: SilentRule::Note,
            checking: Checking::Strict,
            repair: Repair::Repeatable,
            max_argument_bytes: 4 << 20,
            max_output_bytes: 100 << 10,
        }
    }
}

impl Policy {
    /// One attempt and nothing else: no breaker, no budget, no loop guard. For who has them
    /// elsewhere.
    pub fn bare() -> Self {
        Self {
            retry: Retry::never(),
            gate: GateRules { breaker: None, budget: None, ..GateRules::default() },
            repeats: RepeatRules::never(),
            ..Self::default()
        }
    }
}

/// Whether and when a call that failed is tried again: only where the failure may pass, and only
/// where the tool's effect allows it or the call never reached the tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// How many attempts in all, the first among them.
    pub attempts: u32,
    /// The longest first wait; each wait is drawn from nought to its longest.
    pub first_delay: Duration,
    /// The longest wait, which doubling leads to.
    pub max_delay: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            attempts: 3,
            first_delay: Duration::from_millis(250),
            max_delay: Duration::from_secs(8),
        }
    }
}

impl Retry {
    /// No second attempt.
    pub fn never() -> Self {
        Self { attempts: 1, ..Self::default() }
    }
}

/// What lets calls through to a tool, or to all tools of an upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateRules {
    /// When calls are held back after failures; `None` never holds them back.
    pub breaker: Option<BreakerRules>,
    /// How many of the calls may be repeats; `None` is no limit. Of a tool that belongs to an
    /// upstream, the upstream's counts.
    pub budget: Option<BudgetRules>,
    /// How many calls run at once; `None` is no limit.
    pub concurrency: Option<usize>,
    /// How many calls wait for a place; the next is refused.
    pub queue: usize,
    /// How long a call waits for a place.
    pub queue_timeout: Duration,
}

impl Default for GateRules {
    fn default() -> Self {
        Self {
            breaker: Some(BreakerRules::default()),
            budget: Some(BudgetRules::default()),
            concurrency: None,
            queue: 1024,
            queue_timeout: Duration::from_secs(30),
        }
    }
}

impl GateRules {
    /// What an upstream has until it is told otherwise: 16 calls at once.
    pub fn upstream() -> Self {
        Self { concurrency: Some(16), ..Self::default() }
    }
}

/// When calls are held back after failures, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakerRules {
    /// So many failures in a row.
    pub consecutive: u32,
    /// Or so many of a hundred calls…
    pub percent: u32,
    /// …of at least so many…
    pub floor: u32,
    /// …within this time.
    pub window: Duration,
    /// How long the first time; each failed probe doubles it.
    pub open_for: Duration,
    /// The longest time.
    pub max_open: Duration,
    /// How many probes in turn must succeed.
    pub successes: u32,
}

impl Default for BreakerRules {
    fn default() -> Self {
        Self {
            consecutive: 5,
            percent: 50,
            floor: 10,
            window: Duration::from_mins(1),
            open_for: Duration::from_secs(30),
            max_open: Duration::from_mins(5),
            successes: 2,
        }
    }
}

/// How many of the calls may be repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetRules {
    /// So many repeats for a hundred calls…
    pub percent: u32,
    /// …within this time…
    pub window: Duration,
    /// …but so many in any case.
    pub floor: u32,
}

impl Default for BudgetRules {
    fn default() -> Self {
        Self { percent: 20, window: Duration::from_secs(10), floor: 3 }
    }
}

/// What happens to a model that repeats itself within a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatRules {
    /// The same call failing so many times in the same way is told so.
    pub warn_at: u32,
    /// So many times it is not run any more.
    pub refuse_at: u32,
    /// A tool that failed so many times in a run, whatever the arguments, is out; a success halves
    /// the count.
    pub tool_failures: u32,
    /// After so long a time without the call it is forgotten, and a tool that is out may be tried
    /// again.
    pub forget_after: Duration,
}

impl Default for RepeatRules {
    fn default() -> Self {
        Self { warn_at: 3, refuse_at: 5, tool_failures: 20, forget_after: Duration::from_mins(10) }
    }
}

impl RepeatRules {
    /// Lets a model repeat itself for ever.
    pub fn never() -> Self {
        Self { warn_at: u32::MAX, refuse_at: u32::MAX, tool_failures: u32::MAX, ..Self::default() }
    }
}

/// What happens to a failure that came as a success.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SilentRule {
    /// Nobody looks.
    Ignore,
    /// It passes unchanged and is noted in the record.
    #[default]
    Note,
    /// It is a failure.
    Fail,
}

/// What happens to arguments that the schema does not accept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Repair {
    /// For none.
    Never,
    /// For those whose calls may be repeated.
    #[default]
    Repeatable,
    /// For every tool, also where a misread call does harm.
    Always,
}
