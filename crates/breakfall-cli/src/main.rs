//! The program `breakfall`: arguments and output only.

/// Prints a line. A reader who had enough is no error, and no reason to panic; what cannot be
/// written for another reason is told in the end.
macro_rules! say {
    ($($words:tt)*) => { crate::failed::printed(format_args!($($words)*)) };
}

/// Says a line to the person at the terminal. That nobody listens is no reason to panic.
macro_rules! tell {
    ($($words:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}

mod aside;
mod chat;
mod config;
mod dashboard;
mod doctor;
mod errors;
mod explain;
mod failed;
mod gate;
mod guard;
mod kept;
mod lines;
mod numbers;
mod period;
mod place;
mod redact;
mod report;
mod settings;
#[cfg(test)]
mod specimen;
mod telemetry;
mod terminal;
mod tools;
mod wrap;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Stands between a model and its tools: what can go on goes on, what cannot stops with the true
/// reason.
#[derive(Parser)]
#[command(name = "breakfall", version, arg_required_else_help = true)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Tell what an error means: its kind, resource and wait, and the words for the model
    Explain(explain::Explain),
    /// Guard MCP servers for the client that started this program
    // Some launchers drop the dashes before a command: whatever is no option of ours begins it.
    #[command(mut_arg("command", |command| command.last(false).trailing_var_arg(true)))]
    Guard(guard::GuardArgs),
    /// Show what failed, in groups
    Errors(errors::Errors),
    /// List the tools of MCP servers, and how their calls went
    Tools(tools::ToolsArgs),
    /// Tell how calls went, as Markdown, JSON or one page of HTML
    Report(report::ReportArgs),
    /// Call a tool and print what the model would read
    Call(guard::CallArgs),
    /// Talk with a model that has tools
    Chat(Box<chat::Chat>),
    /// Show what fails in a browser
    Dashboard(dashboard::Dashboard),
    /// Check the configuration, start each server, list its tools, and tell what is wrong
    Doctor(doctor::Doctor),
    /// Put the servers of an MCP client behind the guard, in the client's own file
    Wrap(wrap::Wrap),
    /// Remove secrets from standard input
    Redact(redact::Redact),
    /// End the servers of a guard that is gone
    #[command(hide = true, name = guard::WATCHDOG)]
    Watchdog,
    /// Serve a demonstration
    #[command(hide = true, name = chat::SERVER)]
    DemoServer,
    /// Check `breakfall.toml`, or print what it may hold
    Config(config::ConfigArgs),
}

fn main() -> ExitCode {
    let done = match Program::parse().command {
        Command::Explain(explain) => explain.run(),
        Command::Redact(redact) => redact.run(),
        Command::Guard(guard) => guard.run(),
        Command::Errors(errors) => errors.run(),
        Command::Report(report) => report.run(),
        Command::Tools(tools) => tools.run(),
        Command::Call(call) => call.run(),
        Command::Chat(chat) => chat.run(),
        Command::DemoServer => {
            chat::server();
            Ok(())
        }
        Command::Dashboard(dashboard) => dashboard.run(),
        Command::Doctor(doctor) => doctor.run(),
        Command::Wrap(wrap) => wrap.run(),
        Command::Watchdog => {
            breakfall_mcp::watch(std::io::stdin().lock());
            Ok(())
        }
        Command::Config(config) => config.run(),
    };
    match done.and_then(|()| failed::all_was_printed()) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of our output had enough.
        Err(failed) if failed.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failed) => {
            // Nobody may listen any more.
            let _ = write!(std::io::stderr(), "{failed}");
            failed.exit()
        }
    }
}
