//! Streams as servers and gateways have them that nobody expects: what they say is understood.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod support;

use std::time::Duration;

use breakfall::Guard;
use breakfall_chat::{Limits, ModelErrorKind, Question, Shape, Stop, repair};
use serde_json::{Value, json};
use support::{Act, Server, answer, item, replies, say, stream, two};

fn piece(delta: &Value, finish: Option<&str>) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] })
}

fn piece_of_call(call: &Value) -> Value {
    piece(&json!({ "tool_calls": [call] }), None)
}

#[tokio::test]
async fn a_call_that_is_said_in_an_odd_way_is_one_call() {
    let begins = |id: &str| {
        json!({ "index": 0, "id": id, "type": "function",
                "function": { "name": "echo", "arguments": "" } })
    };
    let more = |id: &str, more: &str| json!({ "index": 0, "id": id, "function": { "name": null, "arguments": more } });
    let whole = json!({ "index": 0, "id": "a", "type": "function",
                        "function": { "name": "echo", "arguments": "{\"n\":1}" } });
    let message = json!({ "content": "So.", "tool_calls": [whole] });
    let ended = json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }] });
    for (why, events) in [
        (
            "each piece has an id of its own",
            vec![
                piece_of_call(&begins("a")),
                piece_of_call(&more("b", "{\"n\"")),
                piece_of_call(&more("c", ":1}")),
            ],
        ),
        ("it comes again as a whole", vec![piece_of_call(&whole), piece_of_call(&whole)]),
        (
            "the whole message comes at the end",
            vec![piece(&json!({ "content": "So." }), None), piece_of_call(&whole), ended],
        ),
        (
            "it stands in no list",
            vec![
                piece(&json!({ "tool_calls": begins("a") }), None),
                piece(&json!({ "tool_calls": more("a", "{\"n\":1}") }), Some("stop")),
            ],
        ),
    ] {
        let heard = replies(Shape::Chat, stream(&events)).await;
        assert_eq!(heard, two()[..1], "{why}");
    }
}

#[tokio::test]
async fn arguments_that_come_only_at_their_end_are_those_of_the_call() {
    let events = [
        json!({ "type": "response.output_item.added", "output_index": 0, "item": item("a", "") }),
        json!({ "type": "response.function_call_arguments.done", "output_index": 0,
                "arguments": "{\"n\":1}" }),
        json!({ "type": "response.completed", "response": { "status": "completed", "output": [] } }),
    ];
    assert_eq!(replies(Shape::Responses, stream(&events)).await, two()[..1]);
}

#[tokio::test]
async fn words_that_come_only_at_their_end_are_said_once() {
    let message = |text: &str| {
        json!({ "type": "response.output_item.done", "item": { "type": "message",
                "content": [{ "type": "output_text", "text": text }] } })
    };
    let events = [
        json!({ "type": "response.output_text.delta", "delta": "One. " }),
        message("One. "),
        message("Two."),
        json!({ "type": "response.completed", "response": { "status": "completed", "output": [] } }),
    ];
    let server = Server::start(vec![stream(&events)]).await;
    let mut conversation = server.conversation(Shape::Responses, Guard::builder().build().unwrap());
    assert_eq!(say(&mut conversation, "Hello.").await, (Stop::Done, "One. Two.".to_owned()));
}

#[tokio::test]
async fn an_end_is_understood_in_the_words_of_whoever_is_behind_a_gateway() {
    for (reason, kind) in [
        ("content_filter: PROHIBITED_CONTENT", Some(ModelErrorKind::Refused)),
        ("SAFETY", Some(ModelErrorKind::Refused)),
        ("guardrail_intervened", Some(ModelErrorKind::Refused)),
        ("MAX_TOKENS", None),
        ("model_length", None),
    ] {
        let events = [piece(&json!({ "content": "Half" }), Some(reason))];
        let server = Server::start(vec![stream(&events)]).await;
        let mut conversation = server.conversation(Shape::Chat, Guard::builder().build().unwrap());
        let (stop, _) = say(&mut conversation, "Hello.").await;
        match (stop, kind) {
            (Stop::Model(error), Some(kind)) => assert_eq!(error.kind, kind, "{reason}"),
            (stop, kind) => assert_eq!((stop, kind), (Stop::CutOff, None), "{reason}"),
        }
    }
}

