//! The page `docs/performance.md`: tables and pictures from the figures that were left. What is
//! printed and what is written are the same, and so are the ratios that the README shows.

mod growth;
mod guard;
mod library;
mod promises;
mod python;
mod readme;
mod store;

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::figures::{Measured, Part};
use crate::Failed;

const PAGE: &str = "docs/performance.md";
const PLOTS: &str = "docs/plots";

/// Every part's figures, where it was run.
struct Figures(Vec<(Part, Option<Measured>)>);

impl Figures {
    fn of(&self, part: Part) -> Option<&Value> {
        let (_, measured) = self.0.iter().find(|(found, _)| *found == part)?;
        measured.as_ref().map(|measured| &measured.figures)
    }
}

/// What the page says, and its pictures by the names of their files.
#[derive(Default)]
struct Page {
    text: String,
    plots: Vec<(String, String)>,
}

impl Page {
    fn line(&mut self, words: &str) {
        self.text.push_str(words);
        self.text.push('\n');
    }

    fn heading(&mut self, words: &str) {
        self.text.truncate(self.text.trim_end().len());
        let _ = write!(self.text, "\n\n## {words}\n\n");
    }

    /// A table; columns of figures stand to the right.
    fn table(&mut self, head: &[&str], rows: &[Vec<String>]) {
        self.line(&format!("| {} |", head.join(" | ")));
        let is_figure = |cell: &String| {
            cell.is_empty()
                || cell.starts_with(|first: char| first.is_ascii_digit() || first == '-')
        };
        let sides = (0..head.len()).map(|column| {
            let mut cells = rows.iter().filter_map(|row| row.get(column));
            if column > 0 && cells.all(is_figure) { "---:" } else { "---" }
        });
        self.line(&format!("|{}|", sides.collect::<Vec<_>>().join("|")));
        for row in rows {
            self.line(&format!("| {} |", row.join(" | ")));
        }
        self.line("");
    }

    /// A picture, shown here.
    fn plot(&mut self, name: &str, title: &str, svg: String) {
        self.line(&format!("![{title}](plots/{name}.svg)\n"));
        self.plots.push((format!("{name}.svg"), svg));
    }
}

/// Renders what is there, prints it and writes it.
pub(super) fn write() -> Result<(), Failed> {
    let figures: Result<Vec<_>, Failed> =
        Part::ALL.into_iter().map(|part| Ok((part, part.figures()?))).collect();
    let figures = Figures(figures?);
    let page = render(&figures);
    println!("\n{}", page.text);
    let put = |file: &Path, text: &str| {
        std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
    };
    std::fs::create_dir_all(PLOTS).map_err(|error| format!("{PLOTS}: {error}"))?;
    for (name, svg) in &page.plots {
        put(&Path::new(PLOTS).join(name), svg)?;
    }
    put(Path::new(PAGE), &page.text)?;
    readme::write(&figures)
}

fn render(figures: &Figures) -> Page {
    let mut page = Page::default();
    page.line("# What it costs\n");
    page.line(
        "This page is what `cargo xtask bench` printed. Ratios are of one run, in which the ways \
         took turns; instructions were counted by callgrind, which counts the same on any day. \
         Times are of the machine named here, and of nothing else.\n",
    );
    stamps(&mut page, figures);
    promises::section(&mut page, figures);
    library::section(&mut page, figures);
    python::section(&mut page, figures);
    guard::section(&mut page, figures);
    growth::section(&mut page, figures);
    store::section(&mut page, figures);
    page.text.truncate(page.text.trim_end().len());
    page.text.push('\n');
    page
}

/// When, where and with what; what was not run.
fn stamps(page: &mut Page, figures: &Figures) {
    let stamps = figures.0.iter().filter_map(|(part, measured)| {
        let stamp = &measured.as_ref()?.stamp;
        let text = |key: &str| stamp[key].as_str().map(ToOwned::to_owned);
        Some((*part, text("date")?, text("machine")?, stamp["versions"].clone()))
    });
    let stamps: Vec<_> = stamps.collect();
    let mut told: Vec<String> = Vec::new();
    for (_, date, machine, versions) in &stamps {
        let versions = named(versions);
        let line = format!("{date}, {machine}; {versions}");
        if !told.contains(&line) {
            told.push(line);
        }
    }
    for line in &told {
        let of: Vec<&str> = stamps
            .iter()
            .filter(|(_, date, machine, versions)| {
                *line == format!("{date}, {machine}; {}", named(versions))
            })
            .map(|(part, ..)| part.name())
            .collect();
        // Whose it is need only be told where there are several.
        let of = if told.len() > 1 { format!(" ({})", of.join(", ")) } else { String::new() };
        page.line(&format!("- Measured{of}: {line}."));
    }
    for (part, measured) in &figures.0 {
        if let Some(measured) = measured {
            let versions = pinned(&measured.figures);
            if !versions.is_empty() {
                page.line(&format!("- Versions ({}): {versions}.", part.name()));
            }
        } else {
            page.line(&format!(
                "- Not run, and not on this page: `cargo xtask bench {}`.",
                part.name()
            ));
        }
    }
}

/// What a part says itself of what it measured.
fn pinned(figures: &Value) -> String {
    let versions = &figures["versions"];
    let pins = versions["pins"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let pins: Vec<String> = pins.map(|pin| pin.replace("==", " ")).collect();
    if pins.is_empty() { named(versions) } else { pins.join(", ") }
}

fn named(versions: &Value) -> String {
    let pairs = versions.as_object().into_iter().flatten();
    let pairs: Vec<String> =
        pairs.filter_map(|(name, version)| Some(format!("{name} {}", version.as_str()?))).collect();
    pairs.join(", ")
}

#[cfg(test)]
mod tests;
