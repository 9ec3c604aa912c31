//! `breakfall errors`: the groups, in a table.

use std::fmt::Write as _;
use std::time::Duration;

use breakfall::FailureKind;
use breakfall_store::{Group, Groups, Sort, State, Store, Wanted};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::{Reading, lost};
use crate::failed::Failed;
use crate::gate::{Failures, Gate};
use crate::numbers::{of, percent, recovered, span, sparkline};
use crate::period::{Period, length};
use crate::place::unreadable;
use crate::terminal::{Cell, Column, Style, Table, Terminal, json_text, one_line, wrapped};

/// What was first seen within this time is new.
const NEW: i64 = 24 * 3_600_000;

/// From this width on a sparkline has a column for each hour.
const WIDE: usize = 120;

#[derive(Args)]
pub(super) struct List {
    /// How far back
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = length)]
    since: Duration,
    /// Which state
    #[arg(long, value_enum, default_value_t = Which::Open)]
    state: Which,
    /// Only this tool
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Only this server
    #[arg(long, value_name = "NAME")]
    upstream: Option<String>,
    /// Only this kind
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Option<String>,
    /// Which come first
    #[arg(long, value_enum, default_value_t = First::Count)]
    sort: First,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
    #[command(flatten)]
    gate: Gate,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    Open,
    Resolved,
    Ignored,
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum First {
    /// The most frequent
    Count,
    /// Those that are most of their tool's calls
    Rate,
    /// Those that were seen last
    Last,
    /// Those that were seen for the first time last
    New,
}

/// Everything that is printed.
pub(super) struct Listed {
    pub(super) period: Period,
    pub(super) found: Groups,
    pub(super) state: Option<State>,
    pub(super) lost: u64,
}

impl List {
    pub(super) async fn run(self, terminal: &Terminal, now: i64) -> Result<(), Failed> {
        let period = Period::new(self.since, now);
        let nothing = json!({
            "since": period.since, "until": now, "calls": 0, "failed": 0, "rate": null,
            "found": 0, "new": 0, "came_back": 0, "recovery": null, "lost": 0, "groups": [],
        });
        let Some(store) = self.reading.store(nothing).await? else {
            return self.gate.check_nothing();
        };
        let listed = self.read(&store, period).await.map_err(|error| unreadable(&error));
        store.close().await;
        let listed = listed?;
        if self.reading.json {
            say!("{}", json_text(&listed.json()));
        } else {
            print(&listed.render(terminal));
        }
        self.gate.check(listed.failures())
    }

    async fn read(&self, store: &Store, period: Period) -> Result<Listed, breakfall_store::Error> {
        let wanted = Wanted {
            state: self.state.state(),
            upstream: self.upstream.clone(),
            tool: self.tool.clone(),
            kind: self.kind.clone(),
            sort: self.sort.sort(),
            most: self.limit,
            ..Wanted::since(period.since)
        };
        let found = store.list(&wanted, period.now).await?;
        Ok(Listed { period, found, state: wanted.state, lost: store.lost().await? })
    }
}

/// Prints a text that ends with a line.
pub(crate) fn print(text: &str) {
    say!("{}", text.trim_end_matches('\n'));
}

