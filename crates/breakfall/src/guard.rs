//! The flow of a call: answered at once as far as that needs no waiting, at length where it does,
//! and out by one exit.

mod batch;
mod builder;
mod first;
mod rest;
mod runs;
mod standing;
mod way;

use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::task::Context;
use std::time::Duration;

pub use batch::Batching;
pub use builder::GuardBuilder;
use futures_util::future::{self, Either, lazy};
use runs::{RunTerms, Runs};
use serde_json::value::RawValue;
use standing::Standing;
use tokio::time::Instant;
use way::{Answer, Asked, Kept, Left, Prepared, Rest};

use crate::attempt::{self, CallKey, Policy, panics};
use crate::check::{Tamed, check, tame};
use crate::classify::{Evidence, Explanation, Reader, Silent, explain_as, silent};
use crate::config::Dispositions;
use crate::dice::Dice;
use crate::journal::{self, Journal, Memory, OpenRecord};
use crate::redact::{Redactor, Terms};
use crate::tool::{Stragglers, Watch};
use crate::toolbox::Found;
use crate::voice::{Plain, Voice, speak};
use crate::{
    Arguments, Call, Detail, Failure, FailureKind, Outcome, RawArguments, Reply, Report, Toolbox,
};

/// Stands between a model and its tools: every call is answered, exactly once, under its id.
///
/// ```
/// use breakfall::{Call, Guard, tool};
///
/// /// Reads a file.
/// #[tool(effect = "read_only")]
/// async fn read_file(path: String) -> Result<String, std::io::Error> {
///     std::fs::read_to_string(path)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), breakfall::Error> {
/// let guard = Guard::builder().tool(read_file()).build()?;
/// let reply = guard.handle(Call::new("call_1", "raed_file", r#"{"path": "a.txt"}"#)).await;
/// assert_eq!(reply.id, "call_1");
/// assert!(reply.text.starts_with("`raed_file` is not a tool. Nearest: `read_file`."));
/// # Ok(())
/// # }
/// ```
pub struct Guard {
    toolbox: Toolbox,
    standing: Arc<Standing>,
    dispositions: Dispositions,
    reader: Reader,
    redactor: Redactor,
    /// Where it is not ours.
    voice: Option<Box<dyn Voice>>,
    journal: Journal,
    runs: Runs,
    stragglers: Arc<Stragglers>,
    dice: Dice,
    max_error_bytes: usize,
    redacts_outputs: bool,
    concurrency: usize,
    batching: Batching,
    /// Whether nothing is done with what a tool returned.
    is_plain: bool,
}

impl Guard {
    /// Answers a call. Never an error, never a panic, always a reply under the call's id.
    pub fn handle(&self, call: Call) -> impl Future<Output = Reply> + Send {
        self.answer_until(call, pending(), None)
    }

