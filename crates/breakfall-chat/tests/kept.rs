//! What only one model understands goes back to it, and to nobody else; calls are answered under the
//! ids that they have.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use breakfall::Guard;
use breakfall_chat::{Message, Provider, Shape, Stop};
use breakfall_test::Script;
use serde_json::{Value, json};
use support::{Act, Server, answer, rules, say};

fn tools() -> Guard {
    Guard::builder().tool(Script::new("echo").tool()).build().unwrap()
}

/// A stream of chat chunks with these deltas.
fn chunks(deltas: &[Value]) -> Act {
    let line = |delta: &Value| json!({ "choices": [{ "index": 0, "delta": delta }] });
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] });
    let lines = deltas.iter().map(line).chain([end]).map(|event| format!("data: {event}\n\n"));
    Act::Stream(lines.collect::<String>().into_bytes())
}

fn call(id: &str, more: &Value) -> Value {
    let mut call = json!({ "index": 0, "id": id, "type": "function",
                           "function": { "name": "echo", "arguments": "{}" } });
    call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    call
}

fn whole(shape: Shape) -> Act {
    Act::Stream(answer(shape, "Here I am.", &[]))
}

/// What the model is told that it said, in the request behind these deltas.
async fn sent_back(deltas: &[Value]) -> Value {
    let server = Server::start(vec![chunks(deltas), whole(Shape::Chat), whole(Shape::Chat)]).await;
    let mut conversation = server.conversation(Shape::Chat, tools());
    let (stop, _) = say(&mut conversation, "Hello.").await;
    assert_eq!(stop, Stop::Done);
    // It is as it was when the person has spoken again, and when the history was on the disk.
    let lines = conversation.history().iter().map(|it| serde_json::to_string(it).unwrap());
    let read = lines.map(|line| serde_json::from_str(&line).unwrap()).collect();
    let mut conversation = server.conversation(Shape::Chat, tools()).history_is(read);
    say(&mut conversation, "And now?").await;
    let asked = server.asked();
    assert_eq!(asked[1]["messages"][1], asked[2]["messages"][1]);
    rules::accepts(Shape::Chat, &asked[2]).unwrap();
    asked[1]["messages"][1].clone()
}

#[tokio::test]
async fn thoughts_that_a_model_wants_back_go_back() {
    let said = sent_back(&[
        json!({ "role": "assistant", "content": null, "reasoning_content": "" }),
        json!({ "reasoning_content": "I should " }),
        json!({ "reasoning_content": "look." }),
        json!({ "tool_calls": [call("a", &json!({}))] }),
    ])
    .await;
    assert_eq!(said["reasoning_content"], "I should look.");
    // One that thought nothing says so.
    let call = json!({ "tool_calls": [call("a", &json!({}))], "reasoning_content": "" });
    assert_eq!(sent_back(&[call]).await["reasoning_content"], "");
}

#[tokio::test]
async fn thoughts_in_a_list_go_back_as_they_were() {
    let piece = |text: &str| json!({ "type": "reasoning.text", "text": text, "index": 0 });
    let signed = json!({ "type": "reasoning.text", "signature": "s", "index": 0 });
    let sealed = json!({ "type": "reasoning.encrypted", "data": "x", "id": "a", "index": 0 });
    let said = sent_back(&[
        json!({ "reasoning": "I ", "reasoning_details": [piece("I ")] }),
        json!({ "reasoning": "see.", "reasoning_details": [piece("see."), signed, sealed] }),
        json!({ "tool_calls": [call("a", &json!({}))] }),
    ])
    .await;
    let thought =
        json!({ "type": "reasoning.text", "text": "I see.", "signature": "s", "index": 0 });
    assert_eq!(said["reasoning_details"], json!([thought, sealed]));
    assert_eq!(said.get("reasoning"), None, "nobody wants it back");
}

#[tokio::test]
async fn what_a_call_has_beside_its_arguments_goes_back() {
    let signature = json!({ "extra_content": { "google": { "thought_signature": "s==" } } });
    let said = sent_back(&[json!({ "tool_calls": [call("a", &signature)] })]).await;
    assert_eq!(said["tool_calls"][0]["extra_content"], signature["extra_content"]);
    assert_eq!(said.get("reasoning_content"), None);
}

