//! The few ratios that the README shows: put there by the same command, so that they are those of
//! the page.

use serde_json::Value;

use super::super::figures::{self, Part};
use super::super::words::figure;
use super::{Figures, Page};
use crate::Failed;

const README: &str = "README.md";
const BEGIN: &str = "<!-- written by cargo xtask bench -->\n";
const END: &str = "<!-- end -->\n";

/// Puts the ratios between the marks in the README.
pub(super) fn write(figures: &Figures) -> Result<(), Failed> {
    let readme = std::fs::read_to_string(README).map_err(|error| format!("{README}: {error}"))?;
    let written = between(&readme, &ratios(figures))
        .ok_or_else(|| format!("{README} has no marks for what is measured"))?;
    std::fs::write(README, written).map_err(|error| format!("{README}: {error}"))
}

fn between(readme: &str, words: &str) -> Option<String> {
    let (before, rest) = readme.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{words}{END}{after}"))
}

/// What is known of them, as a table.
fn ratios(figures: &Figures) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |what: &str, beside: &str, ratio: Option<f64>| {
        rows.extend(ratio.map(|ratio| vec![what.to_owned(), beside.to_owned(), figure(ratio)]));
    };
    if let Some(library) = figures.of(Part::Library) {
        let of = |one: &str, other: &str| ratio(&library["counts"], one, other);
        let (ours, text) = ("guarded call: success", "guarded call: success from text");
        row("a boxed call, instructions", "the same call guarded", of("boxed call: success", ours));
        row("rmcp's router, instructions", "the guard", of("rmcp router: success", ours));
        row("rig's tool set, instructions", "the guard", of("rig tool set: success", text));
    }
    if let Some(python) = figures.of(Part::Python) {
        let of = |wanted: &str| {
            let mut rows = python["rows"].as_array().into_iter().flatten();
            let found = rows.find(|row| row["row"] == wanted && row["way"] == "langgraph")?;
            found["ratio_to_ours"].as_f64()
        };
        row("LangGraph's node, a call that fails, time", "our node", of("failure, single"));
        row("LangGraph's node, a call that succeeds, time", "our node", of("success, single"));
    }
    if let Some(guard) = figures.of(Part::Guard) {
        let mut ways = guard["ways"].as_array().into_iter().flatten();
        let found = ways.find(|way| way["way"] == "guard").and_then(|way| way["ratio"].as_f64());
        row("an MCP server on stdio behind the guard, p50", "without it", found);
    }
    let mut page = Page::default();
    if rows.is_empty() {
        return page.text;
    }
    page.line(
        "As ratios of one run, in which the ways took turns; instructions are counted by callgrind:\n",
    );
    page.table(&["what", "beside", "ratio"], &rows);
    page.text
}

#[expect(clippy::cast_precision_loss, reason = "a ratio")]
fn ratio(counts: &Value, one: &str, other: &str) -> Option<f64> {
    let (one, other) = (figures::count(counts, one)?, figures::count(counts, other)?);
    Some(one as f64 / other.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_marks_is_changed() {
        let readme = format!("Before.\n{BEGIN}old\n{END}After.\n");
        assert_eq!(between(&readme, "new\n"), Some(format!("Before.\n{BEGIN}new\n{END}After.\n")));
        assert_eq!(between("no marks", "new\n"), None);
    }
}
