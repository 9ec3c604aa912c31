//! Where records are kept on disk, for the doors that keep them.

use std::time::Duration;

use super::load::Config;

/// Where records are kept, as the file describes it; where it is silent, the store decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfiguredStore {
    /// A file, `sqlite:FILE` or `postgres://…`.
    pub place: Option<String>,
    /// How long samples of calls are kept.
    pub records: Option<Duration>,
    /// How long counts by minute are kept.
    pub minutes: Option<Duration>,
    /// How long counts by hour are kept, and groups that were not seen any more.
    pub hours: Option<Duration>,
}

impl Config {
    /// Where records are kept on disk; nothing where they are not.
    pub fn store(&self) -> Option<ConfiguredStore> {
        let table = &self.file.store;
        (table.keep != Some(false)).then(|| ConfiguredStore {
            place: table.place.clone(),
            records: table.records.map(Into::into),
            minutes: table.minutes.map(Into::into),
            hours: table.hours.map(Into::into),
        })
    }
}
