//! Servers at addresses that forget, die and come back.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::guarded::{Guarded, NEWEST, OLD, Remote, said};

#[tokio::test]
async fn a_forgotten_session_is_made_anew_once_and_nothing_is_done_twice() {
    for modes in ["", "forgetful", "mailbox"] {
        let remote = Remote::start(modes).await;
        let guarded = Guarded::new(vec![remote.server()]).await;
        let client = guarded.client(NEWEST).await;
        client.call("forget", json!({})).await;
        // Many at once hear of it, and one greets the server.
        let calls = (0..20).map(|n| client.call("once", json!({ "n": n })));
        for (n, said) in futures_util::future::join_all(calls).await.into_iter().enumerate() {
            assert_eq!(said, (format!("{{\"n\": {n}}}"), false));
        }
        assert_eq!(remote.counts.of("once"), 20);
        assert_eq!(remote.counts.of("initialize"), 2, "{:?}", remote.counts.lines());
        guarded.end().await;
    }
}

#[tokio::test]
async fn a_request_that_works_outlives_the_session_of_its_neighbour() {
    let remote = Remote::start("").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    let client = guarded.client(NEWEST).await;
    let mut asking = client.calling("ask", json!({})).await;
    let question = asking.message().await.unwrap();
    let mut slow = client.calling("slow", json!({ "step": 0.2 })).await;
    client.call("forget", json!({})).await;
    assert_eq!(client.call("once", json!({})).await.0, "{}");
    assert_eq!(remote.counts.of("initialize"), 2);
    assert_eq!(said(&slow.answer().await), ("done slowly".to_owned(), false));
    assert_eq!(remote.counts.of("slow"), 1);
    drop((question, asking));
    guarded.end().await;
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_is_told_of_at_once_and_its_next_life_is_not_noticed() {
    for modes in ["forgetful", "listening", "unsaid", "mailbox"] {
        let mut remote = Remote::start(modes).await;
        let guarded = Guarded::new(vec![remote.server()]).await;
        let client = guarded.client(OLD).await;
        let (calls, died) = tokio::join!(
            async {
                let hang = || client.call("hang", json!({}));
                let calls = futures_util::future::join_all([hang(), hang(), hang()]).await;
                (calls, Instant::now())
            },
            async {
                remote.counts.reach("hang", 3).await;
                remote.kill().await;
                Instant::now()
            }
        );
        let took = calls.1 - died;
        assert!(took < Duration::from_millis(250), "{took:?}");
        for (text, is_error) in calls.0 {
            assert!(is_error && text.contains("may have taken effect"), "{text}");
        }
        remote.restart().await;
        assert_eq!(client.call("once", json!({ "n": 1 })).await, ("{\"n\": 1}".into(), false));
        assert_eq!(remote.counts.of("once"), 1);
        assert_eq!(remote.counts.of("hang"), 3);
        assert_eq!(remote.counts.of("initialize"), 1 + usize::from(modes != "unsaid"), "{modes}");
        guarded.end().await;
    }
}

#[tokio::test]
async fn a_call_waits_for_a_server_that_is_being_started_again() {
    let mut remote = Remote::start("").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    let client = guarded.client(NEWEST).await;
    remote.kill().await;
    let (called, ()) = tokio::join!(client.call("once", json!({})), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        remote.restart().await;
    });
    assert_eq!(called, ("{}".to_owned(), false));
    assert_eq!(remote.counts.of("once"), 1);
    guarded.end().await;
}

#[tokio::test]
async fn a_server_that_was_away_for_long_is_found_by_the_first_who_asks() {
    let mut remote = Remote::start("").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    remote.kill().await;
    let client = guarded.client(NEWEST).await;
    // Who asks finds that it is not there, at once.
    let began = Instant::now();
    assert!(client.call("echo", json!({})).await.1);
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    // By now it is tried seldom: the next time in two seconds.
    tokio::time::sleep(Duration::from_millis(1700)).await;
    remote.restart().await;
    let began = Instant::now();
    let (text, is_error) = client.call("once", json!({})).await;
    assert_eq!((text.as_str(), is_error), ("{}", false));
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    guarded.end().await;
}

#[tokio::test]
async fn whenever_the_server_dies_nothing_is_done_twice() {
    let mut remote = Remote::start("forgetful").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    let clients = [guarded.client(NEWEST).await, guarded.client(OLD).await];
    let (over, died) = (AtomicBool::new(false), AtomicBool::new(false));
    let calling = clients.iter().enumerate().map(|(which, client)| {
        let (over, died) = (&over, &died);
        async move {
            let mut done = Vec::new();
            for n in (which * 1_000_000).. {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                let arguments = json!({ "n": n, "after": 0.01 });
                let (text, is_error) = client.call("once", arguments).await;
                // A breaker may rest after so many deaths: then nothing was done.
                let most = usize::from(!is_error || text.contains("may have taken effect"));
                died.fetch_or(is_error && most == 1, Ordering::Relaxed);
                done.push((n, usize::from(!is_error)..=most));
            }
            done
        }
    });
    let killing = async {
        // On a machine that is busy a call is rarely met.
        for _ in 0..10 {
            for pause in [31, 57, 83, 112, 140] {
                tokio::time::sleep(Duration::from_millis(pause)).await;
                remote.kill().await;
                remote.restart().await;
            }
            if died.load(Ordering::Relaxed) {
                break;
            }
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        over.store(true, Ordering::Relaxed);
    };
    let (done, ()) = tokio::join!(futures_util::future::join_all(calling), killing);
    let done: Vec<_> = done.into_iter().flatten().collect();
    assert!(done.iter().any(|(_, times)| *times == (0..=1)), "no call died");
    for (n, expected) in done {
        let times = remote.counts.of(&format!("did {n}"));
        assert!(expected.contains(&times), "{n} was done {times} times, not {expected:?}");
    }
    guarded.end().await;
}

#[tokio::test]
async fn what_may_have_arrived_is_repeated_only_where_that_does_no_harm() {
    let remote = Remote::start("").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    let client = guarded.client(NEWEST).await;
    for (done, place) in ["nothing", "body", "stream"].into_iter().enumerate() {
        let began = Instant::now();
        let (text, is_error) = client.call("cut", json!({ "where": place })).await;
        assert!(is_error && text.contains("may have taken effect"), "{place} {text}");
        assert!(began.elapsed() < Duration::from_secs(1), "{place} {:?}", began.elapsed());
        assert_eq!(remote.counts.of("cut"), done + 1);
    }
    guarded.end().await;
}

#[tokio::test]
async fn a_connection_that_the_server_closed_meanwhile_costs_nothing() {
    let remote = Remote::start("").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    let client = guarded.client(NEWEST).await;
    for n in 0..20 {
        assert_eq!(client.call("leave", json!({})).await, ("left".to_owned(), false));
        assert_eq!(client.call("once", json!({})).await, ("{}".to_owned(), false));
        assert_eq!(remote.counts.of("once"), n + 1);
    }
    guarded.end().await;
}

#[tokio::test]
async fn a_server_is_left_with_a_farewell() {
    let remote = Remote::start("").await;
    let guarded = Guarded::new(vec![remote.server()]).await;
    let (one, _two) = (guarded.client(NEWEST).await, guarded.client(NEWEST).await);
    assert_eq!(remote.counts.of("initialize"), 2);
    assert_eq!(one.leave().await, 200);
    assert_eq!(remote.counts.of("delete"), 1);
    guarded.end().await;
    assert_eq!(remote.counts.of("delete"), 2);
}
