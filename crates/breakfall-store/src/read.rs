//! What is kept, read again.

mod breakers;
mod called;
mod choices;
mod group;
mod groups;
mod overview;
#[cfg(test)]
mod plans;
mod runs;
mod tail;
mod timeline;
mod tools;

use breakfall::{Config, ConfiguredStore};
use serde::Serialize;
use serde_json::Value;

pub use breakers::Breaker;
pub use choices::Choice;
pub use group::{Group, Recovery, State};
pub use groups::{Groups, Known, Sort, Wanted};
pub use overview::{Marker, Seen, Span, Step};
pub use runs::RunRow;
pub use tail::Tail;
pub use timeline::{Moment, Timeline};
pub use tools::ToolRow;

use crate::backend::{Backend, Place, on};
use crate::batch::Batch;
use crate::error::Error;
use crate::keeper::Keeper;
use crate::place::default_file;
use crate::row::plain;
use crate::sweep::Keep;

/// A database of records.
#[derive(Clone, Debug)]
pub struct Store {
    backend: Backend,
}

/// One call, as it was kept.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Sample {
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// How long it took.
    #[serde(rename = "took_us")]
    pub took: u64,
    /// Which process kept it.
    pub node: String,
    /// Its run.
    pub run: Option<String>,
    /// The caller's id.
    pub call: String,
    /// The upstream.
    pub upstream: String,
    /// The tool.
    pub tool: String,
    /// How it ended.
    pub ending: String,
    /// How many attempts.
    pub attempts: u64,
    /// Everything else.
    pub body: Value,
}

impl Store {
    /// Opens a database to read it: a file, `sqlite:FILE` or `postgres://…`.
    pub async fn open(place: &str) -> Result<Self, Error> {
        let backend = Backend::open_to_read(&Place::parse(place)?).await?;
        Ok(Self { backend })
    }

    /// Opens a database to read it, where anything was kept in it yet.
    pub async fn find(place: &str) -> Result<Option<Self>, Error> {
        let place = Place::parse(place)?;
        if let Place::File(file) = &place
            && !file.try_exists().unwrap_or(true)
        {
            return Ok(None);
        }
        let backend = Backend::open_to_read(&place).await?;
        let tables = match &backend {
            Backend::Sqlite(_) => TABLES,
            Backend::Postgres(_) => TABLES_OF_POSTGRES,
        };
        let found = on!(&backend, pool => sqlx::query(tables)
            .fetch_optional(pool)
            .await
            .map_err(Error::of("looking for tables"))?
            .is_some());
        Ok(found.then_some(Self { backend }))
    }

    /// Keeps records in a database that need not be there yet.
    pub fn keeper(place: &str, node: &str, keep: Keep) -> Result<Keeper, Error> {
        Keeper::start(Place::parse(place)?, node.to_owned(), keep).map_err(Error::Thread)
    }

    /// Keeps records where the configuration says, if it does.
    pub fn configured(config: &Config) -> Result<Option<Keeper>, Error> {
        config.store().map_or(Ok(None), |store| Self::kept(&store))
    }

    /// Keeps records at a place, or the user's own where none is named; a process is told from others
    /// by its host and number.
    pub fn kept(store: &ConfiguredStore) -> Result<Option<Keeper>, Error> {
        let Some(place) = place_of(store) else { return Ok(None) };
        let host = rustix::system::uname();
        let node = format!("{}:{}", host.nodename().to_string_lossy(), std::process::id());
        let keep = Keep::default();
        let keep = Keep {
            records: store.records.unwrap_or(keep.records),
            minutes: store.minutes.unwrap_or(keep.minutes),
            hours: store.hours.unwrap_or(keep.hours),
        };
        Self::keeper(&place, &node, keep).map(Some)
    }

    /// Whether a database can be written: its tables are made where they are missing.
    pub async fn try_writing(place: &str) -> Result<(), Error> {
        let backend = Backend::open(&Place::parse(place)?).await?;
        let written = backend.write(&Batch::default()).await;
        backend.close().await;
        written
    }

    /// The place that the configuration names, or the user's own; nothing where nothing is kept.
    pub fn place(config: &Config) -> Option<String> {
        place_of(&config.store()?)
    }

    /// The newest samples of a group.
    pub async fn samples(&self, group: &Group, most: u32) -> Result<Vec<Sample>, Error> {
        let rows: Vec<SampleRow> = on!(&self.backend, pool => sqlx::query_as(SAMPLES)
            .bind(group.id)
            .bind(i64::from(most))
            .fetch_all(pool)
            .await
            .map_err(Error::of("reading samples"))?);
        Ok(rows.into_iter().map(sample).collect())
    }

    /// The calls of a run, in order.
    pub async fn run(&self, run: &str, most: u32) -> Result<Vec<Sample>, Error> {
        let rows: Vec<SampleRow> = on!(&self.backend, pool => sqlx::query_as(RUN)
            .bind(plain(run))
            .bind(i64::from(most))
            .fetch_all(pool)
            .await
            .map_err(Error::of("reading a run"))?);
        Ok(rows.into_iter().map(sample).collect())
    }

    /// What failed after a moment, the oldest first.
    pub async fn after(&self, at: i64, most: u32) -> Result<Vec<Sample>, Error> {
        let rows: Vec<SampleRow> = on!(&self.backend, pool => sqlx::query_as(AFTER)
            .bind(at)
            .bind(i64::from(most))
            .fetch_all(pool)
            .await
            .map_err(Error::of("reading what failed"))?);
        Ok(rows.into_iter().map(sample).collect())
    }

    /// How many records could not be kept.
    pub async fn lost(&self) -> Result<u64, Error> {
        let lost: Option<(i64,)> = on!(&self.backend, pool => sqlx::query_as(
            "SELECT count FROM facts WHERE name = $1",
        )
        .bind(crate::write::LOST)
        .fetch_optional(pool)
        .await
        .map_err(Error::of("reading what was lost"))?);
        Ok(lost.map_or(0, |lost| lost.0.unsigned_abs()))
    }

    /// Closes the database.
    pub async fn close(&self) {
        self.backend.close().await;
    }
}

fn place_of(store: &ConfiguredStore) -> Option<String> {
    let own = || Some(default_file()?.to_string_lossy().into_owned());
    store.place.clone().or_else(own)
}

type SampleRow = (i64, i64, String, Option<String>, String, String, String, String, i64, String);

/// The table that is made last.
const TABLES: &str = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'facts'";

const TABLES_OF_POSTGRES: &str = "\
SELECT 1 FROM information_schema.tables
WHERE table_schema = current_schema() AND table_name = 'facts'";

const SAMPLES: &str = "\
SELECT at, took, node, run, call, upstream, tool, ending, attempts, body FROM records
WHERE group_id = $1 ORDER BY at DESC LIMIT $2";

const RUN: &str = "\
SELECT at, took, node, run, call, upstream, tool, ending, attempts, body FROM records
WHERE run = $1 ORDER BY at LIMIT $2";

const AFTER: &str = "\
SELECT at, took, node, run, call, upstream, tool, ending, attempts, body FROM records
WHERE at > $1 AND group_id IS NOT NULL ORDER BY at LIMIT $2";

fn sample(row: SampleRow) -> Sample {
    Sample {
        at: row.0,
        took: row.1.unsigned_abs(),
        node: row.2,
        run: row.3,
        call: row.4,
        upstream: row.5,
        tool: row.6,
        ending: row.7,
        attempts: row.8.unsigned_abs(),
        body: serde_json::from_str(&row.9).unwrap_or_default(),
    }
}
