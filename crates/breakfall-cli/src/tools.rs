//! `breakfall tools`: the tools that servers offer, and how the calls of each went.

use std::time::Duration;

use breakfall::{Config, Effect, ToolSpec};
use breakfall_mcp::Session;
use breakfall_store::{Breaker, Error, Store, ToolRow};
use clap::Args;
use serde_json::{Value, json};

use crate::errors::{lost, print};
use crate::failed::Failed;
use crate::guard::{Guarded, block_on, own, redacted, stopped, watchdog};
use crate::numbers::{percent, span, took};
use crate::period::{self, Period, length};
use crate::place::{Found, Place, unreadable};
use crate::terminal::{Cell, Column, Style, Table, Terminal, json_text, one_line};

#[derive(Args)]
pub(crate) struct ToolsArgs {
    /// How far back calls are counted
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = length)]
    since: Duration,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    guarded: Guarded,
}

/// A tool that is offered, or was called, or both.
#[derive(Clone, Debug)]
struct Listed {
    spec: Option<ToolSpec>,
    calls: ToolRow,
    /// Its own and those of its upstream, of every process.
    breakers: Vec<Breaker>,
}

/// What was kept of the calls.
#[derive(Default)]
struct Kept {
    tools: Vec<ToolRow>,
    breakers: Vec<Breaker>,
    lost: u64,
}

/// What servers offer, and what is wrong with those that offer nothing.
#[derive(Default)]
struct Offered {
    tools: Vec<ToolSpec>,
    down: Vec<String>,
}

impl ToolsArgs {
    /// Lists the tools, and what is wrong with servers that list none.
    pub(crate) fn run(self) -> Result<(), Failed> {
        let config = self.guarded.config()?;
        let period = Period::new(self.since, period::now());
        block_on(async {
            let offered = self.offered(&config).await?;
            let kept = self.kept(&config, &period).await?;
            let missing = kept.lost;
            let tools = joined(offered.tools, kept);
            if self.json {
                say!("{}", json_text(&as_json(&tools, &period, missing)));
            } else {
                print(&render(&tools, &period, missing, &Terminal::stdout()));
            }
            if offered.down.is_empty() { Ok(()) } else { Err(Failed::new(offered.down.join("\n"))) }
        })?
    }

    async fn offered(&self, config: &Config) -> Result<Offered, Failed> {
        let servers = self.guarded.servers(config)?;
        if servers.servers.is_empty() {
            // Nothing has to be started for the tools of our own.
            let tools = own(&servers)?.iter().map(|entry| entry.spec().clone()).collect();
            return Ok(Offered { tools, down: Vec::new() });
        }
        // No call is made: there is nothing to keep.
        let guard = servers.guard(config);
        let session = Session::alone(servers, guard, watchdog().as_ref()).map_err(stopped)?;
        let mut offered = Offered { tools: session.tools().await, down: Vec::new() };
        for (key, health) in session.upstreams() {
            if !health.is_up {
                let why = health.why.unwrap_or_else(|| "it is still starting".to_owned());
                offered.down.push(format!("`{key}` is not there: {}", redacted(&why)));
            }
        }
        session.end().await;
        Ok(offered)
    }

    /// How calls went. Where nothing was kept, nothing is known.
    async fn kept(&self, config: &Config, period: &Period) -> Result<Kept, Failed> {
        // Who keeps nothing still has tools.
        let is_kept = self.place.is_named() || Store::place(config).is_some();
        let Some(place) = is_kept.then_some(&self.place) else { return Ok(Kept::default()) };
        let Found::Store(store) = place.open(config).await? else { return Ok(Kept::default()) };
        let kept = Kept::read(&store, period).await.map_err(|error| unreadable(&error));
        store.close().await;
        kept
    }
}

impl Kept {
    async fn read(store: &Store, period: &Period) -> Result<Self, Error> {
        let tools = store.tools(period.since).await?;
        let breakers = store.breakers(period.now).await?;
        Ok(Self { tools, breakers, lost: store.lost().await? })
    }
}

/// Offered tools in their order with their calls, then those that were called and are not offered.
fn joined(offered: Vec<ToolSpec>, kept: Kept) -> Vec<Listed> {
    let Kept { tools: mut called, breakers, .. } = kept;
    let mut tools = Vec::new();
    for spec in offered {
        let upstream = spec.upstream.as_deref().unwrap_or_default();
        let is_its = |row: &ToolRow| row.tool == spec.name && row.upstream == upstream;
        let found = called.iter().position(is_its).map(|at| called.remove(at));
        let calls = found.unwrap_or_default();
        tools.push(Listed { spec: Some(spec), calls, breakers: Vec::new() });
    }
    let rest = |calls| Listed { spec: None, calls, breakers: Vec::new() };
    tools.extend(called.into_iter().map(rest));
    for tool in &mut tools {
        let is_its = |breaker: &&Breaker| {
            breaker.upstream == tool.upstream()
                && (breaker.tool == tool.name() || breaker.tool.is_empty())
        };
        tool.breakers = breakers.iter().filter(is_its).cloned().collect();
    }
    tools
}

impl Listed {
    fn name(&self) -> &str {
        self.spec.as_ref().map_or(self.calls.tool.as_str(), |spec| &spec.name)
    }

