//! `breakfall guard`: stands between an MCP client and its servers. `breakfall tools` and
//! `breakfall call` try what it would do.

use std::path::PathBuf;
use std::sync::Arc;

use breakfall::{Call, Checking, Effect, Guard, GuardBuilder, Policy};
use breakfall_mcp::{Command, Error, Servers, Session, Watchdog, files, stdin, stdout};
use clap::Args;

use crate::failed::Failed;
use crate::settings::Settings;

/// The hidden command that the guard starts beside itself.
pub(crate) const WATCHDOG: &str = "__watchdog";

/// Which servers are guarded: those of a file, one command, or the files of this directory.
#[derive(Args)]
struct Guarded {
    /// The `mcpServers` that a client has, as JSON
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    mcp_config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
    /// The command of one server, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

#[derive(Args)]
pub(crate) struct GuardArgs {
    #[command(flatten)]
    guarded: Guarded,
}

#[derive(Args)]
pub(crate) struct ToolsArgs {
    #[command(flatten)]
    guarded: Guarded,
}

#[derive(Args)]
pub(crate) struct CallArgs {
    /// The tool
    tool: String,
    /// Its arguments, as JSON
    #[arg(default_value = "{}")]
    arguments: String,
    #[command(flatten)]
    guarded: Guarded,
}

impl GuardArgs {
    /// Serves the client on standard input and output.
    pub(crate) fn run(self) -> Result<(), Failed> {
        tracing_subscriber::fmt()
            .with_writer(std::io::stderr)
            .with_ansi(false)
            .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
            .init();
        let (servers, guard) = self.guarded.resolve()?;
        let serve = async { Session::serve(servers, guard, watchdog(), stdin(), stdout()).await };
        block_on(serve)?.map_err(stopped)
    }
}

impl ToolsArgs {
    /// Lists the tools, and what is wrong with servers that list none.
    pub(crate) fn run(self) -> Result<(), Failed> {
        let (servers, guard) = self.guarded.resolve()?;
        block_on(async {
            let session = Session::alone(servers, guard, watchdog().as_ref()).map_err(stopped)?;
            for spec in session.tools().await {
                let effect = match spec.effect {
                    Effect::ReadOnly => "read only",
                    Effect::Idempotent => "idempotent",
                    Effect::Once => "once",
                };
                let about = spec.description.lines().next().unwrap_or_default();
                println!("{:32} {effect:10} {}", spec.name, shortened(about));
            }
            let mut down = Vec::new();
            for (key, health) in session.upstreams() {
                if !health.is_up {
                    let why = health.why.unwrap_or_else(|| "it is still starting".to_owned());
                    down.push(format!("`{key}` is not there: {}", redacted(&why)));
                }
            }
            session.end().await;
            if down.is_empty() { Ok(()) } else { Err(Failed::new(down.join("\n"))) }
        })?
    }
}

impl CallArgs {
    /// Calls a tool and prints what the model would read.
    pub(crate) fn run(self) -> Result<(), Failed> {
        let (servers, guard) = self.guarded.resolve()?;
        block_on(async {
            let session = Session::alone(servers, guard, watchdog().as_ref()).map_err(stopped)?;
            session.tools().await;
            let reply = session.call_tool(Call::new("call", self.tool, self.arguments)).await;
            session.end().await;
            println!("{}", reply.text);
            if reply.is_error { Err(Failed::silently()) } else { Ok(()) }
        })?
    }
}

impl Guarded {
    fn resolve(&self) -> Result<(Servers, GuardBuilder), Failed> {
        let config = self.settings.config()?;
        // Servers take more than their schemas say, and must not be stopped by ours.
        let policy = Policy { checking: Checking::Diagnose, ..Policy::default() };
        let mut guard = Guard::builder().policy(policy).config(config);
        let servers = self.servers()?;
        if servers.servers.is_empty() {
            let here = std::env::current_dir().and_then(|here| files(&here));
            guard = guard.tools(here.map_err(|error| {
                Failed::new("could not read the current directory").because(error)
            })?);
        }
        Ok((servers, guard))
    }

    fn servers(&self) -> Result<Servers, Failed> {
        if let Some(command) = Command::typed(&self.command) {
            return Ok(Servers::one(command));
        }
        let Some(file) = &self.mcp_config else { return Ok(Servers::default()) };
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

fn watchdog() -> Option<Arc<Watchdog>> {
    let program = std::env::current_exe().ok()?;
    Watchdog::start(&program, &[WATCHDOG]).map(Arc::new).ok()
}

fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Failed> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failed::new("could not start").because(error))?;
    let done = runtime.block_on(work);
    // Reading standard input blocks a thread that nothing else would end.
    runtime.shutdown_background();
    Ok(done)
}

fn stopped(error: Error) -> Failed {
    Failed::new("the guard stopped").because(error)
}

fn shortened(text: &str) -> String {
    let short: String = text.chars().take(80).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

/// What a server wrote may hold a secret, on a terminal too.
fn redacted(text: &str) -> String {
    breakfall::Redactor::default().redact(text).into_owned()
}
