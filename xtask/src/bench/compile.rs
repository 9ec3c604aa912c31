//! How long the library takes to build for who depends on it: from nothing, with its default
//! features, on two cores.

use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

use crate::{Failed, cargo, target};

const JOBS: &str = "2";

/// Seconds of a debug build into a folder in which nothing is, once all is fetched.
pub(super) fn run() -> Result<Value, Failed> {
    cargo("sources", &["fetch", "--quiet", "--locked"], &[])?;
    let folder = target().join("from-nothing");
    let clear = || match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{}: {error}", folder.display()))
        }
        _ => Ok(()),
    };
    clear()?;
    let before = load();
    println!("== from nothing: cargo build --package breakfall --jobs {JOBS}");
    let began = Instant::now();
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--quiet", "--locked", "--package", "breakfall", "--jobs", JOBS])
        .env("CARGO_TARGET_DIR", &folder)
        .env("CARGO_INCREMENTAL", "0")
        .status()
        .map_err(|error| format!("cargo did not start: {error}"))?;
    let seconds = began.elapsed().as_secs_f64();
    clear()?;
    if !status.success() {
        return Err(format!("the library was not built ({status})"));
    }
    println!("{seconds:.1} s; what ran before: {before:.2} processes");
    Ok(json!({ "seconds": seconds, "load_before": before }))
}

/// How many processes ran in the last minute: a machine that does something else builds slower.
fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(f64::NAN)
}
