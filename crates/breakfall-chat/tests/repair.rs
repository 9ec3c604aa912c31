//! Any history through `repair` is accepted by every provider, and stays as it is from then on.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use breakfall_chat::{Message, Note, Question, Said, SavedCall, SavedReply, Shape, repair};
use proptest::prelude::*;
use support::histories::histories;
use support::{SHAPES, rules};

fn verdict(shape: Shape, history: &[Message]) -> Result<(), String> {
    let question = Question { system: "Be brief.", history, tools: &[] };
    rules::accepts(shape, &shape.request(&question, "a-model", None))
}

fn call(id: &str, tool: &str) -> SavedCall {
    SavedCall { id: id.into(), tool: tool.into(), arguments: "{}".into(), is_recovered: false }
}

fn calls(calls: &[(&str, &str)]) -> Message {
    let calls = calls.iter().map(|(id, tool)| call(id, tool)).collect();
    Message::Assistant(Said { calls, ..Said::default() })
}

fn reply(id: &str, tool: &str, text: &str) -> Message {
    let (id, tool, text) = (id.into(), tool.into(), text.into());
    Message::Reply(SavedReply { id, tool, text, is_error: false })
}

fn interrupted(id: &str, tool: &str) -> Message {
    let text = format!(
        "`{tool}` was interrupted before it answered; it may have taken effect.\n\
         Check its result before calling it again."
    );
    Message::Reply(SavedReply { id: id.into(), tool: tool.into(), text, is_error: true })
}

#[test]
fn calls_without_replies_get_one_and_replies_without_calls_go() {
    let history = [
        Message::user("Do it."),
        reply("x", "f", "before its call"),
        calls(&[("x", "f"), ("y", "g"), ("z", "h")]),
        reply("y", "g", "ok"),
        Message::user("And?"),
        reply("x", "f", "late"),
        reply("y", "g", "twice"),
    ];
    let repaired = repair(&history);
    let expected = [
        Message::user("Do it."),
        calls(&[("x", "f"), ("y", "g"), ("z", "h")]),
        reply("x", "f", "late"),
        reply("y", "g", "ok"),
        interrupted("z", "h"),
        Message::user("And?"),
    ];
    assert_eq!(repaired.history, expected);
    let notes = [
        Note::Dropped { id: "x".into() },
        Note::Dropped { id: "y".into() },
        Note::Interrupted { id: "z".into(), tool: "h".into() },
    ];
    assert_eq!(repaired.notes, notes);
}

#[test]
fn calls_of_the_same_id_are_told_apart_with_their_replies() {
    let history = [
        Message::user("Do it."),
        calls(&[("0", "f"), ("0", "g")]),
        reply("0", "f", "one"),
        reply("0", "g", "two"),
        calls(&[("0", "h")]),
        reply("0", "h", "three"),
    ];
    let expected = [
        Message::user("Do it."),
        calls(&[("0", "f"), ("0_2", "g")]),
        reply("0", "f", "one"),
        reply("0_2", "g", "two"),
        calls(&[("0_3", "h")]),
        reply("0_3", "h", "three"),
    ];
    assert_eq!(repair(&history).history, expected);
}

#[test]
fn a_history_that_is_in_order_stays_as_it_is() {
    let history = [
        Message::user("Do it."),
        calls(&[("a", "f")]),
        reply("a", "f", "ok"),
        Message::assistant("Done."),
    ];
    let repaired = repair(&history);
    assert_eq!((repaired.history.as_slice(), repaired.notes.len()), (history.as_slice(), 0));
}

#[test]
fn the_rules_refuse_what_providers_refuse() {
    let user = || Message::user("Do it.");
    for (why, history) in [
        ("a call without a reply", vec![user(), calls(&[("a", "f")]), user()]),
        ("a reply without a call", vec![user(), reply("a", "f", "ok")]),
        ("the same id twice", vec![user(), calls(&[("a", "f"), ("a", "f")]), reply("a", "f", "")]),
        ("no words", vec![Message::user(" ")]),
        (
            "a reply that comes late",
            vec![user(), calls(&[("a", "f")]), user(), reply("a", "f", "ok")],
        ),
    ] {
        for shape in SHAPES {
            assert!(verdict(shape, &history).is_err(), "{why} {shape:?}");
        }
    }
}

fn all_calls(history: &[Message]) -> Vec<(String, String)> {
    let said = history.iter().filter_map(|message| match message {
        Message::Assistant(said) => Some(&said.calls),
        _ => None,
    });
    said.flatten().map(|call| (call.tool.clone(), call.arguments.clone())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_history_is_accepted_once_repaired_and_stays_so(history in histories()) {
        let repaired = repair(&history).history;
        prop_assert_eq!(&repair(&repaired).history, &repaired);
        prop_assert!(repair(&repaired).notes.is_empty());
        prop_assert_eq!(all_calls(&repaired), all_calls(&history));
        let mut next = repaired.clone();
        next.push(Message::user("Go on."));
        for shape in SHAPES {
            prop_assert_eq!(verdict(shape, &next), Ok(()), "{:?}", shape);
            if !repaired.is_empty() {
                prop_assert_eq!(verdict(shape, &repaired), Ok(()), "{:?}", shape);
            }
        }
        // On disk and back it is the same.
        let lines: Vec<String> =
            repaired.iter().map(|message| serde_json::to_string(message).unwrap()).collect();
        let read: Vec<Message> =
            lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        prop_assert_eq!(read, repaired);
    }
}
