//! Our own voice: a fact, then whose move it is.

mod lists;

use std::fmt::Write;
use std::time::Duration;

use lists::{line, push_arguments, push_callable, push_correction, push_unknown};

use super::Voice;
use crate::{Advice, Detail, FailureKind, FailureReport, InsteadReport, OutputReport, Provenance};

/// How many bytes most answers take.
const ROOM: usize = 512;

/// A fact, then whose move it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Voice for Plain {
    fn failure(&self, failure: &FailureReport) -> String {
        let mut text = String::with_capacity(ROOM);
        push_fact(&mut text, failure);
        if failure.times > 1 {
            let nth = nth(failure.times);
            // After a list it stands on a line of its own, too.
            let mark = if text.contains('\n') { "\n" } else { " " };
            push(
                &mut text,
                &[mark, "This is the ", &nth, " time that this call fails in this way."],
            );
        }
        if let Some(said) = failure.said() {
            // After a list it stands on a line of its own.
            text.push_str(if text.contains('\n') { "\nIt said:" } else { " It said:" });
            for line in said.lines() {
                push(&mut text, &["\n> ", line]);
            }
        }
        if let Some(substitute) = &failure.substitute {
            let why = words(substitute);
            push(&mut text, &["\n`", &substitute.tool, "` was tried instead: ", &why, "."]);
        }
        // Arguments are refused by what is written, not by what was there before.
        if failure.is_anew && failure.kind != FailureKind::InvalidArguments {
            text.push_str(if text.contains('\n') { "\n" } else { " " });
            text.push_str("Its server was started anew: what it held in memory is gone.");
        }
        text.push('\n');
        push_advice(&mut text, failure);
        push(&mut text, &[" (ref ", failure.reference.as_str(), ")"]);
        text
    }
}

/// Every failure is told: its parts are put together without the way through a formatter.
fn push(text: &mut String, parts: &[&str]) {
    for part in parts {
        text.push_str(part);
    }
}

/// What happened, in a sentence or a list.
fn push_fact(text: &mut String, failure: &FailureReport) {
    use FailureKind as K;
    let tool = &*failure.tool;
    match failure.kind {
        K::UnknownTool => return push_unknown(text, tool, &failure.detail),
        K::InvalidArguments => return push_arguments(text, tool, &failure.detail),
        K::Broken => {
            let but = "`; the call may not have run.";
            return push(text, &["The guard itself failed while it handled `", tool, but]);
        }
        _ => push(text, &["`", tool, "` "]),
    }
    let mut say = |parts: &[&str]| push(text, parts);
    let tries = tries(failure.attempts);
    let effect = if failure.may_have_taken_effect { "; it may have taken effect" } else { "" };
    let resource = failure.resource.as_deref();
    match (failure.kind, resource, &failure.detail) {
        (K::NotFound, Some(resource), _) => say(&["did not find `", resource, "`."]),
        (K::NotFound, None, _) => say(&["did not find what it was asked for."]),
        (K::Permission, Some(resource), _) => {
            say(&["is not permitted to use `", resource, "`."]);
        }
        (K::Permission, None, _) => say(&["is not permitted to do this."]),
        (K::Conflict, Some(resource), _) => {
            say(&["could not go ahead because of `", resource, "`."]);
        }
        (K::Conflict, None, _) => {
            say(&["could not go ahead: something exists already or was changed."]);
        }
        (K::Execution, ..) => say(&["failed."]),
        (K::Internal, ..) => say(&["failed because of a fault inside it", effect, "."]),
        (K::Unavailable, ..) => say(&["cannot be used now."]),
        (K::Precondition, ..) => say(&["cannot do this yet: something must be done first."]),
        (K::TruncatedArguments, _, Detail::CutOff { bytes }) => {
            let bytes = bytes.to_string();
            say(&["did not run: its arguments were cut off after ", &bytes, " bytes."]);
        }
        (K::TruncatedArguments, ..) => say(&["did not run: its arguments were cut off."]),
        (K::Timeout, _, Detail::Elapsed(limit)) => {
            say(&["gave no answer within ", &span(*limit), &tries, effect, "."]);
        }
        (K::Timeout, ..) => say(&["gave no answer in time", &tries, effect, "."]),
        (K::RateLimited, ..) => say(&["was refused: too many requests", &tries, "."]),
        (K::Network, _, Detail::Gone) => say(&["lost its server", &tries, effect, "."]),
        (K::Network, ..) => say(&["could not reach its service", &tries, effect, "."]),
        (K::Upstream, ..) => match failure.status {
            Some(status) => {
                let status = status.to_string();
                let answered = "failed: its remote service answered with HTTP ";
                say(&[answered, &status, &tries, effect, "."]);
            }
            None => say(&["failed: its remote service failed", &tries, effect, "."]),
        },
        (K::InvalidOutput, ..) => {
            say(&["answered with something unreadable", &tries, effect, "."]);
        }
        (K::Repeated, _, Detail::Repeated { times, .. }) => {
            let times = times.to_string();
            say(&["failed ", &times, " times with these arguments and was not run again."]);
        }
        (K::Repeated, ..) => {
            say(&["failed again and again with these arguments and was not run."]);
        }
        (K::Cancelled, _, Detail::NotStarted) => {
            say(&["was not started: the run was stopped before."]);
        }
        (K::Cancelled, ..) => say(&["was stopped before it finished", effect, "."]),
        (K::Authentication, ..) => say(&["could not authenticate."]),
        (K::QuotaExceeded, ..) => say(&["has used up its quota."]),
        (K::System, ..) => say(&["failed: the machine is out of memory, disk or handles."]),
        (K::UnknownTool | K::InvalidArguments | K::Broken, ..) => {}
    }
}

