//! `kill -9` in the middle of a batch: the history on disk goes on.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::process::{Command, Stdio};
use std::time::Duration;

use breakfall::{Effect, Guard};
use breakfall_chat::{Conversation, Message, Question, Saved, Scripted, Stop};
use breakfall_test::{Script, Step};
use support::{SHAPES, rules, say};

const FILE: &str = "BREAKFALL_TEST_HISTORY";

/// The program that is killed: one call is done, one never will be.
#[tokio::test]
#[ignore = "run by the test below, which kills it"]
async fn the_program_that_is_killed() {
    let file = std::env::var(FILE).unwrap();
    let (saved, loaded) = Saved::open(file).unwrap();
    let read = Script::new("read").answers("Buy milk.").tool();
    let send = Script::new("send").effect(Effect::Once).step(Step::Hang).tool();
    let guard = Guard::builder().tools([read, send]).build().unwrap();
    let model = Scripted::new().says_and_calls("At once.", [("send", "{}"), ("read", "{}")]);
    let mut conversation = Conversation::new(model, guard).saved(saved, loaded);
    say(&mut conversation, "Send it.").await;
}

#[tokio::test]
async fn a_history_whose_program_was_killed_in_the_middle_of_a_batch_goes_on() {
    let name = format!("breakfall-killed-{}.jsonl", std::process::id());
    let file = std::env::temp_dir().join(name);
    let _ = std::fs::remove_file(&file);
    let mut program = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_program_that_is_killed", "--ignored"])
        .env(FILE, &file)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // Until the call that is done has its reply on the disk.
    let is_there = || std::fs::read_to_string(&file).is_ok_and(|text| text.contains("Buy milk."));
    for _ in 0..500 {
        if is_there() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(is_there());
    program.kill().unwrap();
    program.wait().unwrap();

    let (saved, loaded) = Saved::open(&file).unwrap();
    assert_eq!(loaded.lost_lines, 0);
    let guard = Guard::builder().build().unwrap();
    let mut conversation =
        Conversation::new(Scripted::new().says("I will look."), guard).saved(saved, loaded);
    let (stop, seen) = say(&mut conversation, "Was it sent?").await;
    assert_eq!(stop, Stop::Done);
    assert_eq!(seen, "· History mended: the call `call` of `send` was interrupted.\nI will look.");
    let replies = conversation.history().iter().filter_map(|message| match message {
        Message::Reply(reply) => Some((reply.tool.as_str(), reply.text.lines().next().unwrap())),
        _ => None,
    });
    let interrupted = "`send` was interrupted before it answered; it may have taken effect.";
    assert_eq!(replies.collect::<Vec<_>>(), [("send", interrupted), ("read", "Buy milk.")]);
    for shape in SHAPES {
        let question = Question { system: "", history: conversation.history(), tools: &[] };
        rules::accepts(shape, &shape.request(&question, "m", None)).unwrap();
    }
    // What was appended is behind what was there, and is mended in the same way.
    drop(conversation);
    let (_, loaded) = Saved::open(&file).unwrap();
    assert_eq!(loaded.history.len(), 5);
}
