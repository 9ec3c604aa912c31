//! What does the page show? Makes up two days of calls that fail as real ones do, and shows them.
//! `cargo run --example page`, then open the link.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use breakfall::{
    BreakerRules, Call, Effect, Entry, Fallback, GateRules, Guard, Policy, Record, Sink, function,
};
use breakfall_store::{Keep, Keeper, Store};
use breakfall_web::{Opening, Page, Token};
use serde_json::json;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Query {
    /// What is asked for.
    query: String,
    /// Which call it is.
    turn: u64,
}

/// Keeps records as if they were of another time.
struct Earlier {
    keeper: Keeper,
    at: Mutex<SystemTime>,
}

impl Earlier {
    fn set(&self, at: SystemTime) {
        *self.at.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }
}

impl Sink for Earlier {
    fn take(&self, record: &Record) {
        let mut record = record.clone();
        record.started = *self.at.lock().unwrap_or_else(PoisonError::into_inner);
        self.keeper.take(&record);
    }
}

/// Of so many calls one fails like this.
type Trouble = (u64, fn(&Query) -> String);

/// A tool that takes its time, and fails now and then.
fn tool(
    upstream: &str,
    name: &str,
    effect: Effect,
    millis: u64,
    troubles: &'static [Trouble],
) -> Entry {
    let tried = Arc::new(AtomicU64::new(1));
    function(name.to_owned(), "Does something far away.", move |query: Query| {
        let tried = Arc::clone(&tried);
        async move {
            tokio::time::sleep(Duration::from_millis(millis + query.turn % 7 * millis / 5)).await;
            let turn =
                tried.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
            let trouble = troubles.iter().find(|(one_in, _)| turn.is_multiple_of(*one_in));
            match trouble.map(|(_, words)| words(&query)) {
                Some(words) if words.is_empty() => std::future::pending().await,
                Some(words) => Err(std::io::Error::other(words)),
                None => Ok(format!("{} of {} found", query.turn % 5 + 1, query.query)),
            }
        }
    })
    .effect(effect)
    .upstream(upstream)
}

fn tools() -> Vec<Entry> {
    vec![
        tool(
            "files",
            "read_file",
            Effect::ReadOnly,
            2,
            &[
                (9, |it| {
                    format!(
                        "ENOENT: no such file or directory, open '/srv/app/notes/{}-{}.md'",
                        it.query, it.turn
                    )
                }),
                (31, |it| {
                    format!("EACCES: permission denied, open '/srv/app/keys/{}.pem'", it.turn)
                }),
            ],
        ),
        tool(
            "github",
            "search_issues",
            Effect::ReadOnly,
            180,
            &[(7, |_| {
                "403 API rate limit exceeded for installation. Retry after 41 seconds".to_owned()
            })],
        ),
        tool(
            "database",
            "run_query",
            Effect::ReadOnly,
            40,
            &[
                (12, |it| {
                    format!("ERROR: relation \"orders_{}\" does not exist at character 15", it.turn)
                }),
                (29, |_| String::new()),
            ],
        ),
        tool(
            "browser",
            "navigate",
            Effect::Once,
            900,
            &[(1, |_| "net::ERR_CONNECTION_REFUSED at http://localhost:5173/checkout".to_owned())],
        ),
        tool(
            "chat",
            "post_message",
            Effect::Once,
            120,
            &[(60, |_| "401 Unauthorized: invalid_auth, the token was revoked".to_owned())],
        ),
        tool(
            "search",
            "web_search",
            Effect::ReadOnly,
            320,
            &[(6, |_| "503 Service Unavailable: upstream connect error".to_owned())],
        ),
        tool("search", "cached_search", Effect::ReadOnly, 3, &[]),
    ]
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::temp_dir().join(format!("breakfall-page-{}.db", std::process::id()));
    let place = file.display().to_string();
    let keeper = Store::keeper(&place, "laptop:4711", Keep::default())?;
    let sink = Arc::new(Earlier { keeper, at: Mutex::new(SystemTime::now()) });
    // A server that is gone rests for an hour here, so that there is time to look at it.
    let breaker = BreakerRules { open_for: Duration::from_hours(1), ..BreakerRules::default() };
    let resting = Policy {
        gate: GateRules { breaker: Some(breaker), ..GateRules::default() },
        ..Policy::default()
    };
    let guard = Guard::builder()
        .tools(tools())
        .policy_for("navigate", resting)
        .fallback("web_search", Fallback::tool("cached_search"))
        .keep_arguments(true)
        .sink(Arc::clone(&sink) as Arc<dyn Sink>)
        .seed(7)
        .build()?;

    tokio::time::pause();
    two_days(&guard, &sink).await;
    tokio::time::resume();
    println!("Two days of calls are made up in {place}");
    tokio::time::sleep(Duration::from_secs(1)).await;

    let page = Page::listen(Opening::new(&place, Token::random()?)).await?;
    println!("The page is at {}", page.link());
    page.serve(async { drop(tokio::signal::ctrl_c().await) }).await;
    drop((guard, sink));
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{place}{end}"));
    }
    Ok(())
}

/// Runs of a few calls each, more of them in the afternoon than at night.
async fn two_days(guard: &Guard, sink: &Earlier) {
    let start = SystemTime::now() - Duration::from_hours(46);
    let mut turn = 0;
    for slot in 0..46 * 12_u64 {
        let busy = 2 + (slot / 12 % 24).abs_diff(9).min(12).abs_diff(12) / 2;
        if !(slot * 7 + slot / 5).is_multiple_of(9 - busy.min(7)) {
            continue;
        }
        let run = format!("agent-{:04x}", slot.wrapping_mul(0x9e37) & 0xffff);
        for step in 0..4 + slot % 6 {
            turn += 1;
            let at = start + Duration::from_secs(slot * 300 + step * 9);
            sink.set(at);
            let tools = [
                "read_file",
                "search_issues",
                "run_query",
                "read_file",
                "web_search",
                "post_message",
            ];
            let tool = tools[usize::try_from((turn * 5 + slot) % 6).unwrap_or_default()];
            let query = json!({ "query": "invoice", "turn": turn });
            guard.handle(Call::new(format!("call_{turn}"), tool, query).in_run(run.as_str())).await;
            // The clock of the guard goes on as the days do.
            tokio::time::advance(Duration::from_secs(9)).await;
        }
        tokio::time::advance(Duration::from_mins(4)).await;
    }
    // Lately a server has gone away.
    for step in 0..9_u64 {
        sink.set(SystemTime::now() - Duration::from_secs(300 - step * 20));
        let query = json!({ "query": "checkout", "turn": step });
        guard
            .handle(Call::new(format!("late_{step}"), "navigate", query).in_run("agent-7e57"))
            .await;
        tokio::time::advance(Duration::from_secs(2)).await;
    }
    sink.set(SystemTime::now());
}
