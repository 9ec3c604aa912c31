//! What a configuration does to a guard that is put together, and to what reads errors and
//! removes secrets without one.

use super::Dispositions;
use super::load::Config;
use super::policies::Policies;
use crate::{Entry, Error, GuardBuilder, Reader, Redactor};

impl Config {
    /// Reads errors with the phrases of the file.
    pub fn reader(&self) -> Result<Reader, Error> {
        Reader::with_rules(&self.phrases)
    }

    /// Removes secrets by the rules of the file and the values of its variables.
    pub fn redactor(&self) -> Result<Redactor, Error> {
        let mut redactor = Redactor::default();
        self.add_secrets(&mut redactor)?;
        Ok(redactor)
    }

    pub(crate) fn add_secrets(&self, redactor: &mut Redactor) -> Result<(), Error> {
        for variable in &self.file.redact.variables {
            redactor.add_variable(variable);
        }
        redactor.add_rules(self.secrets.iter().cloned())
    }

    pub(crate) fn policies(&self, in_code: Policies) -> Policies {
        in_code.configured(&self.file.defaults, &self.file.upstreams, &self.file.tools)
    }

    /// Puts what the file says over what was said in code; tools and secrets come later.
    pub(crate) fn put_over(&self, guard: &mut GuardBuilder) {
        let table = &self.file.guard;
        guard.batching = table.batching.unwrap_or(guard.batching);
        guard.concurrency = table.concurrency.unwrap_or(guard.concurrency);
        guard.keeps_arguments = table.keep_arguments.unwrap_or(guard.keeps_arguments);
        guard.redacts_outputs = table.redact_results.unwrap_or(guard.redacts_outputs);
        guard.max_error_bytes = table.max_error.map_or(guard.max_error_bytes, Into::into);
        guard.max_samples = table.samples.unwrap_or(guard.max_samples);
        guard.max_sample_bytes = table.max_samples.map_or(guard.max_sample_bytes, Into::into);
        self.put_over_dispositions(&mut guard.dispositions);
        for (name, table) in &self.file.upstreams {
            let rules = guard.upstreams.entry(name.clone());
            table.gate.put_over(rules.or_insert_with(|| guard.upstream.clone()));
        }
        guard.fallbacks.extend(self.fallbacks.clone());
        guard.phrases.splice(..0, self.phrases.iter().cloned());
    }

    fn put_over_dispositions(&self, dispositions: &mut Dispositions) {
        let table = &self.file.guard;
        dispositions.preset = table.preset.unwrap_or(dispositions.preset);
        dispositions.strict = table.strict.unwrap_or(dispositions.strict);
        dispositions.by_kind.extend(&table.dispositions.0);
        for (tool, table) in &self.file.tools {
            for (kind, decided) in &table.dispositions.0 {
                dispositions.by_tool.insert((tool.clone(), *kind), *decided);
            }
        }
    }

    /// The tool as the file wants it: its effect, and trouble made on purpose. Of several faults
    /// the first of the file meets a call first.
    pub(crate) fn fitted(&self, mut entry: Entry) -> Entry {
        let name = entry.spec.name.clone();
        if let Some(effect) = self.file.tools.get(&name).and_then(|table| table.effect) {
            entry = entry.effect(effect);
        }
        if !self.makes_faults() {
            return entry;
        }
        let faults = self.faults.iter().rev().filter(|one| one.is_for(&name));
        faults.fold(entry, |entry, one| {
            tracing::warn!(tool_name = name, fault = ?one.fault, "Trouble is made on purpose");
            entry.fault(one.fault.clone())
        })
    }
}
