//! Counts of the calls for which the queue had no room: nothing of them is kept but how many there
//! were, so that counts stay exact when samples cannot.

use std::collections::HashMap;
use std::time::Duration;

use crate::batch::MINUTE;
use crate::histogram::bucket;
use crate::row::Row;

/// How many different counts there may be; a call beyond them is lost.
const MOST: usize = 4_096;

/// What is counted apart: minute, upstream, tool, ending, fingerprint, attempts, how long it took.
type Sort = (i64, String, String, String, String, i64, u32);

#[derive(Debug, Default)]
pub(crate) struct Overflow {
    counted: HashMap<Sort, Row>,
}

impl Overflow {
    /// Counts a call; false where there is no room even for that.
    pub(crate) fn count(&mut self, row: Row) -> bool {
        let sort = (
            row.at - row.at.rem_euclid(MINUTE),
            row.upstream.clone(),
            row.counted_as().to_owned(),
            row.ending.clone(),
            row.failure.as_ref().map_or_else(String::new, |failed| failed.fingerprint.clone()),
            row.attempts,
            bucket(Duration::from_micros(row.took.unsigned_abs())),
        );
        if let Some(counted) = self.counted.get_mut(&sort) {
            counted.times += row.times;
            counted.at = counted.at.max(row.at);
            return true;
        }
        if self.counted.len() >= MOST {
            return false;
        }
        // Of the run nothing can be said: its other calls may be missing.
        let row = Row { run: None, body: String::new(), is_kept: false, ..row };
        self.counted.insert(sort, row);
        true
    }

    /// What was counted, to be written.
    pub(crate) fn take(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.counted).into_values().collect()
    }
}
