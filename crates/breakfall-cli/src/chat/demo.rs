//! `breakfall chat --demo`: a scripted model against real local tools. Nothing in it is played but
//! the model: the tools are called, fail, and are answered as they are in earnest.

mod server;
mod service;
mod tools;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use breakfall::{Config, Policy};
use breakfall_chat::{Conversation, Event, Message, ModelError, ModelErrorKind, Scripted};
use breakfall_mcp::{Command, Servers, Session};
pub(crate) use server::{SERVER, server};

use super::screen::Screen;
use super::tools::Servants;
use crate::failed::Failed;
use crate::guard::{stopped, watchdog};

/// How long the model takes for a word.
const PACE: Duration = Duration::from_millis(25);

/// Plays all of it.
pub(super) async fn play() -> Result<(), Failed> {
    let failed = |error| Failed::new("could not make a directory to play in").because(error);
    let folder = Folder::new().map_err(failed)?;
    let session = session(&folder.path)?;
    session.tools().await;
    let _ = session.guard().toolbox().pause("old_search");
    let mut screen = Screen::new(breakfall::Redactor::default());
    screen.show("A model by script, real tools. Each kind of failure, and the chat goes on.\n");
    let tools = Arc::new(Servants::new(Arc::clone(&session)));
    let conversation = Conversation::of(Arc::new(script()), tools).named("demo");
    let mut play = Play { screen, conversation };

    play.says("Look through my notes and tell me what is open.").await;
    play.mends("the person puts the token where it belongs");
    std::fs::write(folder.path.join("token"), "for the demonstration").map_err(failed)?;
    play.says("The token is there now.").await;
    play.says("Translate it.").await;
    if Path::new(tools::FULL).exists() {
        std::fs::write(folder.path.join("full"), "").map_err(failed)?;
        play.says("Then save it.").await;
        play.mends("the person makes room on the disk");
        std::fs::remove_file(folder.path.join("full")).map_err(failed)?;
        play.says("There is room now.").await;
    }
    play.says_and_has_enough("Then make the yearly report.").await;
    play.says("Never mind.").await;

    let Play { mut screen, conversation } = play;
    account(&mut screen, &conversation, &session);
    session.end().await;
    Ok(())
}

/// A person who talks with the model.
struct Play {
    screen: Screen,
    conversation: Conversation,
}

impl Play {
    async fn typed(&mut self, words: &str) {
        self.screen.show(&format!("> {words}"));
        tokio::time::sleep(PACE * 10).await;
    }

    async fn says(&mut self, words: &str) {
        self.typed(words).await;
        let Self { screen, conversation } = self;
        let hear = &mut |event: Event<'_>| screen.hear(&event);
        conversation.say(words, hear, std::future::pending()).await;
        screen.ends();
    }

    /// Says something, and stops the model when it calls a tool.
    async fn says_and_has_enough(&mut self, words: &str) {
        self.typed(words).await;
        let Self { screen, conversation } = self;
        let pressed = tokio::sync::Notify::new();
        let ctrl_c = async {
            pressed.notified().await;
            tokio::time::sleep(PACE * 12).await;
        };
        let hear = &mut |event: Event<'_>| {
            screen.hear(&event);
            if matches!(event, Event::ToolStart(_)) {
                screen.quiet("(the person presses Ctrl-C)");
                pressed.notify_one();
            }
        };
        conversation.say(words, hear, ctrl_c).await;
        screen.ends();
    }

    fn mends(&mut self, what: &str) {
        self.screen.quiet(&format!("({what})"));
    }
}

