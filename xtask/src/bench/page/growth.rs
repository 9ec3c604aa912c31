//! What grows with what.

use serde_json::{Value, json};

use super::super::curves::{Growth, PLOTS, Plot, points};
use super::super::figures::Part;
use super::super::plot::{Line, Lines};
use super::super::words::{figure, short};
use super::{Figures, Page};

pub(super) fn section(page: &mut Page, figures: &Figures) {
    let mut all: Vec<Value> = Vec::new();
    all.extend(figures.of(Part::Curves).and_then(Value::as_array).into_iter().flatten().cloned());
    all.extend(figures.of(Part::Guard).map(upstreams).unwrap_or_default());
    if all.is_empty() {
        return;
    }
    let all = Value::from(all);
    page.heading("What grows with what");
    page.line("Growth is told from the first point to the last.\n");
    for plot in PLOTS {
        plotted(page, plot, &all);
    }
}

/// The points that come with the guard's figures.
fn upstreams(guard: &Value) -> Vec<Value> {
    let rows = guard["upstreams"].as_array().into_iter().flatten();
    rows.flat_map(|row| {
        let of = |curve: &str, key: &str| json!({ "curve": curve, "at": row["upstreams"], "value": row[key] });
        [of("upstreams: p50", "p50_ms"), of("upstreams: memory", "rss_mib")]
    })
    .collect()
}

fn plotted(page: &mut Page, plot: &Plot, all: &Value) {
    let curves = plot.curves.iter().map(|curve| (curve, points(all, curve)));
    let curves: Vec<_> = curves.filter(|(_, points)| points.len() > 1).collect();
    if curves.is_empty() {
        return;
    }
    page.line(&format!("### {}\n", plot.title));
    let lines =
        curves.iter().map(|(curve, points)| Line { name: curve.title, points: points.clone() });
    let lines =
        Lines { title: plot.title, along: plot.along, unit: plot.unit, curves: lines.collect() };
    page.plot(plot.file, plot.title, lines.svg());
    let rows: Vec<Vec<String>> = curves
        .iter()
        .map(|(curve, points)| {
            let mut row = vec![curve.title.to_owned()];
            row.push(Growth::of(points).map(Growth::word).unwrap_or_default().to_owned());
            for (at, value) in points.first().into_iter().chain(points.last()) {
                row.push(format!("{} at {}", figure(*value), short(*at)));
            }
            row.push(curve.reason.to_owned());
            row
        })
        .collect();
    let first = format!("{}, by {}", plot.unit, plot.along);
    page.table(&[&first, "growth", "first", "last", "why"], &rows);
}
