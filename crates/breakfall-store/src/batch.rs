//! Rows on their way to the database: a batch is written once, however often it is tried.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};

use crate::fingerprint::fingerprint;
use crate::histogram::bucket;
use crate::recovery::Recovered;
use crate::row::{Row, Turn, counted};

/// Of one group, so many samples a minute are kept whole; of the rest one in so many.
const WHOLE: u64 = 100;
const ONE_IN: u64 = 100;

/// How many groups a tool has for a kind of failure; the rest is one more.
const GROUPS: usize = 200;

/// The template of the rest.
const OTHERS: &str = "(messages of many other sorts)";

/// Of calls that did not fail, so many a minute are kept, and none without a run.
const SUCCESSES: u64 = 1_000;

pub(crate) const MINUTE: i64 = 60_000;
pub(crate) const HOUR: i64 = 60 * MINUTE;

/// Rows that are written together.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Batch {
    /// Never the same again: a batch that is there already is not written twice.
    pub(crate) id: Vec<u8>,
    pub(crate) node: String,
    pub(crate) rows: Vec<Row>,
    /// What is known of how failures ended.
    pub(crate) recovered: BTreeMap<String, BTreeMap<Recovered, i64>>,
    /// How many records were lost before these.
    pub(crate) lost: u64,
}

/// What a batch adds to the counts of a group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Added {
    pub(crate) upstream: String,
    pub(crate) tool: String,
    pub(crate) kind: String,
    pub(crate) template: String,
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) count: i64,
    pub(crate) hours: BTreeMap<i64, i64>,
    pub(crate) runs: BTreeMap<String, i64>,
    pub(crate) references: Vec<String>,
    pub(crate) recovered: BTreeMap<Recovered, i64>,
}

/// Minutes or hours, when, upstream, tool, what.
pub(crate) type Rolled = (&'static str, i64, String, String, String);

impl Batch {
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.recovered.is_empty() && self.lost == 0
    }

    /// When it was made: its id begins with that.
    pub(crate) fn made_at(&self) -> i64 {
        self.id.first_chunk().map_or(0, |at| i64::from_be_bytes(*at))
    }

    /// How many calls it tells of.
    pub(crate) fn calls(&self) -> u64 {
        self.rows.iter().map(|row| row.times.unsigned_abs()).sum()
    }

    /// What the batch adds to each group, by fingerprint, in the same order everywhere: two writers
    /// that wait for one another would wait for ever.
    pub(crate) fn groups(&self) -> BTreeMap<&str, Added> {
        let mut groups: BTreeMap<&str, Added> = BTreeMap::new();
        for row in &self.rows {
            let Some(failed) = &row.failure else { continue };
            let group = groups.entry(&failed.fingerprint).or_insert_with(|| Added {
                upstream: row.upstream.clone(),
                tool: row.counted_as().to_owned(),
                kind: failed.kind.clone(),
                template: failed.template.clone(),
                first: row.at,
                last: row.at,
                ..Added::default()
            });
            group.first = group.first.min(row.at);
            group.last = group.last.max(row.at);
            group.count += row.times;
            *group.hours.entry(row.at - row.at.rem_euclid(HOUR)).or_default() += row.times;
            if let Some(run) = &row.run {
                group.runs.insert(run.clone(), row.at);
            }
            if !group.references.contains(&failed.reference) {
                group.references.push(failed.reference.clone());
            }
        }
        for (fingerprint, recovered) in &self.recovered {
            groups.entry(fingerprint).or_default().recovered.clone_from(recovered);
        }
        groups
    }

    /// The breakers that turned: upstream, tool (none for that of the whole upstream), when.
    pub(crate) fn turns(&self) -> impl Iterator<Item = (&str, &str, i64, &Turn)> {
        self.rows.iter().flat_map(|row| {
            let ended = row.at.saturating_add(row.took / 1000);
            row.turns.iter().map(move |turn| {
                let tool = if turn.whole_upstream { "" } else { row.tool.as_str() };
                (row.upstream.as_str(), tool, ended, turn)
            })
        })
    }

    /// What the batch adds to minutes and hours.
    pub(crate) fn rollups(&self) -> BTreeMap<Rolled, i64> {
        let mut rollups = BTreeMap::new();
        for row in &self.rows {
            let bucket = bucket(Duration::from_micros(row.took.unsigned_abs()));
            let mut whats = vec!["calls".to_owned(), format!("took-{bucket:02}")];
            if !row.succeeded() {
                whats.push(row.ending.clone());
            }
            // Where a substitute answered, the call did not fail.
            if let Some(failed) = row.failure.as_ref().filter(|_| row.ending != "substituted") {
                whats.push(format!("kind-{}", failed.kind));
            }
            for (size, long) in [("minute", MINUTE), ("hour", HOUR)] {
                let at = row.at - row.at.rem_euclid(long);
                let mut add = |what: String, count: i64| {
                    let tool = row.counted_as().to_owned();
                    let key = (size, at, row.upstream.clone(), tool, what);
                    *rollups.entry(key).or_default() += count;
                };
                for what in &whats {
                    add(what.clone(), row.times);
                }
                if row.attempts > 1 {
                    add("retries".to_owned(), (row.attempts - 1) * row.times);
                    if row.succeeded() {
                        add("by-retry".to_owned(), row.times);
                    }
                }
            }
        }
        rollups
    }
}

/// Decides which samples are kept whole, and which messages have a group of their own.
#[derive(Default)]
pub(crate) struct Thinner {
    minute: i64,
    seen: HashMap<String, u64>,
    successes: u64,
    /// The groups there are, by upstream, tool and kind.
    groups: HashMap<(String, String, String), HashSet<String>>,
}

impl Thinner {
    pub(crate) fn thin(&mut self, row: &mut Row) {
        let minute = row.at - row.at.rem_euclid(MINUTE);
        // Calls end in another order than they began in.
        if minute > self.minute {
            let groups = std::mem::take(&mut self.groups);
            *self = Self { minute, groups, ..Self::default() };
        }
        self.bound(row);
        let is_plain = row.succeeded();
        row.is_kept &= match &row.failure {
            Some(failed) => {
                let seen = self.seen.entry(failed.fingerprint.clone()).or_default();
                *seen += 1;
                *seen <= WHOLE || seen.is_multiple_of(ONE_IN)
            }
            None if row.run.is_some() || !is_plain => {
                self.successes += 1;
                self.successes <= SUCCESSES || self.successes.is_multiple_of(ONE_IN)
            }
            None => false,
        };
    }

    /// A tool whose every message is a new one must not fill the database with groups.
    fn bound(&mut self, row: &mut Row) {
        let tool = row.counted_as().to_owned();
        let Some(failed) = &mut row.failure else { return };
        let sort = (row.upstream.clone(), tool, failed.kind.clone());
        let groups = self.groups.entry(sort).or_default();
        if groups.contains(&failed.fingerprint) {
            return;
        }
        if groups.len() < GROUPS {
            groups.insert(failed.fingerprint.clone());
            return;
        }
        OTHERS.clone_into(&mut failed.template);
        let tool = counted(&failed.kind, &row.tool);
        failed.fingerprint = fingerprint(&row.upstream, tool, &failed.kind, OTHERS);
    }
}

/// A name that is never the same again, in the order of time.
pub(crate) fn new_id(at: i64) -> Vec<u8> {
    let mut id = [0; 16];
    // Without chance the time alone must do; two batches of one moment are one then.
    let _ = getrandom(&mut id, GetRandomFlags::empty());
    id[..8].copy_from_slice(&at.to_be_bytes());
    id.to_vec()
}
