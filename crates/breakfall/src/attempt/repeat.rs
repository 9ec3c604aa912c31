//! The loop guard of a run: a model that makes the same failing call again and again is told so,
//! then the call is not run any more. Pure; the clock is the caller's.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, Hash, Hasher};
use std::time::Duration;

use foldhash::fast::{FixedState, RandomState};
use serde_json::Value;
use tokio::time::Instant;

use super::policy::RepeatRules;
use crate::redact::bounded;
use crate::{FailureKind, RawArguments};

/// How many different calls of a run are remembered; the oldest goes first.
const CALLS: usize = 256;

/// The largest arguments that are read to be known again however they are written.
const READ: usize = 64 << 10;

/// How many tools of a run are counted.
const TOOLS: usize = 256;

/// Stands for a tool with its arguments, however they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CallKey(u64);

impl CallKey {
    /// The tool with arguments whose order and spacing do not count.
    pub(crate) fn of(tool: &str, arguments: &Value) -> Self {
        let mut hasher = FixedState::default().build_hasher();
        tool.hash(&mut hasher);
        hash(arguments, &mut hasher);
        Self(hasher.finish())
    }

    /// The tool with arguments as they arrived.
    pub(crate) fn of_raw(tool: &str, arguments: &RawArguments) -> Self {
        match arguments {
            RawArguments::Json(value) => Self::of(tool, value),
            RawArguments::Text(text) if text.trim().is_empty() => {
                Self::of(tool, &Value::Object(serde_json::Map::new()))
            }
            RawArguments::Text(text) | RawArguments::CutOff(text) => {
                match serde_json::from_str(bounded(text, READ)) {
                    Ok(value) => Self::of(tool, &value),
                    Err(_) => Self::of_text(tool, text),
                }
            }
        }
    }

    /// The tool with arguments that are no JSON.
    pub(crate) fn of_text(tool: &str, arguments: &str) -> Self {
        let mut hasher = FixedState::default().build_hasher();
        tool.hash(&mut hasher);
        arguments.trim().hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// Arguments have a bounded depth: see `tame`. Every text is told apart from what stands beside it by
/// its length, which the hasher takes in.
fn hash(value: &Value, hasher: &mut impl Hasher) {
    match value {
        Value::Null => hasher.write_u8(0),
        Value::Bool(truth) => hasher.write_u8(1 + u8::from(*truth)),
        Value::Number(number) => {
            hasher.write_u8(3);
            number.hash(hasher);
        }
        // What most arguments are: alone without a word before it.
        Value::String(text) => hasher.write(text.as_bytes()),
        Value::Array(items) => {
            hasher.write_u8(4);
            hasher.write_usize(items.len());
            for item in items {
                hash(item, hasher);
            }
        }
        Value::Object(fields) => {
            // In whatever order they come.
            let fields = fields.iter().map(|(name, value)| {
                let mut hasher = FixedState::default().build_hasher();
                hasher.write(name.as_bytes());
                hash(value, &mut hasher);
                hasher.finish()
            });
            hasher.write_u8(5);
            hasher.write_u64(fields.fold(0, u64::wrapping_add));
        }
    }
}

/// What failed in a run, how often.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repeats {
    calls: VecDeque<Repeated>,
    /// How often a tool failed, and when it last did.
    tools: HashMap<String, (u32, Instant), RandomState>,
    /// How many calls succeeded that may have changed something.
    changes: u32,
}

#[derive(Clone, Debug)]
struct Repeated {
    key: CallKey,
    kind: FailureKind,
    /// How often it failed in a row in this way.
    failed: u32,
    /// How often it was refused since.
    refused: u32,
    last: Instant,
    /// When it was told to come back.
    back_at: Option<Instant>,
    /// What had changed by then, and what it said, where anything had.
    changes: u32,
    said: Option<u64>,
    is_of_program: bool,
}

/// How a call failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way<'a> {
    pub(crate) kind: FailureKind,
    /// The wait that was told.
    pub(crate) wait: Option<Duration>,
    pub(crate) message: &'a str,
    /// What failed is a program that the call brought along.
    pub(crate) is_of_program: bool,
}

/// What is to be done with a call that failed before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The model is told once.
    Told {
        /// How often it failed.
        failed: u32,
    },
    /// It went on all the same: the run stops.
    Stalled {
        /// How often it failed.
        failed: u32,
    },
}

impl Repeats {
    /// Whether a call is not to be run any more. Those that the model made before it could hear of
    /// the last one are what that one is: run, or refused with it.
    pub(crate) fn refuse(
        &mut self,
        key: CallKey,
        rules: &RepeatRules,
        (since, now): (Instant, Instant),
    ) -> Option<Refusal> {
        let changes = self.changes;
        let call = self.remembered(key, rules, now)?;
        let is_new = since >= call.last;
        // Something was changed since it failed: it may go well now. A program is run to see that;
        // anything else when it was told before.
        if (call.refused > 0 || call.is_of_program) && call.changes != changes && is_new {
            call.refused = 0;
            return None;
        }
        if call.failed < rules.refuse_at.saturating_sub(1) || !is_new && call.refused == 0 {
            return None;
        }
        if is_new {
            call.refused += 1;
            call.last = now;
        }
        let failed = call.failed;
        Some(if call.refused == 1 { Refusal::Told { failed } } else { Refusal::Stalled { failed } })
    }

