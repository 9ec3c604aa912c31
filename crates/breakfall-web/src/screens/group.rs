//! One failure: how often, since when, how runs went on, what to do about it, and samples of it.

use breakfall_store::{Group, Sample, State};
use maud::{Markup, html};

use super::{sample, state, when};
use crate::asked::Asked;
use crate::chart::bars;
use crate::words::{kind, number, percent, several, tool, visible};

const HOUR: i64 = 60 * 60 * 1000;

pub(crate) fn screen(
    group: &Group,
    samples: &[Sample],
    asked: &Asked,
    csrf: &str,
    now: i64,
) -> Markup {
    let of_tool = Asked {
        period: asked.period,
        tool: group.tool.clone(),
        upstream: group.upstream.clone(),
        state: None,
        ..Asked::of("")
    };
    let first = now - now.rem_euclid(HOUR) - 23 * HOUR;
    let hours: Vec<_> =
        group.hours.iter().zip(0..).map(|(count, hour)| (first + hour * HOUR, *count)).collect();
    html! {
        p.crumbs { a href="/groups" { "Failures" } " / " (tool(&group.upstream, &group.tool)) }
        h1 {
            span.tool { (tool(&group.upstream, &group.tool)) } " " span.kind { (kind(&group.kind)) }
        }
        p.template { (visible(&group.template)) }
        div.act {
            (state(group.state))
            (actions(group, csrf))
        }
        (facts(group, now))
        (bars("Each hour of the last 24", "hours", "failed", &hours, false))
        section aria-labelledby="samples-title" {
            h2 #samples-title { "Samples" }
            @if samples.is_empty() {
                p { "None is kept any more: samples are deleted before counts are." }
            } @else {
                p.quiet { "The newest " (several(samples.len() as u64, "call", "calls")) ", without secrets." }
                @for (at, one) in samples.iter().enumerate() { (sample::drawn(one, at, now)) }
            }
        }
        p { a href=(of_tool.at("/groups")) { "All failures of this tool" } }
    }
}

/// What can be done: forms, which work without a script.
fn actions(group: &Group, csrf: &str) -> Markup {
    let offered: &[(State, &str)] = match group.state {
        State::Open => &[(State::Resolved, "Resolve"), (State::Ignored, "Ignore")],
        State::Resolved => &[(State::Open, "Reopen"), (State::Ignored, "Ignore")],
        State::Ignored => &[(State::Open, "Reopen")],
    };
    html! {
        @for (state, words) in offered {
            form method="post" action=(format!("/groups/{}/state", group.fingerprint)) data-csrf=(csrf) {
                input type="hidden" name="csrf" value=(csrf);
                input type="hidden" name="state" value=(state.name());
                button id=(format!("to-{}", state.name())) { (words) }
            }
        }
        span.quiet {
            @match group.state {
                State::Open => "Resolved, it opens again when it comes back. Ignored, it does not.",
                State::Resolved => "It opens again when it comes back.",
                State::Ignored => "It is counted, and nobody is told.",
            }
        }
    }
}

fn facts(group: &Group, now: i64) -> Markup {
    let recovery = &group.recovery;
    let known = recovery.known();
    html! {
        dl.facts {
            div { dt { "In the last 7 days" } dd { (several(group.count, "time", "times")) } }
            div { dt { "In all" } dd { (several(group.all, "time", "times")) ", in " (several(group.runs, "run", "runs")) } }
            div { dt { "Of its tool's calls" } dd {
                @match group.rate {
                    Some(part) => { (percent(part)) " of " (number(group.calls)) }
                    None => "too few calls to tell"
                }
            } }
            div { dt { "Last seen" } dd { (when(group.last_seen, now)) } }
            div { dt { "First seen" } dd { (when(group.first_seen, now)) } }
            @if group.returned > 0 {
                div { dt { "Came back" } dd { (several(group.returned, "time", "times")) " after it was resolved" } }
            }
            div { dt { "Runs went on" } dd {
                @match recovery.share() {
                    Some((part, low, high)) => {
                        (percent(part)) " of " (number(known)) " (" (percent(low)) " to " (percent(high)) "): "
                        (number(recovery.by_model)) " by the model, " (number(recovery.by_fallback))
                        " by a substitute, " (number(recovery.by_nobody)) " not"
                    }
                    None => "nobody knows yet"
                }
                @if recovery.unknown > 0 { "; unknown for " (number(recovery.unknown)) }
            } }
            div { dt { "Reference" } dd { code { (visible(&group.reference)) } } }
            div { dt { "Fingerprint" } dd { code { (visible(&group.fingerprint)) } } }
        }
    }
}
