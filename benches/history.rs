//! What grows with a conversation, in instructions: repairing it, and a turn of it.

#![allow(missing_docs, reason = "the macros make items without")]

use std::future::ready;
use std::hint::black_box;

use breakfall::{BoxFuture, Call, Failure, Guard, function};
use breakfall_chat::{
    Answer, Conversation, Delta, Message, Model, ModelError, Question, Repaired, Said, SavedCall,
    SavedReply, Stop, repair,
};
use gungraun::prelude::*;
use serde_json::Value;
use tokio::runtime::Runtime;

/// Calls a tool once for each thing that is said, and then is done. Other than a model by script it
/// keeps no copy of what it was asked.
struct CallsOnce;

impl Model for CallsOnce {
    fn answer<'a>(
        &'a self,
        question: Question<'a>,
        _: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        let answer = match question.history.last() {
            Some(Message::Reply(_)) => Answer { text: "Done.".to_owned(), ..Answer::default() },
            _ => Answer { calls: vec![Call::new("next", "search", "{}")], ..Answer::default() },
        };
        Box::pin(ready(Ok(answer)))
    }
}

fn guard() -> Guard {
    let search = function("search", "Searches.", |_: Value| async { Ok::<_, Failure>("no pages") });
    Guard::builder().tool(search).build().unwrap_or_else(|error| panic!("{error}"))
}

/// A conversation of so many messages: questions, calls, replies, answers.
fn history(messages: u32) -> Vec<Message> {
    (0..messages / 4).flat_map(turn).collect()
}

fn turn(n: u32) -> [Message; 4] {
    let id = format!("call_{n}");
    let asks = Said {
        calls: vec![SavedCall {
            id: id.clone(),
            tool: "search".to_owned(),
            arguments: "{}".to_owned(),
            is_recovered: false,
        }],
        ..Said::default()
    };
    let reply =
        SavedReply { id, tool: "search".to_owned(), text: "no pages".to_owned(), is_error: false };
    [
        Message::user(format!("What about number {n}?")),
        Message::Assistant(asks),
        Message::Reply(reply),
        Message::assistant("There is nothing about it."),
    ]
}

/// A conversation that has come so far, and what it runs on.
struct Talk {
    runtime: Runtime,
    conversation: Conversation,
}

fn talks(messages: u32) -> Box<Talk> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    let conversation = Conversation::new(CallsOnce, guard()).history_is(history(messages));
    let mut talk = Talk { runtime, conversation };
    // The first turn looks the whole history through; the turns after it are what is counted.
    assert_eq!(say(&mut talk), Stop::Done);
    Box::new(talk)
}

fn say(talk: &mut Talk) -> Stop {
    let said = talk.conversation.say("And now?", &mut |_| (), std::future::pending());
    talk.runtime.block_on(said)
}

#[library_benchmark]
#[bench::at_10(history(10))]
#[bench::at_100(history(100))]
#[bench::at_1000(history(1_000))]
#[bench::at_10000(history(10_000))]
#[bench::at_100000(history(100_000))]
fn history_repair(history: Vec<Message>) -> (Vec<Message>, Repaired) {
    let repaired = repair(black_box(&history));
    (history, black_box(repaired))
}

#[library_benchmark]
#[bench::at_10(talks(10))]
#[bench::at_100(talks(100))]
#[bench::at_1000(talks(1_000))]
#[bench::at_10000(talks(10_000))]
#[bench::at_100000(talks(100_000))]
fn history_turn(mut talk: Box<Talk>) -> (Box<Talk>, Stop) {
    let stop = say(black_box(&mut talk));
    (talk, stop)
}

library_benchmark_group!(name = histories, benchmarks = [history_repair, history_turn]);

main!(library_benchmark_groups = histories);