#[tokio::test]
async fn a_mark_before_the_answer_is_none_of_it_and_one_that_is_compressed_is_told() {
    let whole =
        json!({ "choices": [{ "message": { "content": "Here." }, "finish_reason": "stop" }] });
    let server = Server::start(vec![
        Act::Status(200, "", format!("\u{feff}{whole}")),
        Act::Status(200, "content-encoding: gzip\r\n", whole.to_string()),
    ])
    .await;
    let mut conversation = server
        .conversation(Shape::Chat, Guard::builder().build().unwrap())
        .limits(Limits { attempts: 1, ..Limits::default() });
    assert_eq!(say(&mut conversation, "Hello.").await, (Stop::Done, "Here.".to_owned()));
    let (stop, _) = say(&mut conversation, "Hello.").await;
    let Stop::Model(error) = stop else { panic!("{stop:?}") };
    assert_eq!(error.kind, ModelErrorKind::Malformed);
    assert!(error.detail.contains("compressed"), "{error}");
}

#[tokio::test]
async fn a_model_that_is_paused_before_it_says_a_word_is_asked_on() {
    let block = json!({ "type": "server_tool_use", "id": "s", "name": "web_search",
                        "input": { "query": "x" } });
    let paused = stream(&[
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "pause_turn" } }),
    ]);
    let shape = Shape::Anthropic;
    let acts = vec![paused, Act::Stream(answer(shape, "Found.", &[]))];
    let server = Server::start(acts).await;
    let mut conversation = server.conversation(shape, Guard::builder().build().unwrap());
    assert_eq!(say(&mut conversation, "Look.").await, (Stop::Done, "Found.".to_owned()));
    assert_eq!(server.asked()[1]["messages"][1]["content"], json!([block]));

    // To another provider it is nothing.
    let repaired = repair(conversation.history());
    assert_eq!((repaired.history.as_slice(), repaired.notes.len()), (conversation.history(), 0));
    for shape in support::SHAPES {
        let history = &repaired.history[..2];
        let question = Question { system: "", history, tools: &[] };
        let body = shape.request(&question, "another", None);
        if shape != Shape::Anthropic {
            support::rules::accepts(shape, &body).unwrap();
        }
    }
}

#[tokio::test]
async fn an_error_that_comes_in_drops_is_not_waited_for_for_ever() {
    let server = Server::start(vec![Act::Drips(400)]).await;
    let guard = Guard::builder().build().unwrap();
    let mut conversation = server.impatient(Shape::Chat, guard, Duration::from_millis(200));
    let saying = tokio::time::timeout(Duration::from_secs(20), say(&mut conversation, "Hello."));
    let Stop::Model(error) = saying.await.unwrap().0 else { panic!("an answer") };
    assert_eq!((error.kind, error.status), (ModelErrorKind::BadRequest, Some(400)));
}

#[tokio::test]
async fn an_error_that_stands_between_the_events_is_one() {
    let begun = json!({ "choices": [{ "index": 0, "delta": { "content": "Half " } }] });
    for error in [
        r#"error: {"code":500,"message":"no slot","type":"server_error"}"#,
        r#"{"error":{"message":"no slot","type":"api_error"}}"#,
    ] {
        let sent = format!("data: {begun}\n\n{error}\n\n").into_bytes();
        let acts = vec![Act::Stream(sent), Act::Stream(answer(Shape::Chat, "Here I am.", &[]))];
        let server = Server::start(acts).await;
        let mut conversation = server.conversation(Shape::Chat, Guard::builder().build().unwrap());
        let (stop, seen) = say(&mut conversation, "Hello.").await;
        assert_eq!(stop, Stop::Done);
        let told = "Half \n· The model's provider failed. Asking again.\nHere I am.";
        assert_eq!(seen, told, "{error}");
    }
}
