//! `breakfall errors show REF`: a group and its newest samples.

use std::fmt::Write as _;

use breakfall_store::{Error, Group, Sample, State, Store};
use clap::Args;
use serde_json::{Value, json};

use super::list::print;
use super::{Reading, lost, unknown};
use crate::failed::Failed;
use crate::numbers::{ago, moment, of, percent, recovery, sparkline, took};
use crate::place::unreadable;
use crate::terminal::{Style, Terminal, beside, json_text, one_line, safe, wrapped};

mod attempts;
mod developer;

pub(crate) use developer::facts;

/// From this width on there is room for two blocks.
const TWO: usize = 100;

#[derive(Args)]
pub(super) struct Show {
    /// The reference that the model and the log have, or a fingerprint
    #[arg(value_name = "REF")]
    reference: String,
    /// How many samples
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=1000))]
    samples: u32,
    #[command(flatten)]
    reading: Reading,
}

/// Everything that is printed of a group.
pub(super) struct Shown {
    pub(super) group: Group,
    pub(super) samples: Vec<Sample>,
}

impl Show {
    pub(super) async fn run(self, terminal: &Terminal, now: i64) -> Result<(), Failed> {
        let nothing = json!({ "groups": [], "lost": 0 });
        let Some(store) = self.reading.store(nothing).await? else {
            return Err(Failed::silently());
        };
        let name = self.reference.trim();
        let shown =
            read(&store, name, self.samples, now).await.map_err(|error| unreadable(&error))?;
        if shown.is_empty() {
            return Err(unknown(&store, name).await);
        }
        let missing = store.lost().await.map_err(|error| unreadable(&error))?;
        store.close().await;
        if self.reading.json {
            let groups: Vec<Value> = shown.iter().map(Shown::json).collect();
            say!("{}", json_text(&json!({ "groups": groups, "lost": missing })));
            return Ok(());
        }
        let mut text = String::new();
        if shown.len() > 1 {
            let _ = writeln!(text, "`{}` names {} groups.\n", one_line(name), shown.len());
        }
        let each: Vec<String> = shown.iter().map(|one| one.render(terminal, now)).collect();
        text.push_str(&each.join("\n"));
        if let Some(lost) = lost(missing) {
            let _ = writeln!(text, "\n{}", terminal.paint(&lost, Style::Warn));
        }
        print(&text);
        Ok(())
    }
}

pub(super) async fn read(
    store: &Store,
    name: &str,
    most: u32,
    now: i64,
) -> Result<Vec<Shown>, Error> {
    let groups = store.named(name, now).await?;
    let mut shown = Vec::new();
    for group in groups {
        let samples = store.samples(&group, most).await?;
        shown.push(Shown { group, samples });
    }
    Ok(shown)
}

impl Shown {
    pub(super) fn json(&self) -> Value {
        let mut value = json!(self.group);
        value["samples"] = json!(self.samples);
        value
    }

    pub(super) fn render(&self, terminal: &Terminal, now: i64) -> String {
        let mut text = self.facts(terminal, now);
        for (number, sample) in self.samples.iter().enumerate() {
            text.push('\n');
            text.push_str(&head(sample, number + 1, self.samples.len(), terminal));
            text.push_str(&blocks(sample, terminal));
            text.push_str(&attempts::timeline(sample, terminal));
        }
        if self.samples.is_empty() && self.group.all > 0 {
            text.push_str("\nNo sample is kept any more.\n");
        }
        text
    }

