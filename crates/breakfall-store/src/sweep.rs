//! What is old is deleted, and its room given back.

use std::time::Duration;

use crate::backend::{Backend, on};
use crate::error::Error;

/// How many rows are deleted at once, so that nobody waits long.
const AT_ONCE: i64 = 5_000;

/// How long things are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Samples of calls.
    pub records: Duration,
    /// Counts by minute.
    pub minutes: Duration,
    /// Counts by hour, and groups that were not seen any more.
    pub hours: Duration,
}

impl Default for Keep {
    fn default() -> Self {
        let days = |days: u64| Duration::from_secs(days * 24 * 60 * 60);
        Self { records: days(7), minutes: days(2), hours: days(400) }
    }
}

impl Backend {
    /// Deletes some of what is older than it is kept; true when all of it is gone.
    pub(crate) async fn sweep(&self, keep: &Keep, now: i64) -> Result<bool, Error> {
        let before = |long: Duration| {
            now.saturating_sub(i64::try_from(long.as_millis()).unwrap_or(i64::MAX))
        };
        let mut deleted = 0;
        let mut is_done = true;
        for (statement, before) in [
            (RECORDS, before(keep.records)),
            (BATCHES, before(keep.minutes)),
            (BREAKERS, before(keep.minutes)),
            // They are counted; which they were matters only while they go on.
            (RUNS, before(keep.minutes)),
            (MINUTES, before(keep.minutes)),
            (HOURS, before(keep.hours)),
            (GROUP_HOURS, before(keep.hours)),
            (GROUPS, before(keep.hours)),
        ] {
            let rows = on!(self, pool => sqlx::query(statement)
                .bind(before)
                .bind(AT_ONCE)
                .execute(pool)
                .await
                .map_err(Error::of("deleting what is old"))?
                .rows_affected());
            deleted += rows;
            is_done &= rows < AT_ONCE.unsigned_abs();
        }
        if let (Self::Sqlite(pool), true) = (self, deleted > 0) {
            sqlx::query("PRAGMA incremental_vacuum")
                .execute(pool)
                .await
                .map_err(Error::of("giving room back"))?;
        }
        Ok(is_done)
    }
}

const RECORDS: &str =
    "DELETE FROM records WHERE id IN (SELECT id FROM records WHERE at < $1 ORDER BY at LIMIT $2)";
const BATCHES: &str =
    "DELETE FROM batches WHERE id IN (SELECT id FROM batches WHERE at < $1 ORDER BY at LIMIT $2)";
const BREAKERS: &str = "\
DELETE FROM breakers WHERE (node, upstream, tool) IN
    (SELECT node, upstream, tool FROM breakers WHERE since < $1 LIMIT $2)";
const RUNS: &str = "\
DELETE FROM group_runs WHERE (group_id, run) IN
    (SELECT group_id, run FROM group_runs WHERE at < $1 LIMIT $2)";
const MINUTES: &str = "\
DELETE FROM rollups WHERE size = 'minute' AND (size, at, upstream, tool, what) IN
    (SELECT size, at, upstream, tool, what FROM rollups WHERE size = 'minute' AND at < $1 LIMIT $2)";
const HOURS: &str = "\
DELETE FROM rollups WHERE size = 'hour' AND (size, at, upstream, tool, what) IN
    (SELECT size, at, upstream, tool, what FROM rollups WHERE size = 'hour' AND at < $1 LIMIT $2)";
const GROUP_HOURS: &str = "\
DELETE FROM group_hours WHERE (group_id, at) IN
    (SELECT group_id, at FROM group_hours WHERE at < $1 LIMIT $2)";
const GROUPS: &str =
    "DELETE FROM groups WHERE id IN (SELECT id FROM groups WHERE last_seen < $1 LIMIT $2)";
