//! How well the labelled corpus is read, and what is learned from it.

use std::process::Command;

use crate::{Failed, cargo};

const WORDS: &str = "crates/breakfall/src/classify/words.tsv";

pub(crate) fn score() -> Result<(), Failed> {
    cargo("corpus", &["run", "--quiet", "--release", "--package", "breakfall-corpus"], &[])
}

/// Writes the table of words anew.
pub(crate) fn learn() -> Result<(), Failed> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["run", "--quiet", "--package", "breakfall-corpus", "--", "learn"])
        .output()
        .map_err(|error| format!("cargo did not start: {error}"))?;
    if !output.status.success() {
        return Err(format!("learning failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    std::fs::write(WORDS, &output.stdout)
        .map_err(|error| format!("could not write {WORDS}: {error}"))
}
