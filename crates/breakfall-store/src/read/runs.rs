//! Runs in which something failed.

use serde::Serialize;

use super::Store;
use crate::backend::on;
use crate::error::Error;

/// A run in which something failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RunRow {
    /// Its name.
    pub run: String,
    /// When the first of its failures was, in milliseconds since 1970.
    pub first: i64,
    /// When the last one was that was new to it.
    pub last: i64,
    /// How many different failures there were.
    pub groups: u64,
}

impl Store {
    /// The runs in which something failed since a moment, the latest first.
    pub async fn runs(&self, since: i64, from: u32, most: u32) -> Result<Vec<RunRow>, Error> {
        let rows: Vec<(String, i64, i64, i64)> = on!(&self.backend, pool => sqlx::query_as(
            "SELECT run, MIN(at), MAX(at), COUNT(*) FROM group_runs WHERE at >= $1 \
             GROUP BY run ORDER BY MAX(at) DESC, run LIMIT $2 OFFSET $3",
        )
        .bind(since)
        .bind(i64::from(most))
        .bind(i64::from(from))
        .fetch_all(pool)
        .await
        .map_err(Error::of("reading runs"))?);
        let row = |(run, first, last, groups): (String, i64, i64, i64)| RunRow {
            run,
            first,
            last,
            groups: groups.unsigned_abs(),
        };
        Ok(rows.into_iter().map(row).collect())
    }
}
