//! Two texts → what changes between them, for a person; without secrets, because terminals are
//! copied from and agents read them.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use breakfall::{Redactor, is_hidden};
use similar::{ChangeTag, TextDiff};

/// How lines are told apart beside their first letter.
#[derive(Clone, Copy)]
pub(super) enum Colour {
    Off,
    On,
}

impl Colour {
    /// Only on a terminal, and where nobody asked for none: <https://no-color.org>.
    pub(super) fn wanted(output: &impl IsTerminal) -> Self {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        if output.is_terminal() && !is_set("NO_COLOR") && !is_dumb { Self::On } else { Self::Off }
    }

    fn line(self, output: &mut impl Write, code: u8, line: &str) -> io::Result<()> {
        match self {
            Self::On if code > 0 => writeln!(output, "\x1b[{code}m{line}\x1b[0m"),
            Self::On | Self::Off => writeln!(output, "{line}"),
        }
    }
}

/// Whether all of a text was shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shown {
    Whole,
    Redacted,
}

/// A unified diff.
pub(super) fn show(
    output: &mut impl Write,
    name: &str,
    texts: (&str, &str),
    colour: Colour,
) -> io::Result<Shown> {
    let redactor = Redactor::default();
    let (old, new) = (redactor.redact(texts.0), redactor.redact(texts.1));
    let diff = TextDiff::configure().timeout(Duration::from_secs(1)).diff_lines(&*old, &*new);
    colour.line(output, 1, &format!("--- {name}"))?;
    colour.line(output, 1, &format!("+++ {name}"))?;
    let mut shown = Shown::Whole;
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        colour.line(output, 36, &hunk.header().to_string())?;
        for change in hunk.iter_changes() {
            let (sign, code) = match change.tag() {
                ChangeTag::Equal => (' ', 0),
                ChangeTag::Delete => ('-', 31),
                ChangeTag::Insert => ('+', 32),
            };
            let line = change.value().trim_end_matches(['\r', '\n']);
            if line.contains("[redacted:") {
                shown = Shown::Redacted;
            }
            colour.line(output, code, &format!("{sign}{}", visible(line)))?;
            if change.missing_newline() {
                writeln!(output, "\\ No newline at end of file")?;
            }
        }
    }
    Ok(shown)
}

/// What would steer a terminal, or turn the text around, is shown as what it is.
pub(super) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_hidden(letter) && letter != '\t' {
            shown.extend(letter.escape_unicode());
        } else {
            shown.push(letter);
        }
    }
    shown
}
