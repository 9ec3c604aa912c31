//! A report as one page of HTML that needs nothing else: no script, no address. Every text goes
//! through the template, which escapes it.

use breakfall_store::{Group, Sample};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::markdown::share;
use super::{Report, charts};
use crate::errors::{self, state};
use crate::numbers::{ago, moment, percent, recovered, recovery, took};
use crate::terminal::safe;

const STYLE: &str = include_str!("page.css");

pub(super) fn render(report: &Report) -> String {
    let title = format!("Tool calls, {}", report.period.words());
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy"
                    content="default-src 'none'; style-src 'unsafe-inline'";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (title) }
                (numbers(report))
                @for note in report.notes() { p.note { (note) "." } }
                h2 { "Calls and failures" }
                div.wide { (charts::timeline(&report.timeline)) }
                p.legend { span.calls {} " calls " span.failed {} " failed" }
                @let kinds = report.kinds();
                @if !kinds.is_empty() {
                    h2 { "Failures by kind" }
                    div.wide { (charts::bars(&kinds)) }
                }
                h2 { "What failed" }
                (groups(report))
                h2 { "Tools" }
                (tools(report))
            }
        }
    };
    page.into_string()
}

fn numbers(report: &Report) -> Markup {
    let failures = report.failures;
    let all = report.found.recovery;
    let (new, back) = (report.found.new, report.found.came_back);
    let each = [
        ("calls", failures.calls.to_string()),
        ("failed", failures.failed.to_string()),
        ("of the calls", failures.rate().map_or_else(|| "–".to_owned(), percent)),
        ("recovered", recovered(&all)),
        ("succeeded by a retry", report.sum(|tool| tool.by_retry).to_string()),
        ("answered by a substitute", report.sum(|tool| tool.substituted).to_string()),
        ("groups", report.found.found.to_string()),
        ("of them new", new.to_string()),
        ("came back", back.to_string()),
    ];
    html! {
        dl.numbers {
            @for (name, value) in each { div { dt { (name) } dd { (value) } } }
        }
        p {
            "Recovered, of the failures that the model was told of, since each group was first seen: "
            (recovery(&all)) "."
        }
    }
}

fn groups(report: &Report) -> Markup {
    let now = report.period.now;
    let nothing = || None;
    let samples = report.samples.iter().map(Option::as_ref).chain(std::iter::repeat_with(nothing));
    html! {
        @if report.found.groups.is_empty() { p { "Nothing." } }
        @for (group, sample) in report.found.groups.iter().zip(samples) {
            section.group {
                div.head {
                    code.ref { (safe(&group.reference)) }
                    strong { (safe(&group.tool)) }
                    span { (safe(&group.kind)) }
                    @let state = state(group, now).text;
                    @if !state.is_empty() { span.state { (state) } }
                    (charts::sparkline(&group.hours))
                }
                p.message { (safe(&group.template)) }
                p.facts { (facts(group, now)) }
                @if let Some(sample) = sample { (sides(sample)) }
            }
        }
    }
}

fn facts(group: &Group, now: i64) -> String {
    let server = if group.upstream.is_empty() {
        String::new()
    } else {
        format!("server {}; ", safe(&group.upstream))
    };
    format!(
        "{server}{} in this time, {} of the tool's calls; {} in all, runs {}; recovered {}; first \
         {} UTC, last {} UTC ({})",
        group.count,
        share(group),
        group.all,
        group.runs,
        recovered(&group.recovery),
        moment(group.first_seen),
        moment(group.last_seen),
        ago(now - group.last_seen)
    )
}

/// The newest sample: what the model was told beside what the developer needs.
fn sides(sample: &Sample) -> Markup {
    let told = sample.body["told"].as_str().map(safe).unwrap_or_default();
    let facts = errors::facts(sample).into_iter();
    let facts: Vec<String> =
        facts.map(|(name, value)| format!("{name}: {}", safe(&value))).collect();
    html! {
        details {
            summary { "The newest, " (moment(sample.at)) " UTC" }
            div.sides {
                div { h3 { "What the model was told" } pre { (told) } }
                div { h3 { "What the developer needs" } pre { (facts.join("\n")) } }
            }
        }
    }
}

fn tools(report: &Report) -> Markup {
    let time = |seconds: Option<f64>| seconds.map(took).unwrap_or_default();
    html! {
        div.wide {
            table {
                thead {
                    tr {
                        @for name in ["tool", "server"] { th { (name) } }
                        @for name in ["calls", "failed", "rate", "retries", "p50", "p99"] {
                            th.number { (name) }
                        }
                    }
                }
                tbody {
                    @for tool in &report.tools {
                        tr {
                            td { (safe(&tool.tool)) }
                            td { (safe(&tool.upstream)) }
                            td.number { (tool.calls) }
                            td.number { (tool.failed) }
                            td.number { (tool.rate.map(percent).unwrap_or_default()) }
                            td.number { (tool.retries) }
                            td.number { (time(tool.p50)) }
                            td.number { (time(tool.p99)) }
                        }
                    }
                }
            }
        }
    }
}
