//! Which tools and servers rest, since when, why, and when they are tried again.

use breakfall_store::Breaker;
use maud::{Markup, html};

use super::{empty, when};
use crate::words::{several, visible};

/// How many are shown.
const SHOWN: usize = 500;

/// Whether calls are kept from their tool.
pub(crate) fn is_open(breaker: &Breaker) -> bool {
    breaker.state != "closed"
}

/// Whether it is of a tool, or of the upstream of a tool.
pub(crate) fn is_of(breaker: &Breaker, upstream: &str, tool: &str) -> bool {
    breaker.upstream == upstream && (breaker.tool == tool || breaker.tool.is_empty())
}

/// The state: a mark and a word.
pub(crate) fn mark(breaker: &Breaker) -> Markup {
    let (mark, class, word) = match breaker.state {
        "closed" => ("✓", "state resolved", "closed"),
        "open" => ("✕", "state open", "open"),
        _ => ("◐", "state half", "half open"),
    };
    html! { span class=(class) { span aria-hidden="true" { (mark) } " " (word) } }
}

pub(crate) fn screen(breakers: &[Breaker], now: i64) -> Markup {
    let mut sorted: Vec<&Breaker> = breakers.iter().collect();
    sorted.sort_by_key(|breaker| (!is_open(breaker), std::cmp::Reverse(breaker.since)));
    html! {
        h1 { "Breakers" }
        @if sorted.is_empty() {
            (empty("No breaker has opened", &html! {
                p { "Every tool is called. After failures in a row a breaker opens and its tool rests for a while, so that it is not asked what it cannot answer; then it is shown here." }
            }))
        } @else {
            table.rows {
                caption.hidden { "Breakers, the open ones first" }
                thead { tr {
                    th scope="col" { "Server and tool" }
                    th scope="col" { "State" }
                    th scope="col" { "Since" }
                    th scope="col" { "Tried again" }
                    th.number scope="col" { "Opened" }
                    th scope="col" { "Why" }
                    th scope="col" { "Told by" }
                } }
                tbody { @for breaker in sorted.iter().take(SHOWN) { (row(breaker, now)) } }
            }
            @if sorted.len() > SHOWN { p.quiet { "… " (sorted.len() - SHOWN) " more" } }
        }
    }
}

fn row(breaker: &Breaker, now: i64) -> Markup {
    let name = match (breaker.upstream.as_str(), breaker.tool.as_str()) {
        (upstream, "") => format!("{upstream} (the whole server)"),
        (upstream, tool) => crate::words::tool(upstream, tool),
    };
    html! {
        tr {
            th scope="row" { span.tool { (visible(&name)) } }
            td data-label="State" { (mark(breaker)) }
            td data-label="Since" { (when(breaker.since, now)) }
            td data-label="Tried again" { @match breaker.until { Some(at) => (when(at, now)), None => "–" } }
            td.number data-label="Opened" { (several(breaker.opened, "time", "times")) }
            td data-label="Why" { @if breaker.why.is_empty() { "–" } @else { (visible(&breaker.why)) } }
            td data-label="Told by" { (visible(&breaker.node)) }
        }
    }
}
