//! What the page asks: both databases give the same answers.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may fail, and says what it does"
)]

mod postgres;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use breakfall::{Call, FailureKind, Guard, Sink};
use breakfall_store::{Keep, Sort, State, Step, Store, Wanted};
use breakfall_test::Script;
use postgres::Postgres;

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_millis()).unwrap()
}

/// Makes some calls, and asks everything that the page asks.
async fn asked(place: &str) -> Vec<String> {
    let keeper = Arc::new(Store::keeper(place, "here", Keep::default()).unwrap());
    let tools = [
        Script::new("works").answers("fine").tool().upstream("files"),
        Script::new("fails").fails(FailureKind::NotFound).tool().upstream("files"),
        Script::new("halves").errs("the a_b thing is gone").tool().upstream("web"),
    ];
    let sink = Arc::clone(&keeper) as Arc<dyn Sink>;
    let guard = Guard::builder().tools(tools).sink(sink).build().unwrap();
    for (id, tool) in (0..).zip(["fails", "works", "fails", "halves", "works", "works"]) {
        let run = if id < 3 { "first" } else { "second" };
        guard.handle(Call::new(id.to_string(), tool, "{}").in_run(run)).await;
        // What is ordered by time must not happen at once.
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    while keeper.keeping().written < 6 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let store = Store::open(place).await.unwrap();
    let now = now();
    let mut told = Vec::new();
    let before = store.marker(now).await.unwrap();
    assert_eq!(store.marker(now).await.unwrap(), before);
    for text in ["", "GONE", "A_B", "a%b", "axb", "web"] {
        let text = Some(text.to_owned()).filter(|text| !text.is_empty());
        let wanted = Wanted { text: text.clone(), ..Wanted::since(0) };
        let found = store.list(&wanted, now).await.unwrap();
        let names: Vec<_> = found.groups.iter().map(|it| (&it.tool, it.count, it.calls)).collect();
        told.push(format!("{text:?}: {} {names:?}", found.found));
    }
    for sort in [Sort::Count, Sort::Rate, Sort::Last, Sort::New] {
        let wanted = Wanted { sort, from: 1, most: 1, ..Wanted::since(0) };
        let found = store.list(&wanted, now).await.unwrap();
        told.push(format!("{sort:?}: {} {}", found.found, found.groups[0].tool));
    }
    told.push(format!("{:?}", store.choices(0, 10).await.unwrap()));
    told.push(format!("{:?}", store.recovery(0).await.unwrap()));
    for step in [Step::Minute, Step::Hour] {
        let spans = store.over_time(now - 3_600_000, now, step).await.unwrap();
        let all = spans.iter().fold((0, 0), |all, it| (all.0 + it.calls, all.1 + it.failed));
        told.push(format!("{step:?}: {all:?}"));
    }
    let runs = store.runs(0, 0, 10).await.unwrap();
    told.push(format!("{:?}", runs.iter().map(|it| (&it.run, it.groups)).collect::<Vec<_>>()));
    assert!(store.runs(0, 2, 10).await.unwrap().is_empty());
    let seen = store.seen_last(1).await.unwrap();
    told.push(format!("{:?}", seen.iter().map(|it| (&it.tool, it.count)).collect::<Vec<_>>()));
    told.push(format!("{:?}", store.breakers(now).await.unwrap()));

    let group = store.groups(0, now).await.unwrap().remove(0);
    store.set_state(&group, State::Resolved, now).await.unwrap();
    assert_ne!(store.marker(now).await.unwrap(), before);
    store.close().await;
    told
}

#[tokio::test]
async fn both_databases_give_the_same_answers() {
    let folder = std::env::temp_dir().join(format!("breakfall-questions-{}", std::process::id()));
    let file = asked(folder.join("a.db").to_str().unwrap()).await;
    std::fs::remove_dir_all(&folder).unwrap();
    if let Some(server) = Postgres::start().await {
        assert_eq!(asked(&server.database("questions").await).await, file);
    }
    let wanted = [
        r#"None: 2 [("fails", 2, 2), ("halves", 1, 1)]"#,
        r#"Some("GONE"): 1 [("halves", 1, 1)]"#,
        r#"Some("A_B"): 1 [("halves", 1, 1)]"#,
        r#"Some("a%b"): 0 []"#,
        r#"Some("axb"): 0 []"#,
        r#"Some("web"): 1 [("halves", 1, 1)]"#,
        "Count: 2 halves",
        "Rate: 2 halves",
        "Last: 2 fails",
        "New: 2 fails",
    ];
    assert_eq!(file[..wanted.len()], wanted);
    assert!(file.contains(&"Minute: (6, 3)".to_owned()), "{file:#?}");
    assert!(file.contains(&r#"[("second", 1), ("first", 1)]"#.to_owned()), "{file:#?}");
}
