//! What is kept, read again.

use serde::Serialize;
use serde_json::Value;

use crate::backend::{Backend, Place, on};
use crate::batch::HOUR;
use crate::error::Error;
use crate::histogram::quantile;
use crate::recovery::interval;
use crate::sweep::Keep;
use crate::writer::Keeper;

/// How many hours a sparkline shows.
const SPARKLINE: i64 = 24;

/// A database of records.
#[derive(Clone, Debug)]
pub struct Store {
    place: Place,
    backend: Backend,
}

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
    id: i64,
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

/// What became of the calls of a tool.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct ToolRow {
    /// The upstream.
    pub upstream: String,
    /// The tool.
    pub tool: String,
    /// How many calls.
    pub calls: u64,
    /// How many failed.
    pub failed: u64,
    /// How many a substitute answered.
    pub substituted: u64,
    /// How many attempts were repeats.
    pub retries: u64,
    /// How many calls succeeded after a repeat.
    pub by_retry: u64,
    /// What half of the calls did not exceed, in seconds.
    pub p50: Option<f64>,
    /// What 99 of 100 did not exceed.
    pub p99: Option<f64>,
    /// Failures by kind.
    pub kinds: Vec<(String, u64)>,
}

/// What could not be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Lost(pub u64);

type GroupRow = (
    i64,
    String,
    String,
    String,
    String,
    String,
    i64,
    i64,
    i64,
    i64,
    i64,
    i64,
    i64,
    i64,
    String,
    i64,
);

impl Store {
    /// Opens a database to read it: a file, `sqlite:FILE` or `postgres://…`.
    pub async fn open(place: &str) -> Result<Self, Error> {
        let place = Place::parse(place)?;
        let backend = Backend::open_to_read(&place).await?;
        Ok(Self { place, backend })
    }

    /// Keeps records in a database that need not be there yet.
    pub fn keeper(place: &str, node: &str, keep: Keep) -> Result<Keeper, Error> {
        let place = Place::parse(place)?;
        let failed = |source| Error::File { path: "the store's thread".into(), source };
        Keeper::start(place, node.to_owned(), keep).map_err(failed)
    }

    /// Whether it is a file.
    pub fn is_local(&self) -> bool {
        matches!(self.place, Place::File(_))
    }

