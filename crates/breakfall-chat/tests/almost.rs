//! Answers that are almost as they should be: no call is lost, doubled or run when it should not be.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use breakfall::Guard;
use breakfall_chat::{Conversation, Limits, Message, ModelErrorKind, Shape, Stop};
use breakfall_test::Script;
use serde_json::{Value, json};
use support::{Act, SHAPES, Server, answer, item, replies, rules, say, stream, two};

/// The events of two calls, counted or not, with this output at the end.
fn two_items(numbers: [Option<u64>; 2], output: &Value) -> Vec<Value> {
    let mut events = Vec::new();
    let calls = [("a", "{\"n\":1}"), ("b", "{\"n\":2}")];
    for ((id, arguments), number) in calls.into_iter().zip(numbers) {
        let counted = |mut event: Value| {
            if let Some(number) = number {
                event["output_index"] = json!(number);
            }
            event
        };
        events.extend([
            counted(json!({ "type": "response.output_item.added", "item": item(id, "") })),
            counted(
                json!({ "type": "response.function_call_arguments.delta", "delta": arguments }),
            ),
            counted(json!({ "type": "response.output_item.done", "item": item(id, arguments) })),
        ]);
    }
    let response = json!({ "status": "completed", "output": output });
    events.push(json!({ "type": "response.completed", "response": response }));
    events
}

#[tokio::test]
async fn responses_lose_and_double_no_call_however_they_are_counted() {
    let (a, b) = (item("a", "{\"n\":1}"), item("b", "{\"n\":2}"));
    let thought = json!({ "type": "reasoning", "summary": [] });
    for (numbers, output) in [
        ([Some(1), Some(2)], json!([a, b])),
        ([Some(0), Some(1)], json!([thought, a, b])),
        ([None, None], json!([])),
        ([None, None], json!([a, b])),
        ([None, None], json!([thought, a, b])),
        ([Some(0), Some(0)], json!([a, b])),
        ([Some(1), Some(2)], json!([])),
    ] {
        let events = two_items(numbers, &output);
        let heard = replies(Shape::Responses, stream(&events)).await;
        assert_eq!(heard, two(), "{numbers:?} {output}");
        // Only the beginning and the pieces of a call came.
        let torn: Vec<Value> =
            events.into_iter().filter(|it| it["type"] != "response.output_item.done").collect();
        let heard = replies(Shape::Responses, stream(&torn)).await;
        assert_eq!(heard, two(), "{numbers:?} {output}");
    }
    // Only the second was streamed.
    let events = &two_items([Some(1), Some(2)], &json!([thought, a, b]))[3..];
    assert_eq!(replies(Shape::Responses, stream(events)).await, two());
}

#[tokio::test]
async fn responses_tell_calls_without_ids_or_with_the_same_apart() {
    for id in ["", "same"] {
        let (one, other) = (item(id, "{\"n\":1}"), item(id, "{\"n\":2}"));
        for numbers in [[Some(0), Some(1)], [None, None]] {
            for output in [json!([]), json!([one, other])] {
                let mut events = two_items(numbers, &output);
                for event in &mut events {
                    if let Some(item) = event.get_mut("item") {
                        item["call_id"] = json!(id);
                    }
                }
                let heard = replies(Shape::Responses, stream(&events)).await;
                let texts: Vec<&str> = heard.iter().map(|(_, text)| text.as_str()).collect();
                assert_eq!(texts, ["{\"n\":1}", "{\"n\":2}"], "{id:?} {numbers:?} {output}");
            }
        }
    }
}

