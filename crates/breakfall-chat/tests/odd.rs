//! Streams as servers and gateways have them that nobody expects: what they say is understood.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod support;

use breakfall::Guard;
use breakfall_chat::{Limits, ModelErrorKind, Shape, Stop};
use serde_json::{Value, json};
use support::{Act, Server, item, replies, say, stream, two};

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
