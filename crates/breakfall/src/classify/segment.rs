//! The part of a text that decides: bounded, without escape sequences, and of a traceback the
//! innermost cause.

use std::borrow::Cow;

use super::names::Told;
use super::pattern::{Literal, Marked};
use super::{logged, names, printed};
use crate::stretch;

/// How much of a text is looked at, half of it from each end: for tracebacks, causes and bodies.
const READ: usize = 24 << 10;

/// How much of a text that is no body is read word by word at each end, and of what calls itself an
/// error between them. Else, what an error says stands in its first lines or its last ones.
const END: usize = 1 << 10;

/// How far from there a line or a word may end, so that none is cut in two.
const LAST_LINE: usize = 128;

/// How many lines are asked what they call themselves.
const LINES: usize = 400;

/// How many lines such an excerpt of code has at most.
const EXCERPT: usize = 4;

/// What is read of a text: all of it, or its head and its tail.
pub(super) fn ends(text: &str) -> (&str, Option<&str>) {
    if text.len() <= READ {
        return (text, None);
    }
    let head = text.floor_char_boundary(READ / 2);
    let tail = text.ceil_char_boundary(text.len() - READ / 2);
    (&text[..head], Some(&text[tail..]))
}

/// The text in bounds, head and tail.
pub(super) fn bounded(text: &str) -> Cow<'_, str> {
    let text = match ends(text) {
        (whole, None) => Cow::Borrowed(whole),
        (head, Some(tail)) => Cow::Owned(format!("{head}\n{tail}")),
    };
    let escapes = memchr::memchr(0x1b, text.as_bytes()).is_some();
    let text = if escapes { Cow::Owned(without_escapes(&text)) } else { text };
    let text = match without_asides(&text) {
        Some(rest) => Cow::Owned(rest),
        None => text,
    };
    let text = match (behind_excerpt(&text), text) {
        (0, text) => text,
        (at, Cow::Borrowed(text)) => Cow::Borrowed(&text[at..]),
        (at, Cow::Owned(text)) => Cow::Owned(text[at..].to_owned()),
    };
    printed::said(logged::messages(text))
}

/// What is read word by word: all of a text, or its head and its tail, and between them the lines
/// that call themselves errors.
pub(super) fn both_ends(text: &str) -> Cow<'_, str> {
    if text.len() <= 2 * END {
        return Cow::Borrowed(text);
    }
    let head = &text[..text.floor_char_boundary(END)];
    let tail = &text[text.ceil_char_boundary(text.len() - END)..];
    let last = &head[head.ceil_char_boundary(END - LAST_LINE)..];
    let head = last
        .rfind('\n')
        .or_else(|| last.rfind(' '))
        .map_or(head, |at| &head[..head.len() - last.len() + at]);
    let first = &tail[..tail.floor_char_boundary(LAST_LINE)];
    let tail = first.find('\n').or_else(|| first.find(' ')).map_or(tail, |at| &tail[at + 1..]);
    let between = text.get(head.len()..text.len() - tail.len()).unwrap_or_default();
    Cow::Owned(format!("{head}\n{}{tail}", errors_of(between)))
}

/// The lines of a part of a log that call themselves errors, each with its end.
fn errors_of(log: &str) -> String {
    let mut said = String::new();
    if memchr::memchr(b'\n', log.as_bytes()).is_none() {
        return said;
    }
    for line in lines(log).take(LINES).filter(|line| Level::of(line) == Level::Error) {
        if said.len() + line.len() > END {
            break;
        }
        said.push_str(line);
        said.push('\n');
    }
    said
}

/// Without warnings, notices and hints, where other lines say that they are errors: a program
/// that goes on to fail has not failed of what it warned of.
fn without_asides(text: &str) -> Option<String> {
    // One line is no other than itself.
    memchr::memchr(b'\n', text.as_bytes())?;
    let (mut aside, mut error, mut boxed) = (false, false, false);
    for line in lines(text).take(LINES) {
        let level = Level::of(line);
        aside |= level == Level::Aside;
        boxed |= level == Level::Aside && line.starts_with(BOX);
        // What stands behind a warning in a box is what came of it.
        error |= level == Level::Error || boxed && !line.starts_with(FRAME) && !line.is_empty();
    }
    (aside && error).then(|| {
        let mut within = false;
        let kept = lines(text).filter(|line| {
            let level = Level::of(line);
            within =
                line.starts_with(BOX) && (level == Level::Aside || level == Level::Plain && within);
            !within && level != Level::Aside
        });
        kept.collect::<Vec<_>>().join("\n")
    })
}