    fn upstream(&self) -> &str {
        let offered = self.spec.as_ref().and_then(|spec| spec.upstream.as_deref());
        offered.unwrap_or(&self.calls.upstream)
    }

    fn effect(&self) -> Option<&'static str> {
        self.spec.as_ref().map(|spec| match spec.effect {
            Effect::ReadOnly => "read only",
            Effect::Idempotent => "idempotent",
            Effect::Once => "once",
        })
    }

    /// The breaker that holds calls back the most, and for how long.
    fn breaker(&self, now: i64) -> Cell {
        let of = |state: &'static str| self.breakers.iter().filter(move |one| one.state == state);
        if let Some(until) = of("open").filter_map(|breaker| breaker.until).max() {
            return Cell::styled(format!("open {}", span(until - now)), Style::Bad);
        }
        match of("half_open").next() {
            Some(_) => Cell::styled("half open", Style::Warn),
            None if self.breakers.is_empty() => Cell::default(),
            None => "closed".into(),
        }
    }

    fn about(&self) -> &str {
        let about = self.spec.as_ref().map_or("", |spec| spec.description.as_str());
        about.lines().next().unwrap_or_default()
    }
}

fn as_json(tools: &[Listed], period: &Period, lost: u64) -> Value {
    let each = tools.iter().map(|tool| {
        let mut value = json!(tool.calls);
        value["tool"] = json!(tool.name());
        value["upstream"] = json!(tool.upstream());
        value["breakers"] = json!(tool.breakers);
        value["offered"] = json!(tool.spec.is_some());
        value["effect"] = json!(tool.effect());
        value["description"] = json!(tool.spec.as_ref().map(|spec| &spec.description));
        value
    });
    let each: Vec<Value> = each.collect();
    json!({ "since": period.since, "until": period.now, "lost": lost, "tools": each })
}

fn render(tools: &[Listed], period: &Period, missing: u64, terminal: &Terminal) -> String {
    let mut table = Table::new(&[
        Column::left("TOOL", 12, 0),
        Column::left("SERVER", 6, 4),
        Column::right("CALLS", 0),
        Column::right("FAILED", 0),
        Column::right("RATE", 0),
        Column::right("RETRIES", 5),
        Column::right("P50", 6),
        Column::right("P99", 3),
        Column::left("BREAKER", 0, 1),
        Column::left("EFFECT", 0, 7),
        Column::left("ABOUT", 16, 2),
    ]);
    for tool in tools {
        let calls = &tool.calls;
        let was_called = calls.calls > 0;
        let count = |count: u64| if was_called { count.to_string() } else { String::new() };
        let time = |seconds: Option<f64>| seconds.map(took).unwrap_or_default();
        table.push(vec![
            Cell::styled(one_line(tool.name()), Style::Strong),
            one_line(tool.upstream()).into(),
            if was_called { count(calls.calls).into() } else { "–".into() },
            count(calls.failed).into(),
            rate(calls),
            count(calls.retries).into(),
            time(calls.p50).into(),
            time(calls.p99).into(),
            tool.breaker(period.now),
            tool.effect().unwrap_or("not offered").into(),
            Cell::styled(one_line(tool.about()), Style::Faint),
        ]);
    }
    let mut text = match tools.iter().any(|tool| tool.calls.calls > 0) {
        _ if tools.is_empty() => "No tool is offered, and none was called.\n".to_owned(),
        true => format!("Calls from {}\n\n{}", period.words(), table.render(terminal)),
        false => table.render(terminal),
    };
    if let Some(lost) = lost(missing) {
        text.push_str(&terminal.paint(&lost, Style::Warn));
        text.push('\n');
    }
    text
}

/// The share that failed; with too few calls the counts must do.
fn rate(calls: &ToolRow) -> Cell {
    match calls.rate {
        Some(rate) if rate >= 0.5 => Cell::styled(percent(rate), Style::Bad),
        Some(rate) => percent(rate).into(),
        None => Cell::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::specimen::{NOW, WIDTHS, kept};

    fn offered() -> Vec<ToolSpec> {
        let search = ToolSpec::new("search", "Searches the web.\nThen more.");
        let fetch = ToolSpec::new("read_file", "Reads a file\u{1b}[2J.").effect(Effect::ReadOnly);
        vec![search, fetch]
    }

    #[tokio::test]
    async fn offered_tools_stand_beside_what_became_of_their_calls() {
        let kept = kept("tools").await;
        let mut specs = offered();
        specs[1].upstream = Some("files".into());
        let period = Period::new(Duration::from_hours(168), NOW);
        let tools = joined(specs, Kept::read(&kept.store, &period).await.unwrap());
        for width in WIDTHS {
            let terminal = Terminal { width, has_colour: false, is_one: true };
            insta::assert_snapshot!(
                format!("tools-{width}"),
                render(&tools, &period, 2, &terminal)
            );
        }
        insta::assert_snapshot!("tools-json", json_text(&as_json(&tools, &period, 2)));
    }

    #[test]
    fn without_anything_that_is_said() {
        let terminal = Terminal { width: 80, has_colour: false, is_one: true };
        let period = Period::new(Duration::from_hours(1), NOW);
        assert_eq!(
            render(&[], &period, 0, &terminal),
            "No tool is offered, and none was called.\n"
        );
        let tools = joined(offered(), Kept::default());
        insta::assert_snapshot!(render(&tools, &period, 0, &terminal));
    }
}
