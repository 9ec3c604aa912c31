//! What must hold of a store, whatever database it is.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use breakfall::{
    BreakerRules, Call, FailureKind, Fallback, GateRules, Guard, Policy, Record, Sink,
};
use breakfall_store::{Group, Keep, Keeper, State, Store};
use breakfall_test::{Recorder, Script};

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_millis()).unwrap()
}

fn keeper(place: &str) -> Arc<Keeper> {
    Arc::new(Store::keeper(place, "here", Keep::default()).unwrap())
}

fn guard(sink: Arc<dyn Sink>) -> Guard {
    let tools = [
        Script::new("works").answers("fine").tool().upstream("files"),
        Script::new("fails").fails(FailureKind::NotFound).tool().upstream("files"),
        Script::new("heals").fails(FailureKind::NotFound).answers("fine").tool(),
    ];
    Guard::builder().tools(tools).sink(sink).build().unwrap()
}

async fn all(store: &Store) -> Vec<Group> {
    store.groups(0, now()).await.unwrap()
}

/// What a guard recorded of one call.
async fn record_of(tool: &str) -> Record {
    let recorder = Recorder::new();
    guard(recorder.sink()).handle(Call::new("1", tool, "{}")).await;
    recorder.records().remove(0)
}

fn words(number: usize) -> String {
    // Letters only: a digit would be masked.
    number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}

pub(crate) async fn failures_are_grouped_and_what_became_of_them_is_known(place: String) {
    let keeper = keeper(&place);
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
    keeper.end();
    let keeping = keeper.keeping();
    assert_eq!((keeping.lost, keeping.written, keeping.is_away), (0, 16, false));

    let store = Store::open(&place).await.unwrap();
    let groups = all(&store).await;
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
    assert!(works.p50.unwrap() < 10.0);
    assert_eq!(store.lost().await.unwrap(), 0);
    store.close().await;
}

pub(crate) async fn what_was_resolved_opens_when_it_comes_back_and_what_is_ignored_does_not(
    place: String,
) {
    let fail = || async {
        let guard = guard(keeper(&place));
        guard.handle(Call::new("1", "fails", "{}")).await;
    };
    for (state, after) in [(State::Resolved, State::Open), (State::Ignored, State::Ignored)] {
        fail().await;
        let store = Store::open(&place).await.unwrap();
        let group = all(&store).await.remove(0);
        store.set_state(&group, state, now()).await.unwrap();
        assert_eq!(all(&store).await[0].state, state);
        // Time passes between what is resolved and what comes back.
        tokio::time::sleep(Duration::from_millis(5)).await;
        fail().await;
        let group = all(&store).await.remove(0);
        assert_eq!((group.state, group.returned), (after, 1));
        store.close().await;
    }
}

pub(crate) async fn counts_are_exact_when_records_come_faster_than_they_are_written(place: String) {
    const CALLS: u64 = 50_000;
    let keeper = keeper(&place);
    let records = [record_of("fails").await, record_of("works").await];
    for number in 0..CALLS {
        let is_failure = number % 5 != 0;
        keeper.take(&records[usize::from(!is_failure)]);
    }
    keeper.end();
    assert_eq!(keeper.keeping().lost, 0);
    assert_eq!(keeper.keeping().written, CALLS);
    let store = Store::open(&place).await.unwrap();
    let groups = all(&store).await;
    assert_eq!((groups.len(), groups[0].count), (1, CALLS / 5 * 4));
    assert_eq!(groups[0].recovery.unknown, CALLS / 5 * 4);
    let tools = store.tools(0).await.unwrap();
    let told: Vec<_> =
        tools.iter().map(|tool| (tool.tool.as_str(), tool.calls, tool.failed)).collect();
    assert_eq!(told, [("fails", CALLS / 5 * 4, CALLS / 5 * 4), ("works", CALLS / 5, 0)]);
    store.close().await;
}

pub(crate) async fn samples_are_thinned_and_counts_are_not(place: String) {
    let keeper = keeper(&place);
    let record = record_of("fails").await;
    for _ in 0..1_000 {
        keeper.take(&record);
    }
    keeper.end();
    let store = Store::open(&place).await.unwrap();
    let group = all(&store).await.remove(0);
    assert_eq!(group.count, 1_000);
    // The first hundred of a minute, and of the rest one in a hundred.
    assert_eq!(store.samples(&group, 1_000).await.unwrap().len(), 109);
    store.close().await;
}

pub(crate) async fn names_that_are_no_tools_and_messages_without_end_make_no_groups_without_end(
    place: String,
) {
    let keeper = keeper(&place);
    let guard = guard(Arc::clone(&keeper) as Arc<dyn Sink>);
    let mut last = String::new();
    for number in 0..500 {
        let call = Call::new("1", format!("made_up_{}", words(number)), "{}");
        last = guard.handle(call).await.reference().unwrap().to_string();
    }
    let mut record = record_of("fails").await;
    for number in 0..500 {
        Arc::make_mut(record.failure.as_mut().unwrap()).message = format!("no {}", words(number));
        keeper.take(&record);
    }
    keeper.end();
    let store = Store::open(&place).await.unwrap();
    let groups = all(&store).await;
    let of = |tool: &str| {
        let groups = groups.iter().filter(|group| group.tool == tool);
        (groups.clone().count(), groups.map(|group| group.count).sum::<u64>())
    };
    assert_eq!(of("(not a tool)"), (1, 500));
    assert_eq!(of("fails"), (201, 500));
    assert_eq!(groups.len(), 202);
    // What the model read of the last one still leads to its group.
    assert_eq!(store.named(&last, now()).await.unwrap()[0].tool, "(not a tool)");
    let samples = store.samples(&store.named(&last, now()).await.unwrap()[0], 1).await.unwrap();
    assert!(samples[0].tool.starts_with("made_up_"), "{samples:?}");
    store.close().await;
}