#[tokio::test]
async fn what_one_model_wants_back_is_sent_to_no_other() {
    let more = json!({ "extra_content": { "google": {} } });
    let thinks =
        json!({ "reasoning_content": "Hm.", "tool_calls": [call("a", &more)], "content": null });
    let server = Server::start(vec![chunks(&[thinks]), whole(Shape::Chat)]).await;
    let mut conversation = server.conversation(Shape::Chat, tools());
    say(&mut conversation, "Hello.").await;
    for shape in support::SHAPES {
        let other = Server::start(vec![whole(shape)]).await;
        conversation.ask_another(Provider::new(shape, &other.address, "another").unwrap());
        say(&mut conversation, "And now?").await;
        let asked = other.asked().remove(0);
        rules::accepts(shape, &asked).unwrap();
        let asked = asked.to_string();
        assert!(!asked.contains("reasoning") && !asked.contains("extra_content"), "{asked}");
    }
}

/// Ids as models give them: Kimi, vLLM, and one with the signature of a thought behind it.
const IDS: [&str; 3] = [
    "functions.echo:0",
    "chatcmpl-tool-0123456789abcdef0123456789abcdef",
    "call_1__thought__CpIBAVSoXO5Zc+dF/0bWvVY2hx5Hq3==",
];

/// The ids of calls and of replies in a request.
fn ids(shape: Shape, body: &Value) -> (Vec<String>, Vec<String>) {
    let (made, answered) = match shape {
        Shape::Chat => ("id", "tool_call_id"),
        Shape::Responses => ("function_call", "function_call_output"),
        Shape::Anthropic => ("id", "tool_use_id"),
    };
    let mut found = (Vec::new(), Vec::new());
    collect(&body["messages"], made, answered, &mut found);
    for item in body["input"].as_array().into_iter().flatten() {
        let id = || item["call_id"].as_str().unwrap().to_owned();
        match item["type"].as_str() {
            Some(kind) if kind == made => found.0.push(id()),
            Some(kind) if kind == answered => found.1.push(id()),
            _ => {}
        }
    }
    found
}

fn collect(value: &Value, made: &str, answered: &str, found: &mut (Vec<String>, Vec<String>)) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str() {
                    Some(id) if name == made => found.0.push(id.to_owned()),
                    Some(id) if name == answered => found.1.push(id.to_owned()),
                    _ => collect(value, made, answered, found),
                }
            }
        }
        Value::Array(values) => {
            for value in values {
                collect(value, made, answered, found);
            }
        }
        _ => {}
    }
}

#[tokio::test]
async fn calls_are_answered_under_the_ids_that_the_model_gave_them() {
    for shape in support::SHAPES {
        let calls = IDS.map(|id| (id, "echo", "{}"));
        let acts = vec![Act::Stream(answer(shape, "", &calls)), whole(shape), whole(shape)];
        let server = Server::start(acts).await;
        let mut conversation = server.conversation(shape, tools());
        say(&mut conversation, "Hello.").await;
        let own = IDS.map(str::to_owned).to_vec();
        assert_eq!(ids(shape, &server.asked()[1]), (own.clone(), own.clone()), "{shape:?}");
        // Another model has its own opinion of ids.
        for other in support::SHAPES {
            let elsewhere = Server::start(vec![whole(other)]).await;
            conversation.ask_another(Provider::new(other, &elsewhere.address, "another").unwrap());
            say(&mut conversation, "And now?").await;
            let asked = elsewhere.asked().remove(0);
            rules::accepts(other, &asked).unwrap();
            let (made, answered) = ids(other, &asked);
            assert_eq!((made.len(), &made), (3, &answered), "{shape:?} {other:?}");
        }
        let model = server.provider(shape, std::time::Duration::from_secs(30));
        conversation.ask_another(model);
        say(&mut conversation, "Again.").await;
        assert_eq!(ids(shape, &server.asked()[2]), (own.clone(), own), "{shape:?}");
    }
}

#[test]
fn histories_that_know_no_model_are_read() {
    let line = r#"{"role":"assistant","text":"Hi.","kept":[{"type":"thinking"}],"shape":"chat"}"#;
    let Message::Assistant(said) = serde_json::from_str(line).unwrap() else { panic!("{line}") };
    assert_eq!((said.shape, said.model), (Some(Shape::Chat), None));
}
