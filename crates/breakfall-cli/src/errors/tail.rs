//! `breakfall errors tail`: what fails, as it fails.

use std::io::Write;
use std::time::Duration;

use breakfall_store::Sample;
use clap::Args;
use serde_json::{Value, json};

use super::Reading;
use crate::failed::{Failed, writing};
use crate::numbers::{moment, of, took};
use crate::period::length;
use crate::place::{Found, nothing_yet, unreadable};
use crate::terminal::{Style, Terminal, cut, json_line, one_line, width};

/// How often is looked.
const EVERY: Duration = Duration::from_millis(500);

#[derive(Args)]
pub(super) struct TailArgs {
    /// Begin with what failed in this time
    #[arg(long, value_name = "TIME", value_parser = length)]
    since: Option<Duration>,
    /// Only this tool
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Only this server
    #[arg(long, value_name = "NAME")]
    upstream: Option<String>,
    #[command(flatten)]
    reading: Reading,
}

impl TailArgs {
    /// Prints until nobody reads any more. A store that is not there yet is waited for.
    pub(super) async fn run(self, terminal: &Terminal, now: i64) -> Result<(), Failed> {
        let config = self.reading.settings.config()?;
        let mut since = self.since.map(|long| {
            now.saturating_sub(i64::try_from(long.as_millis()).unwrap_or(i64::MAX)).max(0)
        });
        let mut was_told = false;
        let store = loop {
            match self.reading.place.open(&config).await? {
                Found::Store(store) => break store,
                Found::Nothing(place) if !was_told => {
                    tell!("{}\nWaiting for it; Ctrl-C ends.", nothing_yet(&place));
                    was_told = true;
                    // Whatever is kept from now on is new.
                    since = since.or(Some(now));
                }
                Found::Nothing(_) => tokio::time::sleep(EVERY).await,
            }
        };
        if !was_told && terminal.is_one {
            tell!("Following what fails; Ctrl-C ends.");
        }
        let mut tail = store.tail(since, now).await.map_err(|error| unreadable(&error))?;
        let mut is_away = false;
        loop {
            let samples = match tail.next().await {
                Ok(samples) => samples,
                // A database that is started anew is back soon.
                Err(error) => {
                    if !std::mem::replace(&mut is_away, true) {
                        tell!("{}Trying again; Ctrl-C ends.", unreadable(&error));
                    }
                    Vec::new()
                }
            };
            is_away &= samples.is_empty();
            let mut out = std::io::stdout().lock();
            for sample in samples.iter().filter(|sample| self.is_meant(sample)) {
                let text = if self.reading.json {
                    json_line(&json!(sample))
                } else {
                    line(sample, terminal)
                };
                writeln!(out, "{text}").map_err(writing)?;
            }
            out.flush().map_err(writing)?;
            drop(out);
            tokio::time::sleep(EVERY).await;
        }
    }

    fn is_meant(&self, sample: &Sample) -> bool {
        self.tool.as_ref().is_none_or(|tool| *tool == sample.tool)
            && self.upstream.as_ref().is_none_or(|upstream| *upstream == sample.upstream)
    }
}

/// A failure in one line, which a terminal cuts and a file does not.
pub(super) fn line(sample: &Sample, terminal: &Terminal) -> String {
    let text = |value: &Value| one_line(value.as_str().unwrap_or_default());
    let time = moment(sample.at);
    #[expect(clippy::cast_precision_loss, reason = "microseconds of a call")]
    let seconds = sample.took as f64 / 1e6;
    let tries = match sample.attempts {
        0 | 1 => String::new(),
        attempts => format!(" after {}", of(attempts, "attempt", "attempts")),
    };
    let head = format!("{time}  {}  ", text(&sample.body["reference"]));
    let (tool, kind) = (one_line(&sample.tool), text(&sample.body["kind"]));
    let ending = if sample.ending == "substituted" { ", substituted" } else { "" };
    let message = match text(&sample.body["message"]) {
        message if message.is_empty() => text(&sample.body["told"]),
        message => message,
    };
    let rest = format!("{kind}{tries}, {}{ending}: {message}", took(seconds));
    if !terminal.is_one {
        return format!("{head}{tool}  {rest}");
    }
    let tool = cut(&tool, terminal.width / 4);
    let room = terminal.width.saturating_sub(width(&head) + width(&tool) + 2);
    format!("{head}{}  {}", terminal.paint(&tool, Style::Strong), cut(&rest, room))
}
