//! What a guard's calls leave in the store.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use breakfall::{Call, FailureKind, Guard, Sink};
use breakfall_store::{Keep, State, Store};
use breakfall_test::Script;

fn file(name: &str) -> PathBuf {
    let directory =
        std::env::temp_dir().join(format!("breakfall-store-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    directory.join("deeper/breakfall.db")
}

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_millis()).unwrap()
}

fn guard(sink: Arc<dyn Sink>) -> Guard {
    let tools = [
        Script::new("works").answers("fine").tool().upstream("files"),
        Script::new("fails").fails(FailureKind::NotFound).tool().upstream("files"),
        Script::new("heals").fails(FailureKind::NotFound).answers("fine").tool(),
    ];
    Guard::builder().tools(tools).sink(sink).build().unwrap()
}

#[tokio::test]
async fn failures_are_grouped_and_what_became_of_them_is_known() {
    let file = file("groups");
    let place = file.to_str().unwrap();
    let keeper = Arc::new(Store::keeper(place, "here", Keep::default()).unwrap());
    let guard = guard(Arc::clone(&keeper) as Arc<dyn Sink>);
    let call = |id: u32, tool: &str, run: &str| Call::new(id.to_string(), tool, "{}").in_run(run);
    for id in 0..3 {
        guard.handle(call(id, "fails", "a")).await;
    }
    for id in 3..13 {
        guard.handle(call(id, "works", "a")).await;
    }
    for id in 13..15 {
        guard.handle(call(id, "heals", "b")).await;
    }
    let reference = guard.handle(call(15, "fails", "c")).await.reference().unwrap().to_string();
    drop(guard);
    let keeping = keeper.keeping();
    assert_eq!((keeping.lost, keeping.is_away), (0, false));
    keeper.end();
    assert_eq!(keeper.keeping().written, 16);

    let store = Store::open(place).await.unwrap();
    let groups = store.groups(0, now()).await.unwrap();
    let told: Vec<_> = groups.iter().map(|g| (g.tool.as_str(), g.count, g.calls, g.runs)).collect();
    assert_eq!(told, [("fails", 4, 4, 2), ("heals", 1, 2, 1)]);
    assert_eq!(groups[0].upstream, "files");
    assert_eq!(groups[0].hours.iter().sum::<u64>(), 4);
    let recovery = groups[0].recovery;
    assert_eq!((recovery.by_model, recovery.by_nobody, recovery.unknown), (0, 3, 1));
    assert_eq!(groups[1].recovery.by_model, 1);

    let named = store.named(&reference, now()).await.unwrap();
    assert_eq!(named.len(), 1);
    let samples = store.samples(&named[0], 10).await.unwrap();
    assert_eq!(samples.len(), 4);
    assert!(samples[0].body["told"].as_str().unwrap().contains("`fails`"), "{samples:?}");
    assert_eq!(samples[0].body["kind"], "not_found");
    let run = store.run("a", 100).await.unwrap();
    assert_eq!(run.len(), 13);

    let tools = store.tools(0).await.unwrap();
    let works = tools.iter().find(|tool| tool.tool == "works").unwrap();
    assert_eq!((works.calls, works.failed), (10, 0));
    assert!(works.p50.unwrap() < 1.0);
    assert_eq!(store.lost().await.unwrap(), 0);
    store.close().await;
    std::fs::remove_dir_all(file.parent().unwrap().parent().unwrap()).unwrap();
}

#[tokio::test]
async fn what_was_resolved_opens_when_it_comes_back_and_what_is_ignored_does_not() {
    let file = file("states");
    let place = file.to_str().unwrap();
    let fail = || async {
        let keeper = Arc::new(Store::keeper(place, "here", Keep::default()).unwrap());
        let guard = guard(Arc::clone(&keeper) as Arc<dyn Sink>);
        guard.handle(Call::new("1", "fails", "{}")).await;
    };
    for (state, after, returned) in
        [(State::Resolved, State::Open, 1), (State::Ignored, State::Ignored, 1)]
    {
        fail().await;
        let store = Store::open(place).await.unwrap();
        let group = store.groups(0, now()).await.unwrap().remove(0);
        store.set_state(&group, state, now()).await.unwrap();
        assert_eq!(store.groups(0, now()).await.unwrap()[0].state, state);
        // Time passes between what is resolved and what comes back.
        tokio::time::sleep(Duration::from_millis(5)).await;
        fail().await;
        let group = store.groups(0, now()).await.unwrap().remove(0);
        assert_eq!((group.state, group.returned), (after, returned));
        store.close().await;
    }
    std::fs::remove_dir_all(file.parent().unwrap().parent().unwrap()).unwrap();
}

#[tokio::test]
async fn a_directory_that_cannot_be_written_costs_no_call() {
    let keeper =
        Arc::new(Store::keeper("/proc/no/such/place.db", "here", Keep::default()).unwrap());
    let guard = guard(Arc::clone(&keeper) as Arc<dyn Sink>);
    for id in 0..100 {
        let reply = guard.handle(Call::new(id.to_string(), "works", "{}")).await;
        assert!(reply.success());
    }
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert!(keeper.keeping().is_away);
}
