//! Providers that misbehave: every one is survived, or the run stops with the true reason.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::time::Duration;

use breakfall::{Call, FailureKind, Guard};
use breakfall_chat::{
    Bounds, Conversation, Event, Limits, Message, ModelErrorKind, Provider, Shape, Stop,
};
use breakfall_test::Script;
use serde_json::json;
use support::{Act, SHAPES, Server, answer, rules, say};

fn tools() -> Guard {
    Guard::builder().tool(Script::new("echo").tool()).build().unwrap()
}

/// A conversation in which nobody waits long.
fn conversation(server: &Server, shape: Shape) -> Conversation {
    server.conversation(shape, tools())
}

fn whole(shape: Shape) -> Act {
    Act::Stream(answer(shape, "Here I am.", &[]))
}

fn half(shape: Shape) -> Vec<u8> {
    let bytes = answer(shape, "Here I", &[("call_1", "echo", r#"{"a": 1}"#)]);
    // Within the events behind the first words.
    bytes[..bytes.len() * 2 / 3].to_vec()
}

/// What comes of one misbehaviour before a whole answer: what the person saw.
async fn survived(shape: Shape, act: Act) -> String {
    let server = Server::start(vec![act, whole(shape)]).await;
    let (stop, seen) = say(&mut conversation(&server, shape), "Hello.").await;
    assert_eq!(stop, Stop::Done, "{seen}");
    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0], asked[1], "the same question is asked again");
    seen
}

/// Why a run ends when this is all that ever comes, and how often the model was asked.
async fn ends(shape: Shape, act: Act) -> (Stop, usize) {
    let silence = Duration::from_millis(if matches!(act, Act::Hang(_)) { 300 } else { 30_000 });
    let server = Server::start(vec![act; 8]).await;
    let first_wait = Duration::from_millis(1);
    let limits = Limits { attempts: 2, first_wait, ..Limits::default() };
    let mut conversation = server.impatient(shape, tools(), silence).limits(limits);
    let (stop, _) = say(&mut conversation, "Hello.").await;
    for body in server.asked() {
        rules::accepts(shape, &body).unwrap();
    }
    (stop, server.asked().len())
}

fn kind(stop: &Stop) -> Option<ModelErrorKind> {
    match stop {
        Stop::Model(error) => Some(error.kind),
        _ => None,
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_is_asked_for_again_and_the_person_is_told() {
    for shape in SHAPES {
        for act in [Act::Cut(half(shape)), Act::Undelimited(half(shape))] {
            let seen = survived(shape, act).await;
            let expected = "Here I\n· The connection to the model was lost in the middle of its \
                            answer. Asking again.\nHere I am.";
            assert_eq!(seen, expected, "{shape:?}");
        }
        let (stop, asked) = ends(shape, Act::Cut(half(shape))).await;
        assert_eq!((kind(&stop), asked), (Some(ModelErrorKind::Lost), 2));
    }
}

#[tokio::test]
async fn what_was_read_of_a_lost_answer_is_kept_and_none_of_its_calls_is_run() {
    for shape in SHAPES {
        let server = Server::start(vec![Act::Cut(half(shape)), whole(shape)]).await;
        let limits = Limits { attempts: 1, ..Limits::default() };
        let mut conversation = conversation(&server, shape).limits(limits);
        let (stop, _) = say(&mut conversation, "Hello.").await;
        assert_eq!(kind(&stop), Some(ModelErrorKind::Lost));
        assert_eq!(conversation.history()[1..], [Message::assistant("Here I")]);
        let (stop, _) = say(&mut conversation, "Go on.").await;
        assert_eq!(stop, Stop::Done);
        rules::accepts(shape, &server.asked()[1]).unwrap();
    }
}

#[tokio::test]
async fn half_an_event_is_a_lost_connection() {
    for shape in SHAPES {
        let bytes = answer(shape, "Here I am.", &[]);
        let at = bytes.len() - 30;
        let (stop, _) = ends(shape, Act::Undelimited(bytes[..at].to_vec())).await;
        assert!(kind(&stop) == Some(ModelErrorKind::Lost) || stop == Stop::Done, "{stop:?}");
        let within = bytes.windows(4).position(|four| four == b"Here").unwrap();
        let (stop, _) = ends(shape, Act::Undelimited(bytes[..within].to_vec())).await;
        assert_eq!(kind(&stop), Some(ModelErrorKind::Lost), "{shape:?}");
    }
}

#[tokio::test]
async fn characters_that_are_split_and_lines_of_any_kind_are_put_together() {
    for shape in SHAPES {
        let text = String::from_utf8(answer(shape, "Grüße 👋 zum Tee.", &[])).unwrap();
        let text = format!(": keep-alive\n\n\u{feff}{text}").replace("\u{feff}", "");
        for text in [text.clone(), text.replace('\n', "\r\n")] {
            let pieces = text.as_bytes().chunks(7).map(<[u8]>::to_vec).collect();
            let server = Server::start(vec![Act::Pieces(pieces)]).await;
            let (stop, seen) = say(&mut conversation(&server, shape), "Hello.").await;
            assert_eq!((stop, &*seen), (Stop::Done, "Grüße 👋 zum Tee."), "{shape:?}");
        }
    }
}

#[tokio::test]
async fn a_wait_that_is_asked_for_is_kept() {
    let limited = |headers| Act::Status(429, headers, json!({ "error": "too many" }).to_string());
    for shape in SHAPES {
        for (headers, least) in [("retry-after: 1\r\n", 1_000), ("retry-after-ms: 300\r\n", 300)] {
            let server = Server::start(vec![limited(headers), whole(shape)]).await;
            let mut waited = Duration::ZERO;
            let hear = &mut |event: Event<'_>| {
                if let Event::Retry { wait, .. } = event {
                    waited = wait;
                }
            };
            let mut conversation = conversation(&server, shape);
            let stop = conversation.say("Hello.", hear, std::future::pending()).await;
            assert_eq!((stop, waited), (Stop::Done, Duration::from_millis(least)));
        }
        let (stop, asked) = ends(shape, limited("retry-after: 3600\r\n")).await;
        assert_eq!((kind(&stop), asked), (Some(ModelErrorKind::RateLimited), 1));
        let words = "The model's provider takes no more requests for now. Wait, then go on; it \
                     asks for 3600 s.";
        assert_eq!(stop.words().as_deref(), Some(words));
    }
}

#[tokio::test]
async fn a_wait_of_nothing_is_no_reason_to_ask_at_once() {
    for header in ["retry-after: 0\r\n", "retry-after-ms: 0\r\n"] {
        let limited = Act::Status(429, header, json!({ "error": "too many" }).to_string());
        let server = Server::start(vec![limited; 3]).await;
        let first_wait = Duration::from_millis(20);
        let limits = Limits { attempts: 3, first_wait, ..Limits::default() };
        let mut conversation = conversation(&server, Shape::Chat).limits(limits);
        let mut waits = Vec::new();
        let hear = &mut |event: Event<'_>| {
            if let Event::Retry { wait, .. } = event {
                waits.push(wait.as_millis());
            }
        };
        let stop = conversation.say("Hello.", hear, std::future::pending()).await;
        let words = "The model's provider takes no more requests for now. Wait, then go on.";
        assert_eq!(stop.words().as_deref(), Some(words));
        assert_eq!(waits, [20, 40]);
    }
}

#[tokio::test]
async fn a_provider_that_fails_or_is_overloaded_is_asked_again() {
    for shape in SHAPES {
        for (status, words) in
            [(500, "The model's provider failed."), (529, "The model's provider is overloaded.")]
        {
            let seen = survived(shape, Act::Status(status, "", String::new())).await;
            assert_eq!(seen, format!("· {words} Asking again.\nHere I am."));
        }
        let within = b"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
        let seen = survived(shape, Act::Stream(within.to_vec())).await;
        assert!(seen.starts_with("· The model's provider is overloaded."), "{seen}");
    }
}

#[tokio::test]
async fn a_provider_that_hangs_is_not_waited_for_for_ever() {
    for shape in SHAPES {
        for act in [Act::Hang(Vec::new()), Act::Hang(half(shape))] {
            let (stop, asked) = ends(shape, act).await;
            assert_eq!((kind(&stop), asked), (Some(ModelErrorKind::TimedOut), 2), "{shape:?}");
        }
    }
}

#[tokio::test]
async fn what_is_no_answer_is_told_apart_from_one_whatever_it_is_called() {
    let page = Act::Status(200, "content-type: text/html\r\n", "<html>Sign in</html>".into());
    let noise = Act::Stream(b"data: {not json}\n\n".to_vec());
    let empty = Act::Stream(Vec::new());
    let other = Act::Status(200, "content-type: application/json\r\n", "{}".into());
    for shape in SHAPES {
        for act in [&page, &noise, &empty, &other] {
            let (stop, asked) = ends(shape, act.clone()).await;
            assert_eq!((kind(&stop), asked), (Some(ModelErrorKind::Malformed), 2), "{shape:?}");
        }
        // A stream that is called JSON is a stream, and JSON that is called a stream is an answer.
        let text = String::from_utf8(answer(shape, "Here I am.", &[])).unwrap();
        let server = Server::start(vec![
            Act::Status(200, "content-type: application/json\r\n", text),
            Act::Stream(whole_body(shape).to_string().into_bytes()),
        ])
        .await;
        let mut conversation = conversation(&server, shape);
        for _ in 0..2 {
            let (stop, seen) = say(&mut conversation, "Hello.").await;
            assert_eq!((stop, &*seen), (Stop::Done, "Here I am."), "{shape:?}");
        }
    }
}

/// An answer in one piece.
fn whole_body(shape: Shape) -> serde_json::Value {
    match shape {
        Shape::Chat => json!({ "choices": [
            { "message": { "role": "assistant", "content": "Here I am." }, "finish_reason": "stop" }] }),
        Shape::Responses => json!({ "status": "completed", "output": [
            { "type": "message", "content": [{ "type": "output_text", "text": "Here I am." }] }] }),
        Shape::Anthropic => json!({ "type": "message", "stop_reason": "end_turn",
            "content": [{ "type": "text", "text": "Here I am." }] }),
    }
}

#[tokio::test]
async fn too_much_is_not_taken() {
    for shape in SHAPES {
        let long = "x".repeat(40_000);
        let server = Server::start(vec![Act::Stream(answer(shape, &long, &[])); 3]).await;
        for bounds in [
            Bounds { event: 10_000, ..Bounds::default() },
            Bounds { answer: 10_000, ..Bounds::default() },
        ] {
            let provider = Provider::new(shape, &server.address, "a-model").unwrap();
            let mut conversation = Conversation::new(provider.bounds(bounds).unwrap(), tools());
            let (stop, _) = say(&mut conversation, "Hello.").await;
            assert_eq!(kind(&stop), Some(ModelErrorKind::TooLarge), "{shape:?}");
        }
    }
}

#[tokio::test]
async fn only_a_refused_key_sends_the_person_to_the_key_and_no_key_is_shown() {
    for shape in SHAPES {
        for (status, body, words) in [
            (
                401,
                "Incorrect API key: not-a-real-key",
                "The model's provider refused the API key. Check your API key in A_KEY.",
            ),
            (
                402,
                "",
                "The account with the model's provider has no credit left. Add credit or raise its limit, then go on.",
            ),
            (
                404,
                "",
                "The model's provider does not know this model at this address. Check the name of the model and the address.",
            ),
            (
                413,
                "",
                "The conversation is longer than the model can read. Begin a new one, or choose a model that reads more.",
            ),
        ] {
            let (stop, asked) = ends(shape, Act::Status(status, "", body.to_owned())).await;
            assert_eq!(asked, 1, "there is no use in asking again");
            assert_eq!(stop.words().as_deref(), Some(words));
            assert!(!format!("{stop:?}").contains("not-a-real-key"), "{stop:?}");
        }
    }
    let nobody = Provider::new(Shape::Chat, "http://127.0.0.1:9", "m").unwrap().key("k", "A_KEY");
    let limits = Limits { attempts: 1, ..Limits::default() };
    let mut conversation = Conversation::new(nobody, tools()).limits(limits);
    let (stop, _) = say(&mut conversation, "Hello.").await;
    let words = "The model's provider cannot be reached. Check the address and the network.";
    assert_eq!(stop.words().as_deref(), Some(words));
}

#[tokio::test]
async fn servers_that_speak_almost_as_they_should_are_understood() {
    let chunk = |delta: serde_json::Value, finish: serde_json::Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        format!("data: {}\n\n", json!({ "choices": [choice] }))
    };
    let call = |value: serde_json::Value| json!({ "tool_calls": [value] });
    let cases: [(&str, String); 6] = [
        (
            "arguments that are an object, no id, no number, an end without a reason, no [DONE]",
            chunk(
                call(json!({ "function": { "name": "echo", "arguments": { "a": 1 } } })),
                json!(""),
            ),
        ),
        (
            "every call with the number 0 and whole",
            chunk(
                call(
                    json!({ "index": 0, "id": "x", "function": { "name": "echo", "arguments": "{\"a\":1}" } }),
                ),
                json!(null),
            ) + &chunk(
                call(
                    json!({ "index": 0, "id": "y", "function": { "name": "echo", "arguments": "{\"a\":1}" } }),
                ),
                json!("stop"),
            ),
        ),
        (
            "two whole calls without ids or numbers",
            chunk(
                call(json!({ "function": { "name": "echo", "arguments": "{\"a\":1}" } })),
                json!(null),
            ) + &chunk(
                call(json!({ "function": { "name": "echo", "arguments": "{\"a\":1}" } })),
                json!("tool_calls"),
            ),
        ),
        (
            "the same id for two calls of a message",
            format!(
                "data: {}\n\n",
                json!({ "choices": [{ "message": { "tool_calls": [
                    { "id": "0", "index": 0, "function": { "name": "echo", "arguments": "{\"a\":1}" } },
                    { "id": "0", "index": 1, "function": { "name": "echo", "arguments": "{\"a\":1}" } },
                ] }, "finish_reason": "tool_calls" }] })
            ),
        ),
        (
            "the older form of one call, its name said each time",
            chunk(
                json!({ "function_call": { "name": "echo", "arguments": "{\"a\"" } }),
                json!(null),
            ) + &chunk(
                json!({ "function_call": { "name": "echo", "arguments": ":1}" } }),
                json!("function_call"),
            ),
        ),
        (
            "a number for an id",
            chunk(
                call(
                    json!({ "index": 0, "id": 7, "function": { "name": "echo", "arguments": "{\"a\":1}" } }),
                ),
                json!("tool_calls"),
            ),
        ),
    ];
    for (why, text) in cases {
        let server = Server::start(vec![Act::Stream(text.into_bytes()), whole(Shape::Chat)]).await;
        let mut conversation = conversation(&server, Shape::Chat);
        let (stop, seen) = say(&mut conversation, "Hello.").await;
        assert_eq!((stop, &*seen), (Stop::Done, "Here I am."), "{why}");
        rules::accepts(Shape::Chat, &server.asked()[1]).unwrap();
        let replies = conversation.history().iter().filter_map(|message| match message {
            Message::Reply(reply) => Some(reply.text.as_str()),
            _ => None,
        });
        let replies: Vec<&str> = replies.collect();
        assert!(!replies.is_empty() && replies.iter().all(|text| *text == "{\"a\":1}"), "{why}");
    }
}

