//! Streams that go wrong in the middle: what they say is told, and one bad character costs nothing.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use breakfall::Guard;
use breakfall_chat::{Limits, ModelErrorKind, Shape, Stop};
use breakfall_test::Script;
use serde_json::json;
use support::{Act, SHAPES, Server, answer, say};

fn tools() -> Guard {
    Guard::builder().tool(Script::new("echo").tool()).build().unwrap()
}

/// What the person saw of a stream and a whole answer behind it.
async fn seen(shape: Shape, text: impl Into<Vec<u8>>) -> String {
    let whole = Act::Stream(answer(shape, "Here I am.", &[]));
    let server = Server::start(vec![Act::Stream(text.into()), whole]).await;
    let (stop, seen) = say(&mut server.conversation(shape, tools()), "Hello.").await;
    assert_eq!(stop, Stop::Done, "{seen}");
    seen
}

/// Why a run ends when this is what comes, asked once.
async fn ends(shape: Shape, text: impl Into<Vec<u8>>) -> breakfall_chat::ModelError {
    let server = Server::start(vec![Act::Stream(text.into())]).await;
    let limits = Limits { attempts: 1, ..Limits::default() };
    let mut conversation = server.conversation(shape, tools()).limits(limits);
    match say(&mut conversation, "Hello.").await {
        (Stop::Model(error), _) => error,
        (stop, seen) => panic!("{shape:?} {stop:?} {seen}"),
    }
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_is_told_as_what_it_is() {
    let begun = |shape| {
        let bytes = answer(shape, "Here I", &[]);
        let end = bytes.windows(2).position(|two| two == b"\n\n").unwrap();
        bytes[..end + 2].to_vec()
    };
    for (shapes, event, expected) in [
        (
            &[Shape::Chat][..],
            r#"data: {"object":"error","message":"CUDA error","type":"InternalServerError","code":500}"#,
            (ModelErrorKind::ProviderFailed, "CUDA error"),
        ),
        (
            &[Shape::Chat],
            r#"data: {"object":"error","message":"Unauthorized","code":401}"#,
            (ModelErrorKind::BadKey, "Unauthorized"),
        ),
        (
            &[Shape::Chat],
            r#"data: {"type":"error","message":"maximum context length is 8","code":400}"#,
            (ModelErrorKind::ContextTooLong, "maximum context length is 8"),
        ),
        (
            &SHAPES,
            "event: error\ndata: {\"message\":\"out of memory\",\"code\":503}",
            (ModelErrorKind::Overloaded, "out of memory"),
        ),
        (
            &SHAPES,
            "event: error\ndata: upstream is gone",
            (ModelErrorKind::ProviderFailed, "upstream is gone"),
        ),
    ] {
        for shape in shapes {
            let text = [begun(*shape), format!("{event}\n\n").into_bytes()].concat();
            let error = ends(*shape, text).await;
            assert_eq!((error.kind, &*error.detail), expected, "{shape:?} {event}");
        }
    }
    let whole = json!({ "object": "error", "message": "Unauthorized", "code": 401 }).to_string();
    assert_eq!(ends(Shape::Chat, whole).await.kind, ModelErrorKind::BadKey);
}

#[tokio::test]
async fn an_answer_in_another_shape_is_no_empty_one() {
    for asked in SHAPES {
        for answered in SHAPES.into_iter().filter(|shape| *shape != asked) {
            let error = ends(asked, answer(answered, "Here I am.", &[])).await;
            assert_eq!(error.kind, ModelErrorKind::Malformed);
            let names = |shape| format!("{shape:?}").to_lowercase();
            let (asked, answered) = (names(asked), names(answered));
            let detail = format!(
                "no event of the stream has the shape `{asked}`; they have the shape `{answered}`"
            );
            assert_eq!(error.detail, detail);
            let words = "The model's provider sent something that is no answer. Go on to ask \
                         again, or check its address and its shape.";
            assert_eq!(error.words(), words);
        }
    }
}

#[tokio::test]
async fn an_end_that_is_an_error_is_no_answer() {
    for (reason, words) in [
        ("error", "The model's provider failed."),
        ("abort", "The model's provider failed."),
        ("insufficient_system_resource", "The model's provider is overloaded."),
    ] {
        let text = String::from_utf8(answer(Shape::Chat, "Part of", &[])).unwrap();
        let end = format!("\"finish_reason\":\"{reason}\"");
        let text = text.replace("\"finish_reason\":\"stop\"", &end);
        let seen = seen(Shape::Chat, text).await;
        assert_eq!(seen, format!("Part of\n· {words} Asking again.\nHere I am."));
    }
    let text = String::from_utf8(answer(Shape::Responses, "Part of", &[])).unwrap();
    let text = text.replace("\"status\":\"completed\"", "\"status\":\"cancelled\"");
    let seen = seen(Shape::Responses, text).await;
    assert!(seen.starts_with("Part of\n· The model's provider failed."), "{seen}");
}

#[tokio::test]
async fn a_bad_character_costs_no_answer() {
    for shape in SHAPES {
        let text = String::from_utf8(answer(shape, "Well 12", &[])).unwrap();
        let parts: Vec<&str> = text.split("12").collect();
        for bad in [&b"\xff!"[..], br"\ud83d!"] {
            let bytes = parts.iter().map(|part| part.as_bytes()).collect::<Vec<_>>().join(bad);
            assert_eq!(seen(shape, bytes).await, "Well \u{fffd}!", "{shape:?}");
        }
    }
}

#[tokio::test]
async fn a_character_whose_halves_come_in_two_events_is_one() {
    let chunk = |words: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{words}\"}}}}]}}\n\n")
    };
    let text = [chunk("Hi \\ud83d"), chunk("\\ude42!"), "data: [DONE]\n\n".to_owned()].concat();
    assert_eq!(seen(Shape::Chat, text).await, "Hi 🙂!");
}
