//! A report as Markdown. What others wrote stands in code, where it is nothing else.

use std::fmt::Write as _;

use breakfall_store::{Group, ToolRow};

use super::Report;
use crate::errors::state;
use crate::numbers::{self, percent, recovered, recovery, span, sparkline, took};
use crate::terminal::{cut, one_line};

/// The longest message.
const LONGEST: usize = 120;

pub(super) fn render(report: &Report) -> String {
    let mut text = format!("# Tool calls, {}\n\n", report.period.words());
    summary(&mut text, report);
    let counts: Vec<u64> = report.timeline.moments.iter().map(|moment| moment.failed).collect();
    if report.failures.failed > 0 {
        let _ = writeln!(text, "Failures over time: `{}`\n", sparkline(&counts, 96));
    }
    kinds(&mut text, report);
    groups(&mut text, report);
    tools(&mut text, report);
    for note in report.notes() {
        let _ = writeln!(text, "{note}.\n");
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn summary(text: &mut String, report: &Report) {
    let calls = |of: fn(&ToolRow) -> u64| numbers::of(report.sum(of), "call", "calls");
    let (new, back) = (report.found.new, report.found.came_back);
    let groups = numbers::of(report.found.found, "group", "groups");
    let lines = [
        report.failures.words(),
        format!("{groups} of failures: {new} first seen in this time, {back} came back"),
        format!("by a retry, without a word to the model: {}", calls(|tool| tool.by_retry)),
        format!("answered by a substitute: {}", calls(|tool| tool.substituted)),
        format!(
            "recovered, of the failures told to the model since each group was first seen: {}",
            recovery(&report.found.recovery)
        ),
    ];
    for line in lines {
        let _ = writeln!(text, "- {line}");
    }
    text.push('\n');
}

fn kinds(text: &mut String, report: &Report) {
    let kinds = report.kinds();
    if kinds.is_empty() {
        return;
    }
    text.push_str("## Kinds\n\n| kind | failures |\n|---|---:|\n");
    for (kind, count) in kinds {
        let _ = writeln!(text, "| {} | {count} |", code(&kind));
    }
    text.push('\n');
}

fn groups(text: &mut String, report: &Report) {
    text.push_str("## What failed\n\n");
    if report.found.groups.is_empty() {
        text.push_str("Nothing.\n\n");
        return;
    }
    text.push_str(
        "| ref | tool | kind | message | count | of calls | recovered | runs | 24 hours | last | state |\n\
         |---|---|---|---|---:|---:|---:|---:|---|---:|---|\n",
    );
    for group in &report.found.groups {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            code(&group.reference),
            code(&group.tool),
            code(&group.kind),
            code(&group.template),
            group.count,
            share(group),
            recovered(&group.recovery),
            group.runs,
            sparkline(&group.hours, 24),
            span(report.period.now - group.last_seen),
            state(group, report.period.now).text,
        );
    }
    text.push('\n');
}

/// The share of the calls; with too few of them the bare counts.
pub(super) fn share(group: &Group) -> String {
    group.rate.map_or_else(|| format!("{} of {}", group.count, group.calls), percent)
}

fn tools(text: &mut String, report: &Report) {
    if report.tools.is_empty() {
        return;
    }
    text.push_str(
        "## Tools\n\n| tool | server | calls | failed | rate | retries | p50 | p99 |\n\
         |---|---|---:|---:|---:|---:|---:|---:|\n",
    );
    for tool in &report.tools {
        let time = |seconds: Option<f64>| seconds.map(took).unwrap_or_default();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            code(&tool.tool),
            code(&tool.upstream),
            tool.calls,
            tool.failed,
            tool.rate.map(percent).unwrap_or_default(),
            tool.retries,
            time(tool.p50),
            time(tool.p99),
        );
    }
    text.push('\n');
}

/// A text as code in a table: fenced by more ticks than it has in a row, its bars kept apart.
fn code(text: &str) -> String {
    let text = cut(&one_line(text), LONGEST);
    if text.is_empty() {
        return text;
    }
    let mut ticks = 0;
    let mut most = 0;
    for char in text.chars() {
        ticks = if char == '`' { ticks + 1 } else { 0 };
        most = most.max(ticks);
    }
    let fence = "`".repeat(most + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{}{space}{fence}", text.replace('|', "\\|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_cannot_leave_its_code() {
        for (text, is) in [
            ("plain", "`plain`"),
            ("a|b\nc", "`a\\|b c`"),
            ("a `b` ``c", "```a `b` ``c```"),
            ("`x`", "`` `x` ``"),
            ("<b>@all</b>", "`<b>@all</b>`"),
            ("", ""),
        ] {
            assert_eq!(code(text), is);
        }
    }
}
