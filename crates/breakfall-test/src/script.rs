//! A tool that does what a script says, one step a call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use breakfall::{
    Arguments, BoxFuture, Context, Effect, Entry, FailureKind, Outcome, Output, Tool, ToolSpec,
    failure_of,
};
use serde_json::Value;

/// What a scripted tool does when it is called.
#[derive(Clone, Debug)]
pub enum Step {
    /// Returns this text.
    Answer(String),
    /// Returns its own arguments.
    Echo,
    /// Fails in this way, as a tool would say it.
    Fail(FailureKind),
    /// Returns an error of unknown origin with this text.
    Error(String),
    /// Never returns.
    Hang,
    /// Returns this text after a while.
    Slow(Duration, String),
    /// Blocks its thread, deaf to every deadline, then returns this text.
    Block(Duration, String),
    /// Panics with this text.
    Panic(String),
    /// Returns this many bytes.
    Flood(usize),
    /// Fails with an error whose text holds this secret in the usual places.
    Leak(String),
}

/// A tool by script: the steps in turn, then the last one for ever.
#[derive(Clone, Debug)]
pub struct Script {
    spec: ToolSpec,
    steps: Vec<Step>,
}

impl Script {
    /// A tool of this name that returns its own arguments until told otherwise.
    pub fn new(name: impl Into<String>) -> Self {
        let spec = ToolSpec::new(name, "Does what a test wants.").effect(Effect::ReadOnly);
        Self { spec, steps: Vec::new() }
    }

    /// Says whether a call may be repeated; read-only until told otherwise.
    pub fn effect(mut self, effect: Effect) -> Self {
        self.spec.effect = effect;
        self
    }

    /// Sets the schema of its arguments; any object until told otherwise.
    pub fn schema(mut self, schema: Value) -> Self {
        self.spec.input_schema = schema;
        self
    }

    /// Adds a step.
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Then it answers.
    pub fn answers(self, text: impl Into<String>) -> Self {
        self.step(Step::Answer(text.into()))
    }

    /// Then it fails in this way.
    pub fn fails(self, kind: FailureKind) -> Self {
        self.step(Step::Fail(kind))
    }

    /// Then it returns an error of unknown origin.
    pub fn errs(self, text: impl Into<String>) -> Self {
        self.step(Step::Error(text.into()))
    }

    /// Then it never returns.
    pub fn hangs(self) -> Self {
        self.step(Step::Hang)
    }

    /// Then it panics.
    pub fn panics(self, text: impl Into<String>) -> Self {
        self.step(Step::Panic(text.into()))
    }

    /// Then it returns too much.
    pub fn floods(self, bytes: usize) -> Self {
        self.step(Step::Flood(bytes))
    }

    /// Then it fails and lets a secret out.
    pub fn leaks(self, secret: impl Into<String>) -> Self {
        self.step(Step::Leak(secret.into()))
    }

    /// The tool, ready for a guard.
    pub fn tool(self) -> Entry {
        self.counted().0
    }

    /// The tool, with a count of how often it was really called.
    pub fn counted(self) -> (Entry, Arc<AtomicUsize>) {
        let calls = Arc::new(AtomicUsize::new(0));
        let tool = Scripted { steps: self.steps, calls: Arc::clone(&calls) };
        (self.spec.tool(tool), calls)
    }
}

struct Scripted {
    steps: Vec<Step>,
    calls: Arc<AtomicUsize>,
}

impl Tool for Scripted {
    fn call<'a>(&'a self, arguments: &'a Arguments, _: Context<'a>) -> BoxFuture<'a, Outcome> {
        let turn = self.calls.fetch_add(1, Ordering::Relaxed);
        let step = self.steps.get(turn).or(self.steps.last()).unwrap_or(&Step::Echo);
        Box::pin(play(step, arguments))
    }
}

async fn play(step: &Step, arguments: &Arguments) -> Outcome {
    match step {
        Step::Answer(text) => Ok(Output::text(text)),
        Step::Echo => Ok(Output::json(arguments.value().clone())),
        Step::Fail(kind) => Err(failure_of(*kind)),
        Step::Error(text) => Err(std::io::Error::other(text.clone()).into()),
        Step::Hang => std::future::pending().await,
        Step::Slow(time, text) => {
            tokio::time::sleep(*time).await;
            Ok(Output::text(text))
        }
        Step::Block(time, text) => {
            std::thread::sleep(*time);
            Ok(Output::text(text))
        }
        Step::Panic(text) => panic!("{text}"),
        Step::Flood(bytes) => Ok(Output::text("x".repeat(*bytes))),
        Step::Leak(secret) => Err(std::io::Error::other(format!(
            "connect to postgres://admin:{secret}@db.internal/app failed (password={secret})"
        ))
        .into()),
    }
}
