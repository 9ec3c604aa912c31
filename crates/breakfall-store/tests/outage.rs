//! Processes that are killed, disks that are full, databases that go away: calls are answered, what
//! was kept stays whole, and what was lost is counted.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may fail, and says what it does"
)]

#[path = "postgres/mod.rs"]
mod postgres;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use breakfall::{Call, FailureKind, Guard, Sink};
use breakfall_store::{Keep, Keeper, Store};
use breakfall_test::{Recorder, Script};
use postgres::Postgres;
use sqlx::{Connection, SqliteConnection};

/// The directory in which a part of a test works that runs in a process of its own.
const WHERE: &str = "BREAKFALL_TEST_DIRECTORY";

fn guard(keeper: &Arc<Keeper>) -> Guard {
    let fails = Script::new("fails").fails(FailureKind::NotFound).tool();
    Guard::builder().tool(fails).sink(Arc::clone(keeper) as Arc<dyn Sink>).build().unwrap()
}

fn keeper(place: &str) -> Arc<Keeper> {
    Arc::new(Store::keeper(place, "here", Keep::default()).unwrap())
}

/// Makes a call that fails, and sees that it is answered. Each is a run of its own: nobody goes in
/// circles here.
async fn fail(guard: &Guard, id: u64) {
    let id = id.to_string();
    let reply = guard.handle(Call::new(id.as_str(), "fails", "{}").in_run(id.as_str())).await;
    assert_eq!((reply.id.as_str(), reply.kind()), (id.as_str(), Some(FailureKind::NotFound)));
}

