//! Everything at a glance: calls over time, what was recovered, and whether anything changed.

use serde::Serialize;

use super::Store;
use super::group::Recovery;
use crate::backend::on;
use crate::batch::{HOUR, MINUTE};
use crate::error::Error;

/// How far back batches are counted to see whether there is a new one.
const RECENT: i64 = 10 * MINUTE;

/// How finely time is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// By the minute, for the last days.
    Minute,
    /// By the hour, for as long as there are counts.
    Hour,
}

impl Step {
    /// How long it is, in milliseconds.
    pub const fn millis(self) -> i64 {
        match self {
            Self::Minute => MINUTE,
            Self::Hour => HOUR,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Minute => "minute",
            Self::Hour => "hour",
        }
    }
}

/// What became of the calls of some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Span {
    /// When it began, in milliseconds since 1970.
    pub at: i64,
    /// How many calls.
    pub calls: u64,
    /// How many failed, also when nobody waited for the end.
    pub failed: u64,
    /// How many a substitute answered.
    pub substituted: u64,
    /// How many were done in part.
    pub partial: u64,
    /// How many attempts were repeats.
    pub retries: u64,
    /// How many calls succeeded after a repeat.
    pub by_retry: u64,
}

impl Span {
    /// Adds what became of other calls.
    pub fn add(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.failed = self.failed.saturating_add(other.failed);
        self.substituted = self.substituted.saturating_add(other.substituted);
        self.partial = self.partial.saturating_add(other.partial);
        self.retries = self.retries.saturating_add(other.retries);
        self.by_retry = self.by_retry.saturating_add(other.by_retry);
    }

    fn count(&mut self, what: &str, count: u64) {
        let place = match what {
            "calls" => &mut self.calls,
            "failed" | "abandoned" => &mut self.failed,
            "substituted" => &mut self.substituted,
            "partial" => &mut self.partial,
            "retries" => &mut self.retries,
            "by-retry" => &mut self.by_retry,
            _ => return,
        };
        *place = place.saturating_add(count);
    }
}

/// What is different when something was written or changed; nothing else can be told from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marker(Vec<Option<i64>>);

/// A group that was seen a short while ago.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Seen {
    /// Its name.
    pub fingerprint: String,
    /// The tool.
    pub tool: String,
    /// The kind.
    pub kind: String,
    /// When it was first seen.
    pub first_seen: i64,
    /// How often in all.
    pub count: u64,
}

impl Store {
    /// What became of the calls from one moment to another, step by step, also where there were
    /// none. A chart wants each step; nobody wants more than ten thousand.
    pub async fn over_time(&self, since: i64, until: i64, step: Step) -> Result<Vec<Span>, Error> {
        let long = step.millis();
        let first = since - since.rem_euclid(long);
        let steps = (until - first).max(0) / long + 1;
        let first = first + (steps - 10_000).max(0) * long;
        let rows: Vec<(i64, String, i64)> = on!(&self.backend, pool => sqlx::query_as(COUNTS)
        .bind(step.name())
        .bind(first)
        .bind(until)
        .fetch_all(pool)
        .await
        .map_err(Error::of("reading calls over time"))?);
        let mut spans: Vec<Span> = (0..steps.min(10_000))
            .map(|number| Span { at: first + number * long, ..Span::default() })
            .collect();
        for (at, what, count) in rows {
            let place = usize::try_from((at - first) / long).unwrap_or(usize::MAX);
            if let Some(span) = spans.get_mut(place) {
                span.count(&what, count.unsigned_abs());
            }
        }
        Ok(spans)
    }

    /// How runs went on after the failures of all groups that were seen since a moment.
    pub async fn recovery(&self, since: i64) -> Result<Recovery, Error> {
        let sums: (i64, i64, i64, i64) = on!(&self.backend, pool => sqlx::query_as(
            "SELECT CAST(COALESCE(SUM(by_model), 0) AS BIGINT), \
                CAST(COALESCE(SUM(by_fallback), 0) AS BIGINT), \
                CAST(COALESCE(SUM(by_nobody), 0) AS BIGINT), \
                CAST(COALESCE(SUM(unknown), 0) AS BIGINT) \
             FROM groups WHERE last_seen >= $1",
        )
        .bind(since)
        .fetch_one(pool)
        .await
        .map_err(Error::of("reading recoveries"))?);
        Ok(Recovery {
            by_model: sums.0.unsigned_abs(),
            by_fallback: sums.1.unsigned_abs(),
            by_nobody: sums.2.unsigned_abs(),
            unknown: sums.3.unsigned_abs(),
        })
    }

    /// What differs whenever something was written since, or a group was resolved.
    pub async fn marker(&self, now: i64) -> Result<Marker, Error> {
        // Counted from a moment that moves seldom: what falls out of the window is no change.
        let since = now - now.rem_euclid(RECENT) - RECENT;
        let batches: (i64, Option<i64>) = on!(&self.backend, pool => sqlx::query_as(
            "SELECT COUNT(*), MAX(at) FROM batches WHERE at >= $1",
        )
        .bind(since)
        .fetch_one(pool)
        .await
        .map_err(Error::of("looking for what is new"))?);
        let groups: (i64, Option<i64>, Option<i64>) = on!(&self.backend, pool => sqlx::query_as(
            "SELECT COUNT(*), CAST(SUM(count) AS BIGINT), MAX(state_at) FROM groups",
        )
        .fetch_one(pool)
        .await
        .map_err(Error::of("looking for what is new"))?);
        Ok(Marker(vec![Some(batches.0), batches.1, Some(groups.0), groups.1, groups.2]))
    }

    /// The groups that were seen last.
    pub async fn seen_last(&self, most: u32) -> Result<Vec<Seen>, Error> {
        let rows: Vec<(String, String, String, i64, i64)> = on!(&self.backend, pool =>
            sqlx::query_as(
                "SELECT fingerprint, tool, kind, first_seen, count FROM groups \
                 ORDER BY last_seen DESC, id LIMIT $1",
            )
            .bind(i64::from(most))
            .fetch_all(pool)
            .await
            .map_err(Error::of("reading what was seen last"))?);
        let seen = |(fingerprint, tool, kind, first_seen, count): (_, _, _, _, i64)| Seen {
            fingerprint,
            tool,
            kind,
            first_seen,
            count: count.unsigned_abs(),
        };
        Ok(rows.into_iter().map(seen).collect())
    }
}

pub(super) const COUNTS: &str = "\
SELECT at, what, CAST(SUM(count) AS BIGINT) FROM rollups
WHERE size = $1 AND at >= $2 AND at <= $3 AND what IN
    ('calls', 'failed', 'abandoned', 'substituted', 'partial', 'retries', 'by-retry')
GROUP BY at, what";
