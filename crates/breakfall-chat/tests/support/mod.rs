//! A provider of our own over real HTTP: it says what it is told to, remembers what it was asked,
//! and misbehaves on purpose.
#![allow(dead_code, reason = "each test has its own part of it")]

pub(crate) mod histories;
pub(crate) mod rules;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use breakfall::Guard;
use breakfall_chat::{Bounds, Conversation, Event, Limits, Message, Provider, Shape, Stop, Tools};
use breakfall_test::Script;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub(crate) const SHAPES: [Shape; 3] = [Shape::Chat, Shape::Responses, Shape::Anthropic];

/// What the server does with a request.
#[derive(Clone)]
pub(crate) enum Act {
    /// Streams these bytes, chunked, with an end.
    Stream(Vec<u8>),
    /// Streams these pieces, each on its own.
    Pieces(Vec<Vec<u8>>),
    /// Streams these bytes and closes the connection in the middle of the chunks.
    Cut(Vec<u8>),
    /// Streams these bytes without a length and closes the connection.
    Undelimited(Vec<u8>),
    /// Streams these bytes, then nothing, for ever.
    Hang(Vec<u8>),
    /// Answers with this status and a body that comes in drops and has no end.
    Drips(u16),
    /// Answers with this status, headers and body.
    Status(u16, &'static str, String),
}

/// A provider that does one thing after another.
pub(crate) struct Server {
    pub(crate) address: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Server {
    pub(crate) async fn start(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        tokio::spawn(async move {
            let mut acts = acts.into_iter();
            while let Ok((mut stream, _)) = listener.accept().await {
                let Some(body) = request(&mut stream).await else { continue };
                heard.lock().unwrap().push(body);
                let nothing = || Act::Status(500, "", "the script has ended".to_owned());
                let act = acts.next().unwrap_or_else(nothing);
                tokio::spawn(async move { perform(stream, act).await });
            }
        });
        Self { address, asked }
    }

    pub(crate) fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn provider(&self, shape: Shape, silence: Duration) -> Provider {
        let bounds = Bounds { beginning: silence, silence, ..Bounds::default() };
        let provider = Provider::new(shape, &self.address, "a-model").unwrap();
        provider.bounds(bounds).unwrap().key("not-a-real-key", "A_KEY")
    }

    pub(crate) fn conversation(&self, shape: Shape, tools: impl Tools + 'static) -> Conversation {
        // Longer than any machine is busy.
        self.impatient(shape, tools, Duration::from_secs(30))
    }

    /// A conversation with a provider that is waited for only so long.
    pub(crate) fn impatient(
        &self,
        shape: Shape,
        tools: impl Tools + 'static,
        silence: Duration,
    ) -> Conversation {
        let first_wait = Duration::from_millis(1);
        let limits = Limits { first_wait, ..Limits::default() };
        Conversation::new(self.provider(shape, silence), tools).limits(limits)
    }
}

async fn request(stream: &mut TcpStream) -> Option<Value> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().unwrap())
        });
        if body.len() >= length.unwrap_or_default() {
            return serde_json::from_str(body).ok();
        }
    }
}

