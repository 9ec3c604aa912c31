//! What the person sees: the model's words as they come, and one quiet line for what else happens.

use std::io::{IsTerminal, Write};

use breakfall::{Redactor, Report};
use breakfall_chat::{Event, Loaded, Message, Provider, Saved, SavedCall, Stop};
use breakfall_mcp::Session;

use crate::terminal::{Style, Terminal, cut, one_line, safe};

/// How much is shown of a call's arguments.
const ARGUMENTS: usize = 100;

pub(super) struct Screen {
    terminal: Terminal,
    /// Whether a person sits at both ends.
    has_person: bool,
    line: Line,
    redactor: Redactor,
}

/// What is on the last line.
#[derive(Clone, Copy, PartialEq)]
enum Line {
    Nothing,
    /// Words, which may go on.
    Words,
    /// Nothing; above it stands that the model thinks.
    Thinking,
}

impl Screen {
    /// A screen on which these secrets are not shown.
    pub(super) fn new(redactor: Redactor) -> Self {
        let terminal = Terminal::stdout();
        Self {
            terminal,
            has_person: terminal.is_one && std::io::stdin().is_terminal(),
            line: Line::Nothing,
            redactor,
        }
    }

    /// With whom the person talks, with which tools, and where it is kept.
    pub(super) async fn welcome(
        &mut self,
        provider: &Provider,
        saved: &Saved,
        loaded: &Loaded,
        session: &Session,
    ) {
        let tools = session.tools().await.len();
        if self.has_person {
            let (model, url) = (provider.model(), provider.url());
            self.quiet(&format!("{model} at {url} · {tools} tools · /help"));
            self.quiet(&format!("saved in {}", saved.path().display()));
        }
        for (key, health) in session.upstreams().filter(|(_, health)| !health.is_up) {
            let why = health.why.unwrap_or_else(|| "it is still starting".to_owned());
            let why = self.redactor.redact(&why).into_owned();
            self.quiet(&format!("`{key}` is not there: {why}"));
        }
        if loaded.lost_lines > 0 {
            self.quiet(&format!("{} lines of it could not be read", loaded.lost_lines));
        }
        let said = loaded.history.iter().filter(|it| matches!(it, Message::User { .. })).count();
        if said > 0 {
            self.quiet(&format!("going on behind {said} messages of yours"));
        }
    }

    pub(super) fn prompt(&mut self) {
        if self.has_person {
            self.write(&format!("{} ", self.terminal.paint(">", Style::Strong)));
            self.line = Line::Nothing;
        }
    }

    /// Something that happened.
    pub(super) fn hear(&mut self, event: &Event<'_>) {
        match event {
            Event::Text(words) => {
                let words = safe(&words.replace('\r', ""));
                if let Some(last) = words.chars().last() {
                    self.write(&words);
                    self.line = if last == '\n' { Line::Nothing } else { Line::Words };
                }
            }
            Event::Reasoning(_) => {
                if self.line != Line::Thinking {
                    self.quiet("· thinking …");
                    self.line = Line::Thinking;
                }
            }
            Event::ToolStart(call) => {
                let SavedCall { tool, arguments, .. } = (*call).into();
                // Half a secret is not known as one.
                let arguments = one_line(&self.redactor.redact(&arguments));
                self.quiet(&format!("→ {tool} {}", cut(&arguments, ARGUMENTS)));
            }
            Event::ToolReply(reply) if matches!(reply.report(), Report::Output(_)) => {
                if let Some(by) = reply.substitute() {
                    self.quiet(&format!("`{by}` answered instead of `{}`.", reply.tool));
                }
                self.line_of(event);
            }
            event => self.line_of(event),
        }
    }

    fn line_of(&mut self, event: &Event<'_>) {
        let Some(line) = event.line() else { return };
        match event {
            Event::Stop(stop) => {
                self.show(&line);
                if let Stop::Model(error) = stop
                    && !error.detail.is_empty()
                {
                    self.quiet(&format!("It said: {}", error.detail));
                }
            }
            _ => self.quiet(&format!("· {line}")),
        }
    }

    /// The end of a run.
    pub(super) fn ends(&mut self) {
        self.ends_line();
        if self.has_person {
            self.write("\n");
        }
    }

    pub(super) fn note(&mut self, line: &str) {
        self.write("\n");
        self.quiet(line);
    }

    /// A line in plain sight.
    pub(super) fn show(&mut self, text: &str) {
        self.ends_line();
        let text = safe(&self.redactor.redact(text));
        self.write(&format!("{text}\n"));
    }

    /// A line beside what matters.
    pub(super) fn quiet(&mut self, line: &str) {
        self.ends_line();
        let line = one_line(&self.redactor.redact(line));
        self.write(&format!("{}\n", self.terminal.paint(&line, Style::Faint)));
    }

    fn ends_line(&mut self) {
        if std::mem::replace(&mut self.line, Line::Nothing) == Line::Words {
            self.write("\n");
        }
    }

    /// A reader who had enough is no error.
    #[expect(clippy::unused_self, reason = "only the screen writes")]
    fn write(&mut self, text: &str) {
        let mut out = std::io::stdout();
        let _ = out.write_all(text.as_bytes());
        let _ = out.flush();
    }
}
