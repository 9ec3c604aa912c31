//! What a failure is about: the path, URL, table, branch or name that is missing, denied or in
//! the way.

mod forms;

use std::ops::Range;

use forms::FORMS;

use super::pattern::{Marked, Pattern};
use super::quotes::Quotes;
use crate::FailureKind;

/// Whether a failure of this kind may be about a resource.
pub(super) fn is_about(kind: FailureKind) -> bool {
    use FailureKind as K;
    matches!(
        kind,
        K::NotFound
            | K::Permission
            | K::Conflict
            | K::Precondition
            | K::UnknownTool
            | K::Unavailable
            | K::InvalidArguments
    )
}

/// The resource of a failure, where its kind is about one.
pub(super) fn find(
    kind: FailureKind,
    text: &str,
    places: &[Range<usize>],
    quotes: &Quotes,
) -> Option<String> {
    if !is_about(kind) {
        return None;
    }
    let marked = Marked::new(text);
    let by_form = FORMS
        .iter()
        .filter(|(kinds, _)| kinds.contains(&kind))
        .find_map(|(_, pattern)| pattern.text(&marked));
    if let Some(found) = by_form {
        return tidy(found);
    }
    if kind == FailureKind::InvalidArguments {
        return directory(text, quotes);
    }
    // A name says more than a plain word: the first of them in any place, else the first word.
    let found: Vec<String> = places.iter().filter_map(|words| at(text, words, quotes)).collect();
    let name = found.iter().position(|found| looks_like_a_name(found));
    found.into_iter().nth(name.unwrap_or(0))
}

/// The resource that words in this place are about.
fn at(text: &str, words: &Range<usize>, quotes: &Quotes) -> Option<String> {
    // Words within a quotation are read by themselves: `msg="open x: no such file"`.
    let around = quotes.0.iter().find(|quote| quote.start <= words.start && words.end <= quote.end);
    let line = around.cloned().unwrap_or_else(|| line_of(text, words.start));
    // `cannot find x`, `unable to open x`: what a verb is about stands behind it.
    let said = text[words.clone()].to_ascii_lowercase();
    let verb = [
        "cannot ",
        "can't ",
        "could not ",
        "couldn't ",
        "unable ",
        "failed to ",
        "no such ",
        "unknown ",
        "missing ",
    ];
    let verb = verb.iter().any(|verb| said.starts_with(verb)) && !said.starts_with("no such file");
    let near = || {
        let rest = text[words.end..line.end].trim_matches([' ', '.', ':']);
        if !rest.is_empty() && !rest.contains(' ') {
            return Some(rest);
        }
        text[words.end..line.end]
            .split_whitespace()
            .take(5)
            .find(|word| looks_like_a_name(word) && !word.contains("://"))
    };
    within_quoted(text, words, quotes)
        .or_else(|| before_quoted(text, &line, words, quotes))
        .or_else(|| behind_quoted(text, &line, words, quotes))
        .or_else(|| if verb { near() } else { None })
        .or_else(|| behind_colon(text, &line, words))
        .or_else(|| field_before(text, &line, words))
        .or_else(|| word_before(text, &line, words))
        .or_else(|| word_behind(text, &line, words))
        .and_then(tidy)
}

/// The only URL of a text.
pub(super) fn only_url(text: &str) -> Option<String> {
    static URL: Pattern = Pattern::new(&["://"], r#"(https?://[^\s'"<>),;]+)"#);
    let marked = Marked::new(text);
    let first = URL.text(&marked)?;
    (URL.last(&marked) == Some(first)).then(|| tidy(first)).flatten()
}

/// The only quotation of a text, where nothing else tells.
pub(super) fn only_quotation(kind: FailureKind, text: &str, quotes: &Quotes) -> Option<String> {
    use FailureKind as K;
    let about =
        matches!(kind, K::NotFound | K::Permission | K::Conflict | K::UnknownTool | K::Unavailable);
    let first = quotes.0.first().filter(|_| about)?;
    let same = quotes.0.iter().all(|quote| text[quote.clone()] == text[first.clone()]);
    let short = first.len() <= 120 && text[first.clone()].split_whitespace().count() <= 3;
    (same && short).then(|| tidy(&text[first.clone()])).flatten()
}

/// Of the arguments only a directory in the way is a resource.
fn directory(text: &str, quotes: &Quotes) -> Option<String> {
    let about = [
        "omitting directory",
        "is a directory",
        "not a directory",
        "Is a directory",
        "Not a directory",
    ];
    about.iter().any(|words| text.contains(words)).then_some(())?;
    let quote = quotes.0.first()?;
    tidy(&text[quote.clone()])
}

fn line_of(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
    start..end
}

/// `… not found: 'x'`, `Cannot find module 'x'`, `… does not exist "x"`.
fn behind_quoted<'t>(
    text: &'t str,
    line: &Range<usize>,
    words: &Range<usize>,
    quotes: &Quotes,
) -> Option<&'t str> {
    let quote = quotes.0.iter().find(|quote| quote.start >= words.end && quote.end <= line.end)?;
    let between = &text[words.end..quote.start];
    let joins = between.split_whitespace().count() <= 6
        && !between.contains(['.', ';', ',', '!', '?'])
        && !between.to_ascii_lowercase().contains("did you mean");
    joins.then(|| &text[quote.clone()])
}

