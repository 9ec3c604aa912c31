//! Runs in which something failed, and the calls of one of them, in order.

use breakfall_store::{RunRow, Sample};
use maud::{Markup, html};
use serde_json::Value;

use super::{empty, when};
use crate::asked::{Asked, PAGE, encoded};
use crate::words::{kind, moment, number, seconds, tool, visible};

pub(crate) fn list(rows: &[RunRow], asked: &Asked, now: i64) -> Markup {
    let shown = rows.iter().take(PAGE as usize);
    let at = |page: u32| Asked { page, ..asked.clone() }.at("/runs");
    html! {
        h1 { "Runs" }
        @if rows.is_empty() {
            (empty("No run with a failure", &html! {
                p { "A run is one agent's work from a user message to its end. Those in which something failed in the last " (asked.period.words()) " are shown here: a session of an MCP client is one, and a program names its own with " code { "Call::in_run" } "." }
            }))
        } @else {
            table.rows {
                caption.hidden { "Runs in which something failed, the latest first" }
                thead { tr {
                    th scope="col" { "Run" }
                    th.number scope="col" { "Different failures" }
                    th scope="col" { "First failure" }
                    th scope="col" { "Last new failure" }
                } }
                tbody {
                    @for row in shown {
                        tr {
                            th scope="row" { a.open href=(Asked { run: row.run.clone(), ..Asked::of("") }.at("/runs")) { (visible(&row.run)) } }
                            td.number data-label="Different failures" { (number(row.groups)) }
                            td data-label="First failure" { (when(row.first, now)) }
                            td data-label="Last new failure" { (when(row.last, now)) }
                        }
                    }
                }
            }
            nav.pages aria-label="Pages" {
                @if asked.page > 1 { a rel="prev" href=(at(asked.page - 1)) { "← Later" } }
                @if rows.len() > PAGE as usize { a rel="next" href=(at(asked.page + 1)) { "Earlier →" } }
            }
        }
    }
}

pub(crate) fn calls(run: &str, calls: &[Sample], most: u32, now: i64) -> Markup {
    let failed = calls.iter().filter(|call| call.body.get("kind").is_some()).count();
    html! {
        p.crumbs { a href="/runs" { "Runs" } " / " (visible(run)) }
        h1 { "Run " span.tool { (visible(run)) } }
        @if calls.is_empty() {
            (empty("No call of this run is kept", &html! {
                p { "Calls are deleted after some days, and of many that succeed only some are kept. "
                    a href="/runs" { "All runs" } }
            }))
        } @else {
            p.quiet { (number(calls.len().min(most as usize) as u64)) " calls, " (number(failed as u64)) " with a failure." }
            ol.steps {
                @for call in calls.iter().take(most as usize) { (step(call, now)) }
            }
            @if calls.len() > most as usize { p.quiet { "… and more: only the first " (most) " are shown." } }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "for a person")]
fn step(call: &Sample, now: i64) -> Markup {
    let text = |name: &str| call.body.get(name).and_then(Value::as_str);
    let times = call.body.get("times").and_then(Value::as_u64);
    let (mark, class) = match call.ending.as_str() {
        "succeeded" => ("✓", "succeeded"),
        "substituted" => ("⇄", "substituted"),
        "partial" => ("◐", "partial"),
        "abandoned" => ("…", "abandoned"),
        _ => ("✕", "failed"),
    };
    html! {
        li class=(class) {
            div.step {
                span.mark aria-hidden="true" { (mark) }
                span.tool { (tool(&call.upstream, &call.tool)) }
                " " span.ending { (visible(&call.ending)) }
                @if let Some(name) = text("kind") {
                    " "
                    @match text("reference") {
                        Some(reference) => a href=(format!("/groups/{}", encoded(reference))) { (kind(name)) },
                        None => (kind(name)),
                    }
                }
                @if let Some(times) = times { " " span.badge { (times) " times in a row" } }
                span.quiet {
                    " " (seconds(call.took as f64 / 1e6))
                    @if call.attempts > 1 { ", " (call.attempts) " attempts" }
                    ", " span title=(moment(call.at)) { (when(call.at, now)) }
                }
            }
            @if let Some(told) = text("told") { pre.foreign dir="auto" { (visible(told)) } }
        }
    }
}
