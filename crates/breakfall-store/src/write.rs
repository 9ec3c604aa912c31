//! A batch becomes groups, hours, samples and rollups, all at once or not at all.

use std::collections::HashMap;

use crate::backend::{Backend, on};
use crate::batch::{Batch, new_id};
use crate::error::Error;
use crate::recovery::Recovered;

/// The name under which lost records are counted.
pub(crate) const LOST: &str = "lost";

/// Runs a statement with its values within a transaction.
macro_rules! run {
    ($all:ident, $step:literal, $statement:expr, $($value:expr),+) => {
        sqlx::query($statement)
            $( .bind($value) )+
            .execute(&mut *$all)
            .await
            .map_err(Error::of($step))?
            .rows_affected()
    };
}

impl Backend {
    /// Writes a batch, unless it is there already.
    pub(crate) async fn write(&self, batch: &Batch) -> Result<(), Error> {
        let (groups, rollups) = (batch.groups(), batch.rollups());
        let at = batch.made_at();
        // A reader that becomes a writer may have to start again; who begins as one waits its turn.
        let begin = match self {
            Self::Sqlite(_) => "BEGIN IMMEDIATE",
            Self::Postgres(_) => "BEGIN",
        };
        on!(self, pool => {
            let mut all = pool.begin_with(begin).await.map_err(Error::of("beginning"))?;
            if run!(all, "writing a batch", BATCH, &batch.id, at) == 0 {
                return Ok(());
            }
            let mut numbers = HashMap::new();
            for (fingerprint, added) in &groups {
                if added.count == 0 {
                    continue;
                }
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
                    runs += run!(all, "writing a run", RUN, number, run, *at).cast_signed();
                }
                if runs > 0 {
                    run!(all, "counting runs", RUNS, runs, number);
                }
                for (hour, count) in &added.hours {
                    run!(all, "writing an hour", HOURS, number, *hour, *count);
                }
                for reference in &added.references {
                    run!(all, "writing a reference", REFERENCE, reference, number);
                }
            }
            // When every group is there: some end in the batch in which they began.
            for (fingerprint, added) in &groups {
                for (how, count) in &added.recovered {
                    run!(all, "counting recoveries", recovered(*how), *count, *fingerprint);
                }
            }
            for row in batch.rows.iter().filter(|row| row.is_kept) {
                let failed = row.failure.as_ref();
                let group = failed.and_then(|failed| numbers.get(failed.fingerprint.as_str()));
                run!(all, "writing a record", RECORD,
                    new_id(row.at), row.at, row.took, &batch.node, row.run.as_deref(), &row.call,
                    &row.upstream, &row.tool, &row.ending, group.copied(), row.attempts, &row.body);
            }
            for ((size, at, upstream, tool, what), count) in &rollups {
                run!(all, "writing a rollup", ROLLUP, *size, *at, upstream, tool, what, *count);
            }
            for (upstream, tool, at, turn) in batch.turns() {
                let state = if turn.until.is_some() { "open" } else { "closed" };
                let opened = i64::from(turn.until.is_some());
                run!(all, "writing a breaker", BREAKER,
                    &batch.node, upstream, tool, state, at, turn.until, &turn.why, opened);
            }
            if batch.lost > 0 {
                run!(all, "counting what was lost", FACT, LOST, batch.lost.cast_signed());
            }
            all.commit().await.map_err(Error::of("writing a batch"))
        })
    }
}

const BATCH: &str = "INSERT INTO batches (id, at) VALUES ($1, $2) ON CONFLICT DO NOTHING";

const RUNS: &str = "UPDATE groups SET runs = runs + $1 WHERE id = $2";

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

// Bounded: names that a model makes up have references without end.
const REFERENCE: &str = "\
INSERT INTO refs (reference, group_id) SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT)
WHERE (SELECT COUNT(*) FROM refs WHERE group_id = $2) < 1000 ON CONFLICT DO NOTHING";

const RECORD: &str = "\
INSERT INTO records
    (id, at, took, node, run, call, upstream, tool, ending, group_id, attempts, body)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING";

const ROLLUP: &str = "\
INSERT INTO rollups (size, at, upstream, tool, what, count) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (size, at, upstream, tool, what)
DO UPDATE SET count = rollups.count + excluded.count";

const BREAKER: &str = "\
INSERT INTO breakers (node, upstream, tool, state, since, until, why, opened)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (node, upstream, tool) DO UPDATE SET
    state = excluded.state, since = excluded.since, until = excluded.until,
    why = CASE WHEN excluded.why = '' THEN breakers.why ELSE excluded.why END,
    opened = breakers.opened + excluded.opened";

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
