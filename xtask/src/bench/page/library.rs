//! The hot paths in instructions, and the same tool through what people use instead.

use serde_json::Value;

use super::super::figures::{self, Part};
use super::super::plot::Bars;
use super::super::words::{figure, grouped};
use super::{Figures, Page};

/// The ways, as the benches name them and as people read them; which of them is ours.
const WAYS: &[(&str, &str, bool)] = &[
    ("bare call", "bare async function", false),
    ("boxed call", "boxed, from a table", false),
    ("guarded call", "Breakfall", true),
    ("rmcp router", "rmcp's router", false),
    ("rig tool set", "rig's tool set", false),
    ("rig tool server", "rig's tool server", false),
    ("rmcp connection", "rmcp, connection in process", false),
];

pub(super) fn section(page: &mut Page, figures: &Figures) {
    if let Some(counts) = figures.of(Part::Counts) {
        hot_paths(page, counts);
    }
    if let Some(library) = figures.of(Part::Library) {
        beside_peers(page, library);
    }
}

#[expect(clippy::cast_precision_loss, reason = "a ratio")]
fn ratio(one: u64, other: u64) -> f64 {
    one as f64 / other.max(1) as f64
}

fn hot_paths(page: &mut Page, counts: &Value) {
    page.heading("The hot paths, in instructions");
    page.line(
        "A typed tool that puts a sentence together, and one with next to no work, called bare, from \
         a table of boxed functions, and through a guard with a hundred tools. `cargo xtask counts` counts the same and fails \
         when a count is 5 % above the one on record.\n",
    );
    let boxed = figures::count(counts, "boxed call: one");
    let rows: Vec<Vec<String>> = counts
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|row| {
            let counted = row["instructions"].as_u64()?;
            let beside = boxed.map(|boxed| figure(ratio(counted, boxed))).unwrap_or_default();
            Some(vec![row["bench"].as_str()?.to_owned(), beside, grouped(counted)])
        })
        .collect();
    page.table(&["path", "beside one boxed call", "instructions"], &rows);
}

fn beside_peers(page: &mut Page, library: &Value) {
    page.heading("The library beside what people use instead");
    page.line(
        "The same tool, called by name. Rig is given JSON text, as its agents give it, and rmcp's \
         router a JSON object; the guard takes both, and stands in each row with its arguments \
         as an object. All in one run.\n",
    );
    let count =
        |way: &str, case: &str| figures::count(&library["counts"], &format!("{way}: {case}"));
    let cases = ["success", "small", "failure", "unknown"];
    let ours = cases.map(|case| count("guarded call", case));
    let rows: Vec<Vec<String>> = WAYS
        .iter()
        .filter(|(way, ..)| count(way, "success").is_some())
        .map(|(way, name, _)| {
            let mut row = vec![(*name).to_owned()];
            for (case, ours) in cases.iter().zip(ours) {
                let beside =
                    count(way, case).zip(ours).map(|(count, ours)| figure(ratio(count, ours)));
                row.push(beside.unwrap_or_default());
            }
            row.push(count(way, "success").map(grouped).unwrap_or_default());
            row.push(time(&library["times"], way, "success"));
            row
        })
        .collect();
    let head = [
        "way",
        "success ÷ ours",
        "next to no work ÷ ours",
        "failure ÷ ours",
        "unknown ÷ ours",
        "instructions of a success",
        "time of a success ÷ ours",
    ];
    page.table(&head, &rows);
    if let Some(text) = count("guarded call", "success from text") {
        page.line(&format!(
            "From JSON text, a success through the guard takes {} instructions.\n",
            grouped(text)
        ));
    }
    #[expect(clippy::cast_precision_loss, reason = "a picture")]
    let bars = WAYS.iter().filter_map(|(way, name, ours)| {
        Some(((*name).to_owned(), count(way, "success")? as f64, *ours))
    });
    let title = "Instructions of a successful call";
    let bars = Bars { title, unit: "instructions", ways: bars.collect() };
    page.plot("library", title, bars.svg());
}

/// The time of a way beside the guard's.
fn time(times: &Value, way: &str, case: &str) -> String {
    let of = |way: &str| {
        let mut rows = times.as_array().into_iter().flatten();
        rows.find(|row| row["way"] == way && row["case"] == case)?["nanoseconds"].as_f64()
    };
    of(way).zip(of("guarded call")).map(|(one, ours)| figure(one / ours)).unwrap_or_default()
}
