//! Any model, any tools, anybody who stops or drops a run at any point: whatever the model is asked
//! next is accepted by every provider, and what repairing the whole history would make of it, and
//! no call is run twice.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use breakfall::{
    Arguments, BoxFuture, Call, Context, Effect, FailureKind, Guard, Outcome, Output, Tool,
    ToolSpec, failure_of,
};
use breakfall_chat::{
    Answer, Conversation, Event, Finish, Limits, Message, ModelError, ModelErrorKind, Note,
    Question, Repaired, Scripted, repair,
};
use proptest::prelude::*;
use support::histories::histories;
use support::{SHAPES, rules};
use tokio::runtime::Runtime;
use tokio::sync::Notify;

/// What the model does when it is asked.
#[derive(Clone, Debug)]
enum Does {
    Answers {
        text: &'static str,
        calls: Vec<(&'static str, &'static str, &'static str)>,
        cut: bool,
    },
    Fails(ModelErrorKind),
    IsLost(&'static str),
    Hangs(&'static str),
}

/// How a person's turn goes on: when so much has happened, it is stopped, or dropped.
#[derive(Clone, Copy, Debug)]
enum Ends {
    ByItself,
    StoppedAfter(usize),
    DroppedAfter(usize),
}

/// A tool that does as its name says, and remembers for which calls it was run.
struct Named {
    name: &'static str,
    runs: Arc<Mutex<Vec<String>>>,
}

impl Tool for Named {
    fn call<'a>(&'a self, _: &'a Arguments, context: Context<'a>) -> BoxFuture<'a, Outcome> {
        self.runs.lock().unwrap().push(context.id.to_owned());
        Box::pin(async move {
            match self.name {
                "reads" => Ok(Output::text("")),
                "sends" => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    Ok(Output::text("sent"))
                }
                "hangs" => std::future::pending().await,
                "panics" => panic!("on purpose"),
                "is_fatal" => Err(failure_of(FailureKind::Authentication)),
                _ => Err(failure_of(FailureKind::NotFound)),
            }
        })
    }
}

fn does() -> impl Strategy<Value = Does> {
    let words = || {
        prop::sample::select(vec![
            "",
            " ",
            "Well.",
            "<tool_call>{\"name\": \"reads\", \"arguments\": {}}</tool_call>",
            "{\"name\": \"sends\", \"arguments\": {}}",
        ])
    };
    let id = prop::sample::select(vec!["", "a", "b", "ü"]);
    let tools = vec!["reads", "sends", "hangs", "panics", "is_fatal", "misses", "nobody", ""];
    let arguments = prop::sample::select(vec!["{}", "", "{\"a\":", "[1]"]);
    let calls = prop::collection::vec((id, prop::sample::select(tools), arguments), 0..4);
    let answers = (words(), calls, prop::bool::weighted(0.1));
    prop_oneof![
        8 => answers.prop_map(|(text, calls, cut)| Does::Answers { text, calls, cut }),
        1 => prop::sample::select(ModelErrorKind::ALL).prop_map(Does::Fails),
        1 => words().prop_map(Does::IsLost),
        1 => words().prop_map(Does::Hangs),
    ]
}

fn ends() -> impl Strategy<Value = Ends> {
    prop_oneof![
        Just(Ends::ByItself),
        (0_usize..12).prop_map(Ends::StoppedAfter),
        (0_usize..12).prop_map(Ends::DroppedAfter),
    ]
}

fn scripted(does: Vec<Does>) -> Scripted {
    does.into_iter().fold(Scripted::new(), |model, does| match does {
        Does::Answers { text, calls, cut } => {
            let calls = calls.into_iter().map(|(id, tool, text)| Call::new(id, tool, text));
            let finish = if cut { Finish::Length } else { Finish::Done };
            let calls = calls.collect();
            model.answers(Answer { text: text.to_owned(), calls, finish, ..Answer::default() })
        }
        Does::Fails(kind) => model.fails(ModelError::new(kind, "")),
        Does::IsLost(said) => model.is_lost_after(said),
        Does::Hangs(said) => model.hangs_after(said),
    })
}