async fn perform(mut stream: TcpStream, act: Act) {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
    let chunked = format!("{head}transfer-encoding: chunked\r\n\r\n");
    let chunk =
        |bytes: &[u8]| [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
    let end = b"0\r\n\r\n";
    let out = match act {
        Act::Stream(bytes) => vec![[chunked.as_bytes(), &chunk(&bytes), end].concat()],
        Act::Pieces(pieces) => {
            let pieces = pieces.iter().map(|piece| chunk(piece));
            [chunked.into_bytes()].into_iter().chain(pieces).chain([end.to_vec()]).collect()
        }
        Act::Cut(bytes) => vec![[chunked.as_bytes(), &chunk(&bytes)].concat()],
        Act::Undelimited(bytes) => vec![[head.as_bytes(), b"\r\n", &bytes].concat()],
        Act::Hang(bytes) => {
            // A chunk of nothing would be the end.
            let bytes = if bytes.is_empty() { bytes } else { chunk(&bytes) };
            let _ = stream.write_all(&[chunked.as_bytes(), &bytes].concat()).await;
            return std::future::pending().await;
        }
        Act::Drips(status) => {
            let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\n\r\n");
            let mut drop = head.as_bytes();
            while stream.write_all(drop).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
                drop = b"x";
            }
            return;
        }
        Act::Status(status, headers, body) => vec![
            format!(
                "HTTP/1.1 {status} X\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{body}",
                body.len()
            )
            .into_bytes(),
        ],
    };
    for piece in out {
        let _ = stream.write_all(&piece).await;
        let _ = stream.flush().await;
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let _ = stream.shutdown().await;
}

fn events(events: impl IntoIterator<Item = Value>) -> Vec<u8> {
    let lines = events.into_iter().map(|event| match event["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {event}\n\n"),
        None => format!("data: {event}\n\n"),
    });
    lines.collect::<String>().into_bytes()
}

/// An answer as a provider of that shape streams it: words, then calls with their arguments in two
/// pieces each.
pub(crate) fn answer(shape: Shape, words: &str, calls: &[(&str, &str, &str)]) -> Vec<u8> {
    let halves = |arguments: &str| {
        let (one, two) = arguments.split_at(arguments.floor_char_boundary(arguments.len() / 2));
        [one.to_owned(), two.to_owned()]
    };
    match shape {
        Shape::Chat => {
            let delta = |delta: Value| json!({ "choices": [{ "index": 0, "delta": delta }] });
            let mut all = vec![delta(json!({ "role": "assistant", "content": words }))];
            for (index, (id, tool, arguments)) in calls.iter().enumerate() {
                let begun = json!({ "index": index, "id": id, "type": "function",
                                    "function": { "name": tool, "arguments": "" } });
                all.push(delta(json!({ "tool_calls": [begun] })));
                for half in halves(arguments) {
                    let more = json!({ "index": index, "function": { "arguments": half } });
                    all.push(delta(json!({ "tool_calls": [more] })));
                }
            }
            let why = if calls.is_empty() { "stop" } else { "tool_calls" };
            all.push(json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": why }] }));
            all.push(
                json!({ "choices": [], "usage": { "prompt_tokens": 7, "completion_tokens": 3 } }),
            );
            [events(all), b"data: [DONE]\n\n".to_vec()].concat()
        }
        Shape::Responses => responses_answer(words, calls, halves),
        Shape::Anthropic => anthropic_answer(words, calls, halves),
    }
}

fn responses_answer(
    words: &str,
    calls: &[(&str, &str, &str)],
    halves: impl Fn(&str) -> [String; 2],
) -> Vec<u8> {
    let mut all =
        vec![json!({ "type": "response.created", "response": { "status": "in_progress" } })];
    let mut output = Vec::new();
    if !words.is_empty() {
        all.push(
            json!({ "type": "response.output_text.delta", "output_index": 0, "delta": words }),
        );
        output.push(
            json!({ "type": "message", "content": [{ "type": "output_text", "text": words }] }),
        );
    }
    for (id, tool, arguments) in calls {
        let at = output.len();
        let item = |arguments: &str| {
            json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id,
                    "name": tool, "arguments": arguments })
        };
        all.push(
            json!({ "type": "response.output_item.added", "output_index": at, "item": item("") }),
        );
        for half in halves(arguments) {
            all.push(json!({ "type": "response.function_call_arguments.delta",
                             "output_index": at, "delta": half }));
        }
        all.push(json!({ "type": "response.output_item.done", "output_index": at,
                         "item": item(arguments) }));
        output.push(item(arguments));
    }
    let usage = json!({ "input_tokens": 7, "output_tokens": 3 });
    all.push(json!({ "type": "response.completed",
                     "response": { "status": "completed", "output": output, "usage": usage } }));
    events(all)
}