/// Where a text goes on behind the code that Node shows before an error: a file with its line, that
/// line of it, and a mark below.
fn behind_excerpt(text: &str) -> usize {
    let Some(end) = memchr::memchr(b'\n', text.as_bytes()) else { return 0 };
    let place = &text.as_bytes()[..end];
    let number = place.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let is_place = number > 0 && place[..end - number].ends_with(b":") && !place.contains(&b' ');
    let mut at = end + 1;
    for line in text[at..].split_inclusive('\n').take(EXCERPT).take_while(|_| is_place) {
        at += line.len();
        let mark = line.trim();
        if !mark.is_empty() && mark.bytes().all(|byte| byte == b'^') {
            let rest = text[at..].trim_start();
            return if rest.is_empty() { 0 } else { text.len() - rest.len() };
        }
    }
    0
}

/// How programs frame what they say: the left side of a box, and its corners.
const BOX: char = '│';
const FRAME: [char; 3] = [BOX, '╷', '╵'];

/// How a line calls itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Error,
    Aside,
    Plain,
}

impl Level {
    /// By a word that opens the line, after a program's name, a time or a bracket at most.
    fn of(line: &str) -> Self {
        let bytes = line.trim_start().as_bytes();
        let words =
            bytes.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty());
        for word in words.take(4) {
            let letters = |byte: &u8| byte.is_ascii_alphabetic();
            let start = word.iter().position(letters).unwrap_or(word.len());
            let end = word.iter().rposition(letters).map_or(start, |last| last + 1);
            let bare = &word[start..end];
            let marked = || {
                matches!(word.last(), Some(b':' | b']')) || bare.iter().all(u8::is_ascii_uppercase)
            };
            let is = |levels: &[&str]| {
                levels.iter().any(|level| level.as_bytes().eq_ignore_ascii_case(bare)) && marked()
            };
            match bare.first().map_or(0, u8::to_ascii_lowercase) {
                b'e' | b'f' | b'c'
                    if is(&["error", "fatal", "failure", "err", "critical", "emerg"]) =>
                {
                    return Self::Error;
                }
                b'w' | b'n' | b'i' | b'd' | b'h'
                    if is(&["warning", "warn", "notice", "info", "debug", "hint", "note"]) =>
                {
                    return Self::Aside;
                }
                b'l' if is_logged_at(bare, &["error", "fatal", "panic"]) => return Self::Error,
                b'l' if is_logged_at(bare, &["warning", "info", "debug"]) => return Self::Aside,
                _ => {}
            }
            let opens = bare.len() < 3
                || matches!(word.last(), Some(b':' | b']' | b','))
                || word.iter().any(u8::is_ascii_digit);
            if !opens {
                break;
            }
        }
        Self::Plain
    }
}

/// `level=error`, as logs of keys and values have it.
fn is_logged_at(word: &[u8], levels: &[&str]) -> bool {
    let level = word.strip_prefix(b"level=");
    level.is_some_and(|level| levels.iter().any(|known| known.as_bytes() == level))
}

/// Without the sequences that move a cursor or colour a terminal.
fn without_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(inside) = rest.strip_prefix('[') {
            let end =
                inside.find(|c: char| ('@'..='~').contains(&c)).map_or(inside.len(), |end| end + 1);
            rest = &inside[end..];
        }
    }
    out.push_str(rest);
    out
}

static TRACEBACK: Literal = Literal::new("Traceback (most recent call last)");
static CHAINED: Literal = Literal::new("direct cause of the following exception");
static CAUSED_BY: Literal = Literal::new("Caused by:");
static FATAL: Literal = Literal::new("FATAL:  ");
static USAGE: Literal = Literal::new("sage:");
static OPTIONS: Literal = Literal::new("ptions:\n");
static RESPONDED: Literal = Literal::new("responded with: {");

/// Every literal of this file.
pub(super) static LITERALS: &[&Literal] =
    &[&TRACEBACK, &CHAINED, &CAUSED_BY, &FATAL, &USAGE, &OPTIONS, &RESPONDED];

/// The decisive part of a text, and the names of error types in it, the most telling first.
pub(super) struct Segment<'t> {
    pub(super) text: &'t str,
    pub(super) names: Vec<&'t str>,
}