#[tokio::test]
async fn calls_without_ids_that_come_side_by_side_are_not_made_one() {
    let call = |arguments: Value| json!({ "function": { "name": "echo", "arguments": arguments } });
    let counted = |arguments: Value| json!({ "index": 0, "function": { "name": "echo", "arguments": arguments } });
    let chunk = |calls: Value| json!({ "choices": [{ "delta": { "tool_calls": calls } }] });
    let end = json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] });
    let (one, other) = (json!("{\"n\":1}"), json!("{\"n\":2}"));
    let message = |calls: Value| {
        let message = json!({ "role": "assistant", "content": null, "tool_calls": calls });
        let choice = json!({ "delta": null, "message": message, "finish_reason": "tool_calls" });
        json!({ "choices": [choice] })
    };
    for (why, events, expected) in [
        (
            "two pieces with the number 0",
            vec![
                chunk(json!([counted(one.clone())])),
                chunk(json!([counted(other.clone())])),
                end.clone(),
            ],
            ["{\"n\":1}", "{\"n\":2}"],
        ),
        (
            "one list, the first without arguments",
            vec![chunk(json!([call(json!("")), call(other.clone())])), end.clone()],
            ["{}", "{\"n\":2}"],
        ),
        (
            "one list, both with the number 0",
            vec![chunk(json!([counted(one.clone()), counted(other.clone())])), end.clone()],
            ["{\"n\":1}", "{\"n\":2}"],
        ),
        (
            "a whole message, none with arguments",
            vec![message(json!([call(json!(null)), call(json!(null))]))],
            ["{}", "{}"],
        ),
    ] {
        let heard = replies(Shape::Chat, stream(&events)).await;
        let texts: Vec<&str> = heard.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, expected, "{why}");
    }
    // A name that is said again behind arguments that are whole, of a call that has an id.
    let begun =
        json!({ "index": 0, "id": "a", "function": { "name": "echo", "arguments": "{\"n\":1}" } });
    let events = [chunk(json!([begun])), chunk(json!([counted(json!(""))])), end];
    assert_eq!(replies(Shape::Chat, stream(&events)).await, two()[..1]);
}

/// A conversation with a tool that counts how often it runs.
async fn counted(
    shape: Shape,
    acts: Vec<Act>,
    attempts: u32,
) -> (Server, Conversation, std::sync::Arc<std::sync::atomic::AtomicUsize>) {
    let (tool, runs) = Script::new("echo").counted();
    let guard = Guard::builder().tool(tool).build().unwrap();
    let server = Server::start(acts).await;
    let limits = Limits { attempts, ..Limits::default() };
    let conversation = server.conversation(shape, guard).limits(limits);
    (server, conversation, runs)
}

/// The events of an answer before the one that ends it.
fn without_its_end(shape: Shape, words: &str, calls: &[(&str, &str, &str)]) -> Act {
    let text = String::from_utf8(answer(shape, words, calls)).unwrap();
    let end = if shape == Shape::Anthropic { "message_delta" } else { "response.completed" };
    let at = text.find(&format!("event: {end}")).unwrap();
    Act::Stream(text.as_bytes()[..at].to_vec())
}

#[tokio::test]
async fn an_answer_without_its_end_is_not_done_and_none_of_its_calls_is_run() {
    for shape in [Shape::Anthropic, Shape::Responses] {
        for (words, calls) in
            [("Here I", &[][..]), ("", &[("a", "echo", "")]), ("", &[("a", "echo", "{}")])]
        {
            let acts = vec![without_its_end(shape, words, calls)];
            let (_server, mut conversation, runs) = counted(shape, acts, 1).await;
            let (stop, _) = say(&mut conversation, "Hello.").await;
            let Stop::Model(error) = stop else { panic!("{shape:?} {words} {stop:?}") };
            assert_eq!(error.kind, ModelErrorKind::Lost);
            assert_eq!(runs.load(std::sync::atomic::Ordering::Relaxed), 0);
        }
    }
}