/// What is said of a call of which only the beginning is known: whoever waited for it is gone.
pub fn interrupted(tool: &str) -> String {
    format!(
        "`{tool}` was interrupted before it answered; it may have taken effect.\n\
         Check its result before calling it again."
    )
}

/// What is said of calls that a model wrote as text, which nobody runs.
pub fn written(tools: &[&str]) -> String {
    let names: Vec<String> = tools.iter().map(|tool| format!("`{tool}`")).collect();
    format!(
        "Your answer has a call of {} as text. Nothing was run.\n\
         Make it as a tool call, or answer without it.",
        names.join(", ")
    )
}

/// Whose move it is, in one sentence.
fn push_advice(text: &mut String, failure: &FailureReport) {
    let sentence = match failure.advice {
        Advice::CallAnExistingTool => return push_callable(text, &failure.detail),
        Advice::CorrectTheArguments => return push_correction(text, &failure.detail),
        Advice::RepeatAfter(wait) => {
            return push(text, &["Wait ", &span(wait), " before calling it again."]);
        }
        Advice::TellAPerson => return tell_a_person(text, failure),
        Advice::GoOnWithout => "Use another tool or go on without it.",
        Advice::SendLess => "Send the whole call again, with shorter arguments.",
        Advice::LookFirst => "Check the name, or find out what exists, before calling it again.",
        Advice::DoThatFirst => "Do that first, then call it again.",
        Advice::Decide if failure.kind == FailureKind::Conflict => {
            "Look at what is there now and decide; the same call will fail again."
        }
        Advice::Decide => "Change the call or use another tool.",
        Advice::VerifyFirst => "Check its result before calling it again.",
        Advice::Repeat => "Call it again later, or use another tool.",
        Advice::RepeatOnce => "Call it once more; if it fails again, use another tool.",
        Advice::DoNotRepeat => do_not_repeat(failure),
    };
    text.push_str(sentence);
}

fn do_not_repeat(failure: &FailureReport) -> &'static str {
    match failure.kind {
        FailureKind::Permission => "Do not try it again; do without it or ask for access.",
        FailureKind::Repeated => match failure.detail {
            Detail::Repeated { is_stalled: true, .. } => {
                "Stop, and tell the user what is missing: this run goes in circles."
            }
            _ => "Change the arguments, use another tool, or say what is missing.",
        },
        _ if failure.times > 1 => {
            "Do not make the same call again: change the arguments, use another tool, or say what is missing."
        }
        _ => "Do not repeat this call; use another tool.",
    }
}

