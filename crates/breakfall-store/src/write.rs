//! A batch becomes groups, hours, samples and rollups, all at once or not at all.

use crate::backend::{Backend, on};
use crate::batch::{Batch, new_id};
use crate::error::Error;
use crate::recovery::Recovered;

/// The name under which lost records are counted.
pub(crate) const LOST: &str = "lost";

impl Backend {
    /// Writes a batch, unless it is there already.
    pub(crate) async fn write(&self, batch: &Batch) -> Result<(), Error> {
        let (groups, rollups) = (batch.groups(), batch.rollups());
        let at = batch.rows.iter().map(|row| row.at).max().unwrap_or_default();
        // A reader that becomes a writer may have to start again; who begins as one waits its turn.
        let begin = match self {
            Self::Sqlite(_) => "BEGIN IMMEDIATE",
            Self::Postgres(_) => "BEGIN",
        };
        on!(self, pool => {
            let mut all = pool.begin_with(begin).await.map_err(Error::of("beginning"))?;
            let is_new =
                sqlx::query("INSERT INTO batches (id, at) VALUES ($1, $2) ON CONFLICT DO NOTHING")
                    .bind(&batch.id)
                    .bind(at)
                    .execute(&mut *all)
                    .await
                    .map_err(Error::of("writing a batch"))?
                    .rows_affected();
            if is_new == 0 {
                return Ok(());
            }
            let mut numbers = std::collections::HashMap::new();
            for (fingerprint, added) in &groups {
                if added.count > 0 {
                    let number: i64 = sqlx::query_scalar(GROUP)
                        .bind(*fingerprint)
                        .bind(&added.upstream)
                        .bind(&added.tool)
                        .bind(&added.kind)
                        .bind(&added.template)
                        .bind(added.first)
                        .bind(added.last)
                        .bind(added.count)
                        .fetch_one(&mut *all)
                        .await
                        .map_err(Error::of("writing a group"))?;
                    numbers.insert(*fingerprint, number);
                    let mut runs = 0;
                    for (run, at) in &added.runs {
                        let new = sqlx::query(RUN)
                            .bind(number)
                            .bind(run)
                            .bind(*at)
                            .execute(&mut *all)
                            .await
                            .map_err(Error::of("writing a run"))?;
                        runs += new.rows_affected().cast_signed();
                    }
                    if runs > 0 {
                        sqlx::query("UPDATE groups SET runs = runs + $1 WHERE id = $2")
                            .bind(runs)
                            .bind(number)
                            .execute(&mut *all)
                            .await
                            .map_err(Error::of("counting runs"))?;
                    }
                    for (hour, count) in &added.hours {
                        sqlx::query(HOURS)
                            .bind(number)
                            .bind(*hour)
                            .bind(*count)
                            .execute(&mut *all)
                            .await
                            .map_err(Error::of("writing an hour"))?;
                    }
                    for reference in &added.references {
                        sqlx::query(REFERENCE)
                            .bind(reference)
                            .bind(number)
                            .execute(&mut *all)
                            .await
                            .map_err(Error::of("writing a reference"))?;
                    }
                }
                for (how, count) in &added.recovered {
                    sqlx::query(recovered(*how))
                        .bind(*count)
                        .bind(*fingerprint)
                        .execute(&mut *all)
                        .await
                        .map_err(Error::of("counting recoveries"))?;
                }
            }
            for row in batch.rows.iter().filter(|row| row.is_kept) {
                let failed = row.failure.as_ref();
                let group = failed.and_then(|failed| numbers.get(failed.fingerprint.as_str()));
                sqlx::query(RECORD)
                    .bind(new_id(row.at))
                    .bind(row.at)
                    .bind(row.took)
                    .bind(&batch.node)
                    .bind(row.run.as_deref())
                    .bind(&row.call)
                    .bind(&row.upstream)
                    .bind(&row.tool)
                    .bind(&row.ending)
                    .bind(group.copied())
                    .bind(row.attempts)
                    .bind(&row.body)
                    .execute(&mut *all)
                    .await
                    .map_err(Error::of("writing a record"))?;
            }
            for ((size, at, upstream, tool, what), count) in &rollups {
                sqlx::query(ROLLUP)
                    .bind(*size)
                    .bind(*at)
                    .bind(upstream)
                    .bind(tool)
                    .bind(what)
                    .bind(*count)
                    .execute(&mut *all)
                    .await
                    .map_err(Error::of("writing a rollup"))?;
            }
            if batch.lost > 0 {
                sqlx::query(FACT)
                    .bind(LOST)
                    .bind(batch.lost.cast_signed())
                    .execute(&mut *all)
                    .await
                    .map_err(Error::of("counting what was lost"))?;
            }
            all.commit().await.map_err(Error::of("writing a batch"))
        })
    }
}

const GROUP: &str = "\
INSERT INTO groups (fingerprint, upstream, tool, kind, template, first_seen, last_seen, count)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (fingerprint) DO UPDATE SET
    first_seen = CASE WHEN excluded.first_seen < groups.first_seen
        THEN excluded.first_seen ELSE groups.first_seen END,
    last_seen = CASE WHEN excluded.last_seen > groups.last_seen
        THEN excluded.last_seen ELSE groups.last_seen END,
    count = groups.count + excluded.count,
    returned = groups.returned + CASE WHEN groups.state = 'resolved'
        AND excluded.last_seen > groups.state_at THEN 1 ELSE 0 END,
    state_at = CASE WHEN groups.state = 'resolved' AND excluded.last_seen > groups.state_at
        THEN excluded.last_seen ELSE groups.state_at END,
    state = CASE WHEN groups.state = 'resolved' AND excluded.last_seen > groups.state_at
        THEN 'open' ELSE groups.state END
RETURNING id";

const RUN: &str =
    "INSERT INTO group_runs (group_id, run, at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";

const HOURS: &str = "\
INSERT INTO group_hours (group_id, at, count) VALUES ($1, $2, $3)
ON CONFLICT (group_id, at) DO UPDATE SET count = group_hours.count + excluded.count";

const REFERENCE: &str =
    "INSERT INTO refs (reference, group_id) VALUES ($1, $2) ON CONFLICT DO NOTHING";

const RECORD: &str = "\
INSERT INTO records
    (id, at, took, node, run, call, upstream, tool, ending, group_id, attempts, body)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING";

const ROLLUP: &str = "\
INSERT INTO rollups (size, at, upstream, tool, what, count) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (size, at, upstream, tool, what)
DO UPDATE SET count = rollups.count + excluded.count";

const FACT: &str = "\
INSERT INTO facts (name, count) VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE SET count = facts.count + excluded.count";

fn recovered(how: Recovered) -> &'static str {
    match how {
        Recovered::ByModel => "UPDATE groups SET by_model = by_model + $1 WHERE fingerprint = $2",
        Recovered::ByFallback => {
            "UPDATE groups SET by_fallback = by_fallback + $1 WHERE fingerprint = $2"
        }
        Recovered::ByNobody => {
            "UPDATE groups SET by_nobody = by_nobody + $1 WHERE fingerprint = $2"
        }
        Recovered::Unknown => "UPDATE groups SET unknown = unknown + $1 WHERE fingerprint = $2",
    }
}
