//! Clients and a server that both have something to say.

use std::time::{Duration, Instant};

use breakfall::Policy;
use serde_json::{Value, json};

use crate::guarded::{Client, Counts, Guarded, MODERN, NEWEST, OLD, local, said};
use crate::wire::sent;

async fn talker() -> (Guarded, Counts) {
    let counts = Counts::new();
    (Guarded::new(vec![local("talker", &counts)]).await, counts)
}

#[tokio::test]
async fn clients_with_the_same_ids_get_their_own_answers() {
    let (guarded, counts) = talker().await;
    let clients = [
        guarded.client(NEWEST).await,
        guarded.client(OLD).await,
        guarded.client(MODERN).await,
        guarded.client(MODERN).await,
    ];
    let calls = (0..40).map(|n| {
        let client = &clients[n % clients.len()];
        async move {
            let params = json!({ "name": "echo", "arguments": { "n": n } });
            let id = json!(n / clients_of_each());
            let answer =
                client.post(&client.request(&id, "tools/call", params)).await.answer().await;
            assert_eq!((&answer["id"], said(&answer).0), (&id, format!("{{\"n\": {n}}}")));
        }
    });
    futures_util::future::join_all(calls).await;
    // The two that need no session share one server.
    assert_eq!(counts.of("initialize"), 2);
    assert_eq!(counts.of("started"), 3);
    guarded.end().await;
}

const fn clients_of_each() -> usize {
    4
}

#[tokio::test]
async fn many_clients_at_once_are_all_served() {
    let guarded = Guarded::new(Vec::new()).await;
    let all = (0..200).map(|_| async {
        let client = guarded.client(NEWEST).await;
        for _ in 0..3 {
            assert!(client.ask("ping", json!({})).await["result"].is_object());
        }
        client.leave().await
    });
    let all = futures_util::future::join_all(all).await;
    assert!(all.iter().all(|status| *status == 200));
    guarded.end().await;
}

#[tokio::test]
async fn a_question_of_the_server_comes_in_the_stream_of_its_call_and_the_answer_goes_back() {
    for version in [OLD, NEWEST] {
        let (guarded, counts) = talker().await;
        let (client, other) = (guarded.client(version).await, guarded.client(version).await);
        let mut elsewhere = other.listen(None).await;
        let mut call = client.calling("ask", json!({})).await;
        let question = call.message().await.unwrap();
        assert_eq!(question["method"], "elicitation/create");
        // Who was not asked answers nothing.
        let answer = |words: &str| json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": words } });
        assert_eq!(other.post(&answer("not mine")).await.status, 202);
        assert_eq!(client.post(&answer("accept")).await.status, 202);
        assert_eq!(client.post(&answer("again")).await.status, 202);
        let answer = call.answer().await;
        assert_eq!(said(&answer).0, "answered: {\"action\": \"accept\"}");
        assert_eq!(counts.of("answered"), 1);
        let none = tokio::time::timeout(Duration::from_millis(50), elsewhere.event()).await;
        assert!(none.is_err(), "{none:?}");
        guarded.end().await;
    }
}

#[tokio::test]
async fn a_question_that_the_server_takes_back_is_taken_back_under_the_id_that_the_client_knows() {
    let (guarded, _counts) = talker().await;
    let client = guarded.client(OLD).await;
    let mut call = client.calling("ask_and_take_back", json!({})).await;
    let question = call.message().await.unwrap();
    let back = call.message().await.unwrap();
    assert_eq!(back["method"], "notifications/cancelled");
    assert_eq!(back["params"]["requestId"], question["id"]);
    assert_eq!(said(&call.answer().await).0, "never mind");
    guarded.end().await;
}

#[tokio::test]
async fn questions_without_number_are_refused_and_the_guard_keeps_its_head() {
    let (guarded, _counts) = talker().await;
    let client = guarded.client(NEWEST).await;
    let (text, _) = client.call("ask", json!({ "times": 5000 })).await;
    assert!(text.starts_with("answered: {\"code\""), "{text}");
    guarded.end().await;
}

