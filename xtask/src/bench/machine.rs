//! When, where and with what something was measured.

use std::process::Command;

use serde_json::{Value, json};

/// The date, the machine, and the versions of what is not pinned.
pub(super) fn found() -> Value {
    json!({
        "date": said("date", &["-u", "+%Y-%m-%d"]),
        "machine": machine(),
        "versions": {
            "breakfall": env!("CARGO_PKG_VERSION"),
            "rustc": said("rustc", &["--version"]).replace("rustc ", ""),
            "node": said("node", &["--version"]).trim_start_matches('v'),
            "python": said("python3", &["--version"]).replace("Python ", ""),
            "valgrind": said("valgrind", &["--version"]).replace("valgrind-", ""),
        },
    })
}

fn machine() -> String {
    let processor = line("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned());
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let memory = line("/proc/meminfo", "MemTotal").and_then(|size| {
        let kib: u64 = size.trim_end_matches(" kB").parse().ok()?;
        Some(kib.div_ceil(1 << 20))
    });
    let system = said("uname", &["-sr"]);
    format!("{processor}, {cores} cores, {} GiB of memory, {system}", memory.unwrap_or_default())
}

/// What stands behind a word in a file of the kernel's.
fn line(file: &str, word: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(word))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map_or_else(
        |_| "not there".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}