/// What came of a world.
struct Lived {
    model: Arc<Scripted>,
    conversation: Conversation,
    /// For which calls tools were run.
    runs: Vec<String>,
    turns: Vec<Turn>,
}

/// One turn of a person's.
struct Turn {
    said: &'static str,
    /// What the history was before it, once all of it is repaired.
    repaired: Repaired,
    /// What was told of that.
    mended: Vec<Note>,
    /// What the model was asked.
    asked: Vec<Vec<Message>>,
}

async fn lived(begins: Vec<Message>, does: Vec<Does>, turns: Vec<Ends>) -> Lived {
    let runs = Arc::new(Mutex::new(Vec::new()));
    let names = ["reads", "sends", "hangs", "panics", "is_fatal", "misses"];
    let tools = names.map(|name| {
        let effect = if name == "reads" { Effect::ReadOnly } else { Effect::Once };
        ToolSpec::new(name, "").effect(effect).tool(Named { name, runs: Arc::clone(&runs) })
    });
    let guard = Guard::builder().tools(tools).build().unwrap();
    let model = Arc::new(scripted(does));
    let limits = Limits { turns: 6, calls: 9, ..Limits::default() };
    let mut conversation = Conversation::of(Arc::clone(&model) as _, Arc::new(guard))
        .limits(limits)
        .history_is(begins);
    let turns =
        turns.into_iter().map(|ends| ("Go on.", ends)).chain([("The end.", Ends::ByItself)]);
    let mut lived = Vec::new();
    for (said, ends) in turns {
        let repaired = repair(conversation.history());
        let before = model.asked().len();
        let mended = turn(&mut conversation, said, ends).await;
        let asked = model.asked().split_off(before);
        lived.push(Turn { said, repaired, mended, asked });
    }
    let runs = runs.lock().unwrap().clone();
    Lived { model, conversation, runs, turns: lived }
}

/// Says something until the turn ends in its way, and what was mended before.
async fn turn(conversation: &mut Conversation, said: &str, ends: Ends) -> Vec<Note> {
    let (stop, drop) = (Notify::new(), Notify::new());
    let (mut events, mut mended) = (0, Vec::new());
    let mut hear = |event: Event<'_>| {
        if let Event::Mended(note) = event {
            mended.push(note.clone());
        }
        match ends {
            Ends::StoppedAfter(most) if events == most => stop.notify_one(),
            Ends::DroppedAfter(most) if events == most => drop.notify_one(),
            _ => {}
        }
        events += 1;
    };
    let run = conversation.say(said, &mut hear, stop.notified());
    tokio::select! {
        biased;
        () = drop.notified() => {}
        _ = run => {}
    }
    mended
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_happens_what_is_asked_next_is_accepted(
        script in prop::collection::vec(does(), 0..12),
        turns in prop::collection::vec(ends(), 1..4),
    ) {
        let Lived { model, conversation, mut runs, .. } =
            runtime().block_on(lived(Vec::new(), script, turns));
        for history in model.asked().iter().map(Vec::as_slice).chain([conversation.history()]) {
            for shape in SHAPES {
                let question = Question { system: "", history, tools: &[] };
                let verdict = rules::accepts(shape, &shape.request(&question, "m", None));
                prop_assert_eq!(verdict, Ok(()), "{:?} {:?}", shape, history);
            }
        }
        let ran = runs.len();
        runs.sort();
        runs.dedup();
        prop_assert_eq!(runs.len(), ran, "a call was run twice");
    }

    #[test]
    fn turn_by_turn_is_asked_what_repairing_all_of_it_each_time_would_ask(
        begins in histories(),
        script in prop::collection::vec(does(), 0..12),
        turns in prop::collection::vec(ends(), 1..5),
    ) {
        for turn in runtime().block_on(lived(begins, script, turns)).turns {
            let Turn { said, repaired, mended, asked } = turn;
            prop_assert_eq!(mended, repaired.notes);
            let mut history = repaired.history;
            history.push(Message::user(said));
            if let Some(first) = asked.first() {
                prop_assert_eq!(first, &history);
            }
            for question in asked {
                let repaired = repair(&question);
                prop_assert_eq!((repaired.history, repaired.notes), (question, Vec::new()));
            }
        }
    }
}