    fn facts(&self, terminal: &Terminal, now: i64) -> String {
        let group = &self.group;
        let of_server = match one_line(&group.upstream) {
            upstream if upstream.is_empty() => String::new(),
            upstream => format!(" of `{upstream}`"),
        };
        let title = format!("`{}`{of_server}: {}", one_line(&group.tool), one_line(&group.kind));
        let mut text = String::new();
        for line in wrapped(&title, terminal.width) {
            let _ = writeln!(text, "{}", terminal.paint(&line, Style::Strong));
        }
        for line in wrapped(&group.template, terminal.width) {
            let _ = writeln!(text, "{line}");
        }
        text.push('\n');
        let mut row = |name: &str, value: &str| {
            for (number, line) in wrapped(value, terminal.width - 13).iter().enumerate() {
                let name = if number == 0 { name } else { "" };
                let _ = writeln!(
                    text,
                    "{} {line}",
                    terminal.paint(&format!("{name:<12}"), Style::Faint)
                );
            }
        };
        row("reference", &group.reference);
        row("fingerprint", &group.fingerprint);
        row("state", &state(group));
        let seen = |at: i64| format!("{} UTC, {}", moment(at), ago(now - at));
        row("first seen", &seen(group.first_seen));
        row("last seen", &seen(group.last_seen));
        row("count", &counted(group));
        let runs =
            if group.runs == 0 { "none is known".to_owned() } else { group.runs.to_string() };
        row("runs", &runs);
        row("24 hours", &sparkline(&group.hours, 24));
        row("recovered", &recovery(&group.recovery));
        if group.by_retry > 0 {
            let calls = of(group.by_retry, "call", "calls");
            row("by retry", &format!("{calls} of the tool in 7 days; the model was not told"));
        }
        text
    }
}

fn state(group: &Group) -> String {
    let back = match group.returned {
        0 => String::new(),
        1 => "; it came back once after it was resolved".to_owned(),
        times => format!("; it came back {times} times after it was resolved"),
    };
    let words = match group.state {
        State::Open => "open",
        State::Resolved => "resolved; it opens again when it comes back",
        State::Ignored => "ignored",
    };
    format!("{words}{back}")
}

fn counted(group: &Group) -> String {
    let rate = group.rate.map(|rate| format!(" ({})", percent(rate))).unwrap_or_default();
    let calls = of(group.calls, "call", "calls");
    format!("{} in all; in 7 days {} of {calls} of the tool{rate}", group.all, group.count)
}

/// When and where a sample is of.
fn head(sample: &Sample, number: usize, all: usize, terminal: &Terminal) -> String {
    #[expect(clippy::cast_precision_loss, reason = "microseconds of a call")]
    let seconds = sample.took as f64 / 1e6;
    let at = format!("Sample {number} of {all}, {} UTC", moment(sample.at));
    let tries = of(sample.attempts, "attempt", "attempts");
    let line = format!("{at}: {} after {tries}, {}", one_line(&sample.ending), took(seconds));
    let lines = wrapped(&line, terminal.width);
    let painted = lines.iter().map(|line| terminal.paint(line, Style::Strong) + "\n");
    painted.chain(["\n".to_owned()]).collect()
}

/// What the model was told, and what the developer needs: side by side where there is room.
fn blocks(sample: &Sample, terminal: &Terminal) -> String {
    let told = sample.body["told"].as_str().unwrap_or("(nothing)");
    let (left, right) = ("what the model was told", "what the developer needs");
    let mut text = String::new();
    if terminal.width >= TWO {
        let each = (terminal.width - 3) / 2;
        let developer = developer::lines(sample, each);
        let heads = beside(&[left.to_owned()], &[right.to_owned()], each);
        for line in heads {
            let _ = writeln!(text, "{}", terminal.paint(&line, Style::Faint));
        }
        for line in beside(&wrapped(told, each), &developer, each) {
            let _ = writeln!(text, "{line}");
        }
    } else {
        let most = terminal.width - 2;
        for (name, lines) in [(left, wrapped(told, most)), (right, developer::lines(sample, most))]
        {
            let _ = writeln!(text, "{}", terminal.paint(name, Style::Faint));
            for line in lines {
                let _ = writeln!(text, "{}", format!("  {line}").trim_end());
            }
        }
    }
    if let Some(backtrace) = sample.body["backtrace"].as_str() {
        text.push_str(&self::backtrace(backtrace, terminal));
    }
    text
}

/// The beginning of a backtrace.
fn backtrace(text: &str, terminal: &Terminal) -> String {
    const SHOWN: usize = 12;
    let lines = safe(text);
    let mut told = format!("{}\n", terminal.paint("backtrace", Style::Faint));
    for line in lines.lines().take(SHOWN) {
        let _ = writeln!(told, "  {}", crate::terminal::cut(line, terminal.width - 2));
    }
    let rest = lines.lines().count().saturating_sub(SHOWN);
    if rest > 0 {
        let _ = writeln!(told, "  … {} more; --json has them", of(rest as u64, "line", "lines"));
    }
    told
}
