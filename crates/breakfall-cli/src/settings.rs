//! The configuration that a command goes by: `--config FILE`, else `./breakfall.toml` when there
//! is one, with the environment over it.

use std::path::{Path, PathBuf};

use breakfall::{Config, Error};
use clap::Args;

use crate::failed::Failed;

/// What the file is called where nobody says otherwise.
pub(crate) const FILE: &str = "breakfall.toml";

#[derive(Args)]
pub(crate) struct Settings {
    /// The configuration; without it `./breakfall.toml` when there is one
    #[arg(long = "config", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl Settings {
    pub(crate) fn config(&self) -> Result<Config, Failed> {
        let read = match &self.file {
            Some(file) => Config::load(file),
            None if Path::new(FILE).exists() => Config::load(FILE),
            None => Ok(Config::default()),
        };
        let read = read.and_then(|config| config.with_environment(std::env::vars_os()));
        read.map_err(unusable)
    }
}

/// A configuration that is not usable, for the person at the terminal.
pub(crate) fn unusable(error: Error) -> Failed {
    match error {
        Error::Config { .. } => Failed::new(error.to_string())
            .hint("`breakfall config schema` prints every key and what it accepts"),
        error => Failed::of(&error),
    }
}
