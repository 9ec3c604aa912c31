//! The flow of a call: two short functions.

mod batch;
mod builder;
mod runs;

use std::collections::HashMap;

pub use builder::GuardBuilder;
use runs::Runs;

use crate::attempt::{Policy, attempt, panics};
use crate::check::{Tamed, check, tame};
use crate::classify::Reader;
use crate::config::Dispositions;
use crate::journal::{Journal, Memory, OpenRecord};
use crate::redact::{Redactor, Terms};
use crate::tool::Context;
use crate::voice::{Voice, speak};
use crate::{Call, Outcome, RawArguments, Reply, Report, Toolbox};

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
    policy: Policy,
    policies: HashMap<String, Policy>,
    dispositions: Dispositions,
    reader: Reader,
    redactor: Redactor,
    voice: Box<dyn Voice>,
    journal: Journal,
    runs: Runs,
    max_error_bytes: usize,
    concurrency: usize,
}

impl Guard {
    /// Answers a call. Never an error, never a panic, always a reply under the call's id.
    pub async fn handle(&self, mut call: Call) -> Reply {
        let raw = tame(std::mem::replace(&mut call.arguments, RawArguments::none()));
        let mut record = self.journal.open(call, &raw, &self.redactor);
        let outcome = panics::ours(self.run(raw, &mut record)).await;
        self.answer(outcome, record)
    }

    /// Finds the tool, checks the arguments, tries the call. `?` is the short circuit.
    async fn run(&self, raw: Tamed, record: &mut OpenRecord<'_>) -> Outcome {
        let slot = self.toolbox.find(&record.call.tool)?;
        self.runs.admit(&record.call)?;
        let policy = self.policy(&record.call.tool);
        let arguments = check(raw?, &slot.schema, slot.entry.spec.effect, policy)?;
        record.repairs.extend_from_slice(&arguments.repairs);
        attempt(&slot, &arguments, Context::of(&record.call), policy, &self.reader).await
    }

    /// The one exit: redact, speak, close.
    fn answer(&self, outcome: Outcome, record: OpenRecord<'_>) -> Reply {
        let terms = self.terms(&record.call.tool);
        let report = panics::catch(|| self.redactor.report(outcome, &terms))
            .unwrap_or_else(|panic| Report::broken(&terms, &panics::fault(panic)));
        self.runs.settle(&record.call, &report);
        record.close(speak(&*self.voice, self.max_error_bytes, report))
    }

    fn policy(&self, tool: &str) -> &Policy {
        self.policies.get(tool).unwrap_or(&self.policy)
    }

    fn terms<'a>(&'a self, tool: &'a str) -> Terms<'a> {
        let max_output_bytes = self.policy(tool).max_output_bytes;
        Terms { tool, dispositions: &self.dispositions, max_output_bytes }
    }

    /// The tools, to add to, enable, disable or pause while calls run.
    pub fn toolbox(&self) -> &Toolbox {
        &self.toolbox
    }

    /// What happened so far: counts and the newest failures.
    pub fn journal(&self) -> &Memory {
        &self.journal.memory
    }

    /// Records that a sink failed to take.
    pub fn lost_records(&self) -> u64 {
        self.journal.lost.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Forgets a run that ended, with the tools that were paused in it; `None` is the run of the
    /// calls that name none.
    pub fn end_run<'r>(&self, run: impl Into<Option<&'r str>>) {
        self.runs.end(run.into());
    }
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard").field("toolbox", &self.toolbox).finish_non_exhaustive()
    }
}
