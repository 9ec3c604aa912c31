//! What is told as a list: the tools there are, the problems of arguments, and the call as it should
//! be.

use std::fmt::Write;

use super::push;
use crate::written::{push_digits, push_json};
use crate::{Correction, Detail, Problem};

/// The most bytes that a list of problems takes.
const PROBLEMS: usize = 1_200;

/// The largest correction that is worth its tokens.
const CORRECTION: usize = 600;

/// What is said where there is none.
const PLAIN_CORRECTION: &str = "Correct the arguments and call it again.";

pub(super) fn push_unknown(text: &mut String, tool: &str, detail: &Detail) {
    push(text, &["`", tool, "` is not a tool."]);
    if let Detail::Names { nearest, .. } = detail
        && !nearest.is_empty()
    {
        text.push_str(" Nearest: ");
        push_names(text, nearest);
    }
}

pub(super) fn push_callable(text: &mut String, detail: &Detail) {
    match detail {
        Detail::Names { callable, total, .. } if callable.len() == *total => {
            text.push_str("Call one of: ");
            push_names(text, callable);
        }
        Detail::Names { nearest, callable, total } if !nearest.is_empty() => {
            text.push_str("Call one of these, the nearest of ");
            push_digits(text, *total as u64);
            text.push_str(" tools: ");
            push_names(text, callable);
        }
        _ => text.push_str("Call one of the tools you were given."),
    }
}

pub(super) fn push_arguments(text: &mut String, tool: &str, detail: &Detail) {
    push(text, &["`", tool, "` did not accept its arguments"]);
    let problems = match detail {
        Detail::Arguments { problems, .. } if !problems.is_empty() => problems,
        _ => return text.push('.'),
    };
    text.push(':');
    for (told, problem) in problems.iter().enumerate() {
        let before = text.len();
        text.push_str(BULLET);
        push_line(text, problem);
        if text.len() - BULLET.len() > PROBLEMS {
            text.truncate(before);
            let _ = write!(text, "\n- and {} more", problems.len() - told);
            break;
        }
    }
}

/// What stands before each line of a list.
const BULLET: &str = "\n- ";

/// `` `filters[0].date`: expected a date like `2026-01-31`, got `"next tuesday"` ``
pub(super) fn line(problem: &Problem) -> String {
    let mut line = String::new();
    push_line(&mut line, problem);
    line
}

fn push_line(to: &mut String, problem: &Problem) {
    let mut say = |parts: &[&str]| push(to, parts);
    let Problem { path, expected, remark, got, nearest } = problem;
    match path.as_str() {
        "" => say(&["the arguments"]),
        path => say(&["`", path, "`"]),
    }
    match (remark, nearest, got) {
        (Some(remark), _, _) => say(&[": ", remark]),
        (None, Some(nearest), _) => say(&[" is not an argument; nearest: `", nearest, "`"]),
        (None, None, Some(got)) => say(&[": expected ", expected, ", got `", got, "`"]),
        (None, None, None) => say(&[": expected ", expected]),
    }
}

pub(super) fn push_correction(text: &mut String, detail: &Detail) {
    let before = text.len();
    if let Detail::Arguments { correction: Some(correction), .. } = detail {
        let Correction { made_up, .. } = correction;
        if made_up.is_empty() {
            text.push_str("Call it again like this: `");
            let from = text.len();
            push_call(text, correction);
            if text.len() - from <= CORRECTION {
                return text.push_str("`.");
            }
        } else {
            text.push_str("Call it again in this shape: `");
            push_call(text, correction);
            text.push_str("`. Made up, put the real values there: ");
            push_names(text, made_up);
            if text.len() - before <= CORRECTION {
                return;
            }
        }
    }
    text.truncate(before);
    text.push_str(PLAIN_CORRECTION);
}

fn push_call(text: &mut String, Correction { arguments, written, .. }: &Correction) {
    match written {
        Some(written) => text.push_str(written),
        None => push_json(text, arguments),
    }
}

/// The names, each in backticks, and a full stop.
fn push_names(text: &mut String, names: &[impl AsRef<str>]) {
    if let [first, others @ ..] = names {
        text.push('`');
        text.push_str(first.as_ref());
        for name in others {
            text.push_str("`, `");
            text.push_str(name.as_ref());
        }
        text.push('`');
    }
    text.push('.');
}
