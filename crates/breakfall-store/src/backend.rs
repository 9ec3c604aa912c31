//! SQLite and Postgres: the same statements on two pools.

use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::postgres::PgPoolOptions;
use sqlx::sqlite::{
    SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{AssertSqlSafe, Connection, PgConnection, PgPool, SqlSafeStr, SqlitePool};

use crate::error::Error;

/// How long a statement waits for another process that writes.
const BUSY: Duration = Duration::from_secs(5);

/// How long a connection may take.
const CONNECTING: Duration = Duration::from_secs(5);

/// How often a file is opened that others are making, and how long apart.
const TRIES: u32 = 20;
const APART: Duration = Duration::from_millis(25);

/// The tables, as SQLite wants them written.
const FIRST: &str = include_str!("../migrations/1-the-first-tables.sql");

/// A database.
#[derive(Clone, Debug)]
pub(crate) enum Backend {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

/// Runs the same body on whichever pool there is.
macro_rules! on {
    ($backend:expr, $pool:ident => $body:expr) => {
        match $backend {
            $crate::backend::Backend::Sqlite($pool) => $body,
            $crate::backend::Backend::Postgres($pool) => $body,
        }
    };
}
pub(crate) use on;

/// Where a database is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    File(PathBuf),
    Postgres(String),
}

impl Place {
    /// A file, `sqlite:FILE` or `postgres://…`.
    pub(crate) fn parse(place: &str) -> Result<Self, Error> {
        if place.starts_with("postgres://") || place.starts_with("postgresql://") {
            return Ok(Self::Postgres(place.to_owned()));
        }
        let file = place.strip_prefix("sqlite://").or_else(|| place.strip_prefix("sqlite:"));
        let file = file.unwrap_or(place);
        if file.is_empty() || file.contains("://") {
            let place = breakfall::Redactor::default().redact(place).into_owned();
            return Err(Error::Place { place });
        }
        // No shell does it for a configuration.
        let home = file.strip_prefix("~/").zip(std::env::home_dir());
        Ok(Self::File(home.map_or_else(|| PathBuf::from(file), |(below, home)| home.join(below))))
    }
}

impl Place {
    /// Which file it is now; nothing where there is none, or no file at all.
    pub(crate) fn identity(&self) -> Option<(u64, u64)> {
        let Self::File(file) = self else { return None };
        let file = std::fs::metadata(file).ok()?;
        Some((file.dev(), file.ino()))
    }
}

impl Backend {
    /// Opens a database for writing, and makes its tables. Who comes while another process makes
    /// the same file finds half of it, and looks again: one that ends at once has no second turn.
    pub(crate) async fn open(place: &Place) -> Result<Self, Error> {
        for _ in 1..TRIES {
            match Self::made(place).await {
                Err(error) if error.is_of_the_making() => tokio::time::sleep(APART).await,
                done => return done,
            }
        }
        Self::made(place).await
    }

    async fn made(place: &Place) -> Result<Self, Error> {
        let backend = match place {
            Place::File(file) => Self::Sqlite(file_for_writing(file).await?),
            Place::Postgres(url) => connected(url).await?,
        };
        let sql = AssertSqlSafe(backend.tables(FIRST)).into_sql_str();
        let first = Migration::new(1, "the first tables".into(), MigrationType::Simple, sql, false);
        let migrator = Migrator::with_migrations(vec![first]);
        on!(&backend, pool => migrator.run(pool).await).map_err(Error::of_tables)?;
        Ok(backend)
    }

    /// Opens a database that is there, to read it: nothing is made.
    pub(crate) async fn open_to_read(place: &Place) -> Result<Self, Error> {
        match place {
            Place::File(file) => {
                let options = SqliteConnectOptions::new().filename(file).busy_timeout(BUSY);
                let pool = SqlitePoolOptions::new().max_connections(2);
                let pool =
                    pool.connect_with(options).await.map_err(Error::of("opening the file"))?;
                Ok(Self::Sqlite(pool))
            }
            Place::Postgres(url) => {
                reached(url).await?;
                connected(url).await
            }
        }
    }

    /// Tables as this database wants them written.
    fn tables(&self, sqlite: &str) -> String {
        match self {
            Self::Sqlite(_) => sqlite.to_owned(),
            Self::Postgres(_) => sqlite
                .replace(" WITHOUT ROWID", "")
                .replace("BLOB", "BYTEA")
                .replace("INTEGER PRIMARY KEY", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
        }
    }

    /// A process ends, and its breakers with it.
    pub(crate) async fn forget_breakers(&self, node: &str) -> Result<(), Error> {
        on!(self, pool => sqlx::query("DELETE FROM breakers WHERE node = $1")
            .bind(node)
            .execute(pool)
            .await
            .map(|_| ())
            .map_err(Error::of("forgetting breakers")))
    }

    pub(crate) async fn close(&self) {
        on!(self, pool => pool.close().await);
    }
}

/// Whether the database can be reached, for a person who waits: a pool tries on until its time is
/// up, and tells only that.
async fn reached(url: &str) -> Result<(), Error> {
    let connecting = tokio::time::timeout(CONNECTING, PgConnection::connect(url)).await;
    let connection = connecting.map_err(|_| Error::Late)?.map_err(Error::of("connecting"))?;
    connection.close().await.map_err(Error::of("connecting"))
}

async fn connected(url: &str) -> Result<Backend, Error> {
    let pool = PgPoolOptions::new().max_connections(4).acquire_timeout(CONNECTING);
    let pool = pool.connect(url).await.map_err(Error::of("connecting"))?;
    Ok(Backend::Postgres(pool))
}

async fn file_for_writing(file: &Path) -> Result<SqlitePool, Error> {
    if let Some(directory) = file.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
        made.map_err(|source| Error::File { path: directory.to_owned(), source })?;
    }
    // What fails is nobody else's business, also where a directory is shared.
    let made = OpenOptions::new().append(true).create(true).mode(0o600).open(file);
    made.map_err(|source| Error::File { path: file.to_owned(), source })?;
    let options = SqliteConnectOptions::new()
        .filename(file)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        .auto_vacuum(SqliteAutoVacuum::Incremental)
        .foreign_keys(true)
        .busy_timeout(BUSY);
    // One writer: a file has one, whatever is asked for.
    let pool = SqlitePoolOptions::new().max_connections(1).acquire_timeout(CONNECTING);
    pool.connect_with(options).await.map_err(Error::of("opening the file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_file_or_an_address() {
        let file = |name: &str| Place::File(PathBuf::from(name));
        assert_eq!(Place::parse("a/b.db").unwrap(), file("a/b.db"));
        assert_eq!(Place::parse("sqlite:b.db").unwrap(), file("b.db"));
        assert_eq!(Place::parse("sqlite:///b.db").unwrap(), file("/b.db"));
        assert!(!matches!(Place::parse("~/b.db").unwrap(), Place::File(it) if it.starts_with("~")));
        assert!(matches!(Place::parse("postgres://x/y").unwrap(), Place::Postgres(_)));
        let wrong = Place::parse("mysql://bob:hunter2@x/y").unwrap_err().to_string();
        assert!(!wrong.contains("hunter2") && wrong.contains("postgres://…"), "{wrong}");
    }
}
