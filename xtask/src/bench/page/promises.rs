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
    /// What stands in the way of one that is not held.
    why: &'static str,
}

impl Promise {
    fn new(what: &str, limit: String, measured: String, held: bool) -> Self {
        Self { what: what.to_owned(), limit, measured, held, alone: String::new(), why: "" }
    }

    fn because(self, why: &'static str) -> Self {
        Self { why, ..self }
    }

    fn beside(mut self, alone: Option<String>) -> Self {
        self.alone = alone.unwrap_or_default();
        self
    }
}

/// A bound on the instructions of a bench: what it bounds, and what stands in its way.
struct Bound {
    what: &'static str,
    bench: &'static str,
    limit: u64,
    why: &'static str,
}

const fn bound(what: &'static str, bench: &'static str, limit: u64, why: &'static str) -> Bound {
    Bound { what, bench, limit, why }
}

const READ: &str = "every word is looked up for phrases, for the kind and for what it names: that is \
                    what reading it right takes";
const MADE: &str = "an error becomes a failure, a count of the loop guard, a record and a reply, each \
                    time";
const AGAIN: &str = "the same, in words that came before";
const WORDS: &str = "each of these words is another step";
const ALL: &str = "arguments are checked, gates counted, panics caught, and the clock is read";
const UNWOUND: &str = "nearly all of it is the unwinding; what is left is a failure as above";

/// What calls are compared to.
const BOXED: &str = "boxed call: one";
const SMALL: &str = "boxed call: one of a small tool";

/// Bounds on what a call takes.
const BOUNDS: &[Bound] = &[
    bound(
        "a failure of 200 bytes never read before",
        "guarded call: failure 200 bytes",
        6_000,
        READ,
    ),
    bound(AGAIN, "guarded call: failure 200 bytes as before", 6_000, MADE),
    bound("the first with a log line", "guarded call: failure 200 bytes logged", 9_000, READ),
    bound(AGAIN, "guarded call: failure 200 bytes as before logged", 9_000, MADE),
    bound(
        "a failure of 4 KiB never read before, with a log line",
        "guarded call: failure 4 kib logged",
        50_000,
        "its first and its last KiB are read word by word",
    ),
    bound(AGAIN, "guarded call: failure 4 kib as before logged", 50_000, MADE),
    bound("five bad arguments", "guarded call: five bad arguments", 21_000, ""),
    bound(
        "an unknown tool among 100, with suggestions",
        "guarded call: unknown among 100",
        8_000,
        "",
    ),
    bound("a panic", "guarded call: panic", 42_000, UNWOUND),
    bound(AGAIN, "guarded call: panic in the same words", 42_000, UNWOUND),
];

/// What takes some of them whoever does it.
const ALONE: &[(&str, &str, &str)] = &[
    ("guarded call: panic", "caught panic: alone", "`catch_unwind` alone"),
    (
        "guarded call: panic in the same words",
        "caught panic: in the same words alone",
        "`catch_unwind` alone",
    ),
    ("guarded call: success by validator", "validator: alone", "the validator alone, of the whole"),
];

/// How much a guarded success may take beyond a boxed call, and how much would be better still.
const SUCCESSES: &[(&str, Bound)] = &[
    (
        BOXED,
        bound(
            "guarded success, by a schema with a field that refers to itself",
            "guarded call: success by validator",
            1_200,
            "the field is left to the validator",
        ),
    ),
    (
        BOXED,
        bound(
            "guarded success, by a schema with a condition",
            "guarded call: success on condition",
            1_200,
            "the condition is another look at the arguments",
        ),
    ),
    (
        BOXED,
        bound(
            "guarded success, by a schema with a pattern of choices",
            "guarded call: success by pattern of choices",
            1_200,
            WORDS,
        ),
    ),
    (
        BOXED,
        bound(
            "guarded success, by a schema of lengths, bounds, `not`, `anyOf` and a pattern",
            "guarded call: success by pattern",
            1_200,
            WORDS,
        ),
    ),
    (
        BOXED,
        bound(
            "guarded success, by a schema of lengths, bounds, `not`, `anyOf`",
            "guarded call: success by rich schema",
            1_200,
            WORDS,
        ),
    ),
    (
        BOXED,
        bound("guarded success, by a schema of plain fields", "guarded call: success", 1_200, ""),
    ),
    (
        SMALL,
        bound(
            "guarded success of a tool with next to no work",
            "guarded call: success of a small tool",
            1_200,
            "",
        ),
    ),
    (BOXED, bound("plain fields (stretch)", "guarded call: success", 400, ALL)),
    (SMALL, bound("next to no work (stretch)", "guarded call: success of a small tool", 400, ALL)),
];

