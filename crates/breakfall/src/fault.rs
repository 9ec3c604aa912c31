//! Trouble made on purpose, to see what an agent does when its tools fail. Every record of it says
//! so.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::dice::Dice;
use crate::tool::{BoxFuture, Context, Entry, Tool};
use crate::{Arguments, Failure, FailureKind, Outcome, Output};

/// Trouble made on purpose: which, how often, for which calls.
///
/// ```
/// use std::time::Duration;
/// use breakfall::{FailureKind, Fault, Trouble};
///
/// let flaky = Fault::new(Trouble::Fail(FailureKind::Network)).probability(0.2).seed(7);
/// let slow_in_paris = Fault::new(Trouble::Latency(Duration::from_secs(40)))
///     .when(serde_json::json!({ "city": "Paris" }));
/// ```
#[derive(Clone, Debug)]
pub struct Fault {
    trouble: Trouble,
    probability: f64,
    when: Option<Value>,
    dice: Arc<Dice>,
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Trouble {
    /// The tool begins later.
    Latency(Duration),
    /// The tool is never called and nothing comes.
    Hang,
    /// The tool is not called and fails in this way.
    Fail(FailureKind),
    /// The tool is not called and a service answers with this status.
    Http {
        /// The status.
        status: u16,
        /// The body.
        body: String,
        /// What its `Retry-After` says.
        retry_after: Option<Duration>,
    },
    /// The tool is called and its answer is unreadable.
    Garbage,
    /// The tool is called and half of its answer is missing.
    Truncated,
    /// The tool is not called and panics.
    Panic,
    /// The tool is not called and so many bytes come.
    Flood(usize),
}

impl Trouble {
    /// Its name in configuration and records.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Latency(_) => "latency",
            Self::Hang => "hang",
            Self::Fail(_) => "fail",
            Self::Http { .. } => "http",
            Self::Garbage => "garbage",
            Self::Truncated => "truncated",
            Self::Panic => "panic",
            Self::Flood(_) => "flood",
        }
    }
}

impl Fault {
    /// This trouble, for every call until told otherwise.
    pub fn new(trouble: Trouble) -> Self {
        Self { trouble, probability: 1.0, when: None, dice: Arc::default() }
    }

    /// For so many of the calls: 0 is none, 1 is all.
    pub fn probability(mut self, probability: f64) -> Self {
        self.probability = probability;
        self
    }

    /// Only for calls whose arguments have these fields with these values.
    pub fn when(mut self, arguments: impl Into<Value>) -> Self {
        self.when = Some(arguments.into());
        self
    }

    /// Makes chance repeatable: the same calls meet the same trouble.
    pub fn seed(mut self, seed: u64) -> Self {
        self.dice = Arc::new(Dice::new(seed));
        self
    }

    /// Whether a call meets it. The dice are thrown only for calls that it is meant for.
    fn strikes(&self, arguments: &Value) -> bool {
        self.when.as_ref().is_none_or(|when| matches(when, arguments))
            && self.dice.throw() < self.probability
    }
}

/// Whether a value has all that the pattern has. Patterns are the user's own, and shallow.
fn matches(pattern: &Value, value: &Value) -> bool {
    match (pattern, value) {
        (Value::Object(pattern), Value::Object(value)) => pattern
            .iter()
            .all(|(name, wanted)| value.get(name).is_some_and(|given| matches(wanted, given))),
        (pattern, value) => pattern == value,
    }
}

impl Entry {
    /// The same tool with trouble made on purpose.
    pub fn fault(self, fault: Fault) -> Self {
        self.wrap(|tool| Faulty { tool, fault })
    }
}

struct Faulty {
    tool: Arc<dyn Tool>,
    fault: Fault,
}

impl Tool for Faulty {
    fn call<'a>(
        &'a self,
        arguments: &'a Arguments,
        context: Context<'a>,
    ) -> BoxFuture<'a, Outcome> {
        if !self.fault.strikes(arguments.value()) {
            return self.tool.call(arguments, context);
        }
        context.mark_fault(self.fault.trouble.name());
        Box::pin(async move {
            match &self.fault.trouble {
                Trouble::Latency(time) => {
                    tokio::time::sleep(*time).await;
                    self.tool.call(arguments, context).await
                }
                Trouble::Hang => std::future::pending().await,
                Trouble::Fail(kind) => Err(failure_of(*kind)),
                Trouble::Http { status, body, retry_after } => {
                    let failure = Failure::http(*status, body);
                    Err(match retry_after {
                        Some(wait) => failure.wait_for(*wait),
                        None => failure,
                    })
                }
                Trouble::Garbage => {
                    self.tool.call(arguments, context).await.map(|output| garbled(output, 3))
                }
                Trouble::Truncated => self.tool.call(arguments, context).await.map(|output| {
                    let text = output.into_text();
                    Output::text(&text[..text.floor_char_boundary(text.len() / 2)])
                }),
                Trouble::Panic => panic!("a fault made on purpose"),
                Trouble::Flood(bytes) => Ok(Output::text("flood ".repeat(bytes / 6 + 1))),
            }
        })
    }

    fn accepts(&self, arguments: &Value) -> bool {
        self.tool.accepts(arguments)
    }
}

/// Every letter but each `nth` is unreadable.
fn garbled(output: Output, nth: usize) -> Output {
    let unreadable = |(at, letter)| if at % nth == 0 { letter } else { '\u{fffd}' };
    Output::text(output.into_text().chars().enumerate().map(unreadable).collect::<String>())
}

/// A failure of this kind as a tool would raise it. Kinds that only the guard raises come as
/// the nearest thing that a tool can do.
pub fn failure_of(kind: FailureKind) -> Failure {
    use FailureKind as K;
    match kind {
        K::NotFound => Failure::not_found("notes/today.md"),
        K::InvalidArguments => Failure::invalid("`limit`", "at most 100"),
        K::Precondition => Failure::precondition("connect to the database first"),
        K::Conflict => Failure::conflict("notes/today.md"),
        K::Timeout => Failure::timeout(Duration::from_secs(30)),
        K::RateLimited => Failure::rate_limited(Some(Duration::from_secs(20))),
        K::Permission => Failure::permission("/etc/shadow"),
        K::Network => Failure::network("connection refused").not_dispatched(),
        K::Upstream => Failure::upstream("the service is down"),
        K::InvalidOutput => Failure::invalid_output("expected JSON, got HTML"),
        K::Execution | K::UnknownTool | K::TruncatedArguments | K::Repeated | K::Broken => {
            Failure::execution("3 of 12 tests failed")
        }
        K::Internal => Failure::internal("index out of bounds"),
        K::Unavailable => Failure::unavailable("the index is being rebuilt"),
        K::Cancelled => Failure::cancelled(),
        K::Authentication => Failure::authentication("GITHUB_TOKEN"),
        K::QuotaExceeded => Failure::quota_exceeded("the monthly plan is used up"),
        K::System => Failure::system("no space left on device"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pattern_matches_what_has_all_of_it() {
        let value = json!({ "city": "Paris", "days": { "from": 1, "to": 3 } });
        for (pattern, expected) in [
            (json!({}), true),
            (json!({ "city": "Paris" }), true),
            (json!({ "days": { "to": 3 } }), true),
            (json!({ "city": "Rome" }), false),
            (json!({ "days": { "to": 3, "by": 1 } }), false),
        ] {
            assert_eq!(matches(&pattern, &value), expected, "{pattern}");
        }
    }
}
