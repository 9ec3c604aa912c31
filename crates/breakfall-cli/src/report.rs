//! `breakfall report`: how calls went, for people who were not there.

mod charts;
mod markdown;
mod page;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use breakfall_store::{Error, Groups, Sample, State, Store, Timeline, ToolRow, Wanted};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use crate::errors::{lost, print};
use crate::failed::{Failed, writing};
use crate::gate::{Failures, Gate};
use crate::guard::block_on;
use crate::period::{Period, length};
use crate::place::{Found, Place, no_store, nothing_yet, unreadable};
use crate::settings::Settings;
use crate::terminal::json_text;

/// How many groups are told of.
const GROUPS: usize = 50;

/// How many are looked through for them.
const LISTED: u32 = 1_000;

/// Of how many a sample is shown.
const SAMPLES: usize = 20;

/// Work that takes longer shows how far it is, so often.
const LONG: Duration = Duration::from_millis(400);
const TICK: Duration = Duration::from_millis(100);

#[derive(Args)]
pub(crate) struct ReportArgs {
    /// How far back
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = length)]
    since: Duration,
    /// As what
    #[arg(long, value_enum, default_value_t = Format::Md)]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    gate: Gate,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Markdown
    Md,
    /// JSON
    Json,
    /// One page that needs nothing else
    Html,
}

/// Everything that a report tells.
pub(crate) struct Report {
    pub(crate) period: Period,
    pub(crate) failures: Failures,
    pub(crate) tools: Vec<ToolRow>,
    pub(crate) timeline: Timeline,
    pub(crate) found: Groups,
    /// The newest sample of the first groups.
    pub(crate) samples: Vec<Option<Sample>>,
    pub(crate) lost: u64,
}

impl ReportArgs {
    pub(crate) fn run(self) -> Result<(), Failed> {
        block_on(async {
            let period = Period::new(self.since, breakfall_store::now());
            let store = match self.place.open(&self.settings.config()?).await? {
                Found::Store(store) => store,
                Found::Nothing(place) if self.place.is_named() => return Err(no_store(&place)),
                Found::Nothing(place) => {
                    tell!("{}", nothing_yet(&place).trim_end());
                    self.write(&Report::nothing(period))?;
                    return self.gate.check_nothing();
                }
            };
            let report = with_a_bar(|bar| Report::read(&store, period, bar)).await;
            store.close().await;
            let report = report.map_err(|error| unreadable(&error))?;
            self.write(&report)?;
            self.gate.check(report.failures)
        })?
    }

    fn write(&self, report: &Report) -> Result<(), Failed> {
        let text = match self.format {
            _ if self.json => json_text(&report.json()),
            Format::Json => json_text(&report.json()),
            Format::Md => markdown::render(report),
            Format::Html => page::render(report),
        };
        let Some(file) = &self.output else {
            print(&text);
            return Ok(());
        };
        std::fs::write(file, text).map_err(|error| {
            Failed::new(format!("could not write `{}`", file.display())).because(error)
        })?;
        std::io::Write::flush(&mut std::io::stdout()).map_err(writing)
    }
}

impl Report {
    fn nothing(period: Period) -> Self {
        Self {
            period,
            failures: Failures::default(),
            tools: Vec::new(),
            timeline: Timeline::default(),
            found: Groups::default(),
            samples: Vec::new(),
            lost: 0,
        }
    }

    /// Reads it all, and moves the bar along.
    async fn read(store: &Store, period: Period, bar: ProgressBar) -> Result<Self, Error> {
        let step = |what: &'static str| {
            bar.set_message(what);
            bar.inc(1);
        };
        step("tools");
        let tools = store.tools(period.since).await?;
        step("time");
        let timeline = store.timeline(period.since, period.now).await?;
        step("groups");
        // However many are ignored, the open ones are shown.
        let wanted = Wanted { most: LISTED, ..Wanted::since(period.since) };
        let mut found = store.list(&wanted, period.now).await?;
        found.groups.retain(|group| group.state != State::Ignored);
        found.groups.truncate(GROUPS);
        step("samples");
        let mut samples = Vec::new();
        bar.inc_length(found.groups.len().min(SAMPLES) as u64);
        for group in found.groups.iter().take(SAMPLES) {
            samples.push(store.samples(group, 1).await?.pop());
            bar.inc(1);
        }
        let lost = store.lost().await?;
        let failures = Failures { calls: found.calls, failed: found.failed };
        Ok(Self { period, failures, tools, timeline, found, samples, lost })
    }

    /// Failures by kind, the most frequent first.
    pub(crate) fn kinds(&self) -> Vec<(String, u64)> {
        let mut kinds: Vec<(String, u64)> = Vec::new();
        for (kind, count) in self.tools.iter().flat_map(|tool| &tool.kinds) {
            match kinds.iter_mut().find(|(name, _)| name == kind) {
                Some((_, sum)) => *sum += count,
                None => kinds.push((kind.clone(), *count)),
            }
        }
        kinds.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        kinds
    }

    /// A count of all tools.
    pub(crate) fn sum(&self, of: impl Fn(&ToolRow) -> u64) -> u64 {
        self.tools.iter().map(of).sum()
    }

    /// What could not be kept, and what is not shown.
    pub(crate) fn notes(&self) -> Vec<String> {
        let shown = self.found.groups.len() as u64;
        let cut = (self.found.found > shown).then(|| {
            format!("{shown} of {} groups are shown, and none that is ignored", self.found.found)
        });
        cut.into_iter().chain(lost(self.lost)).collect()
    }

    fn json(&self) -> Value {
        json!({
            "since": self.period.since,
            "until": self.period.now,
            "calls": self.failures.calls,
            "failed": self.failures.failed,
            "rate": self.failures.rate(),
            "retries": self.sum(|tool| tool.retries),
            "by_retry": self.sum(|tool| tool.by_retry),
            "substituted": self.sum(|tool| tool.substituted),
            "recovery": self.found.recovery,
            "kinds": self.kinds(),
            "timeline": self.timeline,
            "found": self.found.found,
            "new": self.found.new,
            "came_back": self.found.came_back,
            "groups": self.found.groups,
            "tools": self.tools,
            "lost": self.lost,
        })
    }
}

/// Work with a bar on standard error, where that is a terminal and the work takes long.
async fn with_a_bar<W: Future>(work: impl FnOnce(ProgressBar) -> W) -> W::Output {
    let bar = ProgressBar::with_draw_target(Some(4), ProgressDrawTarget::hidden());
    if let Ok(style) = ProgressStyle::with_template("reading {msg:8} {bar:30} {elapsed}") {
        bar.set_style(style);
    }
    let mut work = std::pin::pin!(work(bar.clone()));
    let done = tokio::select! {
        done = &mut work => return done,
        () = tokio::time::sleep(LONG) => {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(TICK);
            work.await
        }
    };
    bar.finish_and_clear();
    done
}