#[tokio::test]
async fn a_refusal_beside_a_call_ends_the_run_and_the_call_is_not_run() {
    for shape in SHAPES {
        let text = String::from_utf8(answer(shape, "Well", &[("a", "echo", "{}")])).unwrap();
        let text = text
            .replace("\"finish_reason\":\"tool_calls\"", "\"finish_reason\":\"content_filter\"")
            .replace("\"stop_reason\":\"tool_use\"", "\"stop_reason\":\"refusal\"")
            .replace(
                "\"status\":\"completed\"",
                "\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":\"content_filter\"}",
            );
        let whole = Act::Stream(answer(shape, "Here I am.", &[]));
        let acts = vec![Act::Stream(text.into_bytes()), whole];
        let (server, mut conversation, runs) = counted(shape, acts, 1).await;
        let (stop, seen) = say(&mut conversation, "Hello.").await;
        let Stop::Model(error) = stop else { panic!("{shape:?} {stop:?}") };
        assert_eq!(error.kind, ModelErrorKind::Refused);
        assert_eq!(
            seen,
            "Well\n· The model's provider refused to answer this. Ask in another way.\n"
        );
        assert_eq!(runs.load(std::sync::atomic::Ordering::Relaxed), 0);
        assert!(
            matches!(conversation.history().last(), Some(Message::Reply(reply)) if reply.is_error)
        );
        let (stop, _) = say(&mut conversation, "Otherwise, then.").await;
        assert_eq!(stop, Stop::Done);
        rules::accepts(shape, &server.asked()[1]).unwrap();
    }
}

#[tokio::test]
async fn a_person_who_speaks_twice_in_a_row_is_one_message() {
    for shape in SHAPES {
        let failed = Act::Status(400, "", String::new());
        let whole = Act::Stream(answer(shape, "Here I am.", &[]));
        let (server, mut conversation, _) = counted(shape, vec![failed, whole], 1).await;
        say(&mut conversation, "Hello.").await;
        let (stop, _) = say(&mut conversation, "Are you there?").await;
        assert_eq!(stop, Stop::Done);
        rules::accepts(shape, &server.asked()[1]).unwrap();
    }
}

#[tokio::test]
async fn thoughts_go_back_where_they_stood() {
    let thought = |sign: &str| json!({ "type": "thinking", "thinking": "Hm.", "signature": sign });
    let text = |text: &str| json!({ "type": "text", "text": text });
    let call = json!({ "type": "tool_use", "id": "a", "name": "echo", "input": { "n": 1 } });
    let blocks = [thought("1"), text("First."), thought("2"), text("Then."), call];
    let whole = json!({ "type": "message", "stop_reason": "tool_use", "content": blocks });
    let acts = vec![
        Act::Stream(whole.to_string().into_bytes()),
        Act::Stream(answer(Shape::Anthropic, "Here I am.", &[])),
    ];
    let (server, mut conversation, _) = counted(Shape::Anthropic, acts, 1).await;
    let (stop, seen) = say(&mut conversation, "Hello.").await;
    assert_eq!((stop, &*seen), (Stop::Done, "First.Then.Here I am."));
    assert_eq!(server.asked()[1]["messages"][1]["content"], json!(blocks));
}

#[tokio::test]
async fn a_model_that_its_provider_paused_is_asked_on() {
    let text = json!({ "type": "text", "text": "I look." });
    let search = |input: Value| json!({ "type": "server_tool_use", "id": "s", "name": "web_search", "input": input });
    let found = json!({ "type": "web_search_tool_result", "tool_use_id": "s", "content": [] });
    let start = |index: u64, block: &Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
    let grows = |index: u64, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    let end = |why: &str| json!({ "type": "message_delta", "delta": { "stop_reason": why } });
    let paused = stream(&[
        start(0, &text),
        start(1, &search(json!({}))),
        grows(1, json!({ "type": "input_json_delta", "partial_json": "{\"query\":\"x\"}" })),
        end("pause_turn"),
    ]);
    let goes_on = stream(&[
        start(0, &found),
        start(1, &json!({ "type": "text", "text": "Here it is." })),
        end("end_turn"),
    ]);
    let shape = Shape::Anthropic;
    let acts = vec![paused, goes_on, Act::Stream(answer(shape, "Here I am.", &[]))];
    let (server, mut conversation, _) = counted(shape, acts, 1).await;
    let (stop, seen) = say(&mut conversation, "Look.").await;
    assert_eq!((stop, &*seen), (Stop::Done, "I look.Here it is."));
    let said = json!([text, search(json!({ "query": "x" }))]);
    assert_eq!(server.asked()[1]["messages"][1]["content"], said);
    say(&mut conversation, "And now?").await;
    let last = json!({ "type": "text", "text": "Here it is." });
    let said = json!([text, search(json!({ "query": "x" })), found, last]);
    assert_eq!(server.asked()[2]["messages"][1]["content"], said);
}

