//! Failures that are one, in a list: to look for, to sort, to page through.

use breakfall_store::{Choice, Group, Groups, Sort, State};
use maud::{Markup, html};

use super::{empty, state, when};
use crate::asked::{Asked, PAGE, SORTS, sort_name};
use crate::chart::spark;
use crate::words::{kind, number, percent, tool, visible};

pub(crate) fn screen(found: &Groups, choices: &[Choice], asked: &Asked, now: i64) -> Markup {
    let pages = found.found.div_ceil(u64::from(PAGE)).max(1);
    html! {
        h1 { "Failures" }
        (form(choices, asked))
        @if found.groups.is_empty() { (none(asked)) } @else {
            p.quiet { (number(found.found)) " in the last " (asked.period.words()) ", " (sort_words(asked.sort)) "." }
            (table(&found.groups, "Failures that are one, in a row each", asked, now))
            (turning(asked, pages))
        }
    }
}

/// A reference that several groups have.
pub(crate) fn several(groups: &[Group], name: &str, asked: &Asked, now: i64) -> Markup {
    html! {
        h1 { "Several failures are called " code { (visible(name)) } }
        (table(groups, "Failures of this reference", asked, now))
    }
}

fn none(asked: &Asked) -> Markup {
    if asked.is_narrow() || asked.page > 1 {
        let all = Asked { period: asked.period, ..Asked::of("") };
        return empty(
            "No failure fits",
            &html! {
                p { a href=(all.at("/groups")) { "Show all open failures" } " of the last " (asked.period.words()) "." }
            },
        );
    }
    empty(
        "No open failures",
        &html! {
            p { "Nothing failed in the last " (asked.period.words()) " that is not resolved or ignored. New failures appear here by themselves." }
            p { a href=(Asked { state: None, ..asked.clone() }.at("/groups")) { "Show resolved and ignored ones too" } }
        },
    )
}

/// The rows.
pub(crate) fn table(groups: &[Group], caption: &str, asked: &Asked, now: i64) -> Markup {
    html! {
        table.rows {
            caption.hidden { (caption) }
            thead { tr {
                th scope="col" { "Failure" }
                th scope="col" { "State" }
                th.number scope="col" { "Times" }
                th.number scope="col" { "Of its calls" }
                th.number scope="col" { "Runs" }
                th scope="col" { "24 hours" }
                th.number scope="col" { "Recovered" }
                th scope="col" { "Last seen" }
                th scope="col" { "First seen" }
            } }
            tbody {
                @for group in groups { (row(group, asked, now)) }
            }
        }
    }
}

fn row(group: &Group, asked: &Asked, now: i64) -> Markup {
    let there = Asked { period: asked.period, ..Asked::of("") };
    let recovered = group.recovery.share().map_or("–".to_owned(), |(part, ..)| percent(part));
    let is_new = now.saturating_sub(group.first_seen) < 24 * 60 * 60 * 1000;
    html! {
        tr data-group=(group.fingerprint) {
            th scope="row" {
                a.open href=(there.at(&format!("/groups/{}", group.fingerprint))) {
                    span.tool { (tool(&group.upstream, &group.tool)) }
                    " "
                    span.kind { (kind(&group.kind)) }
                    span.template { (visible(&group.template)) }
                }
            }
            td data-label="State" {
                (state(group.state))
                @if group.returned > 0 { span.badge title="It came back after it was resolved" { "back" } }
                @if is_new { span.badge title="First seen in the last 24 hours" { "new" } }
            }
            td.number data-label="Times" { (number(group.count)) }
            td.number data-label="Of its calls" { (group.rate.map_or("–".to_owned(), percent)) }
            td.number data-label="Runs" { (number(group.runs)) }
            td data-label="24 hours" { (spark(&group.hours)) }
            td.number data-label="Recovered" { (recovered) }
            td data-label="Last seen" { (when(group.last_seen, now)) }
            td data-label="First seen" { (when(group.first_seen, now)) }
        }
    }
}

fn sort_words(sort: Sort) -> &'static str {
    match sort {
        Sort::Count => "the most frequent first",
        Sort::Rate => "the largest share of a tool's calls first",
        Sort::Last => "the last seen first",
        Sort::New => "the newest first",
    }
}

/// What can be looked for. It works without a script.
fn form(choices: &[Choice], asked: &Asked) -> Markup {
    let names = |of: fn(&Choice) -> &str| {
        let mut names: Vec<&str> = choices.iter().map(of).filter(|it| !it.is_empty()).collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    let states = [Some(State::Open), Some(State::Resolved), Some(State::Ignored), None];
    html! {
        form.filters role="search" method="get" action="/groups" {
            input type="hidden" name="period" value=(asked.period.name());
            div.field {
                label for="q" { "Search" }
                input #q type="search" name="q" value=(asked.text) placeholder="message, tool, server";
            }
            (choice("upstream", "Server", "any", &names(|it| &it.upstream), &asked.upstream))
            (choice("tool", "Tool", "any", &names(|it| &it.tool), &asked.tool))
            (choice("kind", "Kind", "any", &names(|it| &it.kind), &asked.kind))
            div.field {
                label for="state" { "State" }
                select #state name="state" {
                    @for one in states {
                        @let name = one.map_or("all", State::name);
                        option value=(name) selected[one == asked.state] { (name) }
                    }
                }
            }
            div.field {
                label for="sort" { "Sort by" }
                select #sort name="sort" {
                    @for sort in SORTS {
                        option value=(sort_name(sort)) selected[sort == asked.sort] { (short(sort)) }
                    }
                }
            }
            button { "Show" }
        }
    }
}

fn short(sort: Sort) -> &'static str {
    match sort {
        Sort::Count => "most frequent",
        Sort::Rate => "largest share",
        Sort::Last => "last seen",
        Sort::New => "new",
    }
}

fn choice(id: &str, label: &str, any: &str, names: &[&str], chosen: &str) -> Markup {
    let is_among = chosen.is_empty() || names.contains(&chosen);
    html! {
        div.field {
            label for=(id) { (label) }
            select id=(id) name=(id) {
                option value="" selected[chosen.is_empty()] { (any) }
                @if !is_among { option value=(chosen) selected { (visible(chosen)) } }
                @for name in names {
                    option value=(name) selected[*name == chosen] { (visible(name)) }
                }
            }
        }
    }
}

/// To the next and the previous page.
fn turning(asked: &Asked, pages: u64) -> Markup {
    let at = |page: u32| Asked { page, ..asked.clone() }.at("/groups");
    html! {
        @if pages > 1 {
            nav.pages aria-label="Pages" {
                @if asked.page > 1 { a rel="prev" href=(at(asked.page - 1)) { "← Previous" } }
                span { "Page " (asked.page) " of " (pages) }
                @if u64::from(asked.page) < pages { a rel="next" href=(at(asked.page + 1)) { "Next →" } }
            }
        }
    }
}
