//! What begins with a slash is for us, not for the model.

use std::collections::BTreeSet;
use std::fmt::Write;

use breakfall::{Ending, Record};
use breakfall_mcp::Session;

use crate::terminal::{cut, one_line};

const HELP: &str = "\
/tools         the tools that can be called, and those that are paused
/errors        what failed in this chat, newest last
/pause TOOL    take a tool away from the model
/unpause TOOL  give it back
/go            go on, when what stopped the model was mended
/quit          end the chat; Ctrl-D does, too
Ctrl-C stops the answer, not the chat.";

/// How many failures are shown.
const SHOWN: usize = 10;

/// What a line that was typed means.
pub(super) enum Typed {
    Nothing,
    Quit,
    /// To be shown.
    Shown(String),
    /// The model goes on.
    GoOn,
    /// Said to the model.
    Words(String),
}

/// The commands, with the tools that they paused.
#[derive(Default)]
pub(super) struct Commands {
    paused: BTreeSet<String>,
}

impl Commands {
    pub(super) fn read(&mut self, line: &str, session: &Session) -> Typed {
        let line = line.trim();
        let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
        let tool = rest.trim();
        match command {
            "" => Typed::Nothing,
            "/quit" | "/exit" => Typed::Quit,
            "/go" => Typed::GoOn,
            "/help" => Typed::Shown(HELP.to_owned()),
            "/tools" => Typed::Shown(self.tools(session)),
            "/errors" => Typed::Shown(errors(session)),
            "/pause" if !tool.is_empty() => {
                Typed::Shown(match session.guard().toolbox().pause(tool) {
                    Ok(()) => {
                        self.paused.insert(tool.to_owned());
                        format!("`{tool}` is paused.")
                    }
                    Err(error) => error.to_string(),
                })
            }
            "/unpause" if !tool.is_empty() => {
                Typed::Shown(match session.guard().toolbox().enable(tool) {
                    Ok(()) => {
                        self.paused.remove(tool);
                        format!("`{tool}` can be called again.")
                    }
                    Err(error) => error.to_string(),
                })
            }
            "/pause" | "/unpause" => Typed::Shown(format!("{command} which tool? See /tools.")),
            _ if command.starts_with('/') && !command[1..].contains('/') => {
                Typed::Shown(format!("`{command}` is no command.\n\n{HELP}"))
            }
            _ => Typed::Words(line.to_owned()),
        }
    }

    fn tools(&self, session: &Session) -> String {
        let mut text = String::new();
        for spec in session.guard().toolbox().callable() {
            let about = spec.description.lines().next().unwrap_or_default();
            let _ = writeln!(text, "{:32} {}", spec.name, cut(&one_line(about), 60));
        }
        for tool in &self.paused {
            let _ = writeln!(text, "{tool:32} (paused)");
        }
        for (key, health) in session.upstreams().filter(|(_, health)| !health.is_up) {
            let why = health.why.unwrap_or_else(|| "it is still starting".to_owned());
            let _ = writeln!(text, "`{key}` is not there: {why}");
        }
        if text.is_empty() { "There are no tools.".to_owned() } else { text.trim_end().to_owned() }
    }
}

fn errors(session: &Session) -> String {
    let samples = session.guard().journal().samples();
    let counts = session.guard().journal().counts();
    if samples.is_empty() {
        return format!("Nothing failed in {} calls.", counts.calls());
    }
    let mut text = String::new();
    for record in &samples[samples.len().saturating_sub(SHOWN)..] {
        let _ = writeln!(text, "{}", line(record));
    }
    let _ = write!(
        text,
        "{} of {} calls failed. A ref leads to the record.",
        counts.failed + counts.abandoned,
        counts.calls()
    );
    text
}

fn line(record: &Record) -> String {
    let failure = record.failure.as_ref();
    let what = failure.map_or(
        match record.ending {
            Ending::Partial => "partial",
            _ => "abandoned",
        },
        |failure| failure.kind.name(),
    );
    let reference = failure.map(|failure| failure.reference.to_string()).unwrap_or_default();
    let said = failure.map(|failure| failure.message.as_str()).filter(|said| !said.is_empty());
    let said = said.or_else(|| record.told.as_deref()?.lines().next()).unwrap_or_default();
    let said = said.lines().next().unwrap_or_default().trim_end_matches(':');
    format!("{reference:6} {:20} {what:20} {}", record.tool, cut(&one_line(said), 100))
}
