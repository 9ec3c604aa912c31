//! `breakfall config`: what the file may hold, and what is wrong with one.

use std::path::PathBuf;

use breakfall::{Config, Error};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::failed::Failed;
use crate::settings::{FILE, unusable};

#[derive(Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print the JSON Schema of the file
    Schema,
    /// Check a file, and the environment over it
    Check(Check),
}

#[derive(Args)]
struct Check {
    /// The file
    #[arg(default_value = FILE)]
    file: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl ConfigArgs {
    pub(crate) fn run(self) -> Result<(), Failed> {
        match self.command {
            Command::Schema => {
                say!("{:#}", Config::schema());
                Ok(())
            }
            Command::Check(check) => check.run(),
        }
    }
}

impl Check {
    fn run(self) -> Result<(), Failed> {
        let checked = Config::load(&self.file)
            .and_then(|config| config.with_environment(std::env::vars_os()));
        if self.json {
            return as_json(checked);
        }
        let config = checked.map_err(unusable)?;
        say!("`{}` is usable", self.file.display());
        for note in config.notes() {
            say!("note: {note}");
        }
        Ok(())
    }
}

/// A problem is an answer here, and still a failure for whoever asks for the exit status.
fn as_json(checked: Result<Config, Error>) -> Result<(), Failed> {
    match checked {
        Ok(config) => {
            let notes = config.notes();
            say!("{:#}", json!({ "usable": true, "problems": [], "notes": notes }));
            Ok(())
        }
        Err(Error::Config { problems }) => {
            say!("{:#}", json!({ "usable": false, "problems": problems, "notes": [] }));
            Err(Failed::silently())
        }
        Err(error) => Err(unusable(error)),
    }
}
