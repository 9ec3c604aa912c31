//! What is known of who reads: how wide the terminal is, whether it takes colours.

mod block;
mod table;
mod text;

use std::io::IsTerminal;

pub(crate) use block::{beside, wrapped};
pub(crate) use table::{Cell, Column, Table};
pub(crate) use text::{cut, one_line, safe, width};

/// As wide as a text is when nobody says otherwise.
const WIDTH: usize = 100;

/// What no terminal is narrower or wider than.
const NARROWEST: usize = 40;
const WIDEST: usize = 400;

/// Who reads what is printed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    /// How many columns it has.
    pub(crate) width: usize,
    /// Whether it takes colours.
    pub(crate) has_colour: bool,
    /// Whether it is a terminal at all.
    pub(crate) is_one: bool,
}

/// How a text looks where there are colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Style {
    #[default]
    Plain,
    Strong,
    Faint,
    Bad,
    Warn,
    Good,
}

impl Terminal {
    /// Standard output.
    pub(crate) fn stdout() -> Self {
        let out = std::io::stdout();
        let is_one = out.is_terminal();
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let size = || rustix::termios::tcgetwinsize(&out).ok().map(|size| size.ws_col.into());
        let width = columns.or_else(|| is_one.then(size)?).filter(|width| *width > 0);
        // Any value but an empty one: https://no-color.org
        let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            width: width.unwrap_or(WIDTH).clamp(NARROWEST, WIDEST),
            has_colour: is_one && !is_plain && !is_dumb,
            is_one,
        }
    }

    /// A text in its style.
    pub(crate) fn paint(&self, text: &str, style: Style) -> String {
        let code = match style {
            Style::Strong => "1",
            Style::Faint => "2",
            Style::Bad => "31",
            Style::Warn => "33",
            Style::Good => "32",
            Style::Plain => return text.to_owned(),
        };
        if self.has_colour && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}