    /// The groups seen since a moment, the most frequent first.
    pub async fn groups(&self, since: i64, now: i64) -> Result<Vec<Group>, Error> {
        let since_hour = since - since.rem_euclid(HOUR);
        let rows: Vec<GroupRow> = on!(&self.backend, pool => sqlx::query_as(GROUPS)
            .bind(since_hour)
            .fetch_all(pool)
            .await
            .map_err(Error::of("reading groups"))?);
        let calls = self.calls(since_hour).await?;
        let mut groups: Vec<Group> = rows
            .into_iter()
            .map(|row| {
                let of = |tool: &(String, String, i64)| tool.0 == row.2 && tool.1 == row.3;
                let calls = calls.iter().find(|tool| of(tool)).map_or(0, |tool| tool.2);
                group(row, calls)
            })
            .collect();
        let first = now - now.rem_euclid(HOUR) - (SPARKLINE - 1) * HOUR;
        let hours: Vec<(i64, i64, i64)> = on!(&self.backend, pool => sqlx::query_as(
            "SELECT group_id, at, count FROM group_hours WHERE at >= $1",
        )
        .bind(first)
        .fetch_all(pool)
        .await
        .map_err(Error::of("reading hours"))?);
        let mut by_group: std::collections::HashMap<i64, Vec<u64>> =
            std::collections::HashMap::new();
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
            .bind(run)
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

    /// What became of the calls of each tool since a moment.
    pub async fn tools(&self, since: i64) -> Result<Vec<ToolRow>, Error> {
        let since = since - since.rem_euclid(HOUR);
        let rows: Vec<(String, String, String, i64)> = on!(&self.backend, pool => sqlx::query_as(
            "SELECT upstream, tool, what, CAST(SUM(count) AS BIGINT) FROM rollups \
             WHERE size = 'hour' AND at >= $1 GROUP BY upstream, tool, what \
             ORDER BY upstream, tool, what",
        )
        .bind(since)
        .fetch_all(pool)
        .await
        .map_err(Error::of("reading tools"))?);
        Ok(tools(rows))
    }

    /// How many records could not be kept.
    pub async fn lost(&self) -> Result<Lost, Error> {
        let lost: Option<(i64,)> = on!(&self.backend, pool => sqlx::query_as(
            "SELECT count FROM facts WHERE name = $1",
        )
        .bind(crate::write::LOST)
        .fetch_optional(pool)
        .await
        .map_err(Error::of("reading what was lost"))?);
        Ok(Lost(lost.map_or(0, |lost| lost.0.unsigned_abs())))
    }

    /// Closes the database.
    pub async fn close(&self) {
        self.backend.close().await;
    }
}

fn tools(rows: Vec<(String, String, String, i64)>) -> Vec<ToolRow> {
    let mut tools: Vec<ToolRow> = Vec::new();
    let mut times: Vec<Vec<(u32, u64)>> = Vec::new();
    for (upstream, tool, what, count) in rows {
        let count = count.unsigned_abs();
        if tools.last().is_none_or(|last| last.upstream != upstream || last.tool != tool) {
            tools.push(ToolRow { upstream, tool, ..ToolRow::default() });
            times.push(Vec::new());
        }
        let (Some(row), Some(times)) = (tools.last_mut(), times.last_mut()) else { continue };
        match what.as_str() {
            "calls" => row.calls = count,
            "failed" | "abandoned" => row.failed += count,
            "substituted" => row.substituted = count,
            "retries" => row.retries = count,
            "by-retry" => row.by_retry = count,
            what => {
                if let Some(bucket) = what.strip_prefix("took-").and_then(|it| it.parse().ok()) {
                    times.push((bucket, count));
                } else if let Some(kind) = what.strip_prefix("kind-") {
                    row.kinds.push((kind.to_owned(), count));
                }
            }
        }
    }
    for (row, times) in tools.iter_mut().zip(&times) {
        row.p50 = quantile(times, 0.5).map(|it| it.as_secs_f64());
        row.p99 = quantile(times, 0.99).map(|it| it.as_secs_f64());
        row.kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    }
    tools.sort_by_key(|tool| std::cmp::Reverse(tool.calls));
    tools
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

    fn of(name: &str) -> Self {
        match name {
            "resolved" => Self::Resolved,
            "ignored" => Self::Ignored,
            _ => Self::Open,
        }
    }
}

const GROUPS: &str = "\
SELECT g.id, g.fingerprint, g.upstream, g.tool, g.kind, g.template, g.first_seen, g.last_seen,
    CAST(COALESCE((SELECT SUM(h.count) FROM group_hours h
        WHERE h.group_id = g.id AND h.at >= $1), 0) AS BIGINT) AS counted,
    g.count, g.runs, g.by_model, g.by_fallback, g.by_nobody,
    g.state || ' ' || COALESCE((SELECT MIN(r.reference) FROM refs r WHERE r.group_id = g.id), '')
        || ' ' || CAST(g.returned AS TEXT),
    g.unknown
FROM groups g WHERE g.last_seen >= $1 ORDER BY counted DESC, g.last_seen DESC LIMIT 1000";

fn group(row: GroupRow, calls: i64) -> Group {
    let mut words = row.14.split(' ');
    let state = State::of(words.next().unwrap_or_default());
    let reference = words.next().unwrap_or_default().to_owned();
    let returned = words.next().and_then(|word| word.parse().ok()).unwrap_or_default();
    Group {
        id: row.0,
        reference,
        fingerprint: row.1,
        upstream: row.2,
        tool: row.3,
        kind: row.4,
        template: row.5,
        first_seen: row.6,
        last_seen: row.7,
        count: row.8.unsigned_abs(),
        all: row.9.unsigned_abs(),
        runs: row.10.unsigned_abs(),
        calls: calls.unsigned_abs(),
        state,
        returned,
        recovery: Recovery {
            by_model: row.11.unsigned_abs(),
            by_fallback: row.12.unsigned_abs(),
            by_nobody: row.13.unsigned_abs(),
            unknown: row.15.unsigned_abs(),
        },
        hours: Vec::new(),
    }
}

type SampleRow = (i64, i64, String, Option<String>, String, String, String, String, i64, String);

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
