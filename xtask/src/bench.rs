//! The benches, as ratios: times differ from machine to machine and from hour to hour.

use std::path::PathBuf;

use serde_json::Value;

use crate::{Failed, cargo};

/// Each row with the row it is compared to.
const ROWS: &[(&str, &str)] = &[
    ("guarded success, any schema", "bare boxed call"),
    ("guarded success, schema checked", "bare boxed call"),
    ("guarded failure, 200 bytes", "bare boxed call"),
    ("unknown tool among 100", "bare boxed call"),
    ("batch of 10", "ten bare boxed calls"),
    ("batch of 10, schema checked", "ten bare boxed calls"),
];

pub(crate) fn bench() -> Result<(), Failed> {
    cargo("benches", &["bench", "--quiet", "--bench", "spine"], &[("RUST_BACKTRACE", "0")])?;
    println!("\n| spine | ratio | beside |\n|---|---:|---|");
    for (row, beside) in ROWS {
        println!("| {row} | {:.1} | {beside} |", median(row)? / median(beside)?);
    }
    Ok(())
}

/// The median time that criterion wrote for a row.
fn median(row: &str) -> Result<f64, Failed> {
    let path = target().join("criterion/spine").join(row).join("new/estimates.json");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| format!("no figures at {}: {error}", path.display()))?;
    serde_json::from_str::<Value>(&text)
        .ok()
        .and_then(|estimates| estimates["median"]["point_estimate"].as_f64())
        .ok_or_else(|| format!("no median in {}", path.display()))
}

fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from)
}
