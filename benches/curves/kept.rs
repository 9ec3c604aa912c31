//! Failures kept in a SQLite file: what asking about them takes.

use std::time::{Duration, SystemTime};

use breakfall::{Record, Sink};
use breakfall_store::{Keep, Store};

use crate::figures::{median, microseconds, point};
use crate::records::{clear, records};

const LOOKS: usize = 9;

/// From a thousand to the most, ten times as many each time, in one file.
pub(crate) fn curves(file: &str, most: u64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    clear(file);
    let mut records = runtime.block_on(records());
    let (mut done, mut upto) = (0, 1_000);
    while upto <= most {
        keep(file, &mut records, done, upto);
        done = upto;
        let store = runtime.block_on(Store::open(file)).unwrap();
        let ask = || runtime.block_on(store.groups(0, i64::MAX / 2)).unwrap();
        let groups = ask();
        assert_eq!(groups.iter().map(|group| group.all).sum::<u64>(), done, "all are counted");
        point("records: groups", done, microseconds(median(LOOKS, ask)) / 1e3);
        let look = || runtime.block_on(store.samples(&groups[0], 20)).unwrap();
        point("records: samples", done, microseconds(median(LOOKS, look)) / 1e3);
        runtime.block_on(store.close());
        let bytes = std::fs::metadata(file).unwrap().len();
        point("records: file", done, bytes as f64 / f64::from(1 << 20));
        upto *= 10;
    }
}

fn keep(file: &str, records: &mut [Record], from: u64, to: u64) {
    let keeper = Store::keeper(file, "bench", Keep::default()).unwrap();
    for number in from..to {
        let place = usize::try_from(number).unwrap() % records.len();
        // A day, hour by hour, so that there are hours to tell apart.
        records[place].started = SystemTime::now() - Duration::from_hours(number % 24);
        keeper.take(&records[place]);
    }
    keeper.end();
    assert_eq!(keeper.keeping().lost, 0, "nothing is lost");
}
