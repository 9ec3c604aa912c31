//! The same tool through the library and through what people use instead: a package of its own,
//! because nothing else of the project wants to be built with its peers.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{figures, gungraun};
use crate::{Failed, servers};

const FOLDER: &str = "benches/peers";

/// The peers, as `Cargo.lock` names them.
const PEERS: &[&str] = &["rig-agent", "rmcp"];

/// Instructions of each way, and its time.
pub(super) fn run() -> Result<Value, Failed> {
    let runner = servers::counting()?;
    let counted = gungraun::counts(Path::new(FOLDER), &runner, &["--bench", "counts"])?;
    Ok(json!({
        "counts": figures::counts(&counted),
        "times": lines(FOLDER, &["--bench", "times"], &[])?,
        "versions": versions()?,
    }))
}

/// The lines of JSON that a bench says.
pub(super) fn lines(folder: &str, bench: &[&str], options: &[&str]) -> Result<Value, Failed> {
    println!("== times: cargo bench {}", bench.join(" "));
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(folder)
        .args(["bench", "--quiet"])
        .args(bench)
        .arg("--")
        .args(options)
        .env("RUST_BACKTRACE", "0")
        .env("CARGO_TARGET_DIR", gungraun::built_in(Path::new(folder)))
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo did not start: {error}"))?;
    if !output.status.success() {
        return Err(format!("measuring failed ({})", output.status));
    }
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str::<Value>(line).map_err(|error| format!("{line}: {error}")))
        .collect()
}

/// What the peers' package is locked to.
fn versions() -> Result<Value, Failed> {
    let file = format!("{FOLDER}/Cargo.lock");
    let lock = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    let version = |name: &str| {
        let after = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?.1;
        Some(after.split_once('"')?.0.to_owned())
    };
    Ok(PEERS.iter().map(|name| ((*name).to_owned(), json!(version(name)))).collect())
}
