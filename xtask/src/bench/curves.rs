//! What grows with what: every curve with its words, how it grows, and why where it must.

use std::path::Path;

use serde_json::{Value, json};

use super::gungraun::{self, Count};
use super::library::lines;
use crate::{Failed, servers, target};

/// A plot: curves over the same axis.
pub(super) struct Plot {
    /// The name of its file.
    pub(super) file: &'static str,
    pub(super) title: &'static str,
    pub(super) along: &'static str,
    pub(super) unit: &'static str,
    pub(super) curves: &'static [Curve],
}

/// One curve, by its name in the figures.
pub(super) struct Curve {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// Whether the figure is of all that stands on the axis, and is told for each.
    pub(super) each: bool,
    /// Why it is not flat.
    pub(super) reason: &'static str,
}

const fn curve(name: &'static str, title: &'static str, reason: &'static str) -> Curve {
    Curve { name, title, each: false, reason }
}

const fn each(name: &'static str, title: &'static str, reason: &'static str) -> Curve {
    Curve { name, title, each: true, reason }
}

/// All plots, in the order of the page.
pub(super) const PLOTS: &[Plot] = &[
    Plot {
        file: "tools",
        title: "A call by the number of tools",
        along: "tools",
        unit: "instructions",
        curves: &[
            curve("tools find", "found", "it is one look into a table"),
            curve(
                "tools unknown",
                "unknown, with suggestions",
                "the letters of every name of about the same length are looked at, and names that could be near compared; here all names have nearly the same letters, which is the worst case",
            ),
            each("tools list", "listed, for each tool", "a list names every tool"),
        ],
    },
    Plot {
        file: "errors",
        title: "Failures recorded in memory",
        along: "failures recorded",
        unit: "µs",
        curves: &[
            curve(
                "errors: one more",
                "one more, with its call",
                "a failure is a count and a place in a ring",
            ),
            curve(
                "errors: summary",
                "summary",
                "it has a line for each tool and type, however many failures there were",
            ),
            curve(
                "errors: query",
                "samples of a tool",
                "the ring is looked through; it is full after a thousand failures",
            ),
        ],
    },
    Plot {
        file: "memory",
        title: "Memory of the process by failures recorded",
        along: "failures recorded",
        unit: "MiB",
        curves: &[curve(
            "errors: memory",
            "resident",
            "the ring of samples and the counts are bounded",
        )],
    },
    Plot {
        file: "records",
        title: "Failures kept in SQLite",
        along: "failures kept",
        unit: "ms",
        curves: &[
            curve(
                "records: groups",
                "what failed, in groups",
                "rows are kept by group and hour, not by failure",
            ),
            curve("records: samples", "samples of a group", "they are found by an index"),
        ],
    },
    Plot {
        file: "text",
        title: "A call by the length of its text",
        along: "bytes of text",
        unit: "instructions",
        curves: &[
            curve(
                "text failure",
                "a failure",
                "secrets are removed from the whole of a text before it is cut: a key cut in the middle no longer looks like one",
            ),
            curve(
                "text success",
                "a success",
                "the text is copied once by the tool, and looked through for what would hide in it; beyond 100 KiB it is cut",
            ),
        ],
    },
    Plot {
        file: "concurrency",
        title: "A call by how many come at once",
        along: "calls at once",
        unit: "instructions for each",
        curves: &[each("batch calls", "in one batch", "a batch is one future and no task")],
    },
    Plot {
        file: "tasks",
        title: "A call by how many tasks make one",
        along: "tasks",
        unit: "µs for each",
        curves: &[
            curve("tasks: guarded", "guarded", "no lock is held while a tool runs"),
            curve("tasks: bare", "a task without a call", "for comparison"),
        ],
    },
    Plot {
        file: "upstreams",
        title: "A call by the number of servers behind the guard",
        along: "servers",
        unit: "ms (p50)",
        curves: &[curve(
            "upstreams: p50",
            "p50",
            "a name leads to its server; the others are not asked",
        )],
    },
    Plot {
        file: "upstreams-memory",
        title: "Memory of the guard by the number of servers",
        along: "servers",
        unit: "MiB",
        curves: &[curve(
            "upstreams: memory",
            "resident",
            "each server has its pipes, its tools and what it said last",
        )],
    },
    Plot {
        file: "history",
        title: "A conversation by its length",
        along: "messages",
        unit: "instructions",
        curves: &[
            each(
                "history repair",
                "repaired, for each message",
                "the whole history is looked through, once, when it is loaded",
            ),
            curve(
                "history turn",
                "a turn with a call",
                "what was said since the last turn is mended, not all of it",
            ),
        ],
    },
];

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

/// The points of a curve, for each of what stands on the axis where that is told.
pub(super) fn points(figures: &Value, curve: &Curve) -> Vec<(f64, f64)> {
    let all = figures.as_array().into_iter().flatten();
    all.filter(|point| point["curve"] == curve.name)
        .filter_map(|point| {
            let (at, value) = (point["at"].as_f64()?, point["value"].as_f64()?);
            Some((at, if curve.each { value / at } else { value }))
        })
        .collect()
}

/// How a curve grows from its first point to its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    Falls,
    Flat,
    Logarithmic,
    /// Slower than what stands on the axis.
    Slower,
    Linear,
    Faster,
}

impl Growth {
    pub(super) fn of(points: &[(f64, f64)]) -> Option<Self> {
        let (first, last) = (points.first()?, points.last()?);
        let (along, up) = (last.0 / first.0, last.1 / first.1);
        if points.len() < 2 || !up.is_finite() || up <= 0.0 {
            return None;
        }
        let power = up.ln() / along.ln();
        Some(match power {
            _ if up < 0.67 => Self::Falls,
            _ if up <= 1.5 => Self::Flat,
            _ if up <= 1.0 + along.log2() / 2.0 && power < 0.5 => Self::Logarithmic,
            _ if power < 0.8 => Self::Slower,
            _ if power <= 1.1 => Self::Linear,
            _ => Self::Faster,
        })
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Falls => "falls",
            Self::Flat => "flat",
            Self::Logarithmic => "logarithmic",
            Self::Slower => "slower than linear",
            Self::Linear => "linear",
            Self::Faster => "**faster than linear**",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_told_from_the_points() {
        let grows = |law: fn(f64) -> f64| {
            let points: Vec<(f64, f64)> =
                [10.0, 1e3, 1e5].iter().map(|at| (*at, law(*at))).collect();
            Growth::of(&points)
        };
        assert_eq!(grows(|_| 7.0), Some(Growth::Flat));
        assert_eq!(grows(|at| 100.0 / at), Some(Growth::Falls));
        assert_eq!(grows(|at| 3.0 * at.ln()), Some(Growth::Logarithmic));
        assert_eq!(grows(f64::sqrt), Some(Growth::Slower));
        assert_eq!(grows(|at| 3.0 * at), Some(Growth::Linear));
        assert_eq!(grows(|at| at * at), Some(Growth::Faster));
        assert_eq!(Growth::of(&[(1.0, 1.0)]), None);
    }

    #[test]
    fn a_figure_of_all_is_told_for_each() {
        let figures = json!([
            { "curve": "batch calls", "at": 10, "value": 50 },
            { "curve": "other", "at": 10, "value": 1 },
            { "curve": "batch calls", "at": 100, "value": 400 },
        ]);
        assert_eq!(points(&figures, &each("batch calls", "", "")), [(10.0, 5.0), (100.0, 4.0)]);
        assert_eq!(points(&figures, &curve("other", "", "")), [(10.0, 1.0)]);
    }
}
