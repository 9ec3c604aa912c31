//! Everything at a glance: how much is called, what fails, what was recovered, and where to look
//! first.

use breakfall_store::{
    Breaker, Error, Groups, Recovery, Span, State, Step, Store, ToolRow, Wanted,
};
use maud::{Markup, html};

use super::groups::table;
use super::{empty, tools};
use crate::asked::{Asked, Period};
use crate::chart::{Bar, bars};
use crate::words::{number, percent, several, share};

/// How many failures and tools are shown.
const SHOWN: u32 = 5;

/// What is seen at a glance.
pub(crate) struct Seen {
    spans: Vec<Span>,
    recovery: Recovery,
    open: Groups,
    tools: Vec<ToolRow>,
    breakers: Vec<Breaker>,
    lost: u64,
    now: i64,
}

impl Seen {
    pub(crate) async fn read(store: &Store, asked: &Asked, now: i64) -> Result<Self, Error> {
        let since = asked.since(now);
        let step = if asked.period == Period::Hour { Step::Minute } else { Step::Hour };
        let open = Wanted { state: Some(State::Open), most: SHOWN, ..Wanted::since(since) };
        Ok(Self {
            spans: store.over_time(since + step.millis(), now, step).await?,
            recovery: store.recovery(since).await?,
            open: store.list(&open, now).await?,
            tools: store.tools(since).await?,
            breakers: store.breakers(now).await?,
            lost: store.lost().await?,
            now,
        })
    }
}

pub(crate) fn screen(seen: &Seen, asked: &Asked) -> Markup {
    let mut all = Span::default();
    for span in &seen.spans {
        all.add(span);
    }
    html! {
        h1 { "Overview" }
        @if all.calls == 0 && seen.open.found == 0 {
            (empty("No calls in this time", &html! {
                p { "Nothing was called in the last " (asked.period.words()) ". Look further back, or make a call:" }
                pre { code { "breakfall call TOOL '{…}' -- COMMAND" } }
            }))
        } @else {
            (tiles(seen, &all))
            (charts(&seen.spans, asked.period))
        }
        section aria-labelledby="open-title" {
            h2 #open-title { "Open failures" }
            @if seen.open.groups.is_empty() {
                p { "None in the last " (asked.period.words()) ". New ones appear here by themselves." }
            } @else {
                (table(&seen.open.groups, "Open failures, the most frequent first", asked, seen.now))
                @if seen.open.found > u64::from(SHOWN) {
                    p { a href=(Asked { period: asked.period, ..Asked::of("") }.at("/groups")) {
                        "All " (number(seen.open.found)) " open failures"
                    } }
                }
            }
        }
        (failing(seen, asked))
    }
}

fn tiles(seen: &Seen, all: &Span) -> Markup {
    let open = seen.breakers.iter().filter(|breaker| breaker.state == "open").count() as u64;
    let saved = all.by_retry.saturating_add(all.substituted);
    html! {
        dl.tiles {
            (tile("Calls", &number(all.calls), ""))
            (tile("Failed", &share(all.failed, all.calls).map_or("–".to_owned(), percent),
                &several(all.failed, "call", "calls")))
            (tile("Went on all the same", &number(saved),
                &format!("{} by a repeat, {} by a substitute", number(all.by_retry), number(all.substituted))))
            (recovered(&seen.recovery))
            (tile("Attempts for a call", &attempts(all), &several(all.retries, "repeat", "repeats")))
            (tile("Open breakers", &number(open), if open == 0 { "all tools are called" } else { "their tools rest" }))
            @if seen.lost > 0 {
                (tile("Not kept", &number(seen.lost), "records lost while the store was away"))
            }
        }
    }
}

fn tile(name: &str, value: &str, more: &str) -> Markup {
    html! { div { dt { (name) } dd { strong { (value) } @if !more.is_empty() { span { (more) } } } } }
}

#[expect(clippy::cast_precision_loss, reason = "an average of counts")]
fn attempts(all: &Span) -> String {
    if all.calls == 0 {
        return "–".to_owned();
    }
    format!("{:.2}", 1.0 + all.retries as f64 / all.calls as f64)
}

/// How often the model went on after it was told of a failure.
fn recovered(recovery: &Recovery) -> Markup {
    match recovery.share() {
        Some((part, low, high)) => tile(
            "Recovered by the model or a substitute",
            &percent(part),
            &format!("of {}; {} to {}", number(recovery.known()), percent(low), percent(high)),
        ),
        None => tile("Recovered by the model or a substitute", "–", "no run tells yet"),
    }
}

fn charts(spans: &[Span], period: Period) -> Markup {
    // A week by the hour would be bars that nobody can tell apart.
    let together = if period == Period::Week { 3 } else { 1 };
    let of = |count: fn(&Span) -> u64| -> Vec<Bar> {
        spans
            .chunks(together)
            .filter_map(|chunk| {
                let sum = chunk.iter().fold(0_u64, |sum, span| sum.saturating_add(count(span)));
                Some((chunk.first()?.at, sum))
            })
            .collect()
    };
    let every = match period {
        Period::Hour => "each minute",
        Period::Day => "each hour",
        Period::Week => "each three hours",
    };
    let days = period == Period::Week;
    html! {
        div.charts {
            (bars(&format!("Calls, {every}"), "calls", "calls", &of(|span| span.calls), days))
            (bars(&format!("Failed calls, {every}"), "failed", "failed", &of(|span| span.failed), days))
        }
    }
}

/// The tools that fail most, of those that were called often enough to tell.
fn failing(seen: &Seen, asked: &Asked) -> Markup {
    let mut failing: Vec<&ToolRow> =
        seen.tools.iter().filter(|tool| tool.calls >= 3 && tool.failed > 0).collect();
    failing.sort_by(|one, other| {
        let of = |tool: &ToolRow| share(tool.failed, tool.calls).unwrap_or(0.0);
        of(other).total_cmp(&of(one)).then(other.failed.cmp(&one.failed))
    });
    failing.truncate(SHOWN as usize);
    html! {
        section aria-labelledby="failing-title" {
            h2 #failing-title { "Tools that fail most" }
            @if failing.is_empty() {
                p { "No tool with at least three calls failed." }
            } @else {
                (tools::table(&failing, &seen.breakers, "Tools by the share of calls that failed", asked))
            }
        }
    }
}
