//! Failures kept in a SQLite file: what asking about them takes.

use std::time::{Duration, SystemTime};

use breakfall::{Call, Effect, Guard, Record, Sink};
use breakfall_store::{Keep, Store};
use breakfall_test::{Recorder, Script};

use crate::figures::{median, microseconds, point};

const TOOLS: u64 = 40;
const RUNS: u64 = 1_000;
const LOOKS: usize = 9;

/// From a thousand to the most, ten times as many each time, in one file.
pub(crate) fn curves(file: &str, most: u64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{file}{suffix}"));
    }
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

/// What a guard recorded of tools that fail in several ways, each in many runs.
async fn records() -> Vec<Record> {
    let errors = [
        "No such file or directory: '/home/ann/notes.txt'",
        "EACCES: permission denied, open '/etc/shadow'",
        "fatal: a branch named 'main' already exists",
        "process exited with exit status 2 after 1.25 s",
        "ValueError: 17 is not a month",
    ];
    let recorder = Recorder::new();
    let tools = (0..TOOLS).map(|number| {
        let script = Script::new(format!("tool_{number}")).effect(Effect::Once);
        errors.iter().fold(script, |script, error| script.errs(*error)).tool().upstream("server")
    });
    let guard = Guard::builder().tools(tools).sink(recorder.sink()).build().unwrap();
    for number in 0..TOOLS * errors.len() as u64 {
        let call = Call::new(number.to_string(), format!("tool_{}", number % TOOLS), "{}");
        guard.handle(call.in_run(format!("run {number}"))).await;
    }
    let whole = recorder.records();
    let many = usize::try_from(RUNS * 5).unwrap();
    (0..many)
        .map(|number| {
            let mut record = whole[number % whole.len()].clone();
            record.run = Some(format!("run {}", number as u64 % RUNS).into());
            record
        })
        .collect()
}
