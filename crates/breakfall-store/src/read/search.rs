//! Groups that somebody looks for, a page at a time.

use std::collections::HashMap;

use sqlx::{AssertSqlSafe, Row};

use super::groups::{Group, Recovery, State, group};
use super::{Store, hour_of};
use crate::backend::on;
use crate::batch::HOUR;
use crate::error::Error;

/// How many hours a sparkline shows.
const SPARKLINE: i64 = 24;

/// Fewer calls prove no share.
const FLOOR: u64 = 3;

/// What groups come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The most frequent.
    #[default]
    Count,
    /// Those that most of their tool's calls end in; a tool with fewer than three calls is last.
    Share,
    /// Those that were seen last.
    LastSeen,
    /// Those that are new.
    FirstSeen,
}

/// What is looked for. What is empty is not asked for.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// Seen since this moment, in milliseconds since 1970.
    pub since: i64,
    /// A reference or a fingerprint.
    pub name: String,
    /// Words of the message, the tool or the upstream.
    pub text: String,
    /// The upstream.
    pub upstream: String,
    /// The tool.
    pub tool: String,
    /// The kind.
    pub kind: String,
    /// Whether somebody has to look at it.
    pub state: Option<State>,
    /// Which come first.
    pub order: Order,
    /// How many are left out before the first.
    pub from: u32,
    /// How many are wanted.
    pub most: u32,
}

/// What was found.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Found {
    /// Those that were asked for.
    pub groups: Vec<Group>,
    /// How many there are in all.
    pub all: u64,
}

/// Binds what is looked for, in the order of `FILTER`.
macro_rules! asked {
    ($statement:expr, $search:ident) => {
        sqlx::query(AssertSqlSafe($statement))
            .bind(hour_of($search.since))
            .bind($search.name.as_str())
            .bind(pattern(&$search.text))
            .bind($search.upstream.as_str())
            .bind($search.tool.as_str())
            .bind($search.kind.as_str())
            .bind($search.state.map_or("", State::name))
    };
}

impl Store {
    /// The groups that somebody looks for.
    pub async fn search(&self, search: &Search, now: i64) -> Result<Found, Error> {
        let order = match search.order {
            Order::Count => "counted DESC, g.last_seen DESC, g.id",
            Order::Share => "share DESC, counted DESC, g.id",
            Order::LastSeen => "g.last_seen DESC, g.id",
            Order::FirstSeen => "g.first_seen DESC, g.id",
        };
        let wanted = format!(
            "{WITH} SELECT g.*, {COLUMNS} FROM groups g {JOINS} {FILTER} \
             ORDER BY {order} LIMIT $8 OFFSET $9"
        );
        let all = format!("SELECT COUNT(*) AS n FROM groups g {FILTER}");
        let (mut groups, all): (Vec<Group>, i64) = on!(&self.backend, pool => {
            let rows = asked!(wanted, search)
                .bind(i64::from(search.most))
                .bind(i64::from(search.from))
                .fetch_all(pool)
                .await
                .map_err(Error::of("reading groups"))?;
            let groups = rows.iter().map(|row| {
                let mut group: Group = group!(row);
                group.calls = row.try_get::<i64, _>("calls").map(i64::unsigned_abs)?;
                Ok(group)
            });
            let groups = groups.collect::<Result<_, _>>().map_err(Error::of("reading groups"))?;
            let all = asked!(all, search).fetch_one(pool).await.and_then(|row| row.try_get("n"));
            (groups, all.map_err(Error::of("counting groups"))?)
        });
        self.draw(&mut groups, now).await?;
        Ok(Found { groups, all: all.unsigned_abs() })
    }

