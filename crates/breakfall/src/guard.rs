//! The flow of a call: two short functions.

mod at_once;
mod batch;
mod builder;
mod runs;

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use at_once::{Given, Plainly};
pub use batch::Batching;
pub use builder::GuardBuilder;
use futures_util::future::{Either, lazy};
use runs::{RunTerms, Runs};
use serde_json::Value;
use tokio::time::Instant;

use crate::attempt::{self, CallKey, GateRules, Policy, attempt, panics};
use crate::check::{Tamed, check, tame};
use crate::classify::{Evidence, Explanation, Reader, Silent, explain_as, silent};
use crate::config::{Dispositions, Policies};
use crate::dice::Dice;
use crate::fallback::{By, Fallback};
use crate::journal::{Journal, Memory, OpenRecord};
use crate::redact::{Redactor, Terms};
use crate::tool::{Stragglers, Watch};
use crate::toolbox::{Found, Rules};
use crate::voice::{Plain, Voice, speak};
use crate::{Call, Detail, Failure, Outcome, Output, RawArguments, Reply, Report, Toolbox};

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
    /// Answers a call. Never an error, never a panic, always a reply under the call's id. What most
    /// calls need is done at once; what is left is boxed, so that no call is moved with room for all
    /// that it may ever wait for.
    pub async fn handle(&self, mut call: Call) -> Reply {
        let Opened { began, found, raw } = self.open(&mut call);
        let watch = Watch::new(&self.stragglers);
        let arguments;
        let reply = {
            let tried = match self.plain(&call, &found, raw) {
                Ok((slot, checked)) => {
                    arguments = checked;
                    let plain = Plainly { slot, arguments: &arguments, call: &call, watch: &watch };
                    lazy(|cx| self.at_once(plain, began, cx)).await
                }
                Err(raw) => Err(Given::Raw(raw)),
            };
            match tried {
                Ok(text) => Reply::plain(text),
                Err(given) => {
                    Box::pin(self.at_length(&call, &found, (&watch, began), given)).await
                }
            }
        };
        reply.to(call)
    }

    /// A call is recorded from here on, however it ends.
    async fn at_length(
        &self,
        call: &Call,
        found: &Found,
        (watch, began): (&Watch<'_>, Instant),
        given: Given<'_>,
    ) -> Reply {
        let mut record = self.journal.open(call, began, given.raw(), &self.redactor);
        let outcome = match given {
            Given::Raw(raw) => panics::ours(pin!(self.run(raw, found, &mut record))).await,
            Given::Begun(plain, step) => {
                panics::ours(pin!(self.go_on(plain, step, (watch, began), &mut record))).await
            }
            Given::Ended(outcome) => record.trail.ends(began, outcome),
        };
        self.answer(outcome, &found.rules().policy, &mut record)
    }

    fn open(&self, call: &mut Call) -> Opened {
        let began = Instant::now();
        let found = self.find(&call.tool);
        let raw = std::mem::replace(&mut call.arguments, RawArguments::Json(Value::Null));
        Opened { began, raw: tame(raw, found.schema()), found }
    }

    fn find(&self, name: &str) -> Found {
        match self.toolbox.get(name) {
            Some(slot) => Found::Tool(slot),
            None => Found::Nothing(self.standing.rules(name, None)),
        }
    }

    /// Serves the call; where its tool cannot, a substitute may. What few calls need is boxed, here
    /// and below: every call is moved with room for all that it may ever wait for.
    fn run<'a>(
        &'a self,
        raw: Tamed,
        found: &'a Found,
        record: &'a mut OpenRecord<'_>,
    ) -> impl Future<Output = Outcome> + Send {
        match &found.rules().fallback {
            None => Either::Left(self.serve(raw, found, None, record)),
            Some(fallback) => {
                Either::Right(Box::pin(self.run_or_substitute(fallback, raw, found, record)))
            }
        }
    }

    /// The substitute is called once.
    async fn run_or_substitute(
        &self,
        fallback: &Fallback,
        raw: Tamed,
        found: &Found,
        record: &mut OpenRecord<'_>,
    ) -> Outcome {
        let spare = raw.as_ref().ok().cloned();
        let failure = match self.serve(raw, found, None, record).await {
            Err(failure) if fallback.helps(&failure) => failure,
            outcome => return outcome,
        };
        let answer = match (&fallback.by, spare) {
            (By::Value(value), _) => Ok(Output::json(value.clone())),
            (By::Tool { name, mapping }, Some(raw)) => {
                let substitute = self.find(name);
                let raw = tame(mapping.apply(raw.raw), substitute.schema());
                let total_timeout = found.rules().policy.total_timeout;
                self.serve(raw, &substitute, Some((name, total_timeout)), record).await
            }
            (By::Tool { .. }, None) => return Err(failure),
        };
        match answer {
            Ok(output) => Ok(output.instead(fallback.by.name(), failure)),
            Err(second) => Err(failure.and_of_its_substitute(fallback.by.name(), second)),
        }
    }

    /// Finds the tool, checks the arguments, tries the call. `?` is the short circuit. The time that
    /// the model waits for a substitute is that of the tool it called.
    async fn serve(
        &self,
        raw: Tamed,
        found: &Found,
        substitute: Option<(&str, Duration)>,
        record: &mut OpenRecord<'_>,
    ) -> Outcome {
        let OpenRecord { call, trail, started, .. } = record;
        let Rules { policy, .. } = found.rules();
        let (tool, total_timeout) = substitute.unwrap_or((&call.tool, policy.total_timeout));
        let raw = raw?;
        let slot = match found {
            Found::Tool(slot) => slot.callable(),
            Found::Nothing(_) => Err(self.toolbox.unknown(tool)),
        };
        let slot = slot.map_err(|failure| failure.of_call(|| CallKey::of_raw(tool, &raw.raw)))?;
        trail.finds(slot.entry.spec.upstream.as_ref(), substitute.is_some());
        let is_marked = self.runs.admit(call, tool)?;
        let arguments = check(raw, &slot.entry.spec, &slot.schema, policy)?;
        let key = || CallKey::of(tool, arguments.value());
        let known = if is_marked { self.runs.refuse(call, &policy.repeats, key)? } else { None };
        trail.key = known.or(trail.key);
        if !arguments.repairs.is_empty() {
            trail.rare_mut().repairs.extend_from_slice(&arguments.repairs);
        }
        let terms = self.trying(*started, total_timeout);
        let checked = attempt::Checked { slot, arguments: &arguments, call, terms: &terms };
        let outcome = attempt(checked, trail).await;
        outcome.map_err(|failure| failure.of_call(|| known.unwrap_or_else(key)))
    }

    /// The one exit: remember, redact, speak, close.
    fn answer(&self, outcome: Outcome, policy: &Policy, record: &mut OpenRecord<'_>) -> Reply {
        let call = record.call;
        let terms = self.terms(&call.tool, policy);
        let is_left = matches!(&outcome, Err(failure) if *failure.detail() == Detail::Left);
        let run = || RunTerms {
            rules: &policy.repeats,
            dispositions: &self.dispositions,
            tool: &call.tool,
            was_dispatched: record.trail.attempts > 0,
        };
        let outcome = self.runs.settle(call, outcome, record.trail.key, run);
        let report = panics::catch(|| self.redactor.report(outcome, &terms))
            .unwrap_or_else(|panic| Report::broken(&terms, &panics::fault(panic)));
        let reply = speak(self.voice.as_deref(), self.max_error_bytes, report);
        if is_left { record.leave(reply) } else { record.close(reply) }
    }
}

