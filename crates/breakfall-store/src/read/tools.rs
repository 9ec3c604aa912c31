//! What became of the calls of each tool.

use serde::Serialize;

use super::Store;
use super::group::Group;
use super::groups::hour;
use crate::backend::on;
use crate::error::Error;
use crate::histogram::quantile;

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
    /// The share that failed, where there were enough to speak of one.
    pub rate: Option<f64>,
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

impl Store {
    /// What became of the calls of each tool since a moment.
    pub async fn tools(&self, since: i64) -> Result<Vec<ToolRow>, Error> {
        let rows: Vec<(String, String, String, i64)> = on!(&self.backend, pool => {
            sqlx::query_as(TOOLS)
                .bind(hour(since))
                .fetch_all(pool)
                .await
                .map_err(Error::of("reading tools"))?
        });
        Ok(tools(rows))
    }
}

pub(super) const TOOLS: &str = "\
SELECT upstream, tool, what, CAST(SUM(count) AS BIGINT) FROM rollups
WHERE size = 'hour' AND at >= $1 GROUP BY upstream, tool, what ORDER BY upstream, tool, what";

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
        row.rate = Group::rate_of(row.failed, row.calls);
        row.kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    }
    tools.sort_by_key(|tool| std::cmp::Reverse(tool.calls));
    tools
}