impl<'t> Segment<'t> {
    pub(super) fn of(whole: &Marked<'t>) -> Self {
        let text = whole.text;
        let part = python(whole).or_else(|| caused_by(whole)).unwrap_or(text);
        // Postgres says first that the connection failed, and then why.
        let part = FATAL.last_of(&whole.part(part)).map_or(part, |at| &part[at..]);
        let part = USAGE
            .first_of(&whole.part(part))
            .map_or(part, |at| before_usage(part, at.saturating_sub(1)));
        let part = OPTIONS.last_of(&whole.part(part)).map_or(part, |at| behind_options(part, at));
        // What a client says of every call stands before what the server said of this one.
        let part = RESPONDED
            .last_of(&whole.part(part))
            .and_then(|at| part[at..].find('{').map(|body| &part[at + body..]))
            .unwrap_or(part);
        let mut names = Vec::new();
        for line in lines(part).take(40) {
            leading_names(line, &mut names);
        }
        if part.len() != text.len() {
            // The wrapper's name comes after the cause's.
            lines(text).take(3).for_each(|line| leading_names(line, &mut names));
        }
        Self { text: part, names }
    }
}

/// What a program says before it tells how it is used: its options speak of everything.
fn before_usage(text: &str, usage: usize) -> &str {
    let before = text[..usage].trim_end();
    let opens_a_line = before.len() < usage && text[before.len()..usage].contains('\n');
    if opens_a_line && !before.is_empty() { before } else { text }
}

/// How programs end what they say of their options: where there is more to be read.
const ENDS: &[&str] = &["For more", "For complete", "Full documentation", "Report bugs", "See "];

/// What a program says behind the options that it tells, where it does: `Missing required argument`.
fn behind_options(text: &str, options: usize) -> &str {
    let last = text[options..].trim_end().rsplit_once("\n\n").map_or("", |(_, last)| last);
    let is_said = last.starts_with(|c: char| c.is_ascii_alphabetic());
    if is_said && !ENDS.iter().any(|end| last.starts_with(end)) { last } else { text }
}

/// What follows the frames of the last Python traceback, or of the first one where that is its cause
/// and says more.
fn python<'t>(whole: &Marked<'t>) -> Option<&'t str> {
    let last = behind_frames(whole.text, TRACEBACK.last_of(whole)?)?;
    let first = || {
        let before = &whole.text[..CHAINED.first_of(whole)?];
        let cause = behind_frames(before, TRACEBACK.last_of(&whole.part(before))?)?;
        Some(cause.rsplit_once("\n\n").map_or(cause, |(cause, _)| cause))
    };
    match first() {
        Some(first) if !is_told(last) && is_told(first) => Some(first),
        _ => Some(last),
    }
}

/// Whether an error is of a type that tells its kind, or has the number of one of the system's.
fn is_told(error: &str) -> bool {
    let name = error.split([':', '\n', ' ']).next().unwrap_or_default();
    matches!(names::tell(name), Some(Told::Surely(_))) || error.contains("[Errno ")
}

/// What follows the frames of a Python traceback that begins there.
fn behind_frames(text: &str, start: usize) -> Option<&str> {
    let mut at = start;
    for line in text[start..].split_inclusive('\n') {
        let framed = line.starts_with([' ', '\t'])
            || line.starts_with("Traceback")
            || line.trim().is_empty();
        if !framed {
            return Some(text[at..].trim_end());
        }
        at += line.len();
    }
    None
}

/// The last cause of a chain: `Caused by: x` as Java has it, a numbered list as anyhow has it.
fn caused_by<'t>(whole: &Marked<'t>) -> Option<&'t str> {
    let text = whole.text;
    let at = CAUSED_BY.last_of(whole)?;
    let cause = text[at + 10..].trim_start_matches([' ', '\t']);
    if let Some(list) = cause.strip_prefix('\n').or_else(|| cause.strip_prefix("\r\n")) {
        let last = list.lines().take_while(|line| line.starts_with([' ', '\t'])).last()?;
        let last = last.trim();
        return Some(
            last.split_once(": ")
                .filter(|(n, _)| n.parse::<u8>().is_ok())
                .map_or(last, |(_, cause)| cause),
        );
    }
    (!cause.trim().is_empty()).then(|| cause.trim_end())
}

/// The lines of a text, as [`str::lines`] has them.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text).filter(|text| !text.is_empty());
    std::iter::from_fn(move || {
        let text = rest?;
        let end = memchr::memchr(b'\n', text.as_bytes());
        rest = end.map(|end| &text[end + 1..]).filter(|rest| !rest.is_empty());
        let line = end.map_or(text, |end| text[..end].strip_suffix('\r').unwrap_or(&text[..end]));
        Some(line)
    })
}

