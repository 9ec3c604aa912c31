//! How runs go and end: limits, empty answers, hidden calls, cancellation, histories on disk.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use breakfall::{Effect, Guard};
use breakfall_chat::{
    Answer, Conversation, Event, Limit, Limits, Message, ModelError, ModelErrorKind, Saved,
    Scripted, Stop, Usage, repair,
};
use breakfall_test::{Recorder, Script};
use support::{Seen, say};

fn guard() -> Guard {
    let read = Script::new("read").answers("Buy milk.").tool();
    let send = Script::new("send").effect(Effect::Once).answers("sent").tool();
    Guard::builder().tools([read, send]).build().unwrap()
}

/// Every call of a history with its reply, in the order of the calls, before anything else.
fn is_in_order(conversation: &Conversation) -> bool {
    repair(conversation.history()).notes.is_empty()
}

#[tokio::test(start_paused = true)]
async fn a_run_stops_at_each_limit_with_every_call_answered() {
    let many =
        || (0..9).fold(Scripted::new(), |model, _| model.calls([("read", "{}"), ("read", "{}")]));
    let all = Limits::default();
    let usage = Usage { input: 600, output: 0 };
    let costly = || {
        Scripted::new().answers(Answer {
            calls: vec![breakfall::Call::new("", "read", "{}")],
            usage,
            ..Answer::default()
        })
    };
    let slow = Duration::from_secs(100);
    for (model, limits, limit, said) in [
        (many(), Limits { turns: 2, ..all }, Limit::Turns(2), "the model was asked 2 times"),
        (many(), Limits { calls: 3, ..all }, Limit::Calls(3), "the model made 3 calls"),
        (costly(), Limits { tokens: 500, ..all }, Limit::Tokens(500), "500 tokens were used"),
        (
            Scripted::new().hangs_after("Well"),
            Limits { time: slow, ..all },
            Limit::Time(slow),
            "100 s went by",
        ),
    ] {
        let mut conversation = Conversation::new(model, guard()).limits(limits);
        let (stop, _) = say(&mut conversation, "Do it.").await;
        assert_eq!(stop, Stop::Limit(limit));
        let words = format!("Stopped at a limit: {said}. Say something to go on.");
        assert_eq!(stop.words(), Some(words));
        assert!(is_in_order(&conversation));
        // It can be gone on with.
        conversation.ask_another(Scripted::new());
        assert_eq!(say(&mut conversation, "Go on.").await.0, Stop::Done);
    }
}

#[tokio::test]
async fn calls_beyond_a_limit_are_answered_as_not_started() {
    let model = Scripted::new().calls([("send", "{}"), ("send", "{}"), ("send", "{}")]);
    let limits = Limits { calls: 1, ..Limits::default() };
    let mut conversation = Conversation::new(model, guard()).limits(limits);
    say(&mut conversation, "Do it.").await;
    let replies = conversation.history().iter().filter_map(|message| match message {
        Message::Reply(reply) => reply.text.lines().next(),
        _ => None,
    });
    let not_started = "`send` was not started: the run was stopped before.";
    assert_eq!(replies.collect::<Vec<_>>(), ["sent", not_started, not_started]);
}

#[tokio::test(start_paused = true)]
async fn an_empty_answer_is_asked_for_again_and_not_for_ever() {
    let model = Scripted::new().says("").says("  ").says("Here.");
    let mut conversation = Conversation::new(model, guard());
    let (stop, seen) = say(&mut conversation, "Hello?").await;
    assert_eq!(stop, Stop::Done);
    let again = "· The model answered nothing. Asking again.\n";
    assert_eq!(seen, format!("{again}  \n{again}Here."));
    let model = Scripted::new().says("").says("").says("");
    let (stop, _) = say(&mut Conversation::new(model, guard()), "Hello?").await;
    assert_eq!(stop, Stop::Empty);
}