fn anthropic_answer(
    words: &str,
    calls: &[(&str, &str, &str)],
    halves: impl Fn(&str) -> [String; 2],
) -> Vec<u8> {
    let usage = json!({ "input_tokens": 7, "output_tokens": 1 });
    let mut all = vec![json!({ "type": "message_start", "message": { "usage": usage } })];
    let mut index = 0;
    if !words.is_empty() {
        all.push(json!({ "type": "content_block_start", "index": 0,
                         "content_block": { "type": "text", "text": "" } }));
        all.push(json!({ "type": "content_block_delta", "index": 0,
                         "delta": { "type": "text_delta", "text": words } }));
        all.push(json!({ "type": "content_block_stop", "index": 0 }));
        index = 1;
    }
    for (id, tool, arguments) in calls {
        let block = json!({ "type": "tool_use", "id": id, "name": tool, "input": {} });
        all.push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        for half in halves(arguments) {
            let delta = json!({ "type": "input_json_delta", "partial_json": half });
            all.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        }
        all.push(json!({ "type": "content_block_stop", "index": index }));
        index += 1;
    }
    let why = if calls.is_empty() { "end_turn" } else { "tool_use" };
    all.push(json!({ "type": "message_delta", "delta": { "stop_reason": why },
                     "usage": { "output_tokens": 3 } }));
    all.push(json!({ "type": "message_stop" }));
    events(all)
}

/// What the person saw: the model's words, and quiet lines.
#[derive(Default)]
pub(crate) struct Seen(pub(crate) String);

impl Seen {
    pub(crate) fn hear(&mut self, event: &Event<'_>) {
        if let Event::Text(words) = event {
            self.0.push_str(words);
        }
        if let Some(line) = event.line() {
            if !self.0.is_empty() && !self.0.ends_with('\n') {
                self.0.push('\n');
            }
            self.0.push_str("· ");
            self.0.push_str(&line);
            self.0.push('\n');
        }
    }
}

/// Says something until it stops, and what the person saw.
pub(crate) async fn say(conversation: &mut Conversation, text: &str) -> (Stop, String) {
    let mut seen = Seen::default();
    let never = std::future::pending();
    let stop = conversation.say(text, &mut |event| seen.hear(&event), never).await;
    (stop, seen.0)
}

/// A stream of these events.
pub(crate) fn stream(events: &[Value]) -> Act {
    let lines: Vec<String> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    Act::Stream(lines.concat().into_bytes())
}

/// What is called when this comes, and then a whole answer: the replies of a tool that says what it
/// got, by the ids of the calls, in their order.
pub(crate) async fn replies(shape: Shape, act: Act) -> Vec<(String, String)> {
    let guard = Guard::builder().tool(Script::new("echo").tool()).build().unwrap();
    let server = Server::start(vec![act, Act::Stream(answer(shape, "Here I am.", &[]))]).await;
    let mut conversation = server.conversation(shape, guard);
    let (stop, seen) = say(&mut conversation, "Hello.").await;
    assert_eq!(stop, Stop::Done, "{seen}");
    for body in server.asked() {
        rules::accepts(shape, &body).unwrap();
    }
    conversation
        .history()
        .iter()
        .filter_map(|message| match message {
            Message::Reply(reply) => Some((reply.id.clone(), reply.text.clone())),
            _ => None,
        })
        .collect()
}

/// What `replies` says of two calls.
pub(crate) fn two() -> Vec<(String, String)> {
    [("a", "{\"n\":1}"), ("b", "{\"n\":2}")].map(|(id, text)| (id.into(), text.into())).to_vec()
}

/// A call as an item of a response.
pub(crate) fn item(id: &str, arguments: &str) -> Value {
    json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "echo",
            "arguments": arguments })
}
