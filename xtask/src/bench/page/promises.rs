//! What was promised, what was counted: computed, so that nobody writes it by hand.

use serde_json::Value;

use super::super::figures::{self, Part};
use super::super::words::{figure, grouped};
use super::{Figures, Page};

/// A promise, and what came of it.
struct Promise {
    what: String,
    limit: String,
    measured: String,
    held: bool,
    /// What it takes, or what there is left, where no guard is: nobody can do with less.
    alone: String,
}

impl Promise {
    fn beside(mut self, alone: Option<String>) -> Self {
        self.alone = alone.unwrap_or_default();
        self
    }
}

/// Bounds on the instructions of a bench.
const BOUNDS: &[(&str, &str, u64)] = &[
    ("a failure of 200 bytes never read before", "guarded call: failure 200 bytes", 6_000),
    ("the same, in words that came before", "guarded call: failure 200 bytes as before", 6_000),
    ("the first with a log line", "guarded call: failure 200 bytes logged", 9_000),
    (
        "the same, in words that came before",
        "guarded call: failure 200 bytes as before logged",
        9_000,
    ),
    (
        "a failure of 4 KiB never read before, with a log line",
        "guarded call: failure 4 kib logged",
        50_000,
    ),
    ("the same, in words that came before", "guarded call: failure 4 kib as before logged", 50_000),
    ("five bad arguments", "guarded call: five bad arguments", 21_000),
    ("an unknown tool among 100, with suggestions", "guarded call: unknown among 100", 8_000),
    ("a panic", "guarded call: panic", 42_000),
];

/// What takes some of them whoever does it.
const ALONE: &[(&str, &str, &str)] =
    &[("guarded call: panic", "caught panic: alone", "`catch_unwind` alone")];

/// How much a guarded success may take beyond a boxed call, and how much would be better still.
const SUCCESSES: &[(&str, &str, u64)] = &[
    (
        "guarded success, by a schema with a pattern, left to the validator",
        "guarded call: success by validator",
        1_200,
    ),
    (
        "guarded success, by a schema of lengths, bounds, `not`, `anyOf`",
        "guarded call: success by rich schema",
        1_200,
    ),
    ("guarded success, by a schema of plain fields", "guarded call: success", 1_200),
    ("the same (stretch)", "guarded call: success", 400),
];

/// How many bytes all failures that are recorded may take, in MiB, and how many there are.
const BUDGET: f64 = 2.0;
const RECORDED: f64 = 10_000_000.0;

/// How many seconds the library may take to build.
const BUILT: f64 = 60.0;

pub(super) fn section(page: &mut Page, figures: &Figures) {
    let mut rows = Vec::new();
    if let Some(counts) = figures.of(Part::Counts) {
        rows.extend(instructions(counts));
    }
    if let Some(library) = figures.of(Part::Library) {
        rows.extend(peers(&library["counts"]));
    }
    if let Some(python) = figures.of(Part::Python) {
        rows.extend(node(&python["rows"]));
    }
    if let Some(guard) = figures.of(Part::Guard) {
        rows.extend(program(guard));
    }
    if let Some(compiled) = figures.of(Part::Compile) {
        rows.extend(built(compiled));
    }
    if let Some(curves) = figures.of(Part::Curves) {
        rows.extend(memory(curves));
    }
    if rows.is_empty() {
        return;
    }
    page.heading("What was promised, what was counted");
    let held = rows.iter().filter(|row| row.held).count();
    page.line(&format!("{held} of {} held.\n", rows.len()));
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|row| {
            let held = if row.held { "held" } else { "**not held**" };
            vec![row.what, row.limit, row.measured, held.to_owned(), row.alone]
        })
        .collect();
    page.table(&["promise", "limit", "measured", "", "without a guard"], &rows);
}

fn at_most(what: &str, limit: u64, counted: u64) -> Promise {
    Promise {
        what: what.to_owned(),
        limit: format!("at most {} instructions", grouped(limit)),
        measured: grouped(counted),
        held: counted <= limit,
        alone: String::new(),
    }
}

fn instructions(counts: &Value) -> Vec<Promise> {
    let count = |bench: &str| figures::count(counts, bench);
    let mut rows = Vec::new();
    let boxed = count("boxed call: one");
    for (what, bench, limit) in SUCCESSES {
        let (Some(boxed), Some(guarded)) = (boxed, count(bench)) else { continue };
        let more = guarded.saturating_sub(boxed);
        rows.push(Promise {
            what: (*what).to_owned(),
            limit: format!("boxed + {} instructions", grouped(*limit)),
            measured: format!("boxed + {}", grouped(more)),
            held: more <= *limit,
            alone: String::new(),
        });
    }
    for (what, bench, limit) in BOUNDS {
        let alone = ALONE.iter().find(|(of, ..)| of == bench);
        let alone = alone.and_then(|(_, bench, words)| Some((count(bench)?, words)));
        let alone = alone.map(|(counted, words)| format!("{words}: {}", grouped(counted)));
        rows.extend(count(bench).map(|counted| at_most(what, *limit, counted).beside(alone)));
    }
    if let (Some(boxed), Some(batch)) = (count("boxed call: ten"), count("guarded batch: ten")) {
        rows.push(ratio_at_most("a batch of ten beside ten boxed calls", 1.5, ratio(batch, boxed)));
    }
    rows
}

