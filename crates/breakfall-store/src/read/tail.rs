//! What fails, as it fails. Records come in when their calls end and are ordered by when these
//! began: what took long lies behind what is known already.

use std::collections::BTreeSet;

use super::{Sample, SampleRow, Store, sample};
use crate::backend::on;
use crate::batch::MINUTE;
use crate::calendar::now;
use crate::error::Error;

/// How long a call may take and still be seen.
const LOOKBACK: i64 = 10 * MINUTE;

/// How many records are looked at at once.
const AT_ONCE: i64 = 10_000;

/// Follows what fails.
pub struct Tail {
    store: Store,
    /// Where looking begins.
    from: i64,
    seen: BTreeSet<(i64, Vec<u8>)>,
}

impl Store {
    /// Follows what fails. What ended before is passed over, except what began since a moment.
    pub async fn tail(&self, since: Option<i64>, now: i64) -> Result<Tail, Error> {
        let from = since.unwrap_or(now).min(now);
        let mut tail = Tail { store: self.clone(), from, seen: BTreeSet::new() };
        let known = tail.keys(from - LOOKBACK).await?;
        tail.seen.extend(known.into_iter().filter(|(at, _)| since.is_none_or(|since| *at < since)));
        Ok(tail)
    }
}

impl Tail {
    /// What failed since this was asked last, the oldest first.
    pub async fn next(&mut self) -> Result<Vec<Sample>, Error> {
        let mut samples = Vec::new();
        for key in self.keys(self.from - LOOKBACK).await? {
            if self.seen.contains(&key) {
                continue;
            }
            let row: Option<SampleRow> = on!(&self.store.backend, pool => sqlx::query_as(ONE)
                .bind(&key.1)
                .fetch_optional(pool)
                .await
                .map_err(Error::of("reading what failed"))?);
            samples.extend(row.map(sample));
            // A clock that is ahead must not hide what comes after it.
            self.from = self.from.max(key.0.min(now()));
            self.seen.insert(key);
        }
        let first = (self.from - LOOKBACK, Vec::new());
        self.seen = self.seen.split_off(&first);
        Ok(samples)
    }

    /// The names of the records of calls that began since a moment, in their order.
    async fn keys(&self, since: i64) -> Result<Vec<(i64, Vec<u8>)>, Error> {
        let mut keys: Vec<(i64, Vec<u8>)> = Vec::new();
        loop {
            let (at, id) = keys.last().cloned().unwrap_or((since, Vec::new()));
            let more: Vec<(i64, Vec<u8>)> = on!(&self.store.backend, pool => sqlx::query_as(KEYS)
                .bind(at)
                .bind(id)
                .bind(AT_ONCE)
                .fetch_all(pool)
                .await
                .map_err(Error::of("reading what failed"))?);
            let is_all = more.len() < usize::try_from(AT_ONCE).unwrap_or(usize::MAX);
            keys.extend(more);
            if is_all {
                return Ok(keys);
            }
        }
    }
}

pub(super) const KEYS: &str = "\
SELECT at, id FROM records WHERE at >= $1 AND (at > $1 OR id > $2) ORDER BY at, id LIMIT $3";

pub(super) const ONE: &str = "\
SELECT at, took, node, run, call, upstream, tool, ending, attempts, body FROM records
WHERE id = $1 AND group_id IS NOT NULL";