/// `Access to the path 'x' is denied`.
fn within_quoted<'t>(text: &'t str, words: &Range<usize>, quotes: &Quotes) -> Option<&'t str> {
    let quote = quotes.0.iter().find(|quote| quote.start > words.start && quote.end < words.end)?;
    Some(&text[quote.clone()])
}

/// The first quotation of the clause that ends in the words.
fn before_quoted<'t>(
    text: &'t str,
    line: &Range<usize>,
    words: &Range<usize>,
    quotes: &Quotes,
) -> Option<&'t str> {
    let inside = |from: usize| {
        quotes.0.iter().find(move |quote| quote.start > from && quote.end <= words.start)
    };
    let clause = text[line.start..words.start].rfind(": ").map(|colon| line.start + colon + 1);
    let quote = clause.and_then(inside).or_else(|| inside(line.start.saturating_sub(1)))?;
    Some(&text[quote.clone()])
}

/// `not found: x`, `No such container: x`.
fn behind_colon<'t>(text: &'t str, line: &Range<usize>, words: &Range<usize>) -> Option<&'t str> {
    let rest = &text[words.end..line.end];
    let colon = rest.find(": ").or_else(|| rest.find(':').filter(|at| *at == 0))?;
    let between = &rest[..colon];
    if between.split_whitespace().count() > 5 || between.contains(['.', ',', ';', '(']) {
        return None;
    }
    let value = rest[colon + 1..].trim_start();
    let mut parts = value.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ')'));
    let word = parts.next()?;
    // `Not found: Dataset acme:sales …`
    let word = if looks_like_a_name(word) {
        word
    } else {
        parts.next().filter(|next| looks_like_a_name(next)).unwrap_or(word)
    };
    let rest_is_prose = value.split_whitespace().count() > 7;
    let alone = value.trim_end().len() == word.len();
    (!word.is_empty()
        && (!rest_is_prose || looks_like_a_name(word))
        && (alone || !is_stop_word(word)))
    .then_some(word)
}

/// `cat: x: No such file or directory`, `tar: x: Cannot stat: No such file or directory`.
fn field_before<'t>(text: &'t str, line: &Range<usize>, words: &Range<usize>) -> Option<&'t str> {
    let before = text[line.start..words.start].trim_end_matches([' ', ':', '：', '(', '-', '[']);
    let separators: &[&str] = &[": ", "："];
    let mut fields: Vec<&str> = vec![before];
    for separator in separators {
        fields = fields.into_iter().flat_map(|field| field.split(*separator)).collect();
    }
    for field in fields.iter().rev().take(3) {
        let field = field.trim();
        if field.contains(' ') {
            let last = field.rsplit(' ').next().unwrap_or(field);
            let pair = field.split_whitespace().count() == 2 && !is_stop_word(last);
            if looks_like_a_name(last) || pair {
                return Some(last);
            }
        } else if !field.is_empty()
            && !is_stop_word(field)
            && (fields.len() > 1 || looks_like_a_name(field))
        {
            return Some(field);
        }
    }
    None
}

/// `Role with name deployer already exists`, `directory /srv/build is not empty`.
fn word_before<'t>(text: &'t str, line: &Range<usize>, words: &Range<usize>) -> Option<&'t str> {
    let before = text[line.start..words.start].trim_end();
    let mut last = before.rsplit(' ').take(4);
    if let Some(name) = last.clone().find(|word| looks_like_a_name(word)) {
        return Some(name);
    }
    let word = last.next()?.trim_matches(['"', '\'', '`', '(', ')', ',', ':']);
    (!word.is_empty() && !is_stop_word(word) && before.contains("name ")).then_some(word)
}

