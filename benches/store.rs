//! A million failures into a SQLite file, as fast as they come: how many a second, in how much
//! memory, and whether every one of them is counted.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for the terminal")]

mod records;

use std::time::{Duration, Instant, SystemTime};

use breakfall::Sink;
use breakfall_store::{Keep, Store};
use records::{clear, records};

const FAILURES: u64 = 1_000_000;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(bench());
}

async fn bench() {
    // Cargo gives benches arguments of its own.
    let file = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let file = file.unwrap_or_else(|| {
        std::env::temp_dir().join("breakfall-million.db").to_str().unwrap().to_owned()
    });
    clear(&file);
    let mut records = records().await;
    let before = peak();
    let began = Instant::now();
    let keeper = Store::keeper(&file, "bench", Keep::default()).unwrap();
    for number in 0..FAILURES {
        let place = usize::try_from(number).unwrap() % records.len();
        // A day, hour by hour, so that there are hours to tell apart.
        let hours = 23 - number / FAILURES.div_ceil(24);
        records[place].started = SystemTime::now() - Duration::from_hours(hours);
        keeper.take(&records[place]);
    }
    let taken = began.elapsed();
    keeper.end();
    let took = began.elapsed();
    let keeping = keeper.keeping();
    let store = Store::open(&file).await.unwrap();
    let groups = store.groups(0, i64::MAX / 2).await.unwrap();
    let counted: u64 = groups.iter().map(|group| group.all).sum();
    store.close().await;
    assert_eq!((counted, keeping.lost), (FAILURES, 0), "every failure is counted");
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let rate = |took: Duration| FAILURES as f64 / took.as_secs_f64();
    let kept = serde_json::json!({
        "failures": FAILURES,
        "taken_a_second": rate(taken).round(),
        "written_a_second": rate(took).round(),
        "counted": counted,
        "groups": groups.len(),
        "memory_mib": (peak() - before) >> 10,
        "file_mib": std::fs::metadata(&file).unwrap().len() >> 20,
    });
    println!("{kept}");
}

/// The most memory that this process has had, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}