#[tokio::test(start_paused = true)]
async fn a_stalled_model_and_an_answer_that_is_cut_off_are_not_done() {
    let model = (0..20).fold(Scripted::new(), |model, _| model.calls([("raed", "{}")]));
    let (stop, _) = say(&mut Conversation::new(model, guard()), "Do it.").await;
    assert!(matches!(&stop, Stop::Stalled(fatal) if fatal.tool == "raed"), "{stop:?}");
    let model = Scripted::new().is_cut_off_after("It was a dark and");
    let (stop, _) = say(&mut Conversation::new(model, guard()), "Tell me.").await;
    assert_eq!(stop, Stop::CutOff);
}

#[tokio::test]
async fn calls_in_the_text_are_run_where_they_only_read_and_recorded_as_recovered() {
    let hidden = r#"<tool_call>{"name": "read", "arguments": {}}</tool_call>"#;
    let recorder = Recorder::new();
    let read = Script::new("read").answers("Buy milk.").tool();
    let guard = Guard::builder().tool(read).sink(recorder.sink()).build().unwrap();
    let model = Arc::new(Scripted::new().says(hidden).says("Milk."));
    let mut conversation = Conversation::of(model.clone(), Arc::new(guard));
    let (stop, seen) = say(&mut conversation, "What is there?").await;
    assert_eq!(stop, Stop::Done);
    assert_eq!(
        seen,
        format!("{hidden}\n· The model wrote calls into its text (run: read).\nMilk.")
    );
    let Message::Assistant(said) = &model.asked()[1][1] else { panic!("what the model said") };
    assert!(said.calls[0].is_recovered);
    assert_eq!(recorder.records()[0].repairs, ["the call was found in the model's text"]);
    assert!(is_in_order(&conversation));
}

#[tokio::test]
async fn calls_in_the_thoughts_of_a_model_that_says_nothing_are_found_too() {
    let reasoning = "I should. <function=read>{}</function>".to_owned();
    let model = Scripted::new().answers(Answer { reasoning, ..Answer::default() }).says("Milk.");
    let mut conversation = Conversation::new(model, guard());
    let (stop, seen) = say(&mut conversation, "What is there?").await;
    assert_eq!(stop, Stop::Done);
    assert_eq!(seen, "· The model wrote calls into its text (run: read).\nMilk.");
}

