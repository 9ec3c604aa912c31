//! The counts in Prometheus' text format.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::metrics::{AttemptOf, BreakerOf, Counted, Durations, Of};
use crate::names::BOUNDS;

pub(crate) fn text(counted: &Counted, lost: u64) -> String {
    let mut text = String::new();
    calls(&mut text, counted);
    failures(&mut text, counted);
    head(
        &mut text,
        "breakfall_attempts_total",
        "counter",
        "Attempts, also those that another made good.",
    );
    for (of, count) in &counted.attempts {
        let labels = of.as_ref().map_or_else(overflow, attempt_labels);
        line(&mut text, "breakfall_attempts_total", &labels, *count);
    }
    let name = "gen_ai_execute_tool_duration_seconds";
    head(&mut text, name, "histogram", "How long calls took, with every attempt and wait.");
    for (of, durations) in &counted.calls {
        histogram(&mut text, name, of.as_ref(), durations);
    }
    breakers(&mut text, counted);
    let name = "breakfall_lost_records_total";
    head(&mut text, name, "counter", "Records whose spans did not reach the collector.");
    line(&mut text, name, &[], lost);
    text
}

fn calls(text: &mut String, counted: &Counted) {
    head(text, "breakfall_calls_total", "counter", "Calls, by how they ended.");
    let mut all: BTreeMap<Option<[&str; 3]>, u64> = BTreeMap::new();
    for (of, durations) in &counted.calls {
        let of = of.as_ref().map(|of| [of.tool.as_str(), of.upstream.as_str(), of.ending]);
        *all.entry(of).or_default() += durations.count();
    }
    for (of, count) in all {
        let labels = of.map_or_else(overflow, |of| named(["tool", "upstream", "ending"], of));
        line(text, "breakfall_calls_total", &labels, count);
    }
}

fn failures(text: &mut String, counted: &Counted) {
    let name = "breakfall_failures_total";
    head(text, name, "counter", "Calls that failed and that nothing made good, by kind.");
    let mut all: BTreeMap<[&str; 3], u64> = BTreeMap::new();
    for (of, durations) in &counted.calls {
        if let Some(Of { tool, upstream, kind: Some(kind), .. }) = of {
            *all.entry([tool.as_str(), upstream.as_str(), *kind]).or_default() += durations.count();
        }
    }
    for (of, count) in all {
        line(text, name, &named(["tool", "upstream", "kind"], of), count);
    }
}

fn breakers(text: &mut String, counted: &Counted) {
    let name = "breakfall_breaker_transitions_total";
    head(text, name, "counter", "How often breakers opened and closed.");
    for (of, turns) in &counted.breakers {
        for (to, count) in [("open", turns.opened), ("closed", turns.closed)] {
            let mut labels = of.as_ref().map_or_else(overflow, breaker_labels);
            labels.push(("to", to));
            line(text, name, &labels, count);
        }
    }
    let name = "breakfall_breaker_open";
    head(text, name, "gauge", "Whether a breaker holds calls back, as the last call saw it.");
    for (of, turns) in &counted.breakers {
        if let Some(of) = of {
            line(text, name, &breaker_labels(of), u8::from(turns.is_open));
        }
    }
}

/// The breaker of an upstream has no tool.
fn breaker_labels(of: &BreakerOf) -> Labels<'_> {
    vec![("tool", &of.tool), ("upstream", &of.upstream)]
}

type Labels<'a> = Vec<(&'static str, &'a str)>;

/// The series that stands for all that are too many.
fn overflow<'a>() -> Labels<'a> {
    vec![("otel_metric_overflow", "true")]
}

fn named<'a>(names: [&'static str; 3], values: [&'a str; 3]) -> Labels<'a> {
    names.into_iter().zip(values).collect()
}

fn attempt_labels(of: &AttemptOf) -> Labels<'_> {
    named(["tool", "upstream", "kind"], [&of.tool, &of.upstream, of.kind.unwrap_or_default()])
}

/// As a collector would write the names of OpenTelemetry.
fn histogram(text: &mut String, name: &str, of: Option<&Of>, durations: &Durations) {
    let labels = of.map_or_else(overflow, |of| {
        let mut labels = named(
            ["gen_ai_tool_name", "breakfall_upstream", "breakfall_ending"],
            [&of.tool, &of.upstream, of.ending],
        );
        labels.extend(of.kind.map(|kind| ("error_type", kind)));
        labels
    });
    let mut below = 0;
    let bounds = BOUNDS.iter().map(ToString::to_string).chain(["+Inf".to_owned()]);
    for (bound, count) in bounds.zip(durations.buckets) {
        below += count;
        let mut labels = labels.clone();
        labels.push(("le", &bound));
        line(text, &format!("{name}_bucket"), &labels, below);
    }
    line(text, &format!("{name}_sum"), &labels, durations.sum);
    line(text, &format!("{name}_count"), &labels, below);
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
}

fn line(text: &mut String, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
    text.push_str(name);
    for (at, (label, value)) in labels.iter().enumerate() {
        let before = if at == 0 { '{' } else { ',' };
        let _ = write!(text, "{before}{label}=\"{}\"", escaped(value));
    }
    let _ = writeln!(text, "{} {value}", if labels.is_empty() { "" } else { "}" });
}

fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Turns;

    #[test]
    fn every_count_is_told_and_names_cannot_break_out_of_their_quotes() {
        let mut counted = Counted::default();
        let of = Of {
            tool: "a\"}\n\\".to_owned(),
            upstream: "u".to_owned(),
            ending: "failed",
            kind: Some("timeout"),
        };
        let mut durations = Durations::default();
        durations.buckets[0] = 2;
        durations.buckets[14] = 1;
        durations.sum = 100.5;
        counted.calls.insert(Some(of), durations.clone());
        counted.calls.insert(None, durations);
        let of = AttemptOf { tool: "a".to_owned(), upstream: String::new(), kind: None };
        counted.attempts.insert(Some(of), 4);
        let of = BreakerOf { tool: String::new(), upstream: "u".to_owned() };
        counted.breakers.insert(Some(of), Turns { opened: 2, closed: 1, is_open: true });
        insta::assert_snapshot!(text(&counted, 7));
    }
}