#[tokio::test]
async fn progress_and_logs_come_in_the_stream_of_their_call_under_the_clients_token() {
    let (guarded, _counts) = talker().await;
    let client = guarded.client(NEWEST).await;
    let slow = |token: Value| json!({ "name": "slow", "arguments": {}, "_meta": { "progressToken": token } });
    let mut calls = [
        client.start("tools/call", slow(json!(1))).await,
        client.start("tools/call", slow(json!("one"))).await,
    ];
    for (call, token) in calls.iter_mut().zip([json!(1), json!("one")]) {
        let mut steps = Vec::new();
        loop {
            let message = call.message().await.unwrap();
            if message["method"] != "notifications/progress" {
                assert_eq!(said(&message).0, "done slowly");
                break;
            }
            assert_eq!(message["params"]["progressToken"], token);
            steps.push(message["params"]["progress"].as_u64().unwrap());
        }
        assert_eq!(steps, [1, 2, 3]);
    }
    let mut call = client.calling("talk", json!({ "times": 3 })).await;
    for number in 0..3 {
        let logged = call.message().await.unwrap();
        assert_eq!(logged["params"]["data"], format!("{number} "));
    }
    guarded.end().await;
}

/// The words that were logged in the stream of a call.
async fn logged(client: &Client, words: &str) -> Vec<Value> {
    let mut call = client.calling("talk_slowly", json!({ "words": words })).await;
    let mut logged = Vec::new();
    while call.is_events()
        && let Some(message) = call.message().await
        && message["method"] == "notifications/message"
    {
        logged.push(message["params"]["data"].clone());
    }
    logged
}

#[tokio::test]
async fn what_a_server_logs_for_one_client_is_never_heard_by_another() {
    let (guarded, counts) = talker().await;
    let (one, other) = (guarded.client(MODERN).await, guarded.client(MODERN).await);
    let mut listening = other.start("subscriptions/listen", json!({ "notifications": {} })).await;
    let heard = listening.message().await.unwrap();
    assert_eq!(heard["method"], "notifications/subscriptions/acknowledged");
    let (mine, theirs) = tokio::join!(logged(&one, "mine"), async {
        counts.reach("talk_slowly", 1).await;
        logged(&other, "theirs").await
    });
    assert!(mine.iter().all(|words| words == "mine"), "{mine:?}");
    assert!(theirs.iter().all(|words| words == "theirs"), "{theirs:?}");
    // Where nobody else is served it is known whose they are.
    assert_eq!(logged(&one, "mine").await, vec![json!("mine"); 10]);
    let none = tokio::time::timeout(Duration::from_millis(50), listening.message()).await;
    assert!(none.is_err(), "{none:?}");
    guarded.end().await;
}

#[tokio::test]
async fn nothing_that_comes_before_an_answer_is_lost_behind_it() {
    let (guarded, _counts) = talker().await;
    for version in [OLD, NEWEST] {
        let client = guarded.client(version).await;
        let mut call = client.calling("talk", json!({ "times": 500 })).await;
        for number in 0..500 {
            let logged = call.message().await.unwrap();
            assert_eq!(logged["params"]["data"], format!("{number} "));
        }
        assert_eq!(said(&call.answer().await).0, "said");
    }
    guarded.end().await;
}

#[tokio::test]
async fn who_takes_no_events_is_asked_where_it_listens() {
    let (guarded, _counts) = talker().await;
    let client = guarded.client(NEWEST).await;
    let mut listening = client.listen(None).await;
    let ask = json!({ "name": "ask", "arguments": {} });
    let message = client.request(&json!(1), "tools/call", ask);
    let bytes = client.bytes(&message, &[("Accept", "application/json")]);
    let (answer, ()) =
        tokio::join!(async { sent(guarded.at, &bytes).await.answer().await }, async {
            let question = listening.message().await.unwrap();
            let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": {} });
            assert_eq!(client.post(&answer).await.status, 202);
        });
    assert_eq!(said(&answer).0, "answered: {}");
    guarded.end().await;
}

