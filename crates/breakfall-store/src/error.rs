//! What can be wrong with the store; never with a call.

use sqlx::migrate::MigrateError;
use sqlx::postgres::PgDatabaseError;
use sqlx::sqlite::SqliteError;

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
    /// The tables were made by another version of breakfall.
    #[error("the database is of another version of breakfall, probably a newer one")]
    Version,
    /// The tables cannot be made.
    #[error("the tables of the database cannot be made")]
    Migration(#[source] MigrateError),
    /// The database does not answer.
    #[error("the database does not answer")]
    Late,
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
    /// Whether the fault is in what was to be written: another try would end the same.
    pub(crate) fn is_of_the_batch(&self) -> bool {
        let Self::Database { source, .. } = self else { return false };
        let sqlx::Error::Database(source) = source else {
            return matches!(source, sqlx::Error::Encode(_));
        };
        let Some(code) = source.code() else { return false };
        if source.try_downcast_ref::<PgDatabaseError>().is_some() {
            // What the data is, and what it may be.
            return code.starts_with("22") || code.starts_with("23");
        }
        // Too big, a constraint, a mismatch, out of range.
        let primary = code.parse::<u32>().map(|code| code & 0xff);
        matches!(primary, Ok(18 | 19 | 20 | 25))
    }

    /// Whether another process may be making the same file: it is locked, or a table is there that
    /// was not there before.
    pub(crate) fn is_of_the_making(&self) -> bool {
        let (Self::Database { source, .. }
        | Self::Migration(
            MigrateError::Execute(source) | MigrateError::ExecuteMigration(source, _),
        )) = self
        else {
            return false;
        };
        let sqlx::Error::Database(source) = source else { return false };
        let is_sqlite = source.try_downcast_ref::<SqliteError>().is_some();
        let code = source.code().and_then(|code| code.parse::<u32>().ok());
        is_sqlite && matches!(code.map(|code| code & 0xff), Some(1 | 5 | 6))
    }

    /// The error with its causes, on one line.
    pub(crate) fn with_causes(&self) -> String {
        let mut all = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            all = format!("{all}: {error}");
            cause = error.source();
        }
        breakfall::Redactor::default().redact(&all).into_owned()
    }

    pub(crate) fn of_tables(error: MigrateError) -> Self {
        match error {
            MigrateError::VersionMissing(_) | MigrateError::VersionMismatch(_) => Self::Version,
            other => Self::Migration(other),
        }
    }

    pub(crate) fn of(step: &'static str) -> impl Fn(sqlx::Error) -> Self {
        move |source| Self::Database { step, source }
    }
}
