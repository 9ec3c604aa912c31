//! What must hold of reading, whatever database it is.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use breakfall::{Call, FailureKind, Guard, Sink};
use breakfall_store::{Keep, Sort, State, Store, Wanted};
use breakfall_test::Script;

const HOUR: i64 = 3_600_000;

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_millis()).unwrap()
}

/// Runs calls through a guard.
pub(crate) async fn calls(place: &str, tools: &[&str]) {
    let keeper = Arc::new(Store::keeper(place, "here", Keep::default()).unwrap());
    let entries = [
        Script::new("works").answers("fine").tool(),
        Script::new("often").fails(FailureKind::NotFound).tool().upstream("a"),
        Script::new("always").fails(FailureKind::Permission).tool().upstream("b"),
        Script::new("mostly").answers("fine").answers("fine").fails(FailureKind::NotFound).tool(),
    ];
    let sink = Arc::clone(&keeper) as Arc<dyn Sink>;
    let guard = Guard::builder().tools(entries).sink(sink).build().unwrap();
    for (id, tool) in tools.iter().enumerate() {
        // Another call each time: who repeats himself is stopped.
        let arguments = format!("{{\"n\": {id}}}");
        guard.handle(Call::new(id.to_string(), *tool, arguments)).await;
    }
}

fn tools<const N: usize>(each: [(&'static str, usize); N]) -> Vec<&'static str> {
    each.iter().flat_map(|(tool, times)| std::iter::repeat_n(*tool, *times)).collect()
}

pub(crate) async fn groups_are_chosen_and_put_in_order(place: String) {
    let place = place.as_str();
    // Rates: often 4 of 4, always 3 of 3, mostly 5 of 7.
    calls(place, &tools([("mostly", 7), ("often", 4), ("works", 9)])).await;
    tokio::time::sleep(Duration::from_millis(5)).await;
    calls(place, &tools([("always", 3)])).await;
    let store = Store::open(place).await.unwrap();
    let now = now();
    let all = Wanted::since(now - HOUR);
    let names = async |wanted: Wanted| {
        let found = store.list(&wanted, now).await.unwrap();
        let names: Vec<String> = found.groups.iter().map(|group| group.tool.clone()).collect();
        (names.join(" "), found.found)
    };
    let sorted = |sort| Wanted { sort, ..all.clone() };
    assert_eq!(names(sorted(Sort::Count)).await, ("mostly often always".to_owned(), 3));
    assert_eq!(names(sorted(Sort::Rate)).await, ("often always mostly".to_owned(), 3));
    assert_eq!(names(sorted(Sort::Last)).await.0.split(' ').next(), Some("always"));
    assert_eq!(names(sorted(Sort::New)).await.0.split(' ').next(), Some("always"));
    assert_eq!(names(Wanted { most: 1, ..all.clone() }).await, ("mostly".to_owned(), 3));
    let of = |text: &str| Some(text.to_owned());
    assert_eq!(names(Wanted { tool: of("often"), ..all.clone() }).await.0, "often");
    assert_eq!(names(Wanted { upstream: of("b"), ..all.clone() }).await.0, "always");
    assert_eq!(names(Wanted { kind: of("not_found"), ..all.clone() }).await.0, "mostly often");
    assert_eq!(names(Wanted { since: now + HOUR, ..all.clone() }).await, (String::new(), 0));
    let resolved = Wanted { state: Some(State::Resolved), ..all.clone() };
    assert_eq!(names(resolved.clone()).await.1, 0);
    let group = store.groups(0, now).await.unwrap().remove(0);
    store.set_state(&group, State::Resolved, now).await.unwrap();
    assert_eq!(names(resolved).await, ("mostly".to_owned(), 1));
    let found = store.list(&Wanted { most: 1, ..all.clone() }, now).await.unwrap();
    assert_eq!((found.calls, found.failed, found.new, found.came_back), (23, 12, 2, 0));
    // Nobody named a run.
    assert_eq!((found.recovery.unknown, found.recovery.share()), (12, None));
    assert_eq!((group.count, group.calls, group.rate), (5, 7, Some(5.0 / 7.0)));
    store.close().await;
}

pub(crate) async fn a_share_of_two_calls_is_none(place: String) {
    let place = place.as_str();
    calls(place, &tools([("often", 2), ("always", 3)])).await;
    let store = Store::open(place).await.unwrap();
    let groups = store.groups(0, now()).await.unwrap();
    let rates: Vec<_> = groups.iter().map(|group| (group.count, group.rate)).collect();
    assert_eq!(rates, [(3, Some(1.0)), (2, None)]);
    let rows = store.tools(0).await.unwrap();
    let rates: Vec<_> = rows.iter().map(|row| (row.failed, row.rate)).collect();
    assert_eq!(rates, [(3, Some(1.0)), (2, None)]);
    store.close().await;
}

pub(crate) async fn a_group_is_named_by_its_reference_its_fingerprint_or_the_beginning_of_it(
    place: String,
) {
    let place = place.as_str();
    calls(place, &tools([("often", 2), ("always", 1)])).await;
    let store = Store::open(place).await.unwrap();
    let now = now();
    let group = store.groups(0, now).await.unwrap().remove(0);
    for name in [&group.reference, &group.fingerprint, &group.fingerprint[..9]] {
        let named = store.named(name, now).await.unwrap();
        let [one] = named.as_slice() else { panic!("{name} names {}", named.len()) };
        assert_eq!((&one.fingerprint, one.count, one.calls), (&group.fingerprint, 2, 2));
        assert_eq!(one.hours, group.hours);
    }
    // What could be a pattern is none.
    for name in ["", "1-", "%", "1-%%%%%", "______", "no such name"] {
        assert!(store.named(name, now).await.unwrap().is_empty(), "{name}");
    }
    let known = store.references(10).await.unwrap();
    let mut tools: Vec<&str> = known.iter().map(|known| known.tool.as_str()).collect();
    tools.sort_unstable();
    assert_eq!(tools, ["always", "often"]);
    assert!(known.iter().any(|known| known.reference == group.reference));
    store.close().await;
}

pub(crate) async fn calls_and_failures_are_told_over_time(place: String) {
    let place = place.as_str();
    calls(place, &tools([("often", 2), ("works", 3)])).await;
    let store = Store::open(place).await.unwrap();
    let now = now();
    for long in [HOUR, 24 * HOUR, 400 * 24 * HOUR] {
        let line = store.timeline(now - long, now).await.unwrap();
        let calls: u64 = line.moments.iter().map(|moment| moment.calls).sum();
        let failed: u64 = line.moments.iter().map(|moment| moment.failed).sum();
        assert_eq!((calls, failed), (5, 2), "{line:?}");
    }
    store.close().await;
}

pub(crate) async fn what_fails_is_followed_and_what_took_long_is_not_passed_over(place: String) {
    calls(&place, &["often"]).await;
    let store = Store::open(&place).await.unwrap();
    let mut tail = store.tail(None, now()).await.unwrap();
    let mut since = store.tail(Some(0), now()).await.unwrap();
    assert_eq!(tail.next().await.unwrap().len(), 0);
    assert_eq!(since.next().await.unwrap().len(), 1);

    // Begun before, ended after: its record comes behind one that is known.
    let keeper = Arc::new(Store::keeper(&place, "here", Keep::default()).unwrap());
    let hangs = breakfall::Policy { attempt_timeout: Duration::from_millis(50), ..hasty() };
    let guard = Guard::builder()
        .tool(Script::new("hangs").hangs().tool())
        .policy(hangs)
        .sink(Arc::clone(&keeper) as Arc<dyn Sink>)
        .build()
        .unwrap();
    let mut slow = std::pin::pin!(guard.handle(Call::new("slow", "hangs", "{}")));
    let begun = poll_fn(|context| Poll::Ready(slow.as_mut().poll(context).is_pending())).await;
    assert!(begun);
    tokio::time::sleep(Duration::from_millis(5)).await;
    calls(&place, &["works", "always"]).await;
    let seen = tail.next().await.unwrap();
    assert_eq!(seen.iter().map(|sample| sample.tool.as_str()).collect::<Vec<_>>(), ["always"]);
    slow.await;
    keeper.end();
    let late = tail.next().await.unwrap();
    assert_eq!(late.iter().map(|sample| sample.call.as_str()).collect::<Vec<_>>(), ["slow"]);
    assert_eq!(tail.next().await.unwrap().len(), 0);
    store.close().await;
}

fn hasty() -> breakfall::Policy {
    breakfall::Policy { retry: breakfall::Retry::never(), ..breakfall::Policy::default() }
}