/// Programs that make one call each, started at once where nothing was kept before: who found the
/// file half made had no second turn, and lost its record without a word.
#[tokio::test]
async fn keepers_that_make_a_file_at_once_and_end_lose_nothing() {
    let recorder = Recorder::new();
    let fails = Script::new("fails").fails(FailureKind::NotFound).tool();
    let guard = Guard::builder().tool(fails).sink(recorder.sink()).build().unwrap();
    fail(&guard, 1).await;
    let record = recorder.records().remove(0);
    for round in 0..10 {
        let name = format!("breakfall-at-once-{round}-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        let place = directory.join("breakfall.db").display().to_string();
        let start = Arc::new(std::sync::Barrier::new(6));
        let ending = (0..6).map(|_| {
            let (place, record, start) = (place.clone(), record.clone(), Arc::clone(&start));
            std::thread::spawn(move || {
                let keeper = keeper(&place);
                start.wait();
                keeper.take(&record);
                keeper.end();
            })
        });
        ending.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(counted(&place).await, (6, 0), "round {round}");
        fs::remove_dir_all(&directory).unwrap();
    }
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_told_as_one() {
    let directory = std::env::temp_dir().join(format!("breakfall-newer-{}", std::process::id()));
    let place = directory.join("breakfall.db").display().to_string();
    Store::try_writing(&place).await.unwrap();
    let mut database = SqliteConnection::connect(&place).await.unwrap();
    let newer = "INSERT INTO _sqlx_migrations SELECT 2, 'more', installed_on, success, checksum, \
                 execution_time FROM _sqlx_migrations";
    sqlx::query(newer).execute(&mut database).await.unwrap();
    database.close().await.unwrap();

    let error = Store::try_writing(&place).await.unwrap_err();
    assert!(matches!(error, breakfall_store::Error::Version), "{error}");
    fs::remove_dir_all(&directory).unwrap();
}

/// Waits for what must come, but not for ever.
async fn until(is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !is_so() {
        assert!(Instant::now() < deadline, "it does not come");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn counted(place: &str) -> (u64, u64) {
    let store = Store::open(place).await.unwrap();
    let groups = store.groups(0, i64::MAX / 2).await.unwrap();
    let counted = (groups.iter().map(|group| group.all).sum(), store.lost().await.unwrap());
    store.close().await;
    counted
}

fn directory(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("breakfall-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir(&directory).unwrap();
    directory
}

/// A part of a test in a process of its own.
fn part(name: &str, directory: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(WHERE, directory);
    command
}

fn told_directory() -> Option<PathBuf> {
    std::env::var_os(WHERE).map(PathBuf::from)
}

#[tokio::test]
#[ignore = "a part of `a_process_that_is_killed_leaves_a_store_that_is_whole`"]
async fn fails_until_it_is_killed() {
    let Some(directory) = told_directory() else { return };
    let keeper = keeper(directory.join("breakfall.db").to_str().unwrap());
    let guard = guard(&keeper);
    for id in 0.. {
        fail(&guard, id).await;
        eprintln!("failed {id}");
        tokio::time::sleep(Duration::from_micros(500)).await;
    }
}

#[tokio::test]
async fn a_process_that_is_killed_leaves_a_store_that_is_whole() {
    const KILLS: u64 = 50;
    let directory = directory("killed");
    let file = directory.join("breakfall.db");
    let (mut at_least, mut at_most, mut late) = (0, 0, 0);
    for kill in 0..KILLS {
        let mut process = part("fails_until_it_is_killed", &directory)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stderr.take().unwrap()).lines();
        // When each call was known to have failed.
        let mut failed = Vec::new();
        let mut killed = None;
        for line in lines.map_while(Result::ok) {
            if !line.starts_with("failed ") {
                continue;
            }
            failed.push(Instant::now());
            if killed.is_none()
                && failed[0].elapsed() > Duration::from_millis(300 + 13 * (kill % 20))
            {
                process.kill().unwrap();
                killed = Some(Instant::now());
            }
        }
        process.wait().unwrap();
        let killed = killed.unwrap();
        let a_while_ago = killed.checked_sub(Duration::from_millis(250)).unwrap();
        at_least += failed.iter().filter(|at| **at < a_while_ago).count() as u64;
        // The last call may have been recorded and not told of.
        at_most += failed.len() as u64 + 1;
        let mut database =
            SqliteConnection::connect(&format!("sqlite:{}", file.display())).await.unwrap();
        let whole: String =
            sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&mut database).await.unwrap();
        assert_eq!(whole, "ok", "after kill {kill}");
        database.close().await.unwrap();
        let (count, lost) = counted(file.to_str().unwrap()).await;
        assert!(count <= at_most, "{kill}: {count} {at_most}");
        // On a machine that is busy who writes has his turn later, now and then.
        late += u64::from(count < at_least);
        assert!(late <= KILLS / 10, "{kill}: {at_least} {count} {at_most}");
        assert_eq!(lost, 0);
        // What is lost now is lost: the next one is held to its own quarter of a second.
        (at_least, at_most) = (count, count);
    }
    eprintln!("{KILLS} kills, {at_least} records");
    fs::remove_dir_all(directory).unwrap();
}

/// Runs a part of a test where it may mount things, if this machine lets it.
fn with_mounts(name: &str, directory: &Path) {
    let part = part(name, directory);
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user"]).arg(part.get_program()).args(part.get_args());
    command.env(WHERE, directory);
    let may_mount = Command::new("unshare").args(["--mount", "--map-root-user", "true"]).status();
    if !may_mount.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: this machine lets nobody mount anything");
        return;
    }
    let status = command.status().unwrap();
    assert!(status.success(), "{name} failed");
}

fn mount(arguments: &[&str], directory: &Path) {
    let status = Command::new("mount").args(arguments).arg(directory).status().unwrap();
    assert!(status.success(), "mount {arguments:?}");
}

#[tokio::test]
#[ignore = "a part of `a_full_disk_costs_records_that_are_counted_and_no_call`"]
async fn fails_on_a_full_disk() {
    let Some(directory) = told_directory() else { return };
    mount(&["-t", "tmpfs", "-o", "size=64m", "tmpfs"], &directory);
    let file = directory.join("breakfall.db");
    let place = file.to_str().unwrap();
    let keeper = keeper(place);
    let guard = guard(&keeper);
    fail(&guard, 0).await;
    until(|| keeper.keeping().written >= 1).await;
    let ballast = directory.join("ballast");
    let mut filling = fs::File::create(&ballast).unwrap();
    while filling.write_all(&[0; 1024]).is_ok() {}
    let mut calls = 1;
    // More than is held in memory until the disk has room again.
    while keeper.keeping().lost == 0 {
        fail(&guard, calls).await;
        calls += 1;
        assert!(calls < 100_000, "nothing is lost: {:?}", keeper.keeping());
    }
    assert!(keeper.keeping().is_away);
    for _ in 0..10 {
        fail(&guard, calls).await;
        calls += 1;
    }
    drop(filling);
    fs::remove_file(ballast).unwrap();
    until(|| !keeper.keeping().is_away).await;
    keeper.end();
    let keeping = keeper.keeping();
    eprintln!("{calls} calls on a full disk: {} kept, {} lost", keeping.written, keeping.lost);
    assert_eq!(keeping.written + keeping.lost, calls);
    assert_eq!(counted(place).await, (keeping.written, keeping.lost));
}

#[test]
fn a_full_disk_costs_records_that_are_counted_and_no_call() {
    let directory = directory("full");
    with_mounts("fails_on_a_full_disk", &directory);
    fs::remove_dir_all(directory).unwrap();
}

#[tokio::test]
#[ignore = "a part of `a_directory_that_cannot_be_written_costs_no_call`"]
async fn fails_where_nothing_can_be_written() {
    let Some(directory) = told_directory() else { return };
    mount(&["-t", "tmpfs", "-o", "size=8m", "tmpfs"], &directory);
    mount(&["-o", "remount,ro"], &directory);
    let file = directory.join("deeper/breakfall.db");
    let place = file.to_str().unwrap();
    let keeper = keeper(place);
    let guard = guard(&keeper);
    for id in 0..100 {
        fail(&guard, id).await;
    }
    until(|| keeper.keeping().is_away).await;
    assert_eq!(keeper.keeping().written, 0);
    mount(&["-o", "remount,rw"], &directory);
    until(|| !keeper.keeping().is_away).await;
    keeper.end();
    let keeping = keeper.keeping();
    assert_eq!(counted(place).await, (keeping.written, 0));
    assert!(keeping.written >= 100 && keeping.lost == 0, "{keeping:?}");
}

#[test]
fn a_directory_that_cannot_be_written_costs_no_call() {
    let directory = directory("read-only");
    with_mounts("fails_where_nothing_can_be_written", &directory);
    fs::remove_dir_all(directory).unwrap();
}

#[tokio::test]
async fn a_place_that_can_never_be_costs_no_call() {
    let keeper = keeper("/proc/no/such/place.db");
    let guard = guard(&keeper);
    for id in 0..100 {
        fail(&guard, id).await;
    }
    until(|| keeper.keeping().is_away).await;
    assert_eq!(keeper.keeping().written, 0);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_left_as_it_is() {
    let directory = directory("no-database");
    let file = directory.join("breakfall.db");
    fs::write(&file, "what somebody wrote\n".repeat(1000)).unwrap();
    let keeper = keeper(file.to_str().unwrap());
    let guard = guard(&keeper);
    fail(&guard, 0).await;
    until(|| keeper.keeping().is_away).await;
    keeper.end();
    assert_eq!(fs::read_to_string(&file).unwrap(), "what somebody wrote\n".repeat(1000));
    fs::remove_dir_all(directory).unwrap();
}

#[tokio::test]
async fn a_file_that_is_taken_away_is_made_anew() {
    let directory = directory("taken");
    let file = directory.join("breakfall.db");
    let keeper = keeper(file.to_str().unwrap());
    let guard = guard(&keeper);
    fail(&guard, 0).await;
    until(|| keeper.keeping().written == 1).await;
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{suffix}", file.display()));
    }
    fail(&guard, 1).await;
    keeper.end();
    assert_eq!(counted(file.to_str().unwrap()).await, (1, 0));
    fs::remove_dir_all(directory).unwrap();
}

#[tokio::test]
async fn a_postgres_that_stalls_keeps_no_process_from_ending() {
    let Some(postgres) = Postgres::start().await else { return };
    let place = postgres.database("stalls").await;
    let first = keeper(&place);
    fail(&guard(&first), 0).await;
    first.end();
    let mut locked = sqlx::PgConnection::connect(&place).await.unwrap();
    let mut holding = locked.begin().await.unwrap();
    let lock = "LOCK TABLE _sqlx_migrations, batches, breakers IN ACCESS EXCLUSIVE MODE";
    sqlx::query(lock).execute(&mut *holding).await.unwrap();
    let keeper = keeper(&place);
    fail(&guard(&keeper), 1).await;
    let ending = tokio::task::spawn_blocking({
        let keeper = Arc::clone(&keeper);
        move || keeper.end()
    });
    // Long before a person would kill it.
    tokio::time::timeout(Duration::from_mins(1), ending).await.unwrap().unwrap();
    holding.rollback().await.unwrap();
    // It waits on the disk for whoever comes next.
    let next = self::keeper(&place);
    until(|| next.keeping().written == 1).await;
    next.end();
    assert_eq!(counted(&place).await, (2, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postgres_that_is_killed_under_load_costs_no_call_and_keeps_no_record_twice() {
    const NODES: u64 = 3;
    let Some(mut postgres) = Postgres::start().await else { return };
    let place = postgres.database("outage").await;
    let keepers: Vec<_> = (0..NODES).map(|_| keeper(&place)).collect();
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let working: Vec<_> = keepers
        .iter()
        .map(|keeper| {
            let (guard, stop) = (guard(keeper), Arc::clone(&stop));
            tokio::spawn(async move {
                let mut calls = 0;
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    fail(&guard, calls).await;
                    calls += 1;
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                calls
            })
        })
        .collect();
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(700)).await;
        postgres.kill();
        tokio::time::sleep(Duration::from_millis(700)).await;
        postgres.restart().await;
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let mut calls = 0;
    for work in working {
        calls += work.await.unwrap();
    }
    // What was spooled is drained, and nothing of it twice.
    until(|| keepers.iter().map(|keeper| keeper.keeping().written).sum::<u64>() >= calls).await;
    for keeper in &keepers {
        keeper.end();
        assert_eq!(keeper.keeping().lost, 0);
    }
    eprintln!("{calls} calls while Postgres was killed 3 times");
    assert_eq!(counted(&place).await, (calls, 0));
}
