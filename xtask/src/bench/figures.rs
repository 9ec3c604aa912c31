//! The figures that parts leave in `bench/` where cargo builds, and when and where they were made.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::gungraun::Count;
use crate::{Failed, target};

/// What is measured by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Counts,
    Library,
    Curves,
    Store,
    Guard,
    Compile,
    Python,
}

impl Part {
    /// All of them, in the order of the page.
    pub(super) const ALL: [Self; 7] = [
        Self::Counts,
        Self::Library,
        Self::Python,
        Self::Guard,
        Self::Compile,
        Self::Curves,
        Self::Store,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Counts => "counts",
            Self::Library => "library",
            Self::Curves => "curves",
            Self::Store => "store",
            Self::Guard => "guard",
            Self::Compile => "compile",
            Self::Python => "python",
        }
    }

    /// Where its figures are.
    pub(crate) fn file(self) -> Result<PathBuf, Failed> {
        let folder = target().join("bench");
        std::fs::create_dir_all(&folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(folder.join(format!("{}.json", self.name())))
    }

    pub(super) fn leave(self, figures: &Value) -> Result<(), Failed> {
        written(&self.file()?, figures)
    }

    /// Keeps when and where it was measured, and with what.
    pub(super) fn stamp(self, machine: &Value) -> Result<(), Failed> {
        written(&self.file()?.with_extension("stamp.json"), machine)
    }

    /// What was left, when it was run.
    pub(super) fn figures(self) -> Result<Option<Measured>, Failed> {
        let file = self.file()?;
        let Some(figures) = read(&file)? else { return Ok(None) };
        let stamp = read(&file.with_extension("stamp.json"))?.unwrap_or_default();
        Ok(Some(Measured { figures, stamp }))
    }
}

/// Figures with their stamp.
pub(super) struct Measured {
    pub(super) figures: Value,
    pub(super) stamp: Value,
}

/// Counts as figures.
pub(super) fn counts(counted: &[Count]) -> Value {
    let rows = counted.iter();
    rows.map(|count| json!({ "bench": count.bench, "instructions": count.instructions })).collect()
}

/// The count of a bench.
pub(super) fn count(figures: &Value, bench: &str) -> Option<u64> {
    let rows = figures.as_array()?;
    rows.iter().find(|row| row["bench"] == bench)?["instructions"].as_u64()
}

fn written(file: &std::path::Path, figures: &Value) -> Result<(), Failed> {
    std::fs::write(file, format!("{figures:#}\n"))
        .map_err(|error| format!("{}: {error}", file.display()))
}

fn read(file: &std::path::Path) -> Result<Option<Value>, Failed> {
    let Ok(text) = std::fs::read_to_string(file) else { return Ok(None) };
    serde_json::from_str(&text)
        .map(Some)
        .map_err(|error| format!("{} is not JSON: {error}", file.display()))
}