    /// What most calls need is done at once; what is left is boxed, so that no call is moved with
    /// room for all that it may ever wait for.
    #[expect(clippy::manual_async_fn, reason = "an `async fn` moves the call once more")]
    fn answer_until<'g>(
        &'g self,
        mut call: Call,
        stop: impl Future<Output = ()> + Unpin + Send + 'g,
        made: Option<Instant>,
    ) -> impl Future<Output = Reply> + Send + 'g {
        async move {
            let mut raw = std::mem::take(&mut call.arguments);
            let found = self.find(&call.tool);
            let watch = Watch::new(&self.stragglers);
            let mut kept = Kept::default();
            let answer = {
                let began = Instant::now();
                let asked = Asked { call: &call, found: &found, watch: &watch, began, made };
                match lazy(|cx| self.at_once(&asked, &mut raw, &mut kept, cx)).await {
                    Answer::Text(text) => Ok(text),
                    Answer::Reply(reply) => Err(reply),
                    Answer::Left(left) => Err(Box::pin(self.at_length(&asked, *left, stop)).await),
                }
            };
            match answer {
                Ok(text) => Reply::plain(&mut call, text),
                Err(reply) => reply.to(&mut call),
            }
        }
    }

    /// Answers a call as far as that needs no waiting; or what is left to do, with its record. A
    /// success that is a text and nothing else has none where nobody reads it.
    fn at_once<'a>(
        &'a self,
        asked: &'a Asked<'a>,
        raw: &'a mut RawArguments,
        kept: &'a mut Kept,
        cx: &mut Context<'_>,
    ) -> Answer<'a> {
        let raw = tame(raw, asked.found.schema());
        let is_plain = self.is_plain && !asked.call.is_recovered && journal::is_silent();
        if asked.found.rules().fallback.is_some() {
            let record = self.open(asked, Some(&raw));
            return Answer::Left(Box::new(Left { record, rest: Rest::Raw(raw) }));
        }
        let mut record = (!is_plain).then(|| self.open(asked, Some(&raw)));
        let begun = match self.begin(asked, raw, kept, record.as_mut(), cx) {
            Ok(begun) if record.is_none() => match begun.plain() {
                Ok(text) => {
                    self.journal.succeeded();
                    return Answer::Text(text);
                }
                Err(begun) => Ok(begun),
            },
            begun => begun,
        };
        match self.conclude(asked, record, begun) {
            Ok(reply) => Answer::Reply(Box::new(reply)),
            Err(left) => Answer::Left(left),
        }
    }

    /// What is left to do, until it is to stop: work that is done by then counts.
    async fn at_length(
        &self,
        asked: &Asked<'_>,
        Left { mut record, rest }: Left<'_>,
        stop: impl Future<Output = ()> + Unpin,
    ) -> Box<Reply> {
        let outcome = {
            let work = pin!(self.go_on(asked, rest, &mut record));
            match future::select(pin!(panics::ours(work)), stop).await {
                Either::Left((outcome, _)) => Some(outcome),
                Either::Right(_) => None,
            }
        };
        let outcome = outcome.unwrap_or_else(|| Err(record.trail.stopped()));
        Box::new(self.answer(outcome, &asked.found.rules().policy, &mut record))
    }

    #[inline]
    fn find(&self, name: &str) -> Found {
        match self.toolbox.get(name).or_else(|| self.toolbox.unlisted(name)) {
            Some(slot) => Found::Tool(slot),
            None => Found::Nothing(self.standing.rules(name, None)),
        }
    }

    fn open<'a>(&'a self, asked: &Asked<'a>, raw: Option<&Tamed<'_>>) -> OpenRecord<'a> {
        let mut record = self.journal.open(asked.call, asked.began, raw, &self.redactor);
        record.made = asked.made();
        if let Found::Tool(slot) = asked.found {
            record.trail.is_found = true;
            record.trail.upstream.clone_from(&slot.entry.spec.upstream);
        }
        record
    }

    /// Finds the tool and checks the arguments. `?` is the short circuit.
    #[inline]
    fn prepare<'a>(
        &self,
        (call, times): (&Call, (Instant, Instant)),
        tool: &str,
        found: &'a Found,
        raw: Tamed<'_>,
        place: &'a mut Option<Arguments>,
    ) -> Result<Prepared<'a>, Failure> {
        let raw = raw?;
        let slot = match found {
            Found::Tool(slot) => slot.callable(),
            Found::Nothing(_) => Err(self.toolbox.unknown(tool)),
        };
        let slot = slot.map_err(|failure| failure.of_call(|| CallKey::of_raw(tool, raw.raw)))?;
        let policy = &slot.rules.policy;
        let is_marked = self.runs.admit(call, tool)?;
        let arguments = check(raw, &slot.entry, &slot.schema, policy, place)?;
        let key = || CallKey::of(tool, arguments.value());
        let known =
            if is_marked { self.runs.refuse(call, &policy.repeats, times, key)? } else { None };
        Ok(Prepared { slot, arguments, known })
    }

    /// The one exit: remember, redact, speak, close.
    fn answer(&self, outcome: Outcome, policy: &Policy, record: &mut OpenRecord<'_>) -> Reply {
        let (call, ended) = (record.call, Instant::now());
        let outcome = outcome.map_err(|failure| self.told_of(failure, record));
        let terms = self.terms(&call.tool, policy);
        let is_left = matches!(&outcome, Err(failure) if *failure.detail() == Detail::Left);
        let run = || RunTerms {
            rules: &policy.repeats,
            dispositions: &self.dispositions,
            tool: &call.tool,
            times: (record.made, ended),
            was_dispatched: record.trail.attempts > 0,
        };
        let outcome = self.runs.settle(call, outcome, &record.trail, run);
        // What a tool that works gives back is its own.
        let secrets = if outcome.is_err() { record.trail.secrets() } else { &[] };
        let redactor = self.redactor.and(secrets);
        let report = panics::catch(|| redactor.report(outcome, &terms))
            .unwrap_or_else(|panic| Report::broken(&terms, &panics::fault(panic)));
        let reply = speak(self.voice.as_deref(), self.max_error_bytes, report);
        if is_left { record.leave(reply, ended) } else { record.close(reply, ended) }
    }
}