#[tokio::test]
async fn calls_in_the_text_that_change_something_are_not_run_and_the_model_is_told() {
    let hidden = r#"{"name": "send", "arguments": {}}"#;
    let (send, runs) = Script::new("send").effect(Effect::Once).counted();
    let guard = Guard::builder().tool(send).build().unwrap();
    let model = Arc::new(Scripted::new().says(hidden).says(hidden));
    let mut conversation = Conversation::of(model.clone(), Arc::new(guard));
    let (stop, seen) = say(&mut conversation, "Send it.").await;
    assert_eq!(stop, Stop::Done, "it is told once, not for ever");
    assert!(seen.contains("· The model wrote calls into its text (not run: send)."), "{seen}");
    let notice = "Your answer has a call of `send` as text. Nothing was run.\n\
                  Make it as a tool call, or answer without it.";
    assert_eq!(model.asked()[1].last(), Some(&Message::Notice { text: notice.into() }));
    assert_eq!(runs.load(std::sync::atomic::Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_cancelled_answer_is_kept_as_far_as_it_was_read() {
    let model = Scripted::new().hangs_after("It was a dark ");
    let mut conversation = Conversation::new(model, guard());
    let pressed = tokio::sync::Notify::new();
    let mut seen = Seen::default();
    let hear = &mut |event: Event<'_>| {
        seen.hear(&event);
        if matches!(event, Event::Text("dark ")) {
            pressed.notify_one();
        }
    };
    let stop = conversation.say("Tell me.", hear, pressed.notified()).await;
    assert_eq!((stop, &*seen.0), (Stop::Cancelled, "It was a dark \n· Stopped.\n"));
    assert_eq!(conversation.history()[1..], [Message::assistant("It was a dark ")]);
    conversation.ask_another(Scripted::new().says("As you like."));
    assert_eq!(say(&mut conversation, "Never mind.").await.0, Stop::Done);
}

#[tokio::test]
async fn a_run_that_is_dropped_in_the_middle_of_a_batch_can_be_gone_on_with() {
    let slow = Script::new("slow").hangs().tool();
    let read = Script::new("read").answers("Buy milk.").tool();
    let guard = Guard::builder().tools([slow, read]).build().unwrap();
    let model = Scripted::new().calls([("slow", "{}"), ("read", "{}")]);
    let mut conversation = Conversation::new(model, guard);
    let never = std::future::pending();
    let mut hear = |_: Event<'_>| ();
    let run = conversation.say("Do it.", &mut hear, never);
    assert!(tokio::time::timeout(Duration::from_millis(50), run).await.is_err());
    let (stop, seen) = say(&mut conversation, "Go on.").await;
    assert_eq!(stop, Stop::Done);
    assert_eq!(seen, "· History mended: the call `call` of `slow` was interrupted.\nDone.");
    assert!(is_in_order(&conversation));
}

#[tokio::test(start_paused = true)]
async fn what_may_pass_is_asked_again_and_what_cannot_is_not() {
    for kind in ModelErrorKind::ALL {
        let model = Scripted::new().fails(ModelError::new(*kind, "")).says("Here.");
        let (stop, _) = say(&mut Conversation::new(model, guard()), "Hello.").await;
        if kind.may_pass() {
            assert_eq!(stop, Stop::Done, "{kind:?}");
        } else {
            assert_eq!(stop, Stop::Model(ModelError::new(*kind, "")));
        }
    }
}

fn file(name: &str) -> PathBuf {
    let file = std::env::temp_dir().join(format!("breakfall-{}-{name}.jsonl", std::process::id()));
    let _ = std::fs::remove_file(&file);
    file
}

#[tokio::test]
async fn a_history_is_saved_and_taken_up_again_and_nobody_else_writes_to_it() {
    let file = file("saved");
    let (saved, loaded) = Saved::open(&file).unwrap();
    let model = Scripted::new().says_and_calls("Let me see.", [("read", "{}")]).says("Milk.");
    let mut conversation = Conversation::new(model, guard()).saved(saved, loaded);
    say(&mut conversation, "What is there?").await;
    let history = conversation.history().to_vec();
    let error = Saved::open(&file).unwrap_err().to_string();
    assert!(error.ends_with("is in use by another conversation"), "{error}");
    drop(conversation);
    let (_, loaded) = Saved::open(&file).unwrap();
    assert_eq!((loaded.history, loaded.lost_lines), (history, 0));
}

#[test]
fn a_line_that_was_torn_is_left_out_and_the_next_begins_on_its_own() {
    let file = file("torn");
    let line = serde_json::to_string(&Message::user("Hello.")).unwrap();
    let before = format!("{line}\nnot a message\n\n{line}\n");
    for cut in 0..=line.len() {
        let mut out = std::fs::File::create(&file).unwrap();
        write!(out, "{before}{}", &line[..cut]).unwrap();
        drop(out);
        let (mut saved, loaded) = Saved::open(&file).unwrap();
        // One that lacks only its newline is whole.
        let whole = usize::from(cut == line.len());
        let torn = usize::from(cut > 0) - whole;
        let read = (loaded.history.len(), loaded.lost_lines);
        assert_eq!(read, (2 + whole, 1 + torn), "{cut}");
        saved.append(&Message::user("More.")).unwrap();
        drop(saved);
        let (_, loaded) = Saved::open(&file).unwrap();
        assert_eq!(loaded.history.last(), Some(&Message::user("More.")));
        assert_eq!(loaded.history.len(), 3 + whole, "{cut}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_disk_that_is_full_stops_no_conversation() {
    let (saved, loaded) = Saved::open("/dev/full").unwrap();
    let mut conversation = Conversation::new(Scripted::new(), guard()).saved(saved, loaded);
    let (stop, seen) = say(&mut conversation, "Hello.").await;
    assert_eq!(stop, Stop::Done);
    let said = "· The conversation is not saved from here on: could not write `/dev/full`";
    assert!(seen.starts_with(said) && seen.matches("not saved").count() == 1, "{seen}");
}
