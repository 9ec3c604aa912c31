//! One call that failed: what the model was told beside what happened, and every attempt.

use breakfall_store::Sample;
use maud::{Markup, html};
use serde_json::Value;

use super::when;
use crate::asked::Asked;
use crate::words::{kind, moment, seconds, several, visible};

/// How many attempts and causes are shown.
const SHOWN: usize = 20;

/// A sample that can be opened; the newest is open already.
pub(crate) fn drawn(sample: &Sample, at: usize, now: i64) -> Markup {
    let body = &sample.body;
    let text = |name: &str| body.get(name).and_then(Value::as_str).filter(|it| !it.is_empty());
    html! {
        details.sample id=(format!("sample-{at}")) open[at == 0] {
            summary { h3 { (moment(sample.at)) " " span.quiet { (when(sample.at, now)) } } }
            div.beside {
                div {
                    h4 { "What the model was told" }
                    (block(text("told").unwrap_or("nothing is kept of it")))
                }
                div {
                    h4 { "What happened" }
                    (block(text("message").unwrap_or("nothing is kept of it")))
                }
            }
            @if let Some(arguments) = text("arguments") {
                h4 { "Arguments" }
                (block(arguments))
            }
            (facts(sample))
            (tries(body))
            @if let Some(causes) = body.get("causes").and_then(Value::as_array) {
                h4 { "Causes" }
                ol { @for cause in causes.iter().filter_map(Value::as_str).take(SHOWN) { li { (visible(cause)) } } }
            }
            @if let Some(backtrace) = text("backtrace") {
                details id=(format!("sample-{at}-trace")) { summary { "Backtrace" } (block(backtrace)) }
            }
        }
    }
}

/// A foreign text, as it is.
fn block(text: &str) -> Markup {
    html! { pre.foreign dir="auto" tabindex="0" { (visible(text)) } }
}

#[expect(clippy::cast_precision_loss, reason = "for a person")]
fn facts(sample: &Sample) -> Markup {
    let body = &sample.body;
    let known = |name: &'static str, label: &'static str| {
        let value = match body.get(name)? {
            Value::String(text) => visible(text).into_owned(),
            Value::Bool(true) => "yes".to_owned(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        Some((label, value))
    };
    let facts = [
        known("error_type", "Type"),
        known("resource", "Resource"),
        known("status", "Status"),
        known("disposition", "Disposition"),
        known("may_have_taken_effect", "May have taken effect"),
        known("times", "Times in a row"),
        known("substitute", "Substitute"),
        known("fault", "Made on purpose"),
    ];
    html! {
        dl.facts {
            div { dt { "Took" } dd { (seconds(sample.took as f64 / 1e6)) ", " (several(sample.attempts, "attempt", "attempts")) } }
            @for (label, value) in facts.into_iter().flatten() {
                div { dt { (label) } dd { (value) } }
            }
            @if let Some(run) = &sample.run {
                div { dt { "Run" } dd { a href=(Asked { run: run.clone(), ..Asked::of("") }.at("/runs")) { (visible(run)) } } }
            }
            div { dt { "Call" } dd { code { (visible(&sample.call)) } } }
            div { dt { "Kept by" } dd { (visible(&sample.node)) } }
        }
    }
}

/// The attempts that failed, with the waits between them.
fn tries(body: &Value) -> Markup {
    let tries = body.get("tries").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let millis = |one: &Value, name: &str| {
        one.get(name).and_then(Value::as_f64).map_or("–".to_owned(), |it| seconds(it / 1e3))
    };
    html! {
        @if !tries.is_empty() {
            table.tries {
                caption { "Attempts that failed" }
                thead { tr {
                    th.number scope="col" { "Attempt" }
                    th.number scope="col" { "Began after" }
                    th.number scope="col" { "Took" }
                    th scope="col" { "Kind" }
                    th.number scope="col" { "Then waited" }
                } }
                tbody {
                    @for (at, one) in tries.iter().take(SHOWN).enumerate() {
                        tr {
                            th.number scope="row" { (at + 1) }
                            td.number { (millis(one, "began_ms")) }
                            td.number { (millis(one, "took_ms")) }
                            td { (kind(one.get("kind").and_then(Value::as_str).unwrap_or_default())) }
                            td.number { (millis(one, "waited_ms")) }
                        }
                    }
                }
            }
            @if tries.len() > SHOWN { p.quiet { "… " (tries.len() - SHOWN) " more" } }
        }
    }
}
