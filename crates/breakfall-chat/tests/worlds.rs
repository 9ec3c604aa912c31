//! Any model, any tools, anybody who stops or drops a run at any point: whatever the model is asked
//! next is accepted by every provider, and no call is run twice.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use breakfall::{
    Arguments, BoxFuture, Call, Context, Effect, FailureKind, Guard, Outcome, Output, Tool,
    ToolSpec, failure_of,
};
use breakfall_chat::{
    Answer, Conversation, Finish, Limits, ModelError, ModelErrorKind, Question, Scripted,
};
use proptest::prelude::*;
use support::{SHAPES, rules};
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

async fn lived(does: Vec<Does>, turns: Vec<Ends>) -> (Arc<Scripted>, Conversation, Vec<String>) {
    let runs = Arc::new(Mutex::new(Vec::new()));
    let names = ["reads", "sends", "hangs", "panics", "is_fatal", "misses"];
    let tools = names.map(|name| {
        let effect = if name == "reads" { Effect::ReadOnly } else { Effect::Once };
        ToolSpec::new(name, "").effect(effect).tool(Named { name, runs: Arc::clone(&runs) })
    });
    let guard = Guard::builder().tools(tools).build().unwrap();
    let model = Arc::new(scripted(does));
    let limits = Limits { turns: 6, calls: 9, ..Limits::default() };
    let mut conversation =
        Conversation::of(Arc::clone(&model) as _, Arc::new(guard)).limits(limits);
    for turn in turns {
        let (stop, drop) = (Notify::new(), Notify::new());
        let mut events = 0;
        let mut hear = |_: breakfall_chat::Event<'_>| {
            match turn {
                Ends::StoppedAfter(most) if events == most => stop.notify_one(),
                Ends::DroppedAfter(most) if events == most => drop.notify_one(),
                _ => {}
            }
            events += 1;
        };
        let run = conversation.say("Go on.", &mut hear, stop.notified());
        tokio::select! {
            biased;
            () = drop.notified() => {}
            _ = run => {}
        }
    }
    conversation.say("The end.", &mut |_| (), std::future::pending()).await;
    let runs = runs.lock().unwrap().clone();
    (model, conversation, runs)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_happens_what_is_asked_next_is_accepted(
        script in prop::collection::vec(does(), 0..12),
        turns in prop::collection::vec(ends(), 1..4),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let (model, conversation, mut runs) = runtime.block_on(lived(script, turns));
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
}