/// A call that came, with what its name stands for.
struct Opened {
    began: Instant,
    found: Found,
    raw: Tamed,
}

/// What was said of tools and upstreams, also of those that come later.
struct Standing {
    policies: Policies,
    upstream: Arc<GateRules>,
    upstreams: HashMap<String, Arc<GateRules>>,
    fallbacks: HashMap<String, Arc<Fallback>>,
}

impl Standing {
    /// What holds for a tool of that name.
    fn rules(&self, tool: &str, upstream: Option<&Arc<str>>) -> Rules {
        let of_upstream = upstream.and_then(|name| self.upstreams.get(&**name));
        Rules {
            policy: Arc::clone(self.policies.of(tool, || upstream.cloned())),
            upstream: Arc::clone(of_upstream.unwrap_or(&self.upstream)),
            fallback: self.fallbacks.get(tool).cloned(),
        }
    }
}

impl Guard {
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

    /// Answers a call that a door cannot pass on to any tool, and records it like every other.
    pub fn refuse(&self, mut call: Call, failure: Failure) -> Reply {
        let Opened { began, found, raw } = self.open(&mut call);
        let mut record = self.journal.open(&call, began, Some(&raw), &self.redactor);
        let reply = self.answer(Err(failure), &found.rules().policy, &mut record);
        drop(record);
        reply.to(call)
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