#[tokio::test]
async fn a_call_that_was_cut_off_because_the_answer_was_long_enough_is_not_run() {
    for shape in SHAPES {
        let text = String::from_utf8(answer(shape, "", &[("call_1", "echo", "")])).unwrap();
        let text = text
            .replace("\"finish_reason\":\"tool_calls\"", "\"finish_reason\":\"length\"")
            .replace("\"stop_reason\":\"tool_use\"", "\"stop_reason\":\"max_tokens\"")
            .replace("\"status\":\"completed\"", "\"status\":\"incomplete\"");
        let (tool, runs) = Script::new("echo").counted();
        let guard = Guard::builder().tool(tool).build().unwrap();
        let server = Server::start(vec![Act::Stream(text.into_bytes()), whole(shape)]).await;
        let (stop, seen) = say(&mut server.conversation(shape, guard), "Hello.").await;
        assert_eq!(stop, Stop::Done);
        let expected =
            "· `echo` did not run: its arguments were cut off after 0 bytes.\nHere I am.";
        assert_eq!(seen, expected, "{shape:?}");
        assert_eq!(runs.load(std::sync::atomic::Ordering::Relaxed), 0);
    }
    // The spine's own word for it.
    let cut = breakfall::RawArguments::CutOff(String::new());
    let reply = tools().handle(Call::new("a", "echo", cut)).await;
    assert_eq!(reply.kind(), Some(FailureKind::TruncatedArguments));
}

#[tokio::test]
async fn nobody_to_whom_a_provider_sends_us_gets_the_key() {
    let other = Server::start(vec![whole(Shape::Anthropic)]).await;
    let headers = format!("location: {}/v1/messages\r\n", other.address).leak();
    let (stop, asked) = ends(Shape::Anthropic, Act::Status(307, headers, String::new())).await;
    assert_eq!((kind(&stop), asked), (Some(ModelErrorKind::UnknownModel), 1));
    let Stop::Model(error) = stop else { panic!("an error of the model") };
    assert_eq!(error.detail, format!("it moved to {}/v1/messages", other.address));
    assert!(other.asked().is_empty());
}