fn tell_a_person(text: &mut String, failure: &FailureReport) {
    match (failure.kind, &failure.detail) {
        (FailureKind::Authentication, Detail::Credential(name)) => {
            push(text, &["Stop, and tell the user to check `", name, "`."]);
        }
        (FailureKind::Authentication, _) => {
            text.push_str("Stop, and tell the user to check its credentials.");
        }
        (FailureKind::QuotaExceeded, _) => {
            text.push_str("Stop, and tell the user that a limit must be raised.");
        }
        _ => text.push_str("Stop, and tell the user."),
    }
}

fn tries(attempts: u32) -> String {
    if attempts > 1 { format!(" ({attempts} attempts)") } else { String::new() }
}

fn nth(number: u32) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// A time as a person writes it.
pub(super) fn span(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds >= 120.0 {
        format!("{} min", (seconds / 60.0).ceil())
    } else if seconds >= 1.0 {
        format!("{} s", (seconds * 10.0).round() / 10.0)
    } else {
        format!("{} ms", time.as_millis())
    }
}

/// Who answered instead of whom, and why.
pub(super) fn instead(instead: &InsteadReport) -> String {
    let (tool, why) = (&instead.of.tool, words(&instead.of));
    match &instead.by {
        Some(by) => format!("`{tool}` did not answer this: {why}. `{by}` answered instead."),
        None => format!("`{tool}` did not answer this: {why}. This is a fixed answer instead."),
    }
}

/// What failed beside an output: k of n, then each item.
pub(super) fn partial(output: &OutputReport) -> String {
    let failed = output.problems.len();
    let mut text = match output.items {
        Some(items) => {
            format!("{} of {items} done; {failed} failed:", items.saturating_sub(failed))
        }
        None => format!("Done in part; {failed} failed:"),
    };
    for problem in &output.problems {
        let _ = write!(text, "\n- `{}`: {}", problem.item, brief(&problem.failure));
    }
    text
}

/// A failure in a few words, the tool's own where it spoke to the model.
pub(super) fn brief(failure: &FailureReport) -> String {
    match failure.said() {
        Some(said) => said.lines().collect::<Vec<_>>().join(" "),
        None => words(failure),
    }
}

/// A failure in a few words of ours.
fn words(failure: &FailureReport) -> String {
    use FailureKind as K;
    if let Detail::Arguments { problems, .. } = &failure.detail
        && !problems.is_empty()
    {
        return problems.iter().map(line).collect::<Vec<_>>().join("; ");
    }
    if let (K::Timeout, Detail::Elapsed(limit)) = (failure.kind, &failure.detail) {
        return format!("no answer within {}", span(*limit));
    }
    if failure.detail == Detail::Gone {
        return "its server stopped".to_owned();
    }
    let words = match failure.kind {
        K::UnknownTool => "no such tool",
        K::Unavailable => "not available now",
        K::InvalidArguments => "arguments not accepted",
        K::TruncatedArguments => "arguments cut off",
        K::NotFound => "not found",
        K::Precondition => "something must be done first",
        K::Conflict => "exists already or was changed",
        K::Timeout => "no answer in time",
        K::RateLimited => "too many requests",
        K::Permission => "not permitted",
        K::Network => "service cannot be reached",
        K::Upstream => "remote service failed",
        K::InvalidOutput => "unreadable answer",
        K::Execution => "failed",
        K::Internal => "failed because of a fault inside the tool",
        K::Repeated => "failed again and again",
        K::Cancelled => "stopped",
        K::Authentication => "could not authenticate",
        K::QuotaExceeded => "quota used up",
        K::System => "the machine is out of memory, disk or handles",
        K::Broken => "the guard itself failed",
    };
    words.to_owned()
}

/// The message for voices that show it whether or not it was meant for the model.
pub(super) fn disclosed(failure: &FailureReport) -> String {
    match failure.provenance {
        Provenance::Tool | Provenance::Unknown if !failure.message.is_empty() => {
            failure.message.clone()
        }
        _ => brief(failure),
    }
}