#[expect(clippy::cast_precision_loss, reason = "a ratio")]
fn ratio(one: u64, other: u64) -> f64 {
    one as f64 / other.max(1) as f64
}

fn ratio_at_most(what: &str, limit: f64, measured: f64) -> Promise {
    Promise {
        what: what.to_owned(),
        limit: format!("at most {limit} ×"),
        measured: format!("{} ×", figure(measured)),
        held: measured <= limit,
        alone: String::new(),
    }
}

fn ratio_at_least(what: &str, limit: f64, measured: f64) -> Promise {
    Promise {
        what: what.to_owned(),
        limit: format!("at least {limit} ×"),
        measured: format!("{} ×", figure(measured)),
        held: measured >= limit,
        alone: String::new(),
    }
}

/// Each peer beside the guard that is given the arguments in the same shape.
fn peers(counts: &Value) -> Vec<Promise> {
    let peers = [
        (
            "fewer instructions than rig's tool set",
            "rig tool set: success",
            "guarded call: success from text",
            10.0,
        ),
        (
            "fewer instructions than rmcp's router",
            "rmcp router: success",
            "guarded call: success",
            3.0,
        ),
    ];
    let row = |(what, peer, ours, limit): (&str, &str, &str, f64)| {
        let peer = figures::count(counts, peer)?;
        let promise = ratio_at_least(what, limit, ratio(peer, figures::count(counts, ours)?));
        let bare = figures::count(counts, "bare call: success");
        let bare = bare.map(|bare| format!("bare function: {} ×", figure(ratio(peer, bare))));
        Some(promise.beside(bare))
    };
    peers.into_iter().filter_map(row).collect()
}

/// Our node beside LangGraph's: the row that is worst for us.
fn node(rows: &Value) -> Vec<Promise> {
    let of = |wanted: &str| {
        let rows = rows.as_array().into_iter().flatten();
        let stock =
            rows.filter(|row| row["way"].as_str().is_some_and(|way| way.starts_with("langgraph")));
        let wanted =
            stock.filter(|row| row["row"].as_str().is_some_and(|row| row.contains(wanted)));
        wanted.filter_map(|row| row["ratio_to_ours"].as_f64()).reduce(f64::min)
    };
    let every = of("").map(|worst| Promise {
        what: "the Python node below LangGraph's on every row (the worst)".to_owned(),
        limit: "above 1 ×".to_owned(),
        measured: format!("{} ×", figure(worst)),
        held: worst > 1.0,
        alone: String::new(),
    });
    let failures = of("failure")
        .map(|worst| ratio_at_least("and on every row of failures (the worst)", 5.0, worst));
    every.into_iter().chain(failures).collect()
}

/// What the script of the program holds its own figures to.
fn program(guard: &Value) -> Vec<Promise> {
    let targets = guard["targets"].as_array().into_iter().flatten();
    let row = |target: &Value| {
        let what = target["target"].as_str()?;
        Some(Promise {
            what: what.to_owned(),
            limit: format!("at most {}", target["at_most"].as_f64()?),
            measured: figure(target["measured"].as_f64()?),
            held: target["met"].as_bool()?,
            alone: pump(guard, what).unwrap_or_default(),
        })
    };
    targets.filter_map(row).collect()
}

/// What bytes take that are only passed on, before the same server.
fn pump(guard: &Value, what: &str) -> Option<String> {
    let server = what.strip_suffix(": p50 beside direct")?;
    let mut ways = guard["ways"].as_array()?.iter();
    let pump = ways.find(|row| row["server"] == server && row["way"] == "`cat`, both ways")?;
    Some(format!("`cat`, both ways: {}", figure(pump["ratio"].as_f64()?)))
}

fn built(compiled: &Value) -> Option<Promise> {
    let seconds = compiled["seconds"].as_f64()?;
    Some(Promise {
        what: "the library with its default features, built from nothing on 2 cores".to_owned(),
        limit: format!("under {BUILT} s"),
        measured: format!("{} s", figure(seconds)),
        held: seconds < BUILT,
        alone: String::new(),
    })
}

fn memory(points: &Value) -> Vec<Promise> {
    let at_the_end = |curve: &str| {
        let mut points = points.as_array().into_iter().flatten();
        let wanted =
            |point: &&Value| point["curve"] == curve && point["at"].as_f64() == Some(RECORDED);
        points.find(wanted)?["value"].as_f64()
    };
    let mut rows = Vec::new();
    for (way, whose) in [("errors", ""), ("hostile errors", ", none of the same tool and type")] {
        rows.extend(at_the_end(&format!("{way}: memory")).map(|held| Promise {
            what: format!("memory that 10 million failures recorded hold{whose}"),
            limit: format!("at most {BUDGET} MiB"),
            measured: format!("{} MiB", figure(held)),
            held: held <= BUDGET,
            alone: String::new(),
        }));
        rows.extend(at_the_end(&format!("{way}: counted")).map(|counted| Promise {
            what: "and how many of them are counted".to_owned(),
            limit: "all".to_owned(),
            measured: figure(counted),
            held: (counted - RECORDED).abs() < 0.5,
            alone: String::new(),
        }));
    }
    rows
}