#[tokio::test]
async fn a_call_that_the_client_cancels_is_over_and_the_server_is_told() {
    let (guarded, counts) = talker().await;
    for version in [OLD, NEWEST] {
        let client = guarded.client(version).await;
        let cancelled = counts.of("cancelled");
        let message = client.request(
            &json!("mine"),
            "tools/call",
            json!({ "name": "hang", "arguments": {} }),
        );
        let began = Instant::now();
        let (mut response, ()) = tokio::join!(client.post(&message), async {
            counts.reach("hang", cancelled + 1).await;
            client.tell("notifications/cancelled", json!({ "requestId": "mine" })).await;
        });
        counts.reach("cancelled", cancelled + 1).await;
        if response.is_events() {
            assert!(response.message().await.is_none());
        }
        assert!(began.elapsed() < Duration::from_secs(3));
    }
    guarded.end().await;
}

#[tokio::test]
async fn who_needs_no_session_and_goes_stops_its_call() {
    let (guarded, counts) = talker().await;
    let client = guarded.client(MODERN).await;
    let message =
        client.request(&json!(1), "tools/call", json!({ "name": "hang", "arguments": {} }));
    // Before anything of the response came, and while it comes.
    let mut stream = tokio::net::TcpStream::connect(guarded.at).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut stream, &client.bytes(&message, &[])).await.unwrap();
    counts.reach("hang", 1).await;
    drop(stream);
    counts.reach("cancelled", 1).await;
    let params = json!({ "name": "slow", "arguments": { "steps": 100 },
        "_meta": { "progressToken": 1 } });
    let mut response = client.start("tools/call", params).await;
    assert_eq!(response.message().await.unwrap()["method"], "notifications/progress");
    drop(response);
    counts.reach("cancelled", 2).await;
    guarded.end().await;
}

#[tokio::test]
async fn who_never_reads_costs_the_others_nothing() {
    let (guarded, _counts) = talker().await;
    let client = guarded.client(NEWEST).await;
    let talk = json!({ "name": "talk", "arguments": { "times": 3000, "size": 10_000 } });
    let deaf = client.start("tools/call", talk).await;
    let began = Instant::now();
    let other = guarded.client(NEWEST).await;
    assert_eq!(other.call("echo", json!({})).await.0, "{}");
    assert_eq!(client.call("echo", json!({ "n": 1 })).await.0, "{\"n\": 1}");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    drop(deaf);
    guarded.end().await;
}

#[tokio::test]
async fn a_server_that_says_very_much_while_nobody_asks_stops_nobody() {
    let (guarded, counts) = talker().await;
    let client = guarded.client(NEWEST).await;
    client.call("talk_later", json!({ "times": 60_000 })).await;
    counts.reach("talked", 1).await;
    assert_eq!(client.call("echo", json!({})).await.0, "{}");
    // Of what was kept the newest is there.
    let mut listening = client.listen(None).await;
    let mut last = Value::Null;
    while last != "x://59999" {
        last = listening.message().await.unwrap()["params"]["uri"].clone();
    }
    guarded.end().await;
}

#[tokio::test]
async fn a_hello_that_nobody_waits_for_leaves_no_session_behind() {
    let counts = Counts::new();
    let mut server = local("talker", &counts);
    if let breakfall_mcp::Reach::Command(command) = &mut server.reach {
        command.variables.insert("TALKER_SLEEPS".to_owned(), "0.5".to_owned());
    }
    let guarded = Guarded::new(vec![server]).await;
    let client = Client { at: guarded.at, session: None, version: NEWEST, next: 1.into() };
    let bytes = client.bytes(&client.hello(), &[]);
    let gone = tokio::time::timeout(Duration::from_millis(200), sent(guarded.at, &bytes)).await;
    assert!(gone.is_err());
    counts.reach("ended", 1).await;
    guarded.end().await;
}

#[tokio::test]
async fn where_all_places_are_taken_who_went_without_a_word_makes_room() {
    let guarded = Guarded::with(Vec::new(), None, Policy::default()).await;
    let first = guarded.client(NEWEST).await;
    let second = guarded.client(NEWEST).await;
    let mut listening = second.listen(None).await;
    for _ in 0..255 {
        guarded.client(NEWEST).await;
    }
    assert_eq!(first.start("ping", json!({})).await.status, 404);
    assert_eq!(second.start("ping", json!({})).await.status, 200);
    let none = tokio::time::timeout(Duration::from_millis(50), listening.event()).await;
    assert!(none.is_err(), "{none:?}");
    guarded.end().await;
}
