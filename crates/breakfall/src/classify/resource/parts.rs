//! A word as it stands, and what stands in it: `key=x`, `f(x)`, `x:12:5`.

use std::ops::Range;

use super::letters::{BRACKET, CLOSING, COLON, DIGIT, ENDING, EQUALS, LETTERS, OPENING, SLASH};
use super::names::Shape;
use super::scene::Word;

/// The parts of a word that may be names, in turn.
pub(super) fn each_part(text: &str, word: Word, mut then: impl FnMut(Range<usize>)) {
    if word.sorts & !(LETTERS | DIGIT) == 0 {
        then(word.range());
        return;
    }
    let all = inner(text, &word.range(), word.sorts).into_iter().flatten();
    all.filter(|part| !part.is_empty()).for_each(then);
}

fn inner(text: &str, word: &Range<usize>, sorts: u16) -> [Option<Range<usize>>; 4] {
    let has = |sort: u16| sorts & sort != 0;
    let whole = &text[word.clone()];
    let start = whole.len() - OPENING.trim_start(whole).len();
    let end = ENDING.trim_end(whole).len().max(start);
    // A bracket that it opens belongs to it: `P[77]`.
    let closes =
        has(BRACKET) && is_open(&whole[start..end]) && whole[end..].starts_with([']', ')']);
    let end = end + usize::from(closes);
    let core = word.start + start..word.start + end;
    let mut all = [Some(core.clone()), None, None, None];
    if !has(EQUALS | COLON | BRACKET) {
        return all;
    }
    let inner = &text[core.clone()];
    let scheme = if has(COLON) && has(SLASH) { inner.find("://") } else { None };
    let scheme = scheme.unwrap_or(inner.len());
    if has(EQUALS) && !inner.starts_with('-') {
        for (slot, (at, _)) in all[1..].iter_mut().zip(inner[..scheme].match_indices('=')) {
            let value = OPENING.trim_start(&inner[at + 1..]);
            // `x==1.2` is a name with its version.
            if value.starts_with('=') || inner[..at].ends_with('=') {
                continue;
            }
            let from = core.end - value.len();
            let end = value.find([',', ']', ')', '"', '\'', ';', '}', '[']).unwrap_or(value.len());
            *slot = Some(from..from + end);
        }
    }
    if all[3].is_none() {
        // A file with a line, what a verb or a program says it of, what a function is given.
        let behind = |at: usize| core.start + at + 1..core.end;
        let file = |part: &str| part.starts_with('/') || Shape::of(part).file;
        all[3] = match first_mark(&inner[..scheme]) {
            Some(at) if inner[at..].starts_with(['(', '[']) => {
                let inside = CLOSING.trim_end(&inner[at + 1..]);
                Some(core.start + at + 1..core.start + at + 1 + inside.len())
            }
            Some(at) if inner[at + 1..].starts_with(|c: char| c.is_ascii_digit()) => {
                Some(core.start..core.start + at).filter(|_| inner[..at].contains('.'))
            }
            Some(at) if at > 1 && file(&inner[at + 1..]) => Some(behind(at)),
            _ => None,
        };
    }
    all
}

/// Whether a bracket is opened and not closed.
fn is_open(text: &str) -> bool {
    let last = text.rfind(['(', '[', ')', ']']);
    last.is_some_and(|at| text[at..].starts_with(['(', '[']) && at + 1 < text.len())
}

/// The first colon or bracket; the two colons of a class's function are none.
fn first_mark(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text[at..].find([':', '(', '['])?;
        if !text[at..].starts_with("::") {
            return Some(at);
        }
        at += 2;
    }
}
