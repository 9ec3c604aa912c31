//! Which groups there are, how often they were, and whether somebody has to look at them. Nothing
//! here reads records: there may be millions.

use std::collections::HashMap;

use serde::Serialize;
use sqlx::Row;

use super::Store;
use super::choices::pattern;
use super::group::{Group, Recovery, State};
use crate::backend::on;
use crate::batch::HOUR;
use crate::error::Error;
use crate::row::plain;

/// How many hours a sparkline shows.
const SPARKLINE: i64 = 24;

/// How far back the counts of a group that was asked for by name go.
const WEEK: i64 = 7 * 24 * HOUR;

/// How many groups are listed at most.
const MOST: u32 = 1000;

/// Which groups are wanted, and in which order.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Seen since then, in milliseconds since 1970. Counts begin with the hour.
    pub since: i64,
    /// Only those of a state.
    pub state: Option<State>,
    /// Only those of an upstream.
    pub upstream: Option<String>,
    /// Only those of a tool.
    pub tool: Option<String>,
    /// Only those of a kind.
    pub kind: Option<String>,
    /// Only those whose message, tool or upstream has this text.
    pub text: Option<String>,
    /// Which come first.
    pub sort: Sort,
    /// How many are passed over first.
    pub from: u32,
    /// How many, at most a thousand.
    pub most: u32,
}

/// Which groups come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// The most frequent.
    #[default]
    Count,
    /// Those that are most of their tool's calls.
    Rate,
    /// Those that were seen last.
    Last,
    /// Those that were seen for the first time last.
    New,
}

/// Groups that were found.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Groups {
    /// How many calls there were, of the upstream and the tool that were asked for.
    pub calls: u64,
    /// How many of them failed, in the kind that was asked for.
    pub failed: u64,
    /// How many groups there are, also beyond those that were asked for.
    pub found: u64,
    /// How many of them are open and were first seen in the time that was asked for.
    pub new: u64,
    /// How many of them are open again.
    pub came_back: u64,
    /// How runs went on after all of them, since each was first seen.
    pub recovery: Recovery,
    /// The groups.
    pub groups: Vec<Group>,
}

/// A reference that the model was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Known {
    /// The reference.
    pub reference: String,
    /// The tool.
    pub tool: String,
    /// The kind.
    pub kind: String,
}

impl Wanted {
    /// All groups that were seen since a moment, the most frequent first.
    pub fn since(since: i64) -> Self {
        let (state, upstream, tool, kind, text) = (None, None, None, None, None);
        Self {
            since,
            state,
            upstream,
            tool,
            kind,
            text,
            sort: Sort::default(),
            from: 0,
            most: MOST,
        }
    }
}