#[tokio::test]
async fn a_run_is_stopped_while_servers_start() {
    struct Starting;
    impl breakfall_chat::Tools for Starting {
        fn callable(&self) -> breakfall::BoxFuture<'_, Vec<breakfall::ToolSpec>> {
            Box::pin(std::future::pending())
        }
        fn answer<'a>(
            &'a self,
            _: Vec<breakfall::Call>,
            _: breakfall::BoxFuture<'a, ()>,
            _: &'a mut (dyn FnMut(&breakfall::Reply) + Send),
        ) -> breakfall::BoxFuture<'a, Vec<breakfall::Reply>> {
            Box::pin(async { Vec::new() })
        }
        fn end_run(&self, _: &str) {}
    }
    let mut conversation = Conversation::new(breakfall_chat::Scripted::new(), Starting);
    let stop = conversation.say("Hello.", &mut |_| {}, std::future::ready(())).await;
    assert_eq!(stop, Stop::Cancelled);
}

#[tokio::test]
async fn a_call_in_the_text_of_which_none_can_be_made_is_told_to_the_model() {
    for (text, name) in [
        ("<tool_call>{\"name\": \"ehco\", \"arguments\": {}}</tool_call>", "ehco"),
        ("<tool_call>{\"name\": \"echo\", \"arguments\": {</tool_call>", "<tool_call>"),
    ] {
        let acts = [text, "Here I am."].map(|text| Act::Stream(answer(Shape::Chat, text, &[])));
        let (server, mut conversation, _) = counted(Shape::Chat, acts.to_vec(), 1).await;
        let (stop, seen) = say(&mut conversation, "Hello.").await;
        let line = format!("· The model wrote calls into its text (not run: {name}).");
        assert_eq!((stop, seen), (Stop::Done, format!("{text}\n{line}\nHere I am.")));
        let told = format!(
            "Your answer has a call of `{name}` as text. Nothing was run.\nMake it as a tool call, \
             or answer without it."
        );
        assert_eq!(server.asked()[1]["messages"][2]["content"], told);
    }
}

#[tokio::test]
async fn a_model_that_begins_late_is_waited_for_longer_than_one_that_falls_silent() {
    let words = answer(Shape::Chat, "Here I am.", &[]);
    let bounds = |beginning, silence| breakfall_chat::Bounds {
        beginning: std::time::Duration::from_millis(beginning),
        silence: std::time::Duration::from_millis(silence),
        ..breakfall_chat::Bounds::default()
    };
    for (bytes, bounds, said) in [
        (Vec::new(), bounds(200, 60_000), "nothing came for 0.2 s"),
        (words[..20].to_vec(), bounds(60_000, 300), "nothing came for 0.3 s"),
    ] {
        let server = Server::start(vec![Act::Hang(bytes)]).await;
        let provider = breakfall_chat::Provider::new(Shape::Chat, &server.address, "m").unwrap();
        let guard = Guard::builder().build().unwrap();
        let limits = Limits { attempts: 1, ..Limits::default() };
        let provider = provider.bounds(bounds).unwrap();
        let mut conversation = Conversation::new(provider, guard).limits(limits);
        let (stop, _) = say(&mut conversation, "Hello.").await;
        let Stop::Model(error) = stop else { panic!("{stop:?}") };
        assert_eq!((error.kind, &*error.detail), (ModelErrorKind::TimedOut, said));
    }
}
