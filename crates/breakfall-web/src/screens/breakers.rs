//! Which tools and servers rest, since when, why, and when they are tried again.

use breakfall_store::{Error, Store};
use maud::{Markup, html};

use super::{empty, when};
use crate::words::visible;

/// How many are shown.
const SHOWN: usize = 500;

/// A breaker, as a guard last told of it.
#[derive(Clone, Debug)]
pub(crate) struct Breaker {
    pub(crate) node: String,
    pub(crate) upstream: String,
    pub(crate) tool: String,
    pub(crate) state: String,
    pub(crate) since: i64,
    pub(crate) until: Option<i64>,
    pub(crate) why: String,
}

/// Every breaker that the store knows of.
#[expect(clippy::unused_async, reason = "the store will tell")]
pub(crate) async fn all(_store: &Store) -> Result<Vec<Breaker>, Error> {
    Ok(Vec::new())
}

impl Breaker {
    /// Whether calls are kept from their tool.
    pub(crate) fn is_open(&self) -> bool {
        self.state != "closed"
    }

    /// Whether it is of a tool, or of the upstream of a tool.
    pub(crate) fn is_of(&self, upstream: &str, tool: &str) -> bool {
        self.upstream == upstream && (self.tool == tool || self.tool.is_empty())
    }

    /// The state: a mark and a word.
    pub(crate) fn mark(&self) -> Markup {
        let (mark, class) = match self.state.as_str() {
            "closed" => ("✓", "state resolved"),
            "open" => ("✕", "state open"),
            _ => ("◐", "state half"),
        };
        html! { span class=(class) { span aria-hidden="true" { (mark) } " " (visible(&self.state)) } }
    }
}

pub(crate) fn screen(breakers: &[Breaker], now: i64) -> Markup {
    let mut sorted: Vec<&Breaker> = breakers.iter().collect();
    sorted.sort_by_key(|breaker| (!breaker.is_open(), std::cmp::Reverse(breaker.since)));
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
            td data-label="State" { (breaker.mark()) }
            td data-label="Since" { (when(breaker.since, now)) }
            td data-label="Tried again" { @match breaker.until { Some(at) => (when(at, now)), None => "–" } }
            td data-label="Why" { @if breaker.why.is_empty() { "–" } @else { (visible(&breaker.why)) } }
            td data-label="Told by" { (visible(&breaker.node)) }
        }
    }
}
