//! Hostile input for what reads it, with libFuzzer.

use std::path::Path;
use std::process::Command;

use crate::{Failed, cargo};

const TARGETS: &[&str] = &["classify", "redact", "clean", "arguments", "config"];

/// Where the project keeps tools that it installs for itself.
const TOOLS: &str = ".tools";

/// Runs each target for so many seconds. The code is safe Rust, so that panics and broken
/// promises are what is looked for: no sanitizer, and no other toolchain, is needed.
pub(crate) fn fuzz(seconds: u32) -> Result<(), Failed> {
    let program = std::env::current_dir()
        .map_err(|error| format!("no current directory: {error}"))?
        .join(TOOLS)
        .join("bin/cargo-fuzz");
    if !program.exists() {
        cargo(
            "cargo-fuzz",
            &["install", "--quiet", "--locked", "--root", TOOLS, "cargo-fuzz@0.13.2"],
            &[],
        )?;
    }
    for target in TARGETS {
        println!("== fuzz: {target}, {seconds} s");
        let corpus = Path::new("fuzz/corpus").join(target);
        std::fs::create_dir_all(&corpus)
            .map_err(|error| format!("{}: {error}", corpus.display()))?;
        let output = Command::new(&program)
            .args([
                "fuzz",
                "run",
                "--sanitizer",
                "none",
                target,
                "--",
                "-verbosity=0",
                "-print_final_stats=0",
            ])
            .arg(format!("-max_total_time={seconds}"))
            .arg("-max_len=4096")
            .env_remove("CARGO_TARGET_DIR")
            .output()
            .map_err(|error| format!("cargo-fuzz did not start: {error}"))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            let tail: Vec<&str> = text.lines().rev().take(60).collect();
            return Err(format!(
                "fuzzing {target} failed:\n{}",
                tail.into_iter().rev().collect::<Vec<_>>().join("\n")
            ));
        }
    }
    Ok(())
}