/// Batches beside as many boxed calls.
const BATCHES: &[(&str, &str, &str, &str)] = &[
    ("a batch of ten beside ten boxed calls", "boxed call: ten", "guarded batch: ten", ""),
    (
        "the same, of a tool with next to no work",
        "boxed call: ten of a small tool",
        "guarded batch: ten of a small tool",
        "what a guarded call takes stands beside less work",
    ),
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
            let why = if row.held { "" } else { row.why };
            vec![row.what, row.limit, row.measured, held.to_owned(), row.alone, why.to_owned()]
        })
        .collect();
    page.table(&["promise", "limit", "measured", "", "without a guard", "why not"], &rows);
}

fn at_most(what: &str, limit: u64, counted: u64) -> Promise {
    let allowed = format!("at most {} instructions", grouped(limit));
    Promise::new(what, allowed, grouped(counted), counted <= limit)
}

fn instructions(counts: &Value) -> Vec<Promise> {
    let count = |bench: &str| figures::count(counts, bench);
    let alone = |bench: &str| {
        let (_, alone, words) = ALONE.iter().find(|(of, ..)| *of == bench)?;
        Some(format!("{words}: {}", grouped(count(alone)?)))
    };
    let mut rows = Vec::new();
    for (boxed, Bound { what, bench, limit, why }) in SUCCESSES {
        let (Some(boxed), Some(guarded)) = (count(boxed), count(bench)) else { continue };
        let more = guarded.saturating_sub(boxed);
        let allowed = format!("boxed + {} instructions", grouped(*limit));
        let measured = format!("boxed + {}", grouped(more));
        let promise = Promise::new(what, allowed, measured, more <= *limit);
        rows.push(promise.beside(alone(bench)).because(why));
    }
    for Bound { what, bench, limit, why } in BOUNDS {
        let promise = count(bench).map(|counted| at_most(what, *limit, counted));
        rows.extend(promise.map(|promise| promise.beside(alone(bench)).because(why)));
    }
    for (what, boxed, batch, why) in BATCHES {
        let (Some(boxed), Some(batch)) = (count(boxed), count(batch)) else { continue };
        rows.push(ratio_at_most(what, 1.5, ratio(batch, boxed)).because(why));
    }
    rows
}

#[expect(clippy::cast_precision_loss, reason = "a ratio")]
fn ratio(one: u64, other: u64) -> f64 {
    one as f64 / other.max(1) as f64
}

fn ratio_at_most(what: &str, limit: f64, measured: f64) -> Promise {
    let told = format!("{} ×", figure(measured));
    Promise::new(what, format!("at most {limit} ×"), told, measured <= limit)
}

fn ratio_at_least(what: &str, limit: f64, measured: f64) -> Promise {
    let told = format!("{} ×", figure(measured));
    Promise::new(what, format!("at least {limit} ×"), told, measured >= limit)
}

