//! What grows with what: every curve is counted or measured, and how it grows is told from that.

mod growth;
mod plots;

use std::path::Path;

use serde_json::{Value, json};

pub(super) use growth::Growth;
pub(super) use plots::{Curve, PLOTS, Plot};

use super::gungraun::{self, Count};
use super::library::lines;
use crate::{Failed, servers, target};

/// Counts and measures every curve that is ours to measure; that of upstreams comes with the guard.
/// The option is how many failures are recorded at most.
pub(super) fn run(options: &[&str]) -> Result<Value, Failed> {
    let runner = servers::counting()?;
    let mut points = Vec::new();
    for [package, bench] in [["breakfall-counts", "scale"], ["breakfall-benches", "history"]] {
        let bench = ["--package", package, "--bench", bench];
        for count in gungraun::counts(Path::new("."), &runner, &bench)? {
            points.push(point(&count)?);
        }
    }
    let file = target().join("curves.db");
    let file = file.to_str().ok_or("the target directory is not UTF-8")?;
    for ([package, bench], options) in
        [(["breakfall-counts", "errors"], options), (["breakfall-benches", "curves"], &[file][..])]
    {
        let measured = lines(".", &["--package", package, "--bench", bench], options)?;
        points.extend(measured.as_array().into_iter().flatten().cloned());
    }
    Ok(points.into())
}

/// A count as a point: its name ends in where on the axis it stands.
fn point(count: &Count) -> Result<Value, Failed> {
    let point = count.bench.split_once(": at ").and_then(|(curve, at)| {
        let at: u64 = at.parse().ok()?;
        Some(json!({ "curve": curve, "at": at, "value": count.instructions }))
    });
    point.ok_or_else(|| format!("`{}` is no point of a curve", count.bench))
}

/// The points of a curve.
pub(super) fn points(figures: &Value, curve: &Curve) -> Vec<(f64, f64)> {
    let all = figures.as_array().into_iter().flatten();
    all.filter(|point| point["curve"] == curve.name)
        .filter_map(|point| Some((point["at"].as_f64()?, point["value"].as_f64()?)))
        .collect()
}

/// The points for each of what stands on the axis.
pub(super) fn for_each(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    points.iter().map(|(at, value)| (*at, value / at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_of_all_is_told_for_each() {
        let figures = json!([
            { "curve": "batch calls", "at": 10, "value": 50 },
            { "curve": "other", "at": 10, "value": 1 },
            { "curve": "batch calls", "at": 100, "value": 400 },
        ]);
        let all = points(&figures, &plots::each("batch calls", "", ""));
        assert_eq!(for_each(&all), [(10.0, 5.0), (100.0, 4.0)]);
        assert_eq!(points(&figures, &plots::stays("other", "", "")), [(10.0, 1.0)]);
    }

    #[test]
    fn every_curve_has_its_reason() {
        for curve in PLOTS.iter().flat_map(|plot| plot.curves) {
            assert!(!curve.stays.is_empty() || curve.each, "{}", curve.name);
        }
    }
}
