//! How a guard is put together.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::{Batching, Guard, Runs, Standing};
use crate::attempt::{GateRules, Policy, panics};
use crate::classify::{PhraseRule, Reader};
use crate::config::{Config, Dispositions, Policies, Preset};
use crate::dice::Dice;
use crate::fallback::Fallback;
use crate::journal::{Journal, Memory, Sink};
use crate::redact::{Redactor, SecretRule};
use crate::tool::Entry;
use crate::{Disposition, Error, FailureKind, Toolbox, Voice};

/// Puts a [`Guard`] together.
#[must_use]
pub struct GuardBuilder {
    entries: Vec<Entry>,
    config: Config,
    policies: Policies,
    pub(crate) upstream: GateRules,
    pub(crate) upstreams: HashMap<String, GateRules>,
    pub(crate) fallbacks: HashMap<String, Fallback>,
    dice: Dice,
    pub(crate) batching: Batching,
    pub(crate) dispositions: Dispositions,
    pub(crate) phrases: Vec<PhraseRule>,
    redactor: Redactor,
    secret_rules: Vec<SecretRule>,
    voice: Option<Box<dyn Voice>>,
    sinks: Vec<Arc<dyn Sink>>,
    pub(crate) keeps_arguments: bool,
    keeps_outputs: bool,
    traces: Option<Box<Dice>>,
    pub(crate) redacts_outputs: bool,
    pub(crate) max_samples: usize,
    pub(crate) max_sample_bytes: usize,
    pub(crate) max_error_bytes: usize,
    pub(crate) concurrency: usize,
}

impl Guard {
    /// A guard with the defaults, to be given tools.
    pub fn builder() -> GuardBuilder {
        GuardBuilder {
            entries: Vec::new(),
            config: Config::default(),
            policies: Policies::default(),
            upstream: GateRules::upstream(),
            upstreams: HashMap::new(),
            fallbacks: HashMap::new(),
            dice: Dice::default(),
            batching: Batching::default(),
            dispositions: Dispositions::default(),
            phrases: Vec::new(),
            redactor: Redactor::default(),
            secret_rules: Vec::new(),
            voice: None,
            sinks: Vec::new(),
            keeps_arguments: false,
            keeps_outputs: false,
            traces: None,
            redacts_outputs: false,
            max_samples: 1000,
            max_sample_bytes: 1 << 20,
            max_error_bytes: 2 << 10,
            concurrency: 16,
        }
    }
}

impl GuardBuilder {
    /// Adds a tool.
    pub fn tool(mut self, entry: Entry) -> Self {
        self.entries.push(entry);
        self
    }

    /// Adds tools.
    pub fn tools(mut self, entries: impl IntoIterator<Item = Entry>) -> Self {
        self.entries.extend(entries);
        self
    }

    /// Takes over a configuration. What it says stands above what is said in code, whether before
    /// or after; faults and effects hold for tools that are added later as well.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Takes over a preset's dispositions and voice.
    pub fn preset(mut self, preset: Preset) -> Self {
        self.dispositions.preset = preset;
        self
    }

    /// Speaks in another voice than the preset's.
    pub fn voice(mut self, voice: impl Voice + 'static) -> Self {
        self.voice = Some(Box::new(voice));
        self
    }

    /// Makes an unknown tool fatal.
    pub fn strict(mut self, strict: bool) -> Self {
        self.dispositions.strict = strict;
        self
    }

    /// Decides whether the run goes on after failures of a kind.
    pub fn disposition(mut self, kind: FailureKind, disposition: Disposition) -> Self {
        self.dispositions.by_kind.insert(kind, disposition);
        self
    }

    /// Decides it for one tool.
    pub fn disposition_for(
        mut self,
        tool: impl Into<String>,
        kind: FailureKind,
        disposition: Disposition,
    ) -> Self {
        self.dispositions.by_tool.insert((tool.into(), kind), disposition);
        self
    }