/// Each peer beside the guard that is given the arguments in the same shape.
fn peers(counts: &Value) -> Vec<Promise> {
    const LITTLE: &str = "the same, of a tool with next to no work";
    const OF_RIG: &str = "reading the text into the tool's type takes a third of what is left, the tool itself another";
    const OF_RMCP: &str = "the tool itself takes more than a third of the router's call";
    let peers = [
        ("fewer instructions than rig's tool set", "rig tool set", " from text", 10.0, OF_RIG),
        ("fewer instructions than rmcp's router", "rmcp router", "", 3.0, OF_RMCP),
    ];
    let cases = [("success", "bare call: success"), ("small", "bare small call: success")];
    let row =
        |what, case, bare, (_, peer, text, limit, why): (&str, &str, &str, f64, &'static str)| {
            let peer = figures::count(counts, &format!("{peer}: {case}"))?;
            let ours = figures::count(counts, &format!("guarded call: {case}{text}"))?;
            let bare = figures::count(counts, bare);
            let bare = bare.map(|bare| format!("bare function: {} ×", figure(ratio(peer, bare))));
            Some(ratio_at_least(what, limit, ratio(peer, ours)).beside(bare).because(why))
        };
    let rows = peers.into_iter().flat_map(|peer| {
        cases.map(|(case, bare)| {
            row(if case == "success" { peer.0 } else { LITTLE }, case, bare, peer)
        })
    });
    rows.flatten().collect()
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
    let every = of("").map(|worst| {
        let what = "the Python node below LangGraph's on every row (the worst)";
        Promise::new(what, "above 1 ×".to_owned(), format!("{} ×", figure(worst)), worst > 1.0)
    });
    let failures = of("failure")
        .map(|worst| ratio_at_least("and on every row of failures (the worst)", 5.0, worst));
    every.into_iter().chain(failures).collect()
}

/// How the script of the program calls the time of a call.
const P50: &str = ": p50 beside direct";

/// What the script of the program holds its own figures to.
fn program(guard: &Value) -> Vec<Promise> {
    let targets = guard["targets"].as_array().into_iter().flatten();
    let row = |target: &Value| {
        let what = target["target"].as_str()?;
        let limit = format!("at most {}", target["at_most"].as_f64()?);
        let measured = figure(target["measured"].as_f64()?);
        let promise = Promise::new(what, limit, measured, target["met"].as_bool()?);
        let why = if what.ends_with(P50) {
            "a process between two others is woken twice more"
        } else if what.starts_with("idle") {
            "most of it is the program's file, of which the kernel maps what lies beside what is used"
        } else {
            ""
        };
        Some(promise.beside(pump(guard, what)).because(why))
    };
    targets.filter_map(row).collect()
}

/// What bytes take that are only passed on, before the same server.
fn pump(guard: &Value, what: &str) -> Option<String> {
    let server = what.strip_suffix(P50)?;
    let mut ways = guard["ways"].as_array()?.iter();
    let pump = ways.find(|row| row["server"] == server && row["way"] == "`cat`, both ways")?;
    Some(format!("`cat`, both ways: {}", figure(pump["ratio"].as_f64()?)))
}

fn built(compiled: &Value) -> Option<Promise> {
    let seconds = compiled["seconds"].as_f64()?;
    let what = "the library with its default features, built from nothing on 2 cores";
    let measured = format!("{} s", figure(seconds));
    Some(Promise::new(what, format!("under {BUILT} s"), measured, seconds < BUILT))
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
        rows.extend(at_the_end(&format!("{way}: memory")).map(|held| {
            let what = format!("memory that 10 million failures recorded hold{whose}");
            let (limit, measured) =
                (format!("at most {BUDGET} MiB"), format!("{} MiB", figure(held)));
            Promise::new(&what, limit, measured, held <= BUDGET)
        }));
        rows.extend(at_the_end(&format!("{way}: counted")).map(|counted| {
            let is_all = (counted - RECORDED).abs() < 0.5;
            let what = "and how many of them are counted";
            Promise::new(what, "all".to_owned(), figure(counted), is_all)
        }));
    }
    rows
}
