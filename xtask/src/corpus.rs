//! How well the labelled corpus is read, and what is learned from it.

use std::process::Command;

use crate::{Failed, cargo};

/// What is learned, and where it is kept.
const LEARNED: &[(&[&str], &str)] = &[
    (&["learn"], "crates/breakfall/src/classify/words.tsv"),
    (&["learn", "signs"], "crates/breakfall/src/classify/resource/weights.tsv"),
];

pub(crate) fn score() -> Result<(), Failed> {
    cargo("corpus", &["run", "--quiet", "--release", "--package", "breakfall-corpus"], &[])
}

/// Writes the tables of words and of signs anew, the second with the first in force.
pub(crate) fn learn() -> Result<(), Failed> {
    for (what, file) in LEARNED {
        let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["run", "--quiet", "--release", "--package", "breakfall-corpus", "--"])
            .args(*what)
            .output()
            .map_err(|error| format!("cargo did not start: {error}"))?;
        if !output.status.success() {
            return Err(format!("learning failed: {}", String::from_utf8_lossy(&output.stderr)));
        }
        std::fs::write(file, &output.stdout)
            .map_err(|error| format!("could not write {file}: {error}"))?;
    }
    Ok(())
}
