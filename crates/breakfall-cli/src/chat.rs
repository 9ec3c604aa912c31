//! `breakfall chat`: talks with a model that has tools, at a terminal. What fails is shown as it
//! happens, in one quiet line, and the conversation goes on.

mod commands;
mod demo;
mod history;
mod model;
mod screen;
mod tools;

use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;

use breakfall::Redactor;
use breakfall_chat::{Conversation, Limits, Stop};
use breakfall_mcp::Session;
use clap::Args;
use tokio::sync::mpsc;

use crate::failed::Failed;
use crate::guard::{Guarded, block_on, stopped, watchdog};
use commands::{Commands, Typed};
pub(crate) use demo::{SERVER, server};
use screen::Screen;
use tools::Servants;

/// What the model is told before anything is said.
const SYSTEM: &str = "You help a person at a terminal. Use the tools when they help. When a tool \
                      fails, do what its message says, and say so in a few words.";

#[derive(Args)]
pub(crate) struct Chat {
    /// Play a scripted model against real local tools, and show how each kind of failure is
    /// survived; needs no key, no network and nothing installed
    #[arg(long, conflicts_with_all = ["model", "base_url", "history", "resume"])]
    demo: bool,
    #[command(flatten)]
    model: model::Named,
    /// Save the conversation in this file, and go on with what is in it
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    history: Option<PathBuf>,
    /// Go on with the newest conversation that was saved
    #[arg(long)]
    resume: bool,
    /// What the model is told before anything is said
    #[arg(long, value_name = "TEXT", default_value = SYSTEM, hide_default_value = true)]
    system: String,
    /// How often the model is asked for one message of yours, at most
    #[arg(long, value_name = "TIMES", default_value_t = Limits::default().turns)]
    turns: u32,
    #[command(flatten)]
    guarded: Guarded,
}

impl Chat {
    /// Talks until the person has enough.
    pub(crate) fn run(self) -> Result<(), Failed> {
        if self.demo {
            return block_on(demo::play())?;
        }
        let provider = self.model.provider()?;
        let (mut servers, mut guard, _told) = self.guarded.resolve()?;
        let mut redactor = Redactor::default();
        if let Some((variable, key)) = self.model.key() {
            // Whatever a tool or a server does, the key of the model is not theirs.
            servers = servers.withholding(variable);
            guard = guard.redact_value(&*key);
            redactor.add_value(key);
        }
        let (saved, loaded) = history::open(self.history.clone(), self.resume)?;
        block_on(async {
            let session = Session::alone(servers, guard, watchdog().as_ref()).map_err(stopped)?;
            let tools = Arc::new(Servants::new(Arc::clone(&session)));
            let mut screen = Screen::new(redactor);
            screen.welcome(&provider, &saved, &loaded, &session).await;
            let conversation = Conversation::of(Arc::new(provider), tools)
                .system(self.system)
                .limits(Limits { turns: self.turns, ..Limits::default() })
                .named(format!("chat-{}", std::process::id()))
                .saved(saved, loaded);
            let stop = talk(conversation, &session, &mut screen).await;
            session.end().await;
            // A script that asks wants to know whether it was answered.
            match stop {
                Some(stop) if !stop.is_done() && !std::io::stdin().is_terminal() => {
                    Err(Failed::silently())
                }
                _ => Ok(()),
            }
        })?
    }
}

/// Takes what the person types until there is no more. Why the last run ended.
async fn talk(
    mut conversation: Conversation,
    session: &Session,
    screen: &mut Screen,
) -> Option<Stop> {
    let mut lines = typed_lines();
    let mut commands = Commands::default();
    let mut last = None;
    loop {
        screen.prompt();
        let line = tokio::select! {
            line = lines.recv() => line,
            _ = tokio::signal::ctrl_c() => {
                screen.note("Ctrl-D or /quit ends the chat.");
                continue;
            }
        };
        let Some(line) = line else { return last };
        let pressed = async {
            let _ = tokio::signal::ctrl_c().await;
        };
        let stop = match commands.read(&line, session) {
            Typed::Nothing => continue,
            Typed::Quit => return last,
            Typed::Shown(text) => {
                screen.show(&text);
                continue;
            }
            Typed::GoOn => conversation.go_on(&mut |event| screen.hear(&event), pressed).await,
            Typed::Words(words) => {
                conversation.say(words, &mut |event| screen.hear(&event), pressed).await
            }
        };
        screen.ends();
        last = Some(stop);
    }
}

/// The lines that are typed, read on a thread of their own: standard input blocks.
fn typed_lines() -> mpsc::Receiver<String> {
    let (typed, lines) = mpsc::channel(16);
    std::thread::spawn(move || {
        // What is no UTF-8 is no reason to end the chat.
        for line in std::io::stdin().lock().split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).into_owned();
            if typed.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