/// What came of it, counted.
fn account(screen: &mut Screen, conversation: &Conversation, session: &Session) {
    let mut calls = Vec::new();
    let mut replies = Vec::new();
    for message in conversation.history() {
        match message {
            Message::Assistant(said) => calls.extend(said.calls.iter().map(|call| &call.id)),
            Message::Reply(reply) => replies.push(&reply.id),
            _ => {}
        }
    }
    let counts = session.guard().journal().counts();
    screen.show(&format!(
        "{} calls, {} replies, every one under the id of its call: {}. {} did what they should, {} \
         failed. The chat went on behind each of them.",
        calls.len(),
        replies.len(),
        if calls == replies { "yes" } else { "no" },
        counts.succeeded,
        counts.calls() - counts.succeeded,
    ));
    screen
        .show("\nWith a model of yours: breakfall chat --model NAME [--base-url URL] [-- SERVER]");
}

fn session(folder: &Path) -> Result<Arc<Session>, Failed> {
    let program = std::env::current_exe()
        .map_err(|error| Failed::new("could not find this program").because(error))?;
    let words = [program.display().to_string(), SERVER.to_owned()];
    let servers = Command::typed(&words).map(Servers::one).unwrap_or_default();
    let policy = Policy { attempt_timeout: Duration::from_millis(800), ..Policy::default() };
    let guard = servers
        .guard(&Config::default())
        .policy_for("wait_for_ever", policy)
        .tools(tools::all(folder)?);
    Session::alone(servers, guard, watchdog().as_ref()).map_err(stopped)
}

/// What the model says and calls, whatever it is told.
fn script() -> Scripted {
    let overloaded = ModelError::new(ModelErrorKind::Overloaded, "the script says so");
    Scripted::new()
        .pace(PACE)
        .says_and_calls("I will read your notes.", [("raed_file", r#"{"path": "notes.md"}"#)])
        .says_and_calls("A slip of mine.", [("read_file", r#"{"pth": "notes.md"}"#)])
        .says_and_calls("", [("read_file", r#"{"path": "nots.md"}"#)])
        .says_and_calls(
            "Once more, and the other things beside it.",
            [
                ("read_file", r#"{"path": "notes.md"}"#),
                ("read_file", r#"{"path": "../../etc/shadow"}"#),
                ("read_file", r#"{"path": "notes"#),
                ("fetch", "{}"),
                ("wait_for_ever", "{}"),
                ("run_query", "{}"),
            ],
        )
        .says_and_calls(
            "I have the notes. Now what I can find elsewhere.",
            [
                ("weather", "{}"),
                ("prices", "{}"),
                ("calendar", "{}"),
                ("make_notes", "{}"),
                ("remove_folder", "{}"),
                ("check_notes", "{}"),
                ("old_search", "{}"),
            ],
        )
        .says_and_calls("Once more?", [("read_file", r#"{"path": "nots.md"}"#)])
        .calls([("read_file", r#"{"path": "nots.md"}"#)])
        .calls([("read_file", r#"{"path": "nots.md"}"#)])
        .calls([("read_file", r#"{"path": "nots.md"}"#)])
        .says_and_calls("Enough of that. I will tell the others.", [("send_mail", "{}")])
        .says("<tool_call>{\"name\": \"list_files\", \"arguments\": {}}</tool_call>")
        .fails(overloaded)
        .is_lost_after("There are two things op")
        .says("")
        .says_and_calls("The milk is open. Now the issues.", [("github", "{}"), ("fetch", "{}")])
        .says_and_calls("Thank you.", [("github", "{}")])
        .says("Open are the milk, and issue 7: the conversation goes on.")
        .calls([("translate", "{}")])
        .calls([("save_report", "{}")])
        .says_and_calls("Once more.", [("save_report", "{}")])
        .says("It is saved.")
        .calls([("make_report", "{}")])
        .says("As you like. I left the report where it was.")
}

/// A directory that is gone when the demonstration is.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn new() -> std::io::Result<Self> {
        let now = std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
        let name = format!("breakfall-demo-{}-{now}", std::process::id());
        let path = std::env::temp_dir().join(name);
        // One that is there already is somebody else's.
        std::fs::create_dir(&path)?;
        let folder = Self { path };
        std::fs::write(folder.path.join("notes.md"), "- [ ] buy milk\n- [x] call the bank\n")?;
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
