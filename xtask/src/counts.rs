//! The gate against slow growth: instructions of the hot paths, beside those on record.

mod compared;

use std::path::Path;

use crate::bench::gungraun::{self, Count};
use crate::{Failed, servers};

/// The counts on record; why one of them changed is in the history of this file.
const RECORDED: &str = "benches/counts/recorded.tsv";

/// Counts, and fails when a count is above the one on record by more than what is tolerated.
/// With `record`, what was counted goes on record instead.
pub(crate) fn counts(record: bool) -> Result<(), Failed> {
    let counted = run()?;
    if record {
        let text = compared::written(&counted);
        std::fs::write(RECORDED, text).map_err(|error| format!("{RECORDED}: {error}"))?;
        println!("{} counts are on record in {RECORDED}", counted.len());
        return Ok(());
    }
    let recorded = std::fs::read_to_string(RECORDED)
        .map_err(|error| format!("{RECORDED}: {error}\n\nhint: cargo xtask counts --record"))?;
    let compared = compared::compared(&compared::read(&recorded)?, &counted);
    print!("{}{}", compared.table(), compared.hints());
    compared.verdict()
}

/// What callgrind counts today. Only the one package is built.
pub(crate) fn run() -> Result<Vec<Count>, Failed> {
    let runner = servers::counting()?;
    gungraun::counts(
        Path::new("."),
        &runner,
        &["--package", "breakfall-counts", "--bench", "counts"],
    )
}