/// The names before the colons of a line: `psycopg.OperationalError: FATAL: …`.
fn leading_names<'t>(line: &'t str, names: &mut Vec<&'t str>) {
    let line = line.trim_start_matches(|c: char| {
        c.is_whitespace() || matches!(c, '<' | '[' | '{' | '!' | '>')
    });
    let mut rest = Some(line);
    for nth in 0..4 {
        let Some(from) = rest else { break };
        let colon = colon(from);
        let part = colon.map_or(from, |at| &from[..at]);
        rest = colon.map(|at| &from[at + 2..]);
        #[expect(clippy::needless_bitwise_bool, reason = "many bytes are compared at once so")]
        let opens_none = |byte: u8| !byte.is_ascii_uppercase() & (byte != b'_');
        if stretch::all(part.as_bytes(), opens_none) {
            continue;
        }
        let word = part
            .rfind(|c: char| c.is_whitespace() || matches!(c, '(' | '<' | '>' | '"'))
            .map_or(part, |at| &part[at + part[at..].chars().next().map_or(0, char::len_utf8)..]);
        let first = part.find(['(', ' ', '<']).map_or(part, |at| &part[..at]);
        let (first, word) = (first.trim_end_matches(':'), word.trim_end_matches(':'));
        for name in [first, word] {
            // What stands behind the last colon may be the name of anything.
            let announces = nth == 0 || rest.is_some();
            let telling = announces && name.len() == part.trim().len() && names::is_telling(name);
            if (telling || names::is_type_name(name)) && !names.contains(&name) && names.len() < 12
            {
                names.push(name);
            }
            if word.len() == first.len() && word == first {
                break;
            }
        }
    }
}

/// Where the first colon with a space behind it stands.
fn colon(text: &str) -> Option<usize> {
    stretch::first_pair(text.as_bytes(), *b": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_cause_is_the_decisive_part() {
        let python = "Traceback (most recent call last):\n  File \"a.py\", line 404, in x\n    timeout()\nKeyError: 'a'";
        assert_eq!(Segment::of(&Marked::new(python)).text, "KeyError: 'a'");
        assert_eq!(Segment::of(&Marked::new(python)).names, ["KeyError"]);
        let java = "java.lang.RuntimeException: x\n\tat a.b\nCaused by: java.net.ConnectException: refused\n\tat c";
        assert_eq!(Segment::of(&Marked::new(java)).names[0], "java.net.ConnectException");
        let rust = "Error: sending\n\nCaused by:\n    0: connect\n    1: Connection refused (os error 111)\n";
        assert_eq!(Segment::of(&Marked::new(rust)).text, "Connection refused (os error 111)");
    }

    #[test]
    fn a_large_text_is_read_at_both_ends() {
        let text = format!("head {} tail", "x".repeat(1 << 20));
        let read = bounded(&text);
        assert!(read.len() < 25 << 10 && read.starts_with("head") && read.ends_with("tail"));
    }

    #[test]
    fn no_line_or_word_is_cut_where_a_text_is_read_at_both_ends() {
        let lines = both_ends(&"not found: a/b.c\n".repeat(200)).into_owned();
        assert!(lines.len() < 2 * END + 2 && lines.lines().all(|line| line == "not found: a/b.c"));
        let words = both_ends(&"é disallowed ".repeat(200)).into_owned();
        assert!(words.split_whitespace().all(|word| word == "é" || word == "disallowed"));
        assert_eq!(both_ends(&"é".repeat(2 * END)).chars().filter(|c| *c == 'é').count(), END);
    }

    #[test]
    fn code_that_is_shown_before_an_error_goes() {
        for (text, rest) in [
            ("/a.js:1\nthrow new Error('x')\n^\n\nError: x\n    at a", "Error: x\n    at a"),
            ("node:fs:3\n  a(b)\n  ^^^^\nError: x", "Error: x"),
            // No line, no mark, nothing behind it.
            ("a b.js:1\nx\n^\nError: x", "a b.js:1\nx\n^\nError: x"),
            ("a.js\nx\n^\nError: x", "a.js\nx\n^\nError: x"),
            ("a.js:1\nx\nError: x", "a.js:1\nx\nError: x"),
            ("a.js:1\nx\n^\n", "a.js:1\nx\n^\n"),
            (":1", ":1"),
        ] {
            assert_eq!(bounded(text), rest, "{text}");
        }
    }

    #[test]
    fn escape_sequences_go() {
        assert_eq!(bounded("\u{1b}[91merror\u{1b}[0m: x\u{1b}[3"), "error: x");
    }
}