    /// How tools are called.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policies.all = Arc::new(policy);
        self
    }

    /// How one tool is called.
    pub fn policy_for(mut self, tool: impl Into<String>, policy: Policy) -> Self {
        self.policies.tools.insert(tool.into(), Arc::new(policy));
        self
    }

    /// What lets calls through to upstreams that have no rules of their own.
    pub fn upstream_rules(mut self, rules: GateRules) -> Self {
        self.upstream = rules;
        self
    }

    /// What lets calls through to one upstream.
    pub fn upstream(mut self, name: impl Into<String>, rules: GateRules) -> Self {
        self.upstreams.insert(name.into(), rules);
        self
    }

    /// What answers instead of a tool that cannot do its work.
    pub fn fallback(mut self, tool: impl Into<String>, fallback: Fallback) -> Self {
        self.fallbacks.insert(tool.into(), fallback);
        self
    }

    /// Makes chance repeatable: the same calls wait as long between their attempts.
    pub fn seed(mut self, seed: u64) -> Self {
        self.dice = Dice::new(seed);
        self
    }

    /// Which calls of a batch run side by side.
    pub fn batching(mut self, batching: Batching) -> Self {
        self.batching = batching;
        self
    }

    /// How many calls of a batch run at once; at least one.
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.concurrency = calls.max(1);
        self
    }

    /// The most bytes of an error's text that the model gets; more is cut in the middle.
    pub fn max_error_bytes(mut self, bytes: usize) -> Self {
        self.max_error_bytes = bytes;
        self
    }

    /// Teaches the guard what its tools' errors mean, before it reads them by its own rules.
    pub fn phrases(mut self, rules: impl IntoIterator<Item = PhraseRule>) -> Self {
        self.phrases.extend(rules);
        self
    }

    /// A secret's exact value, removed wherever it stands.
    pub fn redact_value(mut self, value: impl Into<String>) -> Self {
        self.redactor.add_value(value);
        self
    }

    /// Removes the value of an environment variable wherever it stands, if it is set.
    pub fn redact_variable(mut self, name: &str) -> Self {
        self.redactor.add_variable(name);
        self
    }

    /// Removes what a rule of the user's own finds; its fields are those of gitleaks.
    pub fn secret_rule(mut self, rule: SecretRule) -> Self {
        self.secret_rules.push(rule);
        self
    }

    /// Gives every record to a sink as well.
    pub fn sink(mut self, sink: Arc<dyn Sink>) -> Self {
        self.sinks.push(sink);
        self
    }

    /// Keeps the arguments, redacted, in records.
    pub fn keep_arguments(mut self, keep: bool) -> Self {
        self.keeps_arguments = keep;
        self
    }

    /// Keeps what tools returned, redacted and cut, in records.
    pub fn keep_outputs(mut self, keep: bool) -> Self {
        self.keeps_outputs = keep;
        self
    }

    /// Gives every call and every attempt a place in a trace: under the caller's where there is
    /// one, else in a trace of its own. Tools pass it on, and records tell it.
    pub fn trace(mut self, trace: bool) -> Self {
        // Never the seed's: the same ids in two processes would make one trace of two.
        self.traces = trace.then(Box::default);
        self
    }

    /// Removes secrets from what tools return as well, not only from errors.
    pub fn redact_results(mut self, redact: bool) -> Self {
        self.redacts_outputs = redact;
        self
    }

    /// How many samples of failures are kept in memory, and how many bytes of them.
    pub fn samples(mut self, most: usize, bytes: usize) -> Self {
        self.max_samples = most;
        self.max_sample_bytes = bytes;
        self
    }

    /// The guard, or what is wrong with a tool.
    pub fn build(mut self) -> Result<Guard, Error> {
        panics::install_hook();
        let config = std::mem::take(&mut self.config);
        config.put_over(&mut self);
        for (tool, fallback) in &self.fallbacks {
            if fallback.by.name() == Some(tool) {
                return Err(Error::OwnFallback { name: tool.clone() });
            }
        }
        let mut redactor = self.redactor;
        config.add_secrets(&mut redactor)?;
        redactor.add_rules(self.secret_rules)?;
        let upstreams = self.upstreams.into_iter().map(|(name, rules)| (name, Arc::new(rules)));
        let fallbacks = self.fallbacks.into_iter().map(|(tool, by)| (tool, Arc::new(by)));
        let standing = Arc::new(Standing {
            policies: config.policies(self.policies),
            upstream: Arc::new(self.upstream),
            upstreams: upstreams.collect(),
            fallbacks: fallbacks.collect(),
        });
        let said = Arc::clone(&standing);
        let toolbox = Toolbox::fitting(Box::new(move |entry| {
            let entry = config.fitted(entry);
            let rules = said.rules(&entry.spec.name, entry.spec.upstream.as_ref());
            (entry, rules)
        }));
        toolbox.add_all(self.entries)?;
        let voice = self.voice.or_else(|| self.dispositions.preset.voice());
        let journal = Journal {
            memory: Memory::new(self.max_samples, self.max_sample_bytes),
            sinks: self.sinks,
            keeps_arguments: self.keeps_arguments,
            keeps_outputs: self.keeps_outputs,
            traces: self.traces,
            lost: AtomicU64::new(0),
        };
        let is_plain = journal.only_counts()
            && voice.is_none()
            && redactor.has_no_values()
            && !self.redacts_outputs;
        Ok(Guard {
            toolbox,
            standing,
            dice: self.dice,
            batching: self.batching,
            stragglers: Arc::default(),
            dispositions: self.dispositions,
            reader: Reader::with_rules(&self.phrases)?,
            voice,
            journal,
            redactor,
            runs: Runs::default(),
            max_error_bytes: self.max_error_bytes,
            redacts_outputs: self.redacts_outputs,
            concurrency: self.concurrency,
            is_plain,
        })
    }
}
