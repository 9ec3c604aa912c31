//! `breakfall wrap`: puts the servers of an MCP client behind the guard, in the client's own file.
//!
//! ```text
//! file → document → edits → diff → yes? → backup, file
//! ```

mod diff;
mod document;
mod edit;
mod file;

use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use self::diff::{Colour, Shown, visible};
use self::document::{Entry, Reason, Server, Unusable, What};
use self::edit::Edit;
use self::file::Source;
use crate::failed::{Failed, reading, writing};

#[derive(Args)]
pub(crate) struct Wrap {
    /// The file where the client keeps its servers, as `mcpServers` or `servers`
    file: PathBuf,
    /// Take the servers out from behind the guard, and leave all else as it is now
    #[arg(long)]
    undo: bool,
    /// Show what would change, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Write without asking
    #[arg(long, short)]
    yes: bool,
}

enum Way {
    /// Behind this program, which is a JSON string.
    In(String),
    Out,
}

/// What becomes of a file.
#[derive(Debug)]
struct Plan {
    text: String,
    changed: Vec<String>,
    left: Vec<(Server, Reason)>,
}

impl Wrap {
    pub(crate) fn run(self) -> Result<(), Failed> {
        let source = Source::read(&self.file)?;
        let way = if self.undo { Way::Out } else { Way::In(program()?) };
        let plan = plan(&source.text, &way).map_err(|why| self.unusable(&source.text, why))?;
        self.show(&source.text, &plan)
            // Not as a closed pipe, which would count as success.
            .map_err(|error| {
                Failed::new("could not show the changes, and made none").because(error.to_string())
            })?;
        if plan.changed.is_empty() || self.dry_run {
            return Ok(());
        }
        source.check_writable(&plan.text)?;
        if !self.yes && io::stdin().is_terminal() && !self.is_confirmed()? {
            tell!("nothing was written");
            return Err(Failed::silently());
        }
        // What is undone was written by `wrap`, which kept what was there before.
        let backup = if self.undo { None } else { Some(source.back_up()?) };
        source.replace(&plan.text)?;
        self.tell(&plan, backup.as_deref()).map_err(writing)
    }

    fn show(&self, text: &str, plan: &Plan) -> io::Result<()> {
        let mut output = io::stdout().lock();
        let name = visible(&self.file.display().to_string());
        if !plan.changed.is_empty() {
            let colour = Colour::wanted(&output);
            let shown = diff::show(&mut output, &name, (text, &plan.text), colour)?;
            writeln!(output)?;
            if shown == Shown::Redacted {
                writeln!(
                    output,
                    "note: secrets are shown as `[redacted:…]`, and stay in the file"
                )?;
            }
        }
        // In the order of the file, so that each line is counted once.
        let (_, body) = split_mark(text);
        let (mut line, mut counted) = (1, 0);
        for (server, reason) in &plan.left {
            line += body.get(counted..server.at).unwrap_or_default().matches('\n').count();
            counted = server.at;
            let key = visible(&server.key);
            writeln!(output, "note: `{key}` (line {line}) is left alone: {}", reason.words())?;
        }
        match (plan.changed.is_empty(), self.undo) {
            (true, false) => writeln!(output, "nothing to wrap in `{name}`"),
            (true, true) => writeln!(output, "nothing to undo in `{name}`"),
            (false, _) if self.dry_run => writeln!(output, "dry run: nothing was written"),
            (false, _) => Ok(()),
        }
    }

    fn is_confirmed(&self) -> Result<bool, Failed> {
        let _ = write!(std::io::stderr(), "write `{}`? [y/N] ", self.file.display());
        let mut answer = String::new();
        io::stdin().lock().take(64).read_line(&mut answer).map_err(reading)?;
        Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
    }

    fn tell(&self, plan: &Plan, backup: Option<&Path>) -> io::Result<()> {
        let mut output = io::stdout().lock();
        let name = self.file.display();
        let now = if self.undo { "no longer behind the guard" } else { "behind the guard" };
        writeln!(output, "{now}: {}", plan.changed.join(", "))?;
        match backup {
            None => writeln!(output, "\nhint: restart the client"),
            Some(backup) => {
                writeln!(output, "`{name}` as it was: `{}`", backup.display())?;
                let hint = "restart the client; `breakfall wrap --undo FILE` takes it back";
                writeln!(output, "\nhint: {hint}")
            }
        }
    }

