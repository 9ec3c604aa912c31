//! `breakfall guard`: stands between an MCP client and its servers.

use std::path::PathBuf;
use std::sync::Arc;

use breakfall::{Checking, Guard, Policy};
use breakfall_mcp::{Command, Servers, Session, Watchdog};
use clap::Args;

use crate::failed::Failed;
use crate::settings::Settings;

/// The hidden command that the guard starts beside itself.
pub(crate) const WATCHDOG: &str = "__watchdog";

#[derive(Args)]
pub(crate) struct GuardArgs {
    /// The `mcpServers` that a client has, as JSON
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    mcp_config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
    /// The command of one server, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl GuardArgs {
    pub(crate) fn run(self) -> Result<(), Failed> {
        let servers = self.servers()?;
        let config = self.settings.config()?;
        // Servers take more than their schemas say, and must not be stopped by ours.
        let policy = Policy { checking: Checking::Diagnose, ..Policy::default() };
        let guard = Guard::builder().policy(policy).config(config);
        tracing_subscriber::fmt()
            .with_writer(std::io::stderr)
            .with_ansi(false)
            .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
            .init();
        let watchdog = std::env::current_exe()
            .and_then(|program| Watchdog::start(&program, &[WATCHDOG]))
            .map(Arc::new)
            .ok();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failed::new("could not start").because(error))?;
        let input = tokio::io::BufReader::with_capacity(64 << 10, tokio::io::stdin());
        let session = Session::serve(servers, guard, watchdog, input, tokio::io::stdout());
        let done = runtime.block_on(session);
        // Reading standard input blocks a thread that nothing else would end.
        runtime.shutdown_background();
        done.map_err(|error| Failed::new("the guard stopped").because(error))
    }

    fn servers(&self) -> Result<Servers, Failed> {
        if let Some(command) = Command::typed(&self.command) {
            return Ok(Servers::one(command));
        }
        let Some(file) = &self.mcp_config else {
            return Err(Failed::new("no server to guard")
                .hint("`breakfall guard -- COMMAND ARGS…`, or `--mcp-config FILE`"));
        };
        let unusable = || Failed::new("the configuration of servers cannot be used");
        let text = std::fs::read_to_string(file).map_err(|error| {
            Failed::new(format!("could not read `{}`", file.display())).because(error)
        })?;
        let servers = Servers::from_json(&text, &file.display().to_string())
            .map_err(|error| unusable().because(error))?;
        for left_out in &servers.left_out {
            eprintln!("note: {left_out}");
        }
        if servers.servers.is_empty() {
            return Err(unusable().because("it has no server that can be started"));
        }
        Ok(servers)
    }
}