/// A group of a row, whichever database it is of.
macro_rules! group {
    ($row:ident) => {{
        let text = |name: &str| $row.try_get::<String, _>(name);
        let count = |name: &str| $row.try_get::<i64, _>(name).map(i64::unsigned_abs);
        let counted = count("counted")?;
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
            count: counted,
            all: count("count")?,
            runs: count("runs")?,
            calls: 0,
            rate: None,
            by_retry: 0,
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

/// What every row of a list tells of all groups.
macro_rules! sums {
    ($row:ident) => {{
        let count = |name: &str| $row.try_get::<i64, _>(name).map(i64::unsigned_abs);
        Groups {
            found: count("found")?,
            new: count("fresh")?,
            came_back: count("back")?,
            recovery: Recovery {
                by_model: count("all_by_model")?,
                by_fallback: count("all_by_fallback")?,
                by_nobody: count("all_by_nobody")?,
                unknown: count("all_unknown")?,
            },
            ..Groups::default()
        }
    }};
}

impl Store {
    /// The groups seen since a moment, the most frequent first.
    pub async fn groups(&self, since: i64, now: i64) -> Result<Vec<Group>, Error> {
        Ok(self.list(&Wanted::since(since), now).await?.groups)
    }

    /// The groups that are wanted.
    pub async fn list(&self, wanted: &Wanted, now: i64) -> Result<Groups, Error> {
        let text = |wanted: &Option<String>| wanted.clone().unwrap_or_default();
        let mut found: Groups = on!(&self.backend, pool => sqlx::query(list(wanted.sort))
            .bind(hour(wanted.since))
            .bind(wanted.state.map_or("", State::name))
            .bind(text(&wanted.upstream))
            .bind(text(&wanted.tool))
            .bind(text(&wanted.kind))
            .bind(i64::from(wanted.most.min(MOST)))
            .bind(pattern(wanted.text.as_deref().unwrap_or_default()))
            .bind(i64::from(wanted.from))
            .fetch_all(pool)
            .await
            .and_then(|rows| {
                let mut found = match rows.first() {
                    Some(row) => sums!(row),
                    None => Groups::default(),
                };
                for row in &rows {
                    found.groups.push(group!(row));
                }
                Ok(found)
            })
            .map_err(Error::of("reading groups"))?);
        let tools = self.called(wanted.since, wanted.kind.as_deref()).await?;
        tools.tell(&mut found.groups);
        self.fill(&mut found.groups, now).await?;
        (found.calls, found.failed) = tools.sum(wanted);
        Ok(found)
    }

    /// Puts the last hours into groups: of few one by one, of many all at once.
    async fn fill(&self, groups: &mut [Group], now: i64) -> Result<(), Error> {
        const FEW: usize = 50;
        let first = first_hour(now);
        if groups.len() <= FEW {
            for group in groups {
                let hours: Vec<(i64, i64)> = on!(&self.backend, pool => sqlx::query_as(HOURS_OF)
                    .bind(group.id)
                    .bind(first)
                    .fetch_all(pool)
                    .await
                    .map_err(Error::of("reading hours"))?);
                group.hours = sparkline(&hours, first);
            }
            return Ok(());
        }
        let hours: Vec<(i64, i64, i64)> = on!(&self.backend, pool => sqlx::query_as(HOURS)
            .bind(first)
            .fetch_all(pool)
            .await
            .map_err(Error::of("reading hours"))?);
        let mut by_group: HashMap<i64, Vec<(i64, i64)>> = HashMap::new();
        for (group, at, count) in hours {
            by_group.entry(group).or_default().push((at, count));
        }
        for group in groups {
            group.hours = sparkline(&by_group.remove(&group.id).unwrap_or_default(), first);
        }
        Ok(())
    }

    /// The groups that a reference, a fingerprint or the beginning of one names, with the counts of
    /// the last seven days.
    pub async fn named(&self, name: &str, now: i64) -> Result<Vec<Group>, Error> {
        let name = &plain(name);
        let named = self.by_name(NAMED, name, now).await?;
        // Nothing that could mean more than itself gets into the pattern.
        let is_beginning =
            name.len() > 4 && name.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        if named.is_empty() && is_beginning {
            return self.by_name(BEGUN, name, now).await;
        }
        Ok(named)
    }

    async fn by_name(
        &self,
        statement: &'static str,
        name: &str,
        now: i64,
    ) -> Result<Vec<Group>, Error> {
        let mut groups: Vec<Group> = on!(&self.backend, pool => sqlx::query(statement)
            .bind(hour(now - WEEK))
            .bind(name)
            .fetch_all(pool)
            .await
            .and_then(|rows| rows.iter().map(|row| Ok(group!(row))).collect())
            .map_err(Error::of("looking for a group"))?);
        let tools = self.called(now - WEEK, None).await?;
        tools.tell(&mut groups);
        self.fill(&mut groups, now).await?;
        Ok(groups)
    }

    /// References that the model was given, those of the groups seen last first.
    pub async fn references(&self, most: u32) -> Result<Vec<Known>, Error> {
        let rows: Vec<(String, String, String)> = on!(&self.backend, pool => {
            sqlx::query_as(REFERENCES)
                .bind(i64::from(most))
                .fetch_all(pool)
                .await
                .map_err(Error::of("reading references"))?
        });
        let known = |(reference, tool, kind)| Known { reference, tool, kind };
        Ok(rows.into_iter().map(known).collect())
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

/// The hour in which a moment lies.
pub(super) fn hour(at: i64) -> i64 {
    at - at.rem_euclid(HOUR)
}

fn first_hour(now: i64) -> i64 {
    hour(now) - (SPARKLINE - 1) * HOUR
}

fn sparkline(counted: &[(i64, i64)], first: i64) -> Vec<u64> {
    let mut hours: Vec<u64> = (0..SPARKLINE).map(|_| 0).collect();
    for (at, count) in counted {
        let place = usize::try_from((at - first) / HOUR).unwrap_or(usize::MAX);
        if let Some(hour) = hours.get_mut(place) {
            *hour = count.unsigned_abs();
        }
    }
    hours
}

/// What is read of groups, with their counts since an hour.
macro_rules! reading {
    ($more:literal, $join:literal, $which:literal, $order:literal) => {
        concat!(
            "SELECT g.*, CAST(COALESCE((SELECT SUM(h.count) FROM group_hours h \
             WHERE h.group_id = g.id AND h.at >= $1), 0) AS BIGINT) AS counted, \
             COALESCE((SELECT MIN(r.reference) FROM refs r WHERE r.group_id = g.id), '') \
             AS reference",
            $more,
            " FROM groups g ",
            $join,
            " WHERE ",
            $which,
            " ORDER BY ",
            $order
        )
    };
}

macro_rules! listing {
    ($join:literal, $order:literal) => {
        reading!(
            ", COUNT(*) OVER () AS found, COUNT(CASE WHEN g.state = 'open' \
             AND g.first_seen >= $1 THEN 1 END) OVER () AS fresh, COUNT(CASE WHEN g.state = 'open' \
             AND g.returned > 0 THEN 1 END) OVER () AS back, \
             CAST(SUM(g.by_model) OVER () AS BIGINT) AS all_by_model, \
             CAST(SUM(g.by_fallback) OVER () AS BIGINT) AS all_by_fallback, \
             CAST(SUM(g.by_nobody) OVER () AS BIGINT) AS all_by_nobody, \
             CAST(SUM(g.unknown) OVER () AS BIGINT) AS all_unknown",
            $join,
            "g.last_seen >= $1 AND ($2 = '' OR g.state = $2) AND ($3 = '' OR g.upstream = $3) \
             AND ($4 = '' OR g.tool = $4) AND ($5 = '' OR g.kind = $5) \
             AND ($7 = '' OR lower(g.template) LIKE $7 ESCAPE '\\' \
             OR lower(g.tool) LIKE $7 ESCAPE '\\' OR lower(g.upstream) LIKE $7 ESCAPE '\\')",
            $order
        )
    };
}

pub(super) fn list(sort: Sort) -> &'static str {
    match sort {
        Sort::Count => listing!("", "counted DESC, g.last_seen DESC, g.id LIMIT $6 OFFSET $8"),
        // A share of one or two calls says nothing, and comes last.
        Sort::Rate => listing!(
            "LEFT JOIN (SELECT upstream, tool, SUM(count) AS calls FROM rollups \
             WHERE size = 'hour' AND what = 'calls' AND at >= $1 GROUP BY upstream, tool) t \
             ON t.upstream = g.upstream AND t.tool = g.tool",
            "CASE WHEN t.calls >= 3 THEN CAST((SELECT SUM(h.count) FROM group_hours h \
             WHERE h.group_id = g.id AND h.at >= $1) AS REAL) / CAST(t.calls AS REAL) \
             ELSE 0 END DESC, counted DESC, g.id LIMIT $6 OFFSET $8"
        ),
        Sort::Last => listing!("", "g.last_seen DESC, g.id LIMIT $6 OFFSET $8"),
        Sort::New => listing!("", "g.first_seen DESC, g.id LIMIT $6 OFFSET $8"),
    }
}

pub(super) const HOURS: &str = "SELECT group_id, at, count FROM group_hours WHERE at >= $1";

pub(super) const HOURS_OF: &str =
    "SELECT at, count FROM group_hours WHERE group_id = $1 AND at >= $2";

pub(super) const NAMED: &str = reading!(
    "",
    "",
    "g.id IN (SELECT group_id FROM refs WHERE reference = $2 \
     UNION SELECT id FROM groups WHERE fingerprint = $2)",
    "g.last_seen DESC, g.id LIMIT 100"
);

pub(super) const BEGUN: &str =
    reading!("", "", "g.fingerprint LIKE $2 || '%'", "g.last_seen DESC, g.id LIMIT 100");

pub(super) const REFERENCES: &str = "\
SELECT r.reference, g.tool, g.kind FROM groups g JOIN refs r ON r.group_id = g.id
ORDER BY g.last_seen DESC, r.reference LIMIT $1";
