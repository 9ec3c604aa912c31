//! What is known of who reads: how wide the terminal is, whether it takes colours.

mod block;
mod table;
mod text;

use std::io::IsTerminal;

pub(crate) use block::{beside, wrapped};
pub(crate) use table::{Cell, Column, Table};
pub(crate) use text::{cut, json_line, json_text, one_line, safe, width};

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
        let size = || rustix::termios::tcgetwinsize(&out).ok().map(|size| size.ws_col.into());
        Self::of(is_one, is_one.then(size).flatten(), |name| std::env::var(name).ok())
    }

    /// What the environment makes of a terminal or a file.
    fn of(is_one: bool, size: Option<usize>, variable: impl Fn(&str) -> Option<String>) -> Self {
        let columns = variable("COLUMNS").and_then(|columns| columns.trim().parse().ok());
        let width = columns.or(size).filter(|width| *width > 0).unwrap_or(WIDTH);
        // Any value but an empty one: https://no-color.org
        let is_plain = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = variable("TERM").is_some_and(|term| term == "dumb");
        let has_colour = is_one && !is_plain && !is_dumb;
        Self { width: width.clamp(NARROWEST, WIDEST), has_colour, is_one }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_decides_on_width_and_colours() {
        let of = |is_one, size, name: &'static str, value: &'static str| {
            let terminal =
                Terminal::of(is_one, size, |asked| (asked == name).then(|| value.to_owned()));
            (terminal.width, terminal.has_colour)
        };
        assert_eq!(of(true, Some(80), "", ""), (80, true));
        assert_eq!(of(false, None, "", ""), (100, false));
        assert_eq!(of(true, Some(80), "NO_COLOR", "1"), (80, false));
        assert_eq!(of(true, Some(80), "NO_COLOR", ""), (80, true));
        assert_eq!(of(true, Some(80), "TERM", "dumb"), (80, false));
        assert_eq!(of(true, Some(80), "COLUMNS", "132"), (132, true));
        assert_eq!(of(false, None, "COLUMNS", "-1"), (100, false));
        assert_eq!(of(true, Some(0), "COLUMNS", "99999999"), (WIDEST, true));
        assert_eq!(of(true, Some(1), "", ""), (NARROWEST, true));
    }
}
