//! Our own voice: a fact, then whose move it is.

mod lists;

use std::fmt::Write;
use std::time::Duration;

use lists::{PLAIN_CORRECTION, arguments, line, push_callable, push_correction, unknown};

use super::Voice;
use crate::{Advice, Detail, FailureKind, FailureReport, InsteadReport, OutputReport, Provenance};

/// A fact, then whose move it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Voice for Plain {
    fn failure(&self, failure: &FailureReport) -> String {
        let mut text = fact(failure);
        if failure.times > 1 {
            let _ = write!(
                text,
                " This is the {} time that this call fails in this way.",
                nth(failure.times)
            );
        }
        if let Some(said) = failure.said() {
            // After a list it stands on a line of its own.
            text.push_str(if text.contains('\n') { "\nIt said:" } else { " It said:" });
            for line in said.lines() {
                let _ = write!(text, "\n> {line}");
            }
        }
        if let Some(substitute) = &failure.substitute {
            let _ =
                write!(text, "\n`{}` was tried instead: {}.", substitute.tool, words(substitute));
        }
        text.push('\n');
        push_advice(&mut text, failure);
        for part in [" (ref ", failure.reference.as_str(), ")"] {
            text.push_str(part);
        }
        text
    }
}

/// What happened, in a sentence or a list.
fn fact(failure: &FailureReport) -> String {
    use FailureKind as K;
    let tool = &failure.tool;
    let about = |with: &str, without: &str| match &failure.resource {
        Some(resource) => format!("`{tool}` {with} `{resource}`."),
        None => format!("`{tool}` {without}."),
    };
    let effect = if failure.may_have_taken_effect { "; it may have taken effect" } else { "" };
    match failure.kind {
        K::UnknownTool => unknown(tool, &failure.detail),
        K::Unavailable => format!("`{tool}` cannot be used now."),
        K::InvalidArguments => arguments(tool, &failure.detail),
        K::TruncatedArguments => match failure.detail {
            Detail::CutOff { bytes } => {
                format!("`{tool}` did not run: its arguments were cut off after {bytes} bytes.")
            }
            _ => format!("`{tool}` did not run: its arguments were cut off."),
        },
        K::NotFound => about("did not find", "did not find what it was asked for"),
        K::Precondition => format!("`{tool}` cannot do this yet: something must be done first."),
        K::Conflict => about(
            "could not go ahead because of",
            "could not go ahead: something exists already or was changed",
        ),
        K::Timeout => {
            let after = match failure.detail {
                Detail::Elapsed(limit) => format!(" within {}", span(limit)),
                _ => " in time".to_owned(),
            };
            format!("`{tool}` gave no answer{after}{}{effect}.", tries(failure.attempts))
        }
        K::RateLimited => {
            format!("`{tool}` was refused: too many requests{}.", tries(failure.attempts))
        }
        K::Permission => about("is not permitted to use", "is not permitted to do this"),
        K::Network if failure.detail == Detail::Gone => {
            format!("`{tool}` lost its server{}{effect}.", tries(failure.attempts))
        }
        K::Network => {
            format!("`{tool}` could not reach its service{}{effect}.", tries(failure.attempts))
        }
        K::Upstream => match failure.status {
            Some(status) => format!(
                "`{tool}` failed: its remote service answered with HTTP {status}{}{effect}.",
                tries(failure.attempts)
            ),
            None => format!(
                "`{tool}` failed: its remote service failed{}{effect}.",
                tries(failure.attempts)
            ),
        },
        K::InvalidOutput => {
            format!("`{tool}` answered with something unreadable{}.", tries(failure.attempts))
        }
        K::Execution => format!("`{tool}` failed."),
        K::Internal => format!("`{tool}` failed because of a fault inside it{effect}."),
        K::Repeated => match failure.detail {
            Detail::Repeated { times, .. } => {
                format!("`{tool}` failed {times} times with these arguments and was not run again.")
            }
            _ => format!("`{tool}` failed again and again with these arguments and was not run."),
        },
        K::Cancelled => match failure.detail {
            Detail::NotStarted => format!("`{tool}` was not started: the run was stopped before."),
            _ => format!("`{tool}` was stopped before it finished{effect}."),
        },
        K::Authentication => format!("`{tool}` could not authenticate."),
        K::QuotaExceeded => format!("`{tool}` has used up its quota."),
        K::System => format!("`{tool}` failed: the machine is out of memory, disk or handles."),
        K::Broken => {
            format!("The guard itself failed while it handled `{tool}`; the call may not have run.")
        }
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
    match failure.advice {
        Advice::CallAnExistingTool => push_callable(text, &failure.detail),
        Advice::CorrectTheArguments => push_correction(text, &failure.detail),
        _ => text.push_str(&advice(failure)),
    }
}

/// Whose move it is, where no list belongs to it.
fn advice(failure: &FailureReport) -> String {
    match failure.advice {
        Advice::CallAnExistingTool => "Call one of the tools you were given.".to_owned(),
        Advice::CorrectTheArguments => PLAIN_CORRECTION.to_owned(),
        Advice::GoOnWithout => "Use another tool or go on without it.".to_owned(),
        Advice::SendLess => "Send the whole call again, with shorter arguments.".to_owned(),
        Advice::LookFirst => {
            "Check the name, or find out what exists, before calling it again.".to_owned()
        }
        Advice::DoThatFirst => "Do that first, then call it again.".to_owned(),
        Advice::Decide if failure.kind == FailureKind::Conflict => {
            "Look at what is there now and decide; the same call will fail again.".to_owned()
        }
        Advice::Decide => "Change the call or use another tool.".to_owned(),
        Advice::VerifyFirst => "Check its result before calling it again.".to_owned(),
        Advice::Repeat => "Call it again later, or use another tool.".to_owned(),
        Advice::RepeatAfter(wait) => format!("Wait {} before calling it again.", span(wait)),
        Advice::RepeatOnce => "Call it once more; if it fails again, use another tool.".to_owned(),
        Advice::DoNotRepeat => do_not_repeat(failure).to_owned(),
        Advice::TellAPerson => tell_a_person(failure),
    }
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

fn tell_a_person(failure: &FailureReport) -> String {
    match (failure.kind, &failure.detail) {
        (FailureKind::Authentication, Detail::Credential(name)) => {
            format!("Stop, and tell the user to check `{name}`.")
        }
        (FailureKind::Authentication, _) => {
            "Stop, and tell the user to check its credentials.".to_owned()
        }
        (FailureKind::QuotaExceeded, _) => {
            "Stop, and tell the user that a limit must be raised.".to_owned()
        }
        _ => "Stop, and tell the user.".to_owned(),
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
