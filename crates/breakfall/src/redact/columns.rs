//! Secrets by column: what a statement inserts under the name of one.

use std::ops::Range;

use super::names::is_secret_name;
use super::{Span, bounded};

/// How far the names of columns reach back, and values on.
const NAMES: usize = 2 << 10;
const VALUES: usize = 8 << 10;

/// What stands before values that are told apart from their statement, as `SQLAlchemy` tells them.
const PARAMETERS: &str = "[parameters: ";

/// `(name, password) VALUES ('bob', 'x')`: the secrets behind `VALUES`, which stands there.
pub(super) fn columns(text: &str, values: Range<usize>, found: &mut Vec<Span<'static>>) {
    let before = text[text.ceil_char_boundary(values.start.saturating_sub(NAMES))..values.start]
        .trim_end()
        .strip_suffix(')');
    let Some((_, names)) = before.and_then(|before| before.rsplit_once('(')) else { return };
    let secret: Vec<bool> = names.split(',').map(is_secret_name).collect();
    if !secret.contains(&true) {
        return;
    }
    let rest = bounded(&text[values.end..], VALUES);
    tuples(rest, 0, values.end, &secret, found);
    if let Some(at) = rest.find(PARAMETERS) {
        tuples(rest, at + PARAMETERS.len(), values.end, &secret, found);
    }
}

/// The secrets among values in parentheses, one group of them or several, from a place on in a part
/// of the text that begins there.
fn tuples(text: &str, mut at: usize, from: usize, secret: &[bool], found: &mut Vec<Span<'static>>) {
    let past =
        |at: usize, between: &[char]| text.len() - text[at..].trim_start_matches(between).len();
    at = past(at, &[' ', '\n', '\t', '\r', '[']);
    while text[at..].starts_with('(') {
        let Some((items, end)) = items(&text[at + 1..]) else { return };
        let secrets = items.into_iter().zip(secret).filter(|(item, is)| **is && !item.is_empty());
        for (item, _) in secrets {
            let (start, end) = (from + at + 1 + item.start, from + at + 1 + item.end);
            found.push(Span { start, end, name: "column" });
        }
        at = past(at + 1 + end, &[',', ' ', '\n', '\t', '\r']);
    }
}

/// What stands between the quotes of each value, up to the closing parenthesis, and the place behind
/// that. A value without quotes is empty.
fn items(text: &str) -> Option<(Vec<Range<usize>>, usize)> {
    let (mut items, mut inside, mut quote) = (Vec::new(), 0..0, None);
    let mut letters = text.char_indices().peekable();
    while let Some((at, c)) = letters.next() {
        match (quote, c) {
            (Some(_), '\\') => drop(letters.next()),
            // Two of them are one.
            (Some(mark), c)
                if c == mark && letters.next_if(|(_, next)| *next == mark).is_none() =>
            {
                (inside.end, quote) = (at, None);
            }
            (None, '\'' | '"') => (inside, quote) = (at + 1..at + 1, Some(c)),
            (None, ',') => items.push(std::mem::replace(&mut inside, 0..0)),
            (None, ')') => {
                items.push(inside);
                return Some((items, at + 1));
            }
            _ => {}
        }
    }
    None
}