impl Listed {
    fn failures(&self) -> Failures {
        Failures { calls: self.found.calls, failed: self.found.failed }
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "since": self.period.since,
            "until": self.period.now,
            "calls": self.found.calls,
            "failed": self.found.failed,
            "rate": self.failures().rate(),
            "found": self.found.found,
            "new": self.found.new,
            "came_back": self.found.came_back,
            "recovery": self.found.recovery,
            "lost": self.lost,
            "groups": self.found.groups,
        })
    }

    pub(super) fn render(&self, terminal: &Terminal) -> String {
        let state = self.state.map(|state| format!(" {}", state.name())).unwrap_or_default();
        let groups = of(self.found.found, "group", "groups");
        let head = format!("{}: {}, {groups}{state}", self.period.words(), self.failures().words());
        let mut text = wrapped(&head, terminal.width).join("\n");
        text.push('\n');
        if self.found.groups.is_empty() {
            text.push_str("\nNothing failed that is to be shown.\n");
        } else {
            text.push('\n');
            text.push_str(&self.table(terminal).render(terminal));
            text.push_str("\n`breakfall errors show REF` opens one.\n");
        }
        let shown = self.found.groups.len() as u64;
        if self.found.found > shown {
            let more =
                if shown < 1000 { "; --limit shows more" } else { "; a filter shows others" };
            let _ = writeln!(text, "{shown} of {} groups are shown{more}.", self.found.found);
        }
        if let Some(lost) = lost(self.lost) {
            text.push_str(&terminal.paint(&lost, Style::Warn));
            text.push('\n');
        }
        text
    }

    fn table(&self, terminal: &Terminal) -> Table {
        let mut table = Table::new(&[
            Column::left("REF", 0, 0),
            Column::left("24 HOURS", 0, 3),
            Column::right("COUNT", 0),
            Column::right("RATE", 1),
            Column::right("RECOVERED", 2),
            Column::right("RUNS", 7),
            Column::right("LAST", 0),
            Column::left("STATE", 0, 4),
            Column::left("SERVER", 6, 6),
            Column::left("TOOL", 10, 0),
            Column::left("KIND", 9, 0),
            Column::left("MESSAGE", 10, 5),
        ]);
        let hours = if terminal.width < WIDE { 12 } else { 24 };
        for group in &self.found.groups {
            table.push(vec![
                Cell::styled(one_line(&group.reference), Style::Strong),
                sparkline(&group.hours, hours).into(),
                group.count.to_string().into(),
                rate(group),
                recovered(&group.recovery).into(),
                runs(group).into(),
                span(self.period.now - group.last_seen).into(),
                state(group, self.period.now),
                one_line(&group.upstream).into(),
                one_line(&group.tool).into(),
                one_line(&group.kind).into(),
                Cell::styled(one_line(&group.template), Style::Faint),
            ]);
        }
        table
    }
}

/// The share of the calls; with too few of them the bare counts.
fn rate(group: &Group) -> Cell {
    match group.rate {
        Some(rate) if rate >= 0.5 => Cell::styled(percent(rate), Style::Bad),
        Some(rate) => percent(rate).into(),
        None => format!("{} of {}", group.count, group.calls).into(),
    }
}

/// How many runs; where no caller names its runs, none is known.
fn runs(group: &Group) -> String {
    if group.runs == 0 { "–".to_owned() } else { group.runs.to_string() }
}

/// What is to be known of a group beside its counts.
pub(crate) fn state(group: &Group, now: i64) -> Cell {
    match group.state {
        State::Resolved => Cell::styled("resolved", Style::Good),
        State::Ignored => Cell::styled("ignored", Style::Faint),
        State::Open if group.returned > 0 => Cell::styled("back", Style::Bad),
        State::Open if now - group.first_seen < NEW => Cell::styled("new", Style::Warn),
        State::Open => Cell::default(),
    }
}

impl Which {
    fn state(self) -> Option<State> {
        match self {
            Self::Open => Some(State::Open),
            Self::Resolved => Some(State::Resolved),
            Self::Ignored => Some(State::Ignored),
            Self::All => None,
        }
    }
}

impl First {
    fn sort(self) -> Sort {
        match self {
            Self::Count => Sort::Count,
            Self::Rate => Sort::Rate,
            Self::Last => Sort::Last,
            Self::New => Sort::New,
        }
    }
}

/// One of the kinds that there are.
fn kind(text: &str) -> Result<String, String> {
    let names = || FailureKind::ALL.iter().map(|kind| kind.name());
    if names().any(|name| name == text) {
        return Ok(text.to_owned());
    }
    Err(format!("expected one of {}", names().collect::<Vec<_>>().join(", ")))
}
