//! Where what failed is kept: `--store PLACE`, else where the configuration says, else the file of
//! this user.

use breakfall::Config;
use breakfall_store::Store;
use clap::Args;

use crate::failed::Failed;
use crate::guard::redacted;

#[derive(Args, Default)]
pub(crate) struct Place {
    /// Where what failed is kept: a file, `sqlite:FILE` or `postgres://…`
    #[arg(long = "store", value_name = "PLACE")]
    store: Option<String>,
}

/// What was kept, if anything was.
pub(crate) enum Found {
    Store(Store),
    /// Nothing yet, and where it would be.
    Nothing(String),
}

impl Place {
    /// Whether the person who asks named one.
    pub(crate) fn is_named(&self) -> bool {
        self.store.is_some()
    }

    /// The place that is meant.
    pub(crate) fn place(&self, config: &Config) -> Result<String, Failed> {
        let place = self.store.clone().or_else(|| Store::place(config));
        place.ok_or_else(|| {
            let nothing =
                "nothing is kept: the configuration says so, or there is no home directory";
            Failed::new(nothing)
                .hint("name a store with --store, or keep one: `[store] keep = true`")
        })
    }

    /// Opens what was kept. That nothing was yet is no error.
    pub(crate) async fn open(&self, config: &Config) -> Result<Found, Failed> {
        let place = self.place(config)?;
        let found = Store::find(&place).await.map_err(|error| unreadable(&error))?;
        Ok(found.map_or_else(|| Found::Nothing(redacted(&place)), Found::Store))
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

/// Who names a store means one that is there.
pub(crate) fn no_store(place: &str) -> Failed {
    Failed::new(format!("there is no store in {place}"))
        .hint("name the one that a guard keeps: `breakfall doctor` tells where that is")
}

/// What a person does who wants to see what fails and has kept nothing.
pub(crate) fn nothing_yet(place: &str) -> String {
    format!(
        "Nothing was kept yet in {place}.\n\
         `breakfall guard -- COMMAND` before a server keeps what fails.\n"
    )
}
