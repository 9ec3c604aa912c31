//! A server's place in the text → the edits that put it behind the guard, or take it out again.
//! What is not edited stays to the byte, and taking out gives back the bytes there were.

use std::ops::Range;
use std::path::Path;

use super::document::{Args, Reason, Stdio, Word};

/// A stretch of the text, and what stands there instead.
#[derive(Debug)]
pub(super) struct Edit {
    span: Range<usize>,
    with: String,
}

/// How far a server is behind the guard.
enum Guarded {
    No,
    /// This word of its arguments is the server's own command.
    Command(usize),
    ByHand,
}

/// Puts a server behind `program`, which is a JSON string.
pub(super) fn wrap(text: &str, server: &Stdio, program: &str) -> Result<Vec<Edit>, Reason> {
    match guarded(server) {
        Guarded::No => {}
        Guarded::Command(_) | Guarded::ByHand => return Err(Reason::Guarded),
    }
    if let Some(reason) = server.idle {
        return Err(reason);
    }
    let command = slice(text, &server.command.span);
    let insertion = match &server.args {
        Args::Absent => insert(server.command.span.end, field(text, server, command)),
        Args::List { span, words } => match words.first() {
            // Without spaces: it tells an empty list from none when it is undone.
            None => insert(span.start + 1, format!(r#""guard","--",{command}"#)),
            Some(first) => {
                let before = slice(text, &(span.start + 1..first.span.start));
                let between = own_line(before).unwrap_or(" ");
                let insertion = format!(r#""guard",{between}"--",{between}{command},{between}"#);
                insert(first.span.start, insertion)
            }
        },
    };
    Ok(vec![Edit { span: server.command.span.clone(), with: program.to_owned() }, insertion])
}

/// Takes a server out from behind the guard; nothing where it is not behind it.
pub(super) fn unwrap(text: &str, server: &Stdio) -> Result<Option<Vec<Edit>>, Reason> {
    let (Guarded::Command(own), Args::List { span, words }) = (guarded(server), &server.args)
    else {
        return match guarded(server) {
            Guarded::ByHand => Err(Reason::GuardedByHand),
            Guarded::No | Guarded::Command(_) => Ok(None),
        };
    };
    let Some(command) = words.get(own).map(|word| slice(text, &word.span)) else {
        return Ok(None);
    };
    let mut edits = vec![Edit { span: server.command.span.clone(), with: command.to_owned() }];
    let end = server.command.span.end;
    let added = field(text, server, command);
    if end + added.len() == span.end && slice(text, &(end..span.end)) == added {
        edits.push(remove(end..span.end));
        return Ok(Some(edits));
    }
    let inside = span.start + 1..span.end.saturating_sub(1);
    for (index, word) in words.iter().enumerate().take(own + 1) {
        let next = words.get(index + 1).map(|next| next.span.start);
        edits.extend(without(text, word, next, inside.end));
    }
    // A list that someone has since laid out in lines, as clients do that write the file anew.
    if words.len() == own + 1 && is_laid_out(text, words, &inside) {
        edits.truncate(1);
        edits.push(remove(inside));
    }
    Ok(Some(edits))
}

/// The text with the edits made; they do not overlap.
pub(super) fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.span.start);
    let mut edited = String::with_capacity(text.len() + 256);
    let mut done = 0;
    for edit in edits {
        edited.push_str(slice(text, &(done..edit.span.start)));
        edited.push_str(&edit.with);
        done = edit.span.end;
    }
    edited.push_str(slice(text, &(done..text.len())));
    edited
}

/// By the program's name, which another machine or an earlier installation has elsewhere and a
/// release has something behind; where it is called otherwise, by what was written here: a whole
/// path, and a command behind dashes.
fn guarded(server: &Stdio) -> Guarded {
    let Args::List { words, .. } = &server.args else { return Guarded::No };
    if words.first().is_none_or(|word| word.text != "guard") {
        return Guarded::No;
    }
    let command = &server.command.text;
    let is_written = Path::new(command).is_absolute()
        && words.get(1).is_some_and(|word| matches!(word.text.as_str(), "--" | "--config"));
    let own = words.iter().position(|word| word.text == "--").map(|dashes| dashes + 1);
    match own.filter(|&own| own < words.len()) {
        Some(own) if is_written || is_named(command) => Guarded::Command(own),
        None if is_named(command) => Guarded::ByHand,
        Some(_) | None => Guarded::No,
    }
}

fn is_named(command: &str) -> bool {
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command).to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    name.strip_prefix("breakfall").is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// The field `args` as it is added where there is none.
fn field(text: &str, server: &Stdio, command: &str) -> String {
    let between = own_line(slice(text, &(0..server.field))).unwrap_or(" ");
    format!(r#",{between}"args": ["guard", "--", {command}]"#)
}

/// The end of line and the indentation that `before` ends with, if it does.
fn own_line(before: &str) -> Option<&str> {
    let line = before.rfind('\n')?;
    let indentation = before.get(line + 1..)?;
    if indentation.contains(|c| c != ' ' && c != '\t') {
        return None;
    }
    let start = if before.get(..line)?.ends_with('\r') { line - 1 } else { line };
    before.get(start..)
}

/// Removes a word with its comma and the space behind it, and leaves comments.
fn without(text: &str, word: &Word, next: Option<usize>, close: usize) -> Vec<Edit> {
    let start = word.span.end;
    let gap = slice(text, &(start..next.unwrap_or(close)));
    let Some(comma) = comma(gap) else { return vec![remove(word.span.clone())] };
    let (before, behind) = (slice(gap, &(0..comma)), slice(gap, &(comma + 1..gap.len())));
    let space = if next.is_some() { behind.len() - behind.trim_start().len() } else { 0 };
    let end = start + comma + 1 + space;
    if before.trim().is_empty() {
        return vec![remove(word.span.start..end)];
    }
    vec![remove(word.span.clone()), remove(start + comma..end)]
}

/// The comma between two values, which no comment hides.
fn comma(gap: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(rest) = gap.get(at..) {
        let found = rest.find([',', '/'])?;
        let rest = rest.get(found..)?;
        at += found;
        if rest.starts_with(',') {
            return Some(at);
        }
        at +=
            if rest.starts_with("//") { rest.find('\n')? } else { rest.get(2..)?.find("*/")? + 4 };
    }
    None
}

/// Whether a list begins with space, which is not ours, and holds nothing beside its words.
fn is_laid_out(text: &str, words: &[Word], inside: &Range<usize>) -> bool {
    let is_blank = |span| slice(text, &span).chars().all(|c| c == ',' || c.is_ascii_whitespace());
    let mut done = inside.start;
    for word in words {
        if word.span.start == inside.start || !is_blank(done..word.span.start) {
            return false;
        }
        done = word.span.end;
    }
    is_blank(done..inside.end)
}

fn insert(at: usize, with: String) -> Edit {
    Edit { span: at..at, with }
}

fn remove(span: Range<usize>) -> Edit {
    Edit { span, with: String::new() }
}

/// The spans are the parser's, so there is always something to slice.
fn slice<'t>(text: &'t str, span: &Range<usize>) -> &'t str {
    text.get(span.clone()).unwrap_or_default()
}
