//! What grows with what.

use serde_json::{Value, json};

use super::super::curves::{Curve, Growth, PLOTS, Plot, for_each, points};
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
    page.line(
        "Growth is told from the points: the power is that of what stands on the axis which goes \
         best through all of them (0 is flat, 1 is linear), and the word also looks at the end. \
         Where something grows, the reason stands beside it.\n",
    );
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
    page.line(&format!("{}\n", plot.measured));
    let lines = curves.iter().map(|(curve, points)| {
        let points = if curve.each { for_each(points) } else { points.clone() };
        Line { name: curve.title, points }
    });
    let lines: Vec<Line<'_>> = lines.collect();
    let rows: Vec<Vec<String>> = curves
        .iter()
        .zip(&lines)
        .map(|((curve, all), line)| row(curve, all, &line.points))
        .collect();
    let lines = Lines { title: plot.title, along: plot.along, unit: plot.unit, curves: lines };
    page.plot(plot.file, plot.title, lines.svg());
    let first = format!("{}, by {}", plot.unit, plot.along);
    page.table(&[&first, "growth", "power", "first", "last", "why"], &rows);
}

/// A curve in words. Whether it is told why it grows or why not is for its points to say.
fn row(curve: &Curve, all: &[(f64, f64)], shown: &[(f64, f64)]) -> Vec<String> {
    let (in_all, told) = (Growth::of(all), Growth::of(shown));
    let word = |growth: Option<Growth>| growth.map_or("", |growth| growth.law.word());
    let growth = if curve.each {
        format!("{} in all, {} for each", word(in_all), word(told))
    } else {
        word(in_all).to_owned()
    };
    // Nothing is not less than nothing.
    let rounded = |power: f64| (power * 100.0).round() / 100.0 + 0.0;
    let power = in_all.map(|growth| format!("{:.2}", rounded(growth.power))).unwrap_or_default();
    let mut row = vec![curve.title.to_owned(), growth, power];
    for (at, value) in shown.first().into_iter().chain(shown.last()) {
        row.push(format!("{} at {}", figure(*value), short(*at)));
    }
    let why = match in_all {
        Some(growth) if growth.law.grows() && curve.grows.is_empty() => "**it need not**",
        Some(growth) if growth.law.grows() => curve.grows,
        _ => curve.stays,
    };
    row.push(why.to_owned());
    row
}
