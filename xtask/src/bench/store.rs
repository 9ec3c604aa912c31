//! A million failures kept, and how long the program takes to tell of them.

use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

use super::library::lines;
use crate::{Failed, cargo, target};

const LOOKS: usize = 9;

/// What the program is asked.
const ASKED: &[&[&str]] = &[&["errors"], &["tools"], &["report", "--since", "7d"]];

pub(super) fn run() -> Result<Value, Failed> {
    let file = target().join("million.db");
    let file = file.to_str().ok_or("the target directory is not UTF-8")?;
    let kept = lines(".", &["--package", "breakfall-benches", "--bench", "store"], &[file])?;
    cargo("program", &["build", "--quiet", "--release", "--package", "breakfall-cli"], &[])?;
    let told: Result<Vec<Value>, Failed> = ASKED.iter().map(|words| asked(words, file)).collect();
    Ok(json!({ "kept": kept[0], "looks": LOOKS, "told": told? }))
}

fn asked(words: &[&str], file: &str) -> Result<Value, Failed> {
    let program = target().join("release/breakfall");
    let mut times = Vec::new();
    for _ in 0..LOOKS {
        let began = Instant::now();
        let told = Command::new(&program).args(words).args(["--store", file]).output();
        times.push(began.elapsed());
        if !told.is_ok_and(|told| told.status.success()) {
            return Err(format!("`breakfall {}` failed", words.join(" ")));
        }
    }
    times.sort_unstable();
    let milliseconds = times[LOOKS / 2].as_secs_f64() * 1e3;
    Ok(json!({ "command": format!("breakfall {}", words.join(" ")), "milliseconds": milliseconds }))
}
