//! The Python node beside LangGraph's and what else people use.

use serde_json::Value;

use super::super::figures::Part;
use super::super::plot::Bars;
use super::super::words::figure;
use super::{Figures, Page};

/// The rows that are drawn.
const DRAWN: &[(&str, &str)] =
    &[("success, single", "python-success"), ("failure, single", "python-failure")];

pub(super) fn section(page: &mut Page, figures: &Figures) {
    let Some(python) = figures.of(Part::Python) else { return };
    let rows: Vec<&Value> = python["rows"].as_array().into_iter().flatten().collect();
    page.heading("The Python node beside LangGraph's and others");
    page.line(
        "The same tools, called in turns in one process: above 1, ours is cheaper. FastMCP is in \
         memory; of a failure it writes a log line unless told not to.\n",
    );
    let ways = unique(&rows, "way");
    let mut head = vec!["call"];
    let others: Vec<String> = ways.iter().skip(1).map(|way| format!("{way} ÷ ours")).collect();
    head.extend(others.iter().map(String::as_str));
    head.push("ours, µs a call");
    let table: Vec<Vec<String>> =
        unique(&rows, "row").iter().map(|row| line(&rows, row, &ways)).collect();
    page.table(&head, &table);
    for (row, file) in DRAWN {
        let bars: Vec<(String, f64, bool)> = ways
            .iter()
            .filter_map(|way| {
                let found = find(&rows, row, way)?;
                Some((
                    (*way).to_owned(),
                    found["ratio_to_ours"].as_f64()?,
                    ways.first() == Some(way),
                ))
            })
            .collect();
        let title = format!("Python: {row}, beside ours");
        let svg = Bars { title: &title, unit: "times ours", ways: bars }.svg();
        page.plot(file, &title, svg);
    }
    left(page, &python["memory"]);
}

fn line(rows: &[&Value], row: &str, ways: &[&str]) -> Vec<String> {
    let mut cells = vec![row.to_owned()];
    for way in ways.iter().skip(1) {
        let ratio = find(rows, row, way).and_then(|found| found["ratio_to_ours"].as_f64());
        cells.push(ratio.map(figure).unwrap_or_default());
    }
    let ours = ways.first().and_then(|way| find(rows, row, way));
    cells.push(ours.and_then(|ours| ours["microseconds"].as_f64()).map(figure).unwrap_or_default());
    cells
}

/// What an error leaves behind for ever.
fn left(page: &mut Page, memory: &Value) {
    let rows: Vec<Vec<String>> = memory
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|row| {
            Some(vec![
                row["way"].as_str()?.to_owned(),
                figure(row["python_bytes"].as_f64()?),
                figure(row["resident_bytes"].as_f64()?),
            ])
        })
        .collect();
    if !rows.is_empty() {
        page.table(
            &["what an error leaves behind", "bytes of Python's", "bytes of the process's"],
            &rows,
        );
    }
}

fn find<'r>(rows: &[&'r Value], row: &str, way: &str) -> Option<&'r Value> {
    rows.iter().find(|found| found["row"] == row && found["way"] == way).copied()
}

/// The values of a key, in their order, each once.
fn unique<'r>(rows: &[&'r Value], key: &str) -> Vec<&'r str> {
    let mut found = Vec::new();
    for value in rows.iter().filter_map(|row| row[key].as_str()) {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}
