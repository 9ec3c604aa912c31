//! The benches, as ratios: times differ from machine to machine and from hour to hour.

use std::process::Command;
use std::time::Instant;

use serde_json::Value;

use crate::{Failed, cargo, servers, target};

/// Each row with the row it is compared to.
const ROWS: &[(&str, &str)] = &[
    ("guarded success, any schema", "bare boxed call"),
    ("guarded success, schema checked", "bare boxed call"),
    ("guarded failure, 200 bytes", "bare boxed call"),
    ("unknown tool among 100", "bare boxed call"),
    ("batch of 10", "ten bare boxed calls"),
    ("batch of 10, schema checked", "ten bare boxed calls"),
];

/// A guarded call beside a bare one, within one process.
pub(crate) fn spine() -> Result<(), Failed> {
    cargo(
        "benches",
        &["bench", "--quiet", "--bench", "spine", "--bench", "reading"],
        &[("RUST_BACKTRACE", "0")],
    )?;
    println!("\n| spine | ratio | beside |\n|---|---:|---|");
    for (row, beside) in ROWS {
        println!("| {row} | {:.1} | {beside} |", median(row, "spine")? / median(beside, "spine")?);
    }
    println!("\n| reading an error | 200 bytes | 8 KiB |\n|---|---:|---:|");
    for what in ["classified", "redacted", "classified and redacted"] {
        let of = |size: &str| median(&format!("an error of {size}: {what}"), "reading");
        println!(
            "| {what} | {:.1} µs | {:.1} µs |",
            of("200 bytes")? / 1000.0,
            of("8 KiB")? / 1000.0
        );
    }
    Ok(())
}

/// A million failures kept, and how long the program takes to tell of them.
pub(crate) fn store() -> Result<(), Failed> {
    const LOOKS: usize = 9;
    let file = target().join("million.db");
    let file = file.to_str().ok_or("the target directory is not UTF-8")?;
    cargo(
        "a million failures",
        &["bench", "--quiet", "--bench", "store", "--", file],
        &[("RUST_BACKTRACE", "0")],
    )?;
    cargo("program", &["build", "--quiet", "--release", "--package", "breakfall-cli"], &[])?;
    let program = target().join("release/breakfall");
    println!("\n| of a million failures | median of {LOOKS} |\n|---|---:|");
    for command in [&["errors"][..], &["tools"], &["report", "--since", "7d"]] {
        let mut times = Vec::new();
        for _ in 0..LOOKS {
            let began = Instant::now();
            let told = Command::new(&program).args(command).args(["--store", file]).output();
            times.push(began.elapsed());
            if !told.is_ok_and(|told| told.status.success()) {
                return Err(format!("`breakfall {}` failed", command.join(" ")));
            }
        }
        times.sort_unstable();
        println!("| `breakfall {}` | {} ms |", command.join(" "), times[LOOKS / 2].as_millis());
    }
    Ok(())
}

/// The program between real clients and real servers, beside its peers.
pub(crate) fn guard(options: &[&str]) -> Result<(), Failed> {
    servers::servers()?;
    servers::peers()?;
    cargo("program", &["build", "--quiet", "--release", "--package", "breakfall-cli"], &[])?;
    let status = Command::new("e2e/bench.py")
        .args(options)
        .arg("--json")
        .arg(target().join("bench/guard.json"))
        .arg("--")
        .arg(target().join("release/breakfall"))
        .status()
        .map_err(|error| format!("e2e/bench.py did not start: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("e2e/bench.py failed ({status})")) }
}

/// The median time that criterion wrote for a row.
fn median(row: &str, group: &str) -> Result<f64, Failed> {
    let path = target()
        .join("criterion")
        .join(group)
        .join(row.replace(':', "_"))
        .join("new/estimates.json");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| format!("no figures at {}: {error}", path.display()))?;
    serde_json::from_str::<Value>(&text)
        .ok()
        .and_then(|estimates| estimates["median"]["point_estimate"].as_f64())
        .ok_or_else(|| format!("no median in {}", path.display()))
}
