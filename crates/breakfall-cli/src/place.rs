//! Where what failed is kept: `--store PLACE`, else the file of this user.

use breakfall::Config;
use breakfall_store::{Store, default_file};
use clap::Args;

use crate::failed::Failed;
use crate::guard::redacted;

#[derive(Args)]
pub(crate) struct Place {
    /// Where what failed is kept: a file, `sqlite:FILE` or `postgres://…`
    #[arg(long = "store", value_name = "PLACE")]
    store: Option<String>,
}

/// What was kept, if anything was.
pub(crate) enum Kept {
    Store(Store),
    /// Nothing yet, and where it would be.
    Nothing(String),
}

impl Place {
    /// The place that is meant.
    pub(crate) fn place(&self, _config: &Config) -> Result<String, Failed> {
        if let Some(place) = &self.store {
            return Ok(place.clone());
        }
        let file = default_file().and_then(|file| file.to_str().map(ToOwned::to_owned));
        file.ok_or_else(|| {
            Failed::new("there is no home directory to keep a store in")
                .hint("name one with --store")
        })
    }

    /// Opens what was kept. That nothing was yet is no error.
    pub(crate) async fn open(&self, config: &Config) -> Result<Kept, Failed> {
        let place = self.place(config)?;
        let found = Store::find(&place).await.map_err(|error| unreadable(&error))?;
        Ok(found.map_or_else(|| Kept::Nothing(redacted(&place)), Kept::Store))
    }
}

/// The store cannot be read.
pub(crate) fn unreadable(error: &breakfall_store::Error) -> Failed {
    let failed = Failed::new(error.to_string());
    match std::error::Error::source(error) {
        Some(cause) => failed.because(redacted(&cause.to_string())),
        None => failed,
    }
}

/// What a person does who wants to see what fails and has kept nothing.
pub(crate) fn nothing_yet(place: &str) -> String {
    format!(
        "Nothing was kept yet in {place}.\n\
         `breakfall guard -- COMMAND` before a server keeps what fails.\n"
    )
}
