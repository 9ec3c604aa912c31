//! For tests: a store as a real guard leaves it, moved to times that are always the same.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use breakfall::{Call, FailureKind, Fallback, Guard, Sink};
use breakfall_store::{Keep, State, Store};
use breakfall_test::{Script, Step};
use sqlx::SqlitePool;

/// When everything is looked at: 2025-03-14 15:09:26 UTC.
pub(crate) const NOW: i64 = 1_741_964_966_000;

/// How wide terminals are.
pub(crate) const WIDTHS: [usize; 3] = [60, 100, 160];

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

/// What is later was not moved yet.
const MOVED: i64 = NOW + 24 * HOUR;

/// Escapes, wide and right-to-left letters, marks that turn text around, and no end.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}| <script>alert(1)</script> 日本語 שלום\u{202e}";

pub(crate) struct Kept {
    pub(crate) store: Store,
    pub(crate) file: PathBuf,
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(directory) = self.file.parent() {
            let _ = std::fs::remove_dir_all(directory);
        }
    }
}

/// A call: tool, arguments, run.
type Asked = (&'static str, &'static str, Option<&'static str>);

const READ: &str = r#"{"path": "notes/today.md"}"#;

/// When, and which calls.
const SESSIONS: [(i64, &[Asked]); 4] = [
    (
        6 * 24 * HOUR,
        &[
            ("read_file", READ, Some("monday")),
            ("read_file", READ, Some("monday")),
            ("list_files", "{}", Some("monday")),
            ("list_files", "{}", Some("monday")),
            ("list_files", "{}", Some("monday")),
            ("list_files", "{}", Some("monday")),
            ("weather", "{}", Some("monday")),
        ],
    ),
    (
        20 * HOUR,
        &[("run_query", r#"{"sql": "select 1"}"#, Some("tuesday")), ("list_files", "{}", None)],
    ),
    (
        3 * HOUR,
        &[
            ("search", r#"{"q": "rust"}"#, Some("today")),
            ("search", r#"{"q": "rust"}"#, Some("today")),
            ("read_file", READ, Some("today")),
            ("list_files", "{}", Some("today")),
        ],
    ),
    (
        10 * MINUTE,
        &[
            ("hostile", "{}", None),
            ("serach", r#"{"q": "rust"}"#, Some("now")),
            ("read_file", READ, Some("now")),
            ("read_file", READ, Some("now")),
            ("read_file", READ, Some("now")),
            ("search", r#"{"q": "rust"}"#, Some("now")),
            ("hostile", "{}", None),
            ("hostile", "{}", None),
        ],
    ),
];

/// A store with failures of six days.
pub(crate) async fn kept(name: &str) -> Kept {
    let directory =
        std::env::temp_dir().join(format!("breakfall-cli-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    let file = directory.join("breakfall.db");
    let place = file.to_str().unwrap().to_owned();
    for (number, (ago, calls)) in SESSIONS.iter().enumerate() {
        let at = place.clone();
        std::thread::spawn(move || session(&at, calls)).join().unwrap();
        let pool = SqlitePool::connect(&place).await.unwrap();
        move_to(&pool, NOW - ago).await;
        pool.close().await;
        if number == 0 {
            let store = Store::open(&place).await.unwrap();
            for group in store.groups(0, NOW).await.unwrap() {
                let state = match group.tool.as_str() {
                    "read_file" => State::Resolved,
                    "weather" => State::Ignored,
                    _ => continue,
                };
                store.set_state(&group, state, NOW - 5 * 24 * HOUR).await.unwrap();
            }
            store.close().await;
        }
    }
    let pool = SqlitePool::connect(&place).await.unwrap();
    poison(&pool).await;
    // A guard that ends takes its breakers along: this one goes on.
    let breaker = "INSERT INTO breakers (node, upstream, tool, state, since, until, why, opened)
        VALUES ('there', 'shop-db', 'run_query', 'open', $1, $2, '5 failures in a row', 2)";
    sqlx::query(breaker).bind(NOW - 9_000).bind(NOW + 21_000).execute(&pool).await.unwrap();
    pool.close().await;
    let store = Store::open(&place).await.unwrap();
    Kept { store, file }
}

/// A guard cleans what it keeps; another program that writes into the database need not.
async fn poison(pool: &SqlitePool) {
    let statements = [
        "UPDATE groups SET template = $1 WHERE tool = 'hostile'",
        "UPDATE records SET node = $1, run = $1, body = json_set(body, '$.message', $1, '$.told', $1,
            '$.causes', json_array($1), '$.arguments', $1, '$.backtrace', $1) WHERE tool = 'hostile'",
    ];
    for statement in statements {
        sqlx::query(statement).bind(HOSTILE.repeat(3)).execute(pool).await.unwrap();
    }
}

/// Calls on a clock that only moves when everybody waits.
fn session(place: &str, calls: &[Asked]) {
    let missing = "cat: notes/today.md: No such file or directory (os error 2)";
    let tools = [
        Script::new("list_files").answers("a\nb").tool().upstream("files"),
        Script::new("read_file")
            .errs(missing)
            .errs(missing)
            .answers("text")
            .tool()
            .upstream("files"),
        Script::new("run_query").hangs().tool().upstream("shop-db"),
        Script::new("search")
            .fails(FailureKind::Network)
            .answers("found")
            .fails(FailureKind::Network)
            .tool(),
        Script::new("weather").fails(FailureKind::Upstream).tool(),
        Script::new("hostile")
            .step(Step::Error(format!("{HOSTILE} {}", "long ".repeat(60))))
            .tool(),
    ];
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let keeper = Arc::new(Store::keeper(place, "here", for_ever()).unwrap());
        let guard = Guard::builder()
            .tools(tools)
            .fallback("weather", Fallback::value("sunny"))
            .seed(7)
            .keep_arguments(true)
            .sink(Arc::clone(&keeper) as Arc<dyn Sink>)
            .build()
            .unwrap();
        for (number, (tool, arguments, run)) in calls.iter().enumerate() {
            let call = Call::new(format!("call-{number}"), *tool, *arguments);
            guard.handle(run.map_or(call.clone(), |run| call.in_run(run))).await;
        }
    });
}

/// What is moved into the past must not be swept away there.
fn for_ever() -> Keep {
    let (records, minutes, hours) = (Duration::MAX, Duration::MAX, Duration::MAX);
    Keep { records, minutes, hours }
}

/// Moves what was just kept to another time.
async fn move_to(pool: &SqlitePool, at: i64) {
    let statements = [
        // In the order of the calls, however fast they were.
        "UPDATE records SET at = $1 + CAST(substr(call, 6) AS INTEGER) * 1000 WHERE at > $2",
        "UPDATE groups SET first_seen = (SELECT MIN(at) FROM records WHERE group_id = groups.id
            AND at >= $1) WHERE first_seen > $2",
        "UPDATE groups SET last_seen = (SELECT MAX(at) FROM records WHERE group_id = groups.id
            AND at >= $1) WHERE last_seen > $2",
        "UPDATE groups SET state_at = $1 WHERE state_at > $2",
        "INSERT INTO group_hours SELECT group_id, $1 - $1 % 3600000, SUM(count) FROM group_hours
            WHERE at > $2 GROUP BY group_id",
        "DELETE FROM group_hours WHERE at > $2 AND $1 > 0",
        "INSERT INTO rollups SELECT size, $1 - $1 % CASE size WHEN 'hour' THEN 3600000 ELSE 60000
            END, upstream, tool, what, SUM(count) FROM rollups WHERE at > $2
            GROUP BY size, upstream, tool, what",
        "DELETE FROM rollups WHERE at > $2 AND $1 > 0",
    ];
    for statement in statements {
        sqlx::query(statement).bind(at).bind(MOVED).execute(pool).await.unwrap();
    }
}