    /// A call failed: how often by now in this way, and whether this one counts. One that the model
    /// made before another like it failed came back from nothing: they count as one. One that says
    /// something else than before, after something was changed, is of a model that gets on.
    pub(crate) fn failed(
        &mut self,
        key: CallKey,
        way: Way<'_>,
        rules: &RepeatRules,
        (since, now): (Instant, Instant),
    ) -> (u32, bool) {
        let back_at = way.wait.and_then(|wait| now.checked_add(wait));
        let changes = self.changes;
        let said = (changes > 0).then(|| said(&way));
        if let Some(call) = self.remembered(key, rules, now) {
            let gets_on = call.changes != changes && call.said.is_some() && call.said != said;
            let is_other = call.kind != way.kind;
            let counts = is_other || since >= call.last && !gets_on;
            if is_other || gets_on {
                (call.kind, call.failed, call.refused) = (way.kind, 1, 0);
            } else if counts {
                call.failed = call.failed.saturating_add(1);
            }
            (call.last, call.back_at, call.changes, call.said) = (now, back_at, changes, said);
            call.is_of_program = way.is_of_program;
            return (call.failed, counts);
        }
        if self.calls.len() == CALLS {
            self.calls.pop_front();
        }
        let Way { kind, is_of_program, .. } = way;
        let (failed, refused, last) = (1, 0, now);
        self.calls.push_back(Repeated {
            key,
            kind,
            failed,
            refused,
            last,
            back_at,
            changes,
            said,
            is_of_program,
        });
        (1, true)
    }

    /// A tool failed: whether that is once too often. Calls that the model made before it could hear
    /// of the last failure count as one with it.
    pub(crate) fn tool_failed(
        &mut self,
        tool: &str,
        rules: &RepeatRules,
        (since, now): (Instant, Instant),
    ) -> bool {
        if let Some((failures, last)) = self.tools.get_mut(tool) {
            *failures = failures.saturating_add((since >= *last).into());
            *last = now;
            return *failures >= rules.tool_failures;
        }
        if self.tools.len() == TOOLS {
            return false;
        }
        self.tools.insert(tool.to_owned(), (1, now));
        rules.tool_failures <= 1
    }

    /// A call succeeded, and may have changed something: it is forgotten, and its tool's failures
    /// count half.
    pub(crate) fn succeeded(&mut self, key: CallKey, tool: &str, may_change: bool) {
        self.changes = self.changes.saturating_add(may_change.into());
        self.calls.retain(|call| call.key != key);
        if let Some((failures, _)) = self.tools.get_mut(tool) {
            *failures /= 2;
            if *failures == 0 {
                self.tools.remove(tool);
            }
        }
    }

    /// Whether nothing failed: then nothing can be repeated.
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.tools.is_empty()
    }

    /// The call, unless it is so long ago that it does not count any more, or the model did as it
    /// was told and came back in time.
    fn remembered(
        &mut self,
        key: CallKey,
        rules: &RepeatRules,
        now: Instant,
    ) -> Option<&mut Repeated> {
        let at = self.calls.iter().position(|call| call.key == key)?;
        let call = &self.calls[at];
        if now.saturating_duration_since(call.last) >= rules.forget_after
            || call.back_at.is_some_and(|back_at| back_at <= now)
        {
            self.calls.remove(at);
            return None;
        }
        self.calls.get_mut(at)
    }
}

/// Stands for what a failure said: words with digits (times, numbers of requests) differ anyway, but
/// tell something where they are a program's.
fn said(way: &Way<'_>) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    let has_digit = |word: &str| word.bytes().any(|byte| byte.is_ascii_digit());
    let words = way.message.split_ascii_whitespace();
    for word in words.filter(|word| way.is_of_program || !has_digit(word)) {
        word.hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_otherwise_is_the_same_call_and_what_differs_is_another() {
        let key = |text: &str| CallKey::of_raw("find", &text.into());
        let same = [r#"{"a": 1, "b": [2, {"c": 3, "d": 4}]}"#, r#"{"b":[2,{"d":4,"c":3}],"a":1}"#];
        assert_eq!(key(same[0]), key(same[1]));
        let others = [
            json!({}),
            json!({"a": 0}),
            json!({"a": []}),
            json!({"a": {}}),
            json!({"a": null}),
            json!({"a": false}),
            json!({"a": ""}),
            json!({"a": "0"}),
            json!({"a": [0]}),
            json!({"a": [[]]}),
            json!({"a": 0, "b": 1}),
            json!({"a": 1, "b": 0}),
            json!({"a": {"b": 1}}),
            json!({"b": {"a": 1}}),
        ];
        let keys: std::collections::HashSet<_> =
            others.iter().map(|arguments| CallKey::of("find", arguments)).collect();
        assert_eq!(keys.len(), others.len());
    }
}