    fn unusable(&self, text: &str, why: Unusable) -> Failed {
        let name = self.file.display();
        let place = place(&self.file, text, why.at);
        match why.what {
            What::NotJson(what) => Failed::new(format!("`{name}` is not JSON"))
                .because(format!("{place}: {what}"))
                .hint("JSON is accepted, with `//` and `/* */` comments and trailing commas"),
            What::NoServers(what) => Failed::new(format!("`{name}` has no MCP servers"))
                .because(format!("{place}: {what}"))
                .hint(
                    "accepted: `{\"mcpServers\": {\"KEY\": {\"command\": …, \"args\": […]}}}`, \
                     or `servers` outermost or in `mcp`",
                ),
            What::Ours => Failed::new("a fault of Breakfall's own; nothing was written")
                .because(format!("{place}: the changed file would not have the same servers")),
        }
    }
}

/// What becomes of a text.
fn plan(text: &str, way: &Way) -> Result<Plan, Unusable> {
    let (mark, body) = split_mark(text);
    let servers = document::servers(body)?;
    let keys: Vec<String> = servers.iter().map(|server| server.key.clone()).collect();
    let (mut edits, mut changed, mut left) = (Vec::new(), Vec::new(), Vec::new());
    for server in servers {
        match edits_for(body, &server, way) {
            Ok(None) => {}
            Ok(Some(made)) => {
                edits.extend(made);
                changed.push(format!("`{}`", visible(&server.key)));
            }
            Err(reason) => left.push((server, reason)),
        }
    }
    let edited = edit::apply(body, edits);
    // Whatever happened above, a client must be able to read what is written.
    let is_same = document::servers(&edited)
        .is_ok_and(|servers| servers.iter().map(|server| &server.key).eq(&keys));
    if !is_same {
        return Err(Unusable { at: 0, what: What::Ours });
    }
    Ok(Plan { text: format!("{mark}{edited}"), changed, left })
}

fn edits_for(text: &str, server: &Server, way: &Way) -> Result<Option<Vec<Edit>>, Reason> {
    match (&server.entry, way) {
        (Entry::Stdio(stdio), Way::In(program)) => edit::wrap(text, stdio, program).map(Some),
        (Entry::Stdio(stdio), Way::Out) => edit::unwrap(text, stdio),
        (Entry::Other(reason), Way::In(_)) => Err(*reason),
        (Entry::Other(_), Way::Out) => Ok(None),
    }
}

/// Where this program is, as a JSON string: where `PATH` has it, because an upgrade moves what is
/// behind the links of package managers.
fn program() -> Result<String, Failed> {
    let failed = || Failed::new("could not find out where this program is");
    let running = std::env::current_exe().map_err(|error| failed().because(error))?;
    let found = on_path(&running).unwrap_or(running);
    if !found.is_file() {
        return Err(failed().because(format!("`{}` is gone", found.display())));
    }
    let text = found.to_str().ok_or_else(|| failed().because("its path is not UTF-8"))?;
    Ok(serde_json::Value::from(text).to_string())
}

fn on_path(running: &Path) -> Option<PathBuf> {
    let name = running.file_name()?;
    let real = running.canonicalize().ok()?;
    std::env::split_paths(&std::env::var_os("PATH")?)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(|candidate| candidate.canonicalize().is_ok_and(|found| found == real))
}

/// The byte order mark that some editors on Windows begin a file with, and the JSON.
fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

/// `FILE:LINE:COLUMN`.
fn place(path: &Path, text: &str, at: usize) -> String {
    let (line, column) = position(text, at);
    format!("{}:{line}:{column}", path.display())
}

fn position(text: &str, at: usize) -> (usize, usize) {
    let (_, text) = split_mark(text);
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

#[cfg(test)]
mod tests;
