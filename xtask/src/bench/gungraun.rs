//! Instructions that callgrind counted, as gungraun tells them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::{Failed, target};

/// How many instructions a bench took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Count {
    /// The function and its case.
    pub(crate) bench: String,
    pub(crate) instructions: u64,
}

/// Builds and runs a bench of gungraun's in a folder.
pub(crate) fn counts(folder: &Path, runner: &Path, bench: &[&str]) -> Result<Vec<Count>, Failed> {
    println!("== instructions: cargo bench {}", bench.join(" "));
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(folder)
        .args(["bench", "--quiet"])
        .args(bench)
        // Nobody reads what caches would have done, and it takes as long again.
        .args(["--", "--output-format=json", "--callgrind-args=--cache-sim=no"])
        .env("CARGO_TARGET_DIR", built_in(folder))
        .env("PATH", path(runner)?)
        // A backtrace for each failure that is provoked costs more than the failure.
        .env("RUST_BACKTRACE", "0")
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo did not start: {error}"))?;
    if !output.status.success() {
        return Err(format!("counting failed ({})", output.status));
    }
    let counted = read(&String::from_utf8_lossy(&output.stdout))?;
    if counted.is_empty() { Err("nothing was counted".to_owned()) } else { Ok(counted) }
}

/// Where cargo builds what is in a folder: a package that is no member of the workspace has other
/// versions of what both need, and its own place.
pub(super) fn built_in(folder: &Path) -> PathBuf {
    if folder == Path::new(".") { target() } else { target().join("peers") }
}

/// The program's own path, and gungraun's runner before it.
fn path(runner: &Path) -> Result<OsString, Failed> {
    let before = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(runner.to_owned()).chain(std::env::split_paths(&before));
    std::env::join_paths(folders).map_err(|error| format!("no path: {error}"))
}

/// A summary in each line.
fn read(text: &str) -> Result<Vec<Count>, Failed> {
    text.lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| {
            serde_json::from_str::<Value>(line)
                .ok()
                .and_then(|summary| count(&summary))
                .ok_or_else(|| "gungraun tells counts in a shape that is not known".to_owned())
        })
        .collect()
}

fn count(summary: &Value) -> Option<Count> {
    let function = summary["function_name"].as_str()?;
    let bench = match summary["id"].as_str() {
        Some(id) => format!("{function}: {id}"),
        None => function.to_owned(),
    };
    let metric = &summary["profiles"][0]["data"]["total"]["metrics"]["Ir"];
    Some(Count { bench: bench.replace('_', " "), instructions: newest(metric)? })
}

/// The count of this run: there may be an older one beside it.
fn newest(metric: &Value) -> Option<u64> {
    metric["values"]["new"].as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_count_is_read() {
        let summary = |values: &str| {
            let profile =
                format!(r#"[{{"data":{{"total":{{"metrics":{{"Ir":{{"values":{values}}}}}}}}}}}]"#);
            format!(r#"{{"function_name":"guarded_call","id":"panic","profiles":{profile}}}"#)
        };
        let text = format!(
            "compiled\n{}\n{}\n",
            summary(r#"{"new":41000}"#),
            summary(r#"{"new":42000,"old":41000}"#)
        );
        let count = |instructions| Count { bench: "guarded call: panic".to_owned(), instructions };
        assert_eq!(read(&text), Ok(vec![count(41_000), count(42_000)]));
        assert!(read(&summary("{}")).is_err());
    }
}
