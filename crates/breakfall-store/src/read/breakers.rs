//! Which breakers hold calls back, and where.

use serde::Serialize;

use super::Store;
use crate::backend::on;
use crate::error::Error;

/// A breaker of a guard that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Breaker {
    /// The process whose breaker it is.
    pub node: String,
    /// The upstream; empty for a tool of the program's own.
    pub upstream: String,
    /// The tool; empty for the breaker of the whole upstream.
    pub tool: String,
    /// `open`, `half_open` when its time is up and a call may probe, `closed`.
    pub state: &'static str,
    /// Since when, in milliseconds since 1970.
    pub since: i64,
    /// Until when it holds calls back.
    pub until: Option<i64>,
    /// Why it opened the last time.
    pub why: String,
    /// How often it opened.
    pub opened: u64,
}

impl Store {
    /// The breakers that opened lately: those that hold calls back first.
    pub async fn breakers(&self, now: i64) -> Result<Vec<Breaker>, Error> {
        let rows: Vec<BreakerRow> = on!(&self.backend, pool => sqlx::query_as(BREAKERS)
                .fetch_all(pool)
                .await
                .map_err(Error::of("reading breakers"))?);
        let mut breakers: Vec<Breaker> = rows
            .into_iter()
            .map(|(node, upstream, tool, since, until, why, opened)| {
                let state = match until {
                    Some(until) if until > now => "open",
                    Some(_) => "half_open",
                    None => "closed",
                };
                let opened = opened.unsigned_abs();
                Breaker { node, upstream, tool, state, since, until, why, opened }
            })
            .collect();
        breakers.sort_by_key(|breaker| (breaker.until.is_none(), -breaker.since));
        Ok(breakers)
    }
}

type BreakerRow = (String, String, String, i64, Option<i64>, String, i64);

const BREAKERS: &str = "\
SELECT node, upstream, tool, since, until, why, opened FROM breakers
ORDER BY since DESC LIMIT 1000";
