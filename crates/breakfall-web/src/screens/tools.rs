//! What became of the calls of each tool.

use breakfall_store::{Breaker, ToolRow};
use maud::{Markup, html};

use super::breakers::{is_of, is_open, mark};
use super::empty;
use crate::asked::Asked;
use crate::words::{kind, number, percent, seconds, share, tool};

/// How many tools and kinds are shown.
const TOOLS: usize = 500;
const KINDS: usize = 3;

pub(crate) fn screen(tools: &[ToolRow], breakers: &[Breaker], asked: &Asked) -> Markup {
    let shown: Vec<&ToolRow> = tools.iter().take(TOOLS).collect();
    html! {
        h1 { "Tools" }
        @if shown.is_empty() {
            (empty("No calls in this time", &html! {
                p { "Nothing was called in the last " (asked.period.words()) ". Which tools there are says" }
                pre { code { "breakfall tools -- COMMAND" } }
            }))
        } @else {
            (table(&shown, breakers, "Tools, the most called first", asked))
            @if tools.len() > TOOLS { p.quiet { "… " (tools.len() - TOOLS) " more" } }
        }
    }
}

/// The rows.
pub(crate) fn table(
    tools: &[&ToolRow],
    breakers: &[Breaker],
    caption: &str,
    asked: &Asked,
) -> Markup {
    html! {
        table.rows {
            caption.hidden { (caption) }
            thead { tr {
                th scope="col" { "Tool" }
                th.number scope="col" { "Calls" }
                th.number scope="col" { "Failed" }
                th scope="col" { "How" }
                th.number scope="col" { "Repeats for a call" }
                th.number scope="col" { "Saved" }
                th.number scope="col" { "Half within" }
                th.number scope="col" { "99 of 100 within" }
                th scope="col" { "Breaker" }
            } }
            tbody { @for tool in tools { (row(tool, breakers, asked)) } }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "an average of counts")]
fn row(row: &ToolRow, breakers: &[Breaker], asked: &Asked) -> Markup {
    let there = Asked {
        period: asked.period,
        tool: row.tool.clone(),
        upstream: row.upstream.clone(),
        state: None,
        ..Asked::of("")
    };
    // Several processes may have one each: an open one is told first, and one of the tool's own.
    let of = |breaker: &&Breaker| is_of(breaker, &row.upstream, &row.tool);
    let first = |breaker: &&Breaker| (!is_open(breaker), breaker.tool.is_empty());
    let breaker = breakers.iter().filter(of).min_by_key(first);
    let kinds: Vec<String> = row
        .kinds
        .iter()
        .take(KINDS)
        .map(|(name, count)| format!("{} {}", number(*count), kind(name)))
        .collect();
    let repeats = if row.calls == 0 { 0.0 } else { row.retries as f64 / row.calls as f64 };
    html! {
        tr {
            th scope="row" { a.open href=(there.at("/groups")) { span.tool { (tool(&row.upstream, &row.tool)) } } }
            td.number data-label="Calls" { (number(row.calls)) }
            td.number data-label="Failed" {
                (share(row.failed, row.calls).map_or("–".to_owned(), percent))
                @if row.failed > 0 { span.quiet { " (" (number(row.failed)) ")" } }
            }
            td data-label="How" { @if kinds.is_empty() { "–" } @else { (kinds.join(", ")) } }
            td.number data-label="Repeats for a call" { (format!("{repeats:.2}")) }
            td.number data-label="Saved" { (number(row.by_retry.saturating_add(row.substituted))) }
            td.number data-label="Half within" { (row.p50.map_or("–".to_owned(), seconds)) }
            td.number data-label="99 of 100 within" { (row.p99.map_or("–".to_owned(), seconds)) }
            td data-label="Breaker" { @match breaker { Some(breaker) => (mark(breaker)), None => "–" } }
        }
    }
}
