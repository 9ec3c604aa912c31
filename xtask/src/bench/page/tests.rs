//! The page from figures that are made up.

use serde_json::json;

use super::*;

fn measured(part: Part, figures: Value) -> (Part, Option<Measured>) {
    let stamp =
        json!({ "date": "2026-01-31", "machine": "a machine", "versions": { "rustc": "1.95.0" } });
    (part, Some(Measured { figures, stamp }))
}

fn count(bench: &str, instructions: u64) -> Value {
    json!({ "bench": bench, "instructions": instructions })
}

#[test]
fn a_promise_is_held_or_not_by_what_was_counted() {
    let counts = json!([
        count("boxed call: one", 1_000),
        count("boxed call: ten", 10_000),
        count("guarded call: success", 2_000),
        count("guarded call: success by validator", 2_201),
        count("validator: alone", 700),
        count("guarded call: panic", 42_001),
        count("caught panic: alone", 40_000),
        count("guarded batch: ten", 15_000),
    ]);
    let library = json!({ "counts": [
        count("guarded call: success", 2_000),
        count("guarded call: success from text", 2_500),
        count("bare call: success", 1_000),
        count("rig tool set: success", 25_000),
        count("rmcp router: success", 5_999),
    ] });
    let python = json!({ "rows": [
        { "row": "success, single", "way": "ours", "ratio_to_ours": 1.0 },
        { "row": "success, single", "way": "langgraph", "ratio_to_ours": 4.0 },
        { "row": "failure, single", "way": "langgraph", "ratio_to_ours": 4.9 },
        { "row": "failure, single", "way": "dict and try", "ratio_to_ours": 0.5 },
    ] });
    let curves = json!([
        { "curve": "errors: memory", "at": 1_000_000, "value": 9.0 },
        { "curve": "errors: memory", "at": 10_000_000, "value": 1.5 },
        { "curve": "errors: counted", "at": 10_000_000, "value": 10_000_000 },
        { "curve": "hostile errors: memory", "at": 10_000_000, "value": 2.5 },
        { "curve": "hostile errors: counted", "at": 10_000_000, "value": 9_999_999 },
    ]);
    let mut page = Page::default();
    let figures = Figures(vec![
        measured(Part::Counts, counts),
        measured(Part::Library, library),
        measured(Part::Python, python),
        measured(Part::Curves, curves),
        measured(Part::Compile, json!({ "seconds": 60.0 })),
    ]);
    promises::section(&mut page, &figures);
    assert_eq!(
        page.text,
        "\n\n## What was promised, what was counted\n\n6 of 14 held.\n\n\
         | promise | limit | measured |  | without a guard | why not |\n|---|---|---|---|---|---|\n\
         | guarded success, by a schema with a field that refers to itself | boxed + 1,200 instructions | boxed + 1,201 | **not held** | the validator alone, of the whole: 700 | the field is left to the validator |\n\
         | guarded success, by a schema of plain fields | boxed + 1,200 instructions | boxed + 1,000 | held |  |  |\n\
         | plain fields (stretch) | boxed + 400 instructions | boxed + 1,000 | **not held** |  | arguments are checked, gates counted, panics caught, and the clock is read |\n\
         | a panic | at most 42,000 instructions | 42,001 | **not held** | `catch_unwind` alone: 40,000 | nearly all of it is the unwinding; what is left is a failure as above |\n\
         | a batch of ten beside ten boxed calls | at most 1.5 × | 1.50 × | held |  |  |\n\
         | fewer instructions than rig's tool set | at least 10 × | 10.0 × | held | bare function: 25.0 × |  |\n\
         | fewer instructions than rmcp's router | at least 3 × | 3.00 × | **not held** | bare function: 6.00 × | the tool itself takes more than a third of the router's call |\n\
         | the Python node below LangGraph's on every row (the worst) | above 1 × | 4.00 × | held |  |  |\n\
         | and on every row of failures (the worst) | at least 5 × | 4.90 × | **not held** |  |  |\n\
         | the library with its default features, built from nothing on 2 cores | under 60 s | 60.0 s | **not held** |  |  |\n\
         | memory that 10 million failures recorded hold | at most 2 MiB | 1.50 MiB | held |  |  |\n\
         | and how many of them are counted | all | 10,000,000 | held |  |  |\n\
         | memory that 10 million failures recorded hold, none of the same tool and type | at most 2 MiB | 2.50 MiB | **not held** |  |  |\n\
         | and how many of them are counted | all | 9,999,999 | **not held** |  |  |\n\n"
    );
}

#[test]
fn parts_that_were_not_run_are_named_and_left_out() {
    let counts = json!([count("boxed call: one", 1_000), count("guarded call: success", 2_000)]);
    let page = render(&Figures(vec![measured(Part::Counts, counts), (Part::Guard, None)]));
    let head: Vec<&str> = page.text.lines().skip(4).take(2).collect();
    assert_eq!(
        head,
        [
            "- Measured: 2026-01-31, a machine; rustc 1.95.0.",
            "- Not run, and not on this page: `cargo xtask bench guard`.",
        ]
    );
    assert!(page.text.contains("| guarded call: success | 2.00 | 2,000 |"));
    assert!(!page.text.contains("## The guard"));
}

#[test]
fn upstreams_are_drawn_from_the_guards_figures() {
    let row = |n: u32, p50: f64, rss: f64| json!({ "upstreams": n, "p50_ms": p50, "rss_mib": rss });
    let guard = json!({ "ways": [], "upstreams": [row(1, 0.2, 9.0), row(50, 0.2, 18.0)] });
    let mut page = Page::default();
    growth::section(&mut page, &Figures(vec![measured(Part::Guard, guard)]));
    assert!(page.text.contains("| p50 | flat | 0.00 | 0.20 at 1 | 0.20 at 50 |"), "{}", page.text);
    let names: Vec<&str> = page.plots.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["upstreams.svg", "upstreams-memory.svg"]);
}