impl Guard {
    /// A failure; with the tools that there are, where the one that was asked says that it is none.
    fn told_of(&self, failure: Failure, record: &mut OpenRecord<'_>) -> Failure {
        if failure.kind() != FailureKind::UnknownTool || *failure.detail() != Detail::None {
            return failure;
        }
        record.trail.is_found = false;
        record.trail.upstream = None;
        let key = failure.into_facts().key;
        let mut failure = self.toolbox.unknown(&record.call.tool);
        failure.facts_mut().key = key;
        failure
    }

    /// What holds for the calls of a tool, all that was said of it and of its upstream considered.
    pub fn policy(&self, tool: &str) -> &Policy {
        self.standing.policies.of(tool, || self.toolbox.upstream_of(tool))
    }

    fn trying(&self, began: Instant, total_timeout: Duration) -> attempt::Terms<'_> {
        attempt::Terms {
            reader: &self.reader,
            stragglers: &self.stragglers,
            dice: &self.dice,
            began,
            deadline: began.checked_add(total_timeout),
        }
    }

    fn terms<'a>(&'a self, tool: &'a str, policy: &Policy) -> Terms<'a> {
        let max_output_bytes = policy.max_output_bytes;
        let (dispositions, redacts_outputs) = (&self.dispositions, self.redacts_outputs);
        Terms { tool, dispositions, max_output_bytes, redacts_outputs }
    }

    /// What the guard would make of an error that a tool raised.
    pub fn explain(&self, evidence: &Evidence) -> Explanation {
        let terms = self.terms("tool", self.policy("tool"));
        let voice = self.voice.as_deref().unwrap_or(&Plain);
        explain_as(&self.reader, &self.redactor, &terms, voice, evidence)
    }

    /// Whether a tool's output is a failure that came as a success.
    pub fn silent(&self, output: &str) -> Option<Silent> {
        silent(&self.reader, output)
    }

    /// The tools, to add to, enable, disable or pause while calls run; and their breakers.
    pub fn toolbox(&self) -> &Toolbox {
        &self.toolbox
    }

    /// What happened so far: counts and the newest failures.
    pub fn journal(&self) -> &Memory {
        &self.journal.memory
    }

    /// Whether calls are given a place in a trace.
    pub fn traces(&self) -> bool {
        self.journal.traces.is_some()
    }

    /// Records that a sink failed to take.
    pub fn lost_records(&self) -> u64 {
        self.journal.lost.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// The words of a tool that a door passes on as they are: without secrets, and no longer than
    /// those of the guard.
    pub fn clean(&self, words: String) -> String {
        self.redactor.clean(words, self.max_error_bytes)
    }

    /// What a door passes on that is no words, and no part of a call: without secrets, to the letter
    /// where there are none.
    pub fn clean_payload(&self, payload: Box<RawValue>) -> Box<RawValue> {
        self.redactor.clean_payload(payload)
    }

    /// Answers a call that a door cannot pass on to any tool, and records it like every other.
    pub fn refuse(&self, mut call: Call, failure: Failure) -> Reply {
        let mut raw = std::mem::take(&mut call.arguments);
        let found = self.find(&call.tool);
        let watch = Watch::new(&self.stragglers);
        let reply = {
            let began = Instant::now();
            let asked = Asked { call: &call, found: &found, watch: &watch, began, made: None };
            let mut record = self.open(&asked, Some(&tame(&mut raw, found.schema())));
            self.answer(Err(failure), &found.rules().policy, &mut record)
        };
        reply.to(&mut call)
    }

    /// Attempts that did not stop when their time was up: how many still run, and how many came to
    /// an end since, too late for their result.
    pub fn stragglers(&self) -> (u64, u64) {
        self.stragglers.counts()
    }

    /// Forgets a run that ended, with the tools that were paused in it and what failed; `None` is
    /// the run of the calls that name none.
    pub fn end_run<'r>(&self, run: impl Into<Option<&'r str>>) {
        self.runs.end(run.into());
    }
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard").field("toolbox", &self.toolbox).finish_non_exhaustive()
    }
}
