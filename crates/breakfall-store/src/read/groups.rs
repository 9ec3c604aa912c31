//! Failures that are one, how often they were, and whether somebody has to look at them.

use std::collections::HashMap;

use serde::Serialize;
use sqlx::Row;

use super::Store;
use crate::backend::on;
use crate::batch::HOUR;
use crate::error::Error;
use crate::recovery::interval;

/// How many hours a sparkline shows.
const SPARKLINE: i64 = 24;

/// Whether somebody still has to look at a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is there.
    Open,
    /// It was mended; it opens again when it comes back.
    Resolved,
    /// Nobody wants to hear of it.
    Ignored,
}

/// Failures that are one: the same upstream, tool, kind and message, what differs from call to call
/// aside.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Group {
    #[serde(skip)]
    pub(super) id: i64,
    /// A reference by which the model and the log know it.
    pub reference: String,
    /// Its name, the same in every database.
    pub fingerprint: String,
    /// The upstream; empty for a tool of the program's own.
    pub upstream: String,
    /// The tool.
    pub tool: String,
    /// The kind.
    pub kind: String,
    /// The message, with what differs masked.
    pub template: String,
    /// When it was first seen, in milliseconds since 1970.
    pub first_seen: i64,
    /// When it was last seen.
    pub last_seen: i64,
    /// How often, in the time that was asked for.
    pub count: u64,
    /// How often in all.
    pub all: u64,
    /// How many runs it was seen in.
    pub runs: u64,
    /// Of how many calls of the tool, in the time that was asked for.
    pub calls: u64,
    /// Whether somebody has to look at it.
    pub state: State,
    /// How often it came back after it was resolved.
    pub returned: u64,
    /// How its runs went on.
    pub recovery: Recovery,
    /// How often in each of the last 24 hours, the newest last.
    pub hours: Vec<u64>,
}

/// How runs went on after failures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Recovery {
    /// The model called the tool again, and it worked.
    pub by_model: u64,
    /// A substitute answered.
    pub by_fallback: u64,
    /// Nothing worked within five calls.
    pub by_nobody: u64,
    /// Nobody knows.
    pub unknown: u64,
}

impl Recovery {
    /// The share that recovered, and where the true one lies nineteen times of twenty.
    pub fn share(&self) -> Option<(f64, f64, f64)> {
        let recovered = self.by_model + self.by_fallback;
        interval(recovered, recovered + self.by_nobody)
    }
}

/// A group of a row, whichever database it is of.
macro_rules! group {
    ($row:ident) => {{
        let text = |name: &str| $row.try_get::<String, _>(name);
        let count = |name: &str| $row.try_get::<i64, _>(name).map(i64::unsigned_abs);
        Group {
            id: $row.try_get("id")?,
            reference: text("reference")?,
            fingerprint: text("fingerprint")?,
            upstream: text("upstream")?,
            tool: text("tool")?,
            kind: text("kind")?,
            template: text("template")?,
            first_seen: $row.try_get("first_seen")?,
            last_seen: $row.try_get("last_seen")?,
            count: count("counted")?,
            all: count("count")?,
            runs: count("runs")?,
            calls: 0,
            state: State::of(&text("state")?),
            returned: count("returned")?,
            recovery: Recovery {
                by_model: count("by_model")?,
                by_fallback: count("by_fallback")?,
                by_nobody: count("by_nobody")?,
                unknown: count("unknown")?,
            },
            hours: Vec::new(),
        }
    }};
}

pub(super) use group;

impl Store {
    /// The groups seen since a moment, the most frequent first.
    pub async fn groups(&self, since: i64, now: i64) -> Result<Vec<Group>, Error> {
        let since_hour = since - since.rem_euclid(HOUR);
        let mut groups: Vec<Group> = on!(&self.backend, pool => sqlx::query(GROUPS)
            .bind(since_hour)
            .fetch_all(pool)
            .await
            .and_then(|rows| rows.iter().map(|row| Ok(group!(row))).collect())
            .map_err(Error::of("reading groups"))?);
        let calls = self.calls(since_hour).await?;
        for group in &mut groups {
            let of =
                |tool: &&(String, String, i64)| tool.0 == group.upstream && tool.1 == group.tool;
            group.calls = calls.iter().find(of).map_or(0, |tool| tool.2.unsigned_abs());
        }
        let first = now - now.rem_euclid(HOUR) - (SPARKLINE - 1) * HOUR;
        let hours: Vec<(i64, i64, i64)> = on!(&self.backend, pool => sqlx::query_as(
            "SELECT group_id, at, count FROM group_hours WHERE at >= $1",
        )
        .bind(first)
        .fetch_all(pool)
        .await
        .map_err(Error::of("reading hours"))?);
        let mut by_group: HashMap<i64, Vec<u64>> = HashMap::new();
        for (group, at, count) in hours {
            let place = usize::try_from((at - first) / HOUR).unwrap_or_default();
            let hours = by_group.entry(group).or_insert_with(|| vec![0; 24]);
            if let Some(hour) = hours.get_mut(place) {
                *hour = count.unsigned_abs();
            }
        }
        for group in &mut groups {
            group.hours = by_group.remove(&group.id).unwrap_or_else(|| vec![0; 24]);
        }
        Ok(groups)
    }

    async fn calls(&self, since: i64) -> Result<Vec<(String, String, i64)>, Error> {
        on!(&self.backend, pool => sqlx::query_as(
            "SELECT upstream, tool, CAST(SUM(count) AS BIGINT) FROM rollups \
             WHERE size = 'hour' AND what = 'calls' AND at >= $1 GROUP BY upstream, tool",
        )
        .bind(since)
        .fetch_all(pool)
        .await
        .map_err(Error::of("reading calls")))
    }

    /// The groups that a reference or the beginning of a fingerprint names.
    pub async fn named(&self, name: &str, now: i64) -> Result<Vec<Group>, Error> {
        let numbers: Vec<(i64,)> = on!(&self.backend, pool => sqlx::query_as(
            "SELECT group_id FROM refs WHERE reference = $1 \
             UNION SELECT id FROM groups WHERE fingerprint = $1",
        )
        .bind(name)
        .fetch_all(pool)
        .await
        .map_err(Error::of("looking for a group"))?);
        let all = self.groups(0, now).await?;
        Ok(all.into_iter().filter(|group| numbers.contains(&(group.id,))).collect())
    }

    /// Resolves or ignores a group, or opens it again.
    pub async fn set_state(&self, group: &Group, state: State, now: i64) -> Result<(), Error> {
        on!(&self.backend, pool => sqlx::query(
            "UPDATE groups SET state = $1, state_at = $2 WHERE id = $3",
        )
        .bind(state.name())
        .bind(now)
        .bind(group.id)
        .execute(pool)
        .await
        .map(|_| ())
        .map_err(Error::of("changing a group")))
    }
}

impl State {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Resolved => "resolved",
            Self::Ignored => "ignored",
        }
    }

    pub(super) fn of(name: &str) -> Self {
        match name {
            "resolved" => Self::Resolved,
            "ignored" => Self::Ignored,
            _ => Self::Open,
        }
    }
}

const GROUPS: &str = "\
SELECT g.*,
    CAST(COALESCE((SELECT SUM(h.count) FROM group_hours h
        WHERE h.group_id = g.id AND h.at >= $1), 0) AS BIGINT) AS counted,
    COALESCE((SELECT MIN(r.reference) FROM refs r WHERE r.group_id = g.id), '') AS reference
FROM groups g WHERE g.last_seen >= $1 ORDER BY counted DESC, g.last_seen DESC LIMIT 1000";