    /// Fills in how often groups were seen in each of the last hours.
    async fn draw(&self, groups: &mut [Group], now: i64) -> Result<(), Error> {
        let first = hour_of(now) - (SPARKLINE - 1) * HOUR;
        for group in groups {
            let hours: Vec<(i64, i64)> = on!(&self.backend, pool => sqlx::query_as(
                "SELECT at, count FROM group_hours WHERE group_id = $1 AND at >= $2",
            )
            .bind(group.id)
            .bind(first)
            .fetch_all(pool)
            .await
            .map_err(Error::of("reading hours"))?);
            let hours: HashMap<i64, i64> = hours.into_iter().collect();
            let of = |hour: i64| hours.get(&(first + hour * HOUR)).map_or(0, |n| n.unsigned_abs());
            group.hours = (0..SPARKLINE).map(of).collect();
        }
        Ok(())
    }

    /// The upstreams, tools and kinds of the groups seen since a moment, to choose from.
    pub async fn choices(&self, since: i64, most: u32) -> Result<Vec<Choice>, Error> {
        let rows: Vec<(String, String, String)> = on!(&self.backend, pool => sqlx::query_as(
            "SELECT DISTINCT upstream, tool, kind FROM groups WHERE last_seen >= $1 \
             ORDER BY upstream, tool, kind LIMIT $2",
        )
        .bind(hour_of(since))
        .bind(i64::from(most))
        .fetch_all(pool)
        .await
        .map_err(Error::of("reading what there is to choose from"))?);
        Ok(rows.into_iter().map(|(upstream, tool, kind)| Choice { upstream, tool, kind }).collect())
    }
}

/// What a group can be looked for by.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// The upstream.
    pub upstream: String,
    /// The tool.
    pub tool: String,
    /// The kind.
    pub kind: String,
}

impl Group {
    /// The share of its tool's calls that end in it, where there are enough to tell.
    #[expect(clippy::cast_precision_loss, reason = "a share of a count")]
    pub fn share(&self) -> Option<f64> {
        (self.calls >= FLOOR).then(|| (self.count as f64 / self.calls as f64).min(1.0))
    }
}

/// A pattern that finds a text wherever it is, and to the letter.
fn pattern(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let mut pattern = String::from("%");
    for letter in text.to_lowercase().chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern + "%"
}

const WITH: &str = "\
WITH counts AS (
    SELECT group_id, CAST(SUM(count) AS BIGINT) AS n FROM group_hours
    WHERE at >= $1 GROUP BY group_id
), called AS (
    SELECT upstream, tool, CAST(SUM(count) AS BIGINT) AS n FROM rollups
    WHERE size = 'hour' AND what = 'calls' AND at >= $1 GROUP BY upstream, tool
)";

const COLUMNS: &str = "\
COALESCE(c.n, 0) AS counted, COALESCE(t.n, 0) AS calls,
CASE WHEN COALESCE(t.n, 0) >= 3 THEN CAST(COALESCE(c.n, 0) AS DOUBLE PRECISION) / t.n ELSE -1 END
    AS share,
COALESCE((SELECT MIN(r.reference) FROM refs r WHERE r.group_id = g.id), '') AS reference";

const JOINS: &str = "\
LEFT JOIN counts c ON c.group_id = g.id
LEFT JOIN called t ON t.upstream = g.upstream AND t.tool = g.tool";

const FILTER: &str = r"
WHERE g.last_seen >= $1
    AND ($2 = '' OR g.fingerprint = $2
        OR g.id IN (SELECT group_id FROM refs WHERE reference = $2))
    AND ($3 = '' OR lower(g.template) LIKE $3 ESCAPE '\' OR lower(g.tool) LIKE $3 ESCAPE '\'
        OR lower(g.upstream) LIKE $3 ESCAPE '\')
    AND ($4 = '' OR g.upstream = $4)
    AND ($5 = '' OR g.tool = $5)
    AND ($6 = '' OR g.kind = $6)
    AND ($7 = '' OR g.state = $7)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_looked_for_is_no_pattern() {
        assert_eq!(pattern(""), "");
        assert_eq!(pattern("50%_\\X"), "%50\\%\\_\\\\x%");
    }
}
