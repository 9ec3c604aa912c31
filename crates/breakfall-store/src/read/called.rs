//! How many calls of which tools the failures are a share of.

use std::collections::HashMap;

use super::Store;
use super::group::Group;
use super::groups::{Wanted, hour};
use crate::backend::on;
use crate::error::Error;

/// Calls of each upstream and tool.
#[derive(Default)]
pub(super) struct Called(HashMap<(String, String), Counts>);

#[derive(Clone, Copy, Default)]
struct Counts {
    calls: u64,
    failed: u64,
    by_retry: u64,
}

impl Store {
    /// The calls of each tool since a moment, and how many failed: in one kind, or in any.
    pub(super) async fn called(&self, since: i64, kind: Option<&str>) -> Result<Called, Error> {
        let (failed, abandoned) = match kind {
            Some(kind) => (format!("kind-{kind}"), String::new()),
            None => ("failed".to_owned(), "abandoned".to_owned()),
        };
        let rows: Vec<(String, String, String, i64)> = on!(&self.backend, pool => {
            sqlx::query_as(CALLED)
                .bind(hour(since))
                .bind(failed)
                .bind(abandoned)
                .fetch_all(pool)
                .await
                .map_err(Error::of("reading calls"))?
        });
        let mut called = Called::default();
        for (upstream, tool, what, count) in rows {
            let counts = called.0.entry((upstream, tool)).or_default();
            let sum = match what.as_str() {
                "calls" => &mut counts.calls,
                "by-retry" => &mut counts.by_retry,
                _ => &mut counts.failed,
            };
            *sum += count.unsigned_abs();
        }
        Ok(called)
    }
}

impl Called {
    /// Tells groups of how many calls they are a share.
    pub(super) fn tell(&self, groups: &mut [Group]) {
        for group in groups {
            let key = (group.upstream.clone(), group.tool.clone());
            let counts = self.0.get(&key).copied().unwrap_or_default();
            group.calls = counts.calls;
            group.by_retry = counts.by_retry;
            group.rate = Group::rate_of(group.count, group.calls);
        }
    }

    /// The calls and failures of the tools that are asked for.
    pub(super) fn sum(&self, wanted: &Wanted) -> (u64, u64) {
        let is = |wanted: &Option<String>, name: &String| {
            wanted.as_ref().is_none_or(|wanted| wanted == name)
        };
        let tools = self.0.iter();
        let tools = tools.filter(|((upstream, tool), _)| {
            is(&wanted.upstream, upstream) && is(&wanted.tool, tool)
        });
        tools.fold((0, 0), |sum, (_, counts)| (sum.0 + counts.calls, sum.1 + counts.failed))
    }
}

pub(super) const CALLED: &str = "\
SELECT upstream, tool, what, CAST(SUM(count) AS BIGINT) FROM rollups
WHERE size = 'hour' AND at >= $1 AND what IN ('calls', 'by-retry', $2, $3) GROUP BY upstream, tool, what";