pub(crate) async fn what_is_old_is_deleted_and_what_is_counted_stays(place: String) {
    let mut record = record_of("fails").await;
    record.started = SystemTime::now() - Duration::from_hours(24 * 8);
    let keeper = keeper(&place);
    keeper.take(&record);
    keeper.end();
    let store = Store::open(&place).await.unwrap();
    let group = all(&store).await.remove(0);
    // A keeper sweeps when it has written the first time: the second one finds what is old.
    let again = self::keeper(&place);
    again.take(&record_of("works").await);
    while !store.samples(&group, 10).await.unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    again.end();
    let group = all(&store).await.remove(0);
    assert_eq!((group.all, group.count), (1, 1));
    let keep = Keep {
        records: Duration::from_mins(1),
        minutes: Duration::from_mins(1),
        hours: Duration::from_hours(24),
    };
    let third = Store::keeper(&place, "here", keep).unwrap();
    third.take(&record_of("works").await);
    while !all(&store).await.is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    third.end();
    assert_eq!(store.tools(0).await.unwrap().len(), 1);
    store.close().await;
}

pub(crate) async fn breakers_are_told_of_while_their_guard_runs(place: String) {
    let keeper = keeper(&place);
    let rules = BreakerRules { consecutive: 2, ..BreakerRules::default() };
    let gate = GateRules { breaker: Some(rules), ..GateRules::default() };
    let guard = Guard::builder()
        .tool(Script::new("down").fails(FailureKind::Network).tool().upstream("web"))
        .policy(Policy { gate: gate.clone(), ..Policy::default() })
        .upstream_rules(gate)
        .sink(Arc::clone(&keeper) as Arc<dyn Sink>)
        .build()
        .unwrap();
    for id in 0..2 {
        guard.handle(Call::new(id.to_string(), "down", format!(r#"{{"n": {id}}}"#))).await;
    }
    while keeper.keeping().written < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let store = Store::open(&place).await.unwrap();
    let mut breakers = store.breakers(now()).await.unwrap();
    breakers.sort_by(|one, other| one.tool.cmp(&other.tool));
    let told: Vec<_> = breakers
        .iter()
        .map(|it| (it.upstream.as_str(), it.tool.as_str(), it.state, it.why.as_str(), it.opened))
        .collect();
    let why = "2 in a row, the last: network";
    assert_eq!(told, [("web", "", "open", why, 1), ("web", "down", "open", why, 1)]);
    let later = now() + 31_000;
    assert_eq!(store.breakers(later).await.unwrap()[0].state, "half_open");
    keeper.end();
    assert_eq!(store.breakers(now()).await.unwrap(), []);
    store.close().await;
}

pub(crate) async fn two_keepers_share_a_place(place: String) {
    let record = record_of("fails").await;
    let writing: Vec<_> = (0..4)
        .map(|_| {
            let (place, record) = (place.clone(), record.clone());
            std::thread::spawn(move || {
                let keeper = keeper(&place);
                for _ in 0..2_500 {
                    keeper.take(&record);
                }
                while keeper.keeping().written < 2_500 {
                    std::thread::sleep(Duration::from_millis(10));
                }
                keeper.end();
                keeper.keeping().lost
            })
        })
        .collect();
    let lost: u64 = writing.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(lost, 0);
    let store = Store::open(&place).await.unwrap();
    assert_eq!(all(&store).await[0].count, 10_000);
    store.close().await;
}

pub(crate) async fn hostile_texts_are_kept_as_they_are(place: String) {
    let keeper = keeper(&place);
    let guard = guard(Arc::clone(&keeper) as Arc<dyn Sink>);
    let long = "x".repeat(100_000);
    for hostile in ["\0", "'; DROP TABLE groups; --", "\u{202e}\u{1f600}", long.as_str(), "$1 ?1"] {
        let call = Call::new(hostile, "fails", "{}").in_run(hostile);
        guard.handle(call).await;
        guard.handle(Call::new(hostile, hostile, hostile).in_run(hostile)).await;
    }
    keeper.end();
    assert_eq!((keeper.keeping().lost, keeper.keeping().written), (0, 10));
    let store = Store::open(&place).await.unwrap();
    assert_eq!(all(&store).await.iter().map(|group| group.count).sum::<u64>(), 10);
    assert_eq!(store.run("'; DROP TABLE groups; --", 10).await.unwrap().len(), 2);
    assert_eq!(store.run("\u{fffd}", 10).await.unwrap().len(), 2);
    assert_eq!(store.run("\0", 10).await.unwrap().len(), 2);
    assert_eq!(store.named("\0", now()).await.unwrap().len(), 0);
    store.close().await;
}

pub(crate) async fn a_call_that_a_substitute_answered_did_not_fail(place: String) {
    let keeper = keeper(&place);
    let guard = Guard::builder()
        .tool(Script::new("down").fails(FailureKind::NotFound).tool())
        .fallback(
            "down",
            Fallback::value(serde_json::json!("from the cache")).on([FailureKind::NotFound]),
        )
        .sink(Arc::clone(&keeper) as Arc<dyn Sink>)
        .build()
        .unwrap();
    guard.handle(Call::new("1", "down", "{}").in_run("a")).await;
    keeper.end();
    let store = Store::open(&place).await.unwrap();
    let tools = store.tools(0).await.unwrap();
    assert_eq!((tools[0].failed, tools[0].substituted, tools[0].kinds.len()), (0, 1, 0));
    assert_eq!(all(&store).await[0].recovery.by_fallback, 1);
    store.close().await;
}