/// `No module named x`, `Could not open file or uri from x`.
fn word_behind<'t>(text: &'t str, line: &Range<usize>, words: &Range<usize>) -> Option<&'t str> {
    text[words.end..line.end]
        .split_whitespace()
        .take(12)
        .find(|word| looks_like_a_name(word) && !word.contains("://"))
}

/// A word with something in it that plain words have not.
pub(super) fn looks_like_a_name(word: &str) -> bool {
    let inner = word.trim_matches(|c: char| {
        matches!(c, '.' | ',' | ':' | ';' | '(' | ')' | '"' | '\'' | '!' | '?')
    });
    let mixed = inner.len() > 4
        && inner.bytes().skip(1).any(|b| b.is_ascii_uppercase())
        && inner.bytes().any(|b| b.is_ascii_lowercase());
    inner.len() > 1
        && (mixed
            || inner.contains(|c: char| {
                c.is_ascii_digit()
                    || matches!(c, '/' | '_' | '.' | '\\' | '@' | '#' | '~' | '-')
                    || !c.is_ascii()
            }))
        && !inner.starts_with('-')
        && !matches!(inner, "e.g" | "i.e")
}

fn is_stop_word(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "could",
        "the",
        "a",
        "an",
        "file",
        "path",
        "directory",
        "error",
        "it",
        "that",
        "this",
        "which",
        "and",
        "or",
        "to",
        "of",
        "in",
        "for",
        "with",
        "not",
        "has",
        "have",
        "does",
        "resource",
        "entity",
        "object",
        "item",
        "page",
        "user",
        "you",
        "name",
        "key",
        "value",
        "table",
        "open",
        "failed",
        "fatal",
        "warning",
        "remote",
        "server",
        "client",
        "request",
        "requested",
        "already",
        "also",
        "or",
        "command",
        "kommando",
        "module",
        "package",
        "program",
        "archive",
        "repository",
        "issue",
        "project",
        "kernel",
        "abort",
        "model",
        "point",
        "config",
        "local",
        "function",
        "method",
        "tool",
        "commande",
        "comando",
        "script",
        "image",
        "container",
        "cannot",
        "stat",
        "access",
        "Error",
        "ERROR",
        "FATAL",
        "error:",
        "message",
        "operation",
        "attempt",
        "no",
    ];
    WORDS.contains(&word) || WORDS.contains(&word.to_ascii_lowercase().as_str())
}

/// Without what belongs to the sentence.
fn tidy(found: &str) -> Option<String> {
    let found =
        found.trim().trim_matches(['"', '`', '<', '>', '‘', '’', '“', '”', '„', '«', '»', ',']);
    let found = found.trim_end_matches([':', ';', ',']).trim_matches('\'');
    // `file_get_contents(/srv/x)`
    let found = match found.split_once('(') {
        Some((name, inside))
            if inside.ends_with(')') && !name.is_empty() && inside.starts_with(['/', '.']) =>
        {
            &inside[..inside.len() - 1]
        }
        _ => found,
    };
    if found.starts_with('(') && !found.ends_with(')') {
        return None;
    }
    let found = match (found.chars().next(), found.chars().next_back()) {
        (Some('('), Some(')')) | (Some('['), Some(']')) if found.len() > 2 => {
            &found[1..found.len() - 1]
        }
        _ => found,
    };
    // `id=66a1f0`, `x)`
    let found = match found.split_once('=') {
        Some((name, value))
            if !value.is_empty()
                && !value.contains('=')
                && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') =>
        {
            value
        }
        _ => found,
    };
    let found = if found.contains('(') { found } else { found.trim_end_matches(')') };
    let found = if found.contains('[') { found } else { found.trim_end_matches(']') };
    // `No such image: x` was said by someone else.
    let found = match found.split_once(": ") {
        Some((said, rest)) if said.contains(' ') && !rest.contains(' ') => rest,
        _ => found,
    };
    let found =
        if found.ends_with('.') && found.len() > 1 { found.trim_end_matches('.') } else { found };
    (!found.is_empty() && found.len() <= 256 && !found.contains('\n')).then(|| found.to_owned())
}
