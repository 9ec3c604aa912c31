//! What can be wrong with the store; never with a call.

/// What a developer reads.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A place that names no database.
    #[error("`{place}` names no database: expected a file, `sqlite:FILE` or `postgres://…`")]
    Place {
        /// The place, without secrets.
        place: String,
    },
    /// The database cannot be used.
    #[error("{step} failed")]
    Database {
        /// What was tried.
        step: &'static str,
        /// Why.
        #[source]
        source: sqlx::Error,
    },
    /// The database was made by another version.
    #[error("the tables of the database cannot be made")]
    Migration(#[source] sqlx::migrate::MigrateError),
    /// The thread that writes did not start.
    #[error("the store's thread did not start")]
    Thread(#[source] std::io::Error),
    /// The directory of the database cannot be made.
    #[error("could not use {}", path.display())]
    File {
        /// The file or directory.
        path: std::path::PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

impl Error {
    pub(crate) fn of(step: &'static str) -> impl Fn(sqlx::Error) -> Self {
        move |source| Self::Database { step, source }
    }
}
