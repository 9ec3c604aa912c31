//! What a Python program says of its guard becomes a builder.

use std::sync::Arc;
use std::time::Duration;

use breakfall::{
    Checking, Config, ConfiguredStore, GuardBuilder, Policy, Preset, Retry, SilentRule, Sink,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::store;
use crate::words::wrong;

/// As good as for ever.
pub(crate) const FOR_EVER: Duration = Duration::from_hours(100 * 365 * 24);

/// What may be said of a guard. Absent is the guard's own default.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    preset: String,
    config: Option<std::path::PathBuf>,
    /// Of one attempt, and of a call.
    timeout: Option<f64>,
    total_timeout: Option<f64>,
    attempts: Option<u32>,
    checking: String,
    silent: Option<String>,
    /// Where records are kept if the configuration names no place: empty for the user's own, absent
    /// for nowhere.
    store: Option<String>,
    redact: Vec<String>,
    keep_arguments: bool,
    redact_results: bool,
    max_error_bytes: Option<usize>,
    concurrency: Option<usize>,
    strict: bool,
    dispositions: Vec<(String, String)>,
    /// Of one tool: its name, the timeout of an attempt (nought for none), and its attempts.
    policies: Vec<OfTool>,
}

type OfTool = (String, Option<f64>, Option<u32>);

impl Options {
    /// A builder that keeps records where they are to be kept.
    pub(crate) fn stored(&self) -> PyResult<GuardBuilder> {
        let (builder, store) = self.builder()?;
        let (Some(mut store), Some(place)) = (store, &self.store) else { return Ok(builder) };
        store.place = store.place.or_else(|| Some(place.clone()).filter(|p| !p.is_empty()));
        let kept: Arc<dyn Sink> = store::kept(store)?;
        Ok(builder.sink(kept))
    }

    /// A builder, and the store as it is configured.
    pub(crate) fn builder(&self) -> PyResult<(GuardBuilder, Option<ConfiguredStore>)> {
        let preset: Preset = self.preset.parse().map_err(wrong)?;
        let mut builder = breakfall::Guard::builder()
            .preset(preset)
            .strict(self.strict)
            .keep_arguments(self.keep_arguments)
            .redact_results(self.redact_results);
        let policy = self.policy()?;
        for (tool, timeout, attempts) in &self.policies {
            let mut own = policy.clone();
            if let Some(seconds) = timeout {
                own.attempt_timeout = time(Some(*seconds).filter(|seconds| *seconds != 0.0))?;
                own.total_timeout = own.total_timeout.max(own.attempt_timeout);
            }
            if let Some(attempts) = attempts {
                own.retry.attempts = *attempts;
            }
            builder = builder.policy_for(tool, own);
        }
        builder = builder.policy(policy);
        for (kind, disposition) in &self.dispositions {
            builder = builder.disposition(kind.parse().map_err(wrong)?, parsed(disposition)?);
        }
        for value in &self.redact {
            builder = builder.redact_value(value);
        }
        if let Some(bytes) = self.max_error_bytes {
            builder = builder.max_error_bytes(bytes);
        }
        if let Some(calls) = self.concurrency {
            builder = builder.concurrency(calls);
        }
        let config = match &self.config {
            Some(file) => Config::load(file),
            None => Ok(Config::default()),
        };
        let config = config
            .and_then(|config| config.with_environment(std::env::vars_os()))
            .map_err(wrong)?;
        let store = config.store();
        Ok((builder.config(config), store))
    }

    fn policy(&self) -> PyResult<Policy> {
        let retry = match self.attempts {
            Some(attempts) => Retry { attempts, ..Retry::default() },
            None => Retry::default(),
        };
        let attempt_timeout = time(self.timeout)?;
        let checking = parsed::<Checking>(&self.checking)?;
        let mut policy = Policy { attempt_timeout, retry, checking, ..Policy::default() };
        policy.total_timeout = time(self.total_timeout)?.max(attempt_timeout);
        if let Some(silent) = &self.silent {
            policy.silent = parsed::<SilentRule>(silent)?;
        }
        Ok(policy)
    }
}

fn time(seconds: Option<f64>) -> PyResult<Duration> {
    match seconds {
        None => Ok(FOR_EVER),
        Some(seconds) => Duration::try_from_secs_f64(seconds)
            .ok()
            .filter(|time| !time.is_zero())
            .map(|time| time.min(FOR_EVER))
            .ok_or_else(|| {
                PyValueError::new_err(format!("a timeout is a number of seconds, not {seconds}"))
            }),
    }
}

/// A word of the configuration.
pub(crate) fn parsed<T: serde::de::DeserializeOwned>(word: &str) -> PyResult<T> {
    serde_json::from_value(serde_json::Value::from(word))
        .map_err(|error| PyValueError::new_err(error.to_string()))
}
