//! Logs: constant messages, facts as fields, each failure once. Free when nobody listens.

use tracing::Level;
use tracing::level_filters::LevelFilter;

use crate::attempt::{Trail, panics};
use crate::failure::Gravity;
use crate::redact::bounded;
use crate::{Call, FailureReport, Reply, Report, ToolSpec, Turned, Whose};

/// Logs. A subscriber that cannot write must not cost a call its answer.
macro_rules! log {
    ($level:ident, $($what:tt)*) => {
        if Level::$level <= LevelFilter::current() {
            let _ = panics::catch(|| tracing::event!(Level::$level, $($what)*));
        }
    };
}

/// How many bytes of a tool's name a log line shows.
const NAME: usize = 128;

/// How many characters of a message a log line shows.
const SHOWN: usize = 200;

/// Whether nothing is said of a call that goes well.
pub(crate) fn is_silent() -> bool {
    LevelFilter::current() < Level::INFO
}

pub(super) fn starts(call: &Call) {
    log!(INFO, tool_name = bounded(&call.tool, NAME), call_id = &*call.id, "Executing tool");
}

pub(super) fn ends(call: &Call, report: &Report, trail: &Trail) {
    match report {
        Report::Output(output) => {
            let failed_items = output.problems.len();
            log!(
                INFO,
                tool_name = bounded(&call.tool, NAME),
                call_id = &*call.id,
                result_length = output.bytes,
                failed_items,
                attempts = trail.attempts,
                fault = trail.fault(),
                "Tool succeeded"
            );
        }
        Report::Failure(failure) => match failure.kind.gravity() {
            Gravity::Availability => unavailable(call, failure),
            Gravity::Execution => failed(call, failure, trail.fault()),
        },
    }
}

fn unavailable(call: &Call, failure: &FailureReport) {
    log!(WARN,
        tool_name = bounded(&call.tool, NAME),
        call_id = &*call.id,
        kind = failure.kind.name(),
        reference = failure.reference.as_str(),
        reason = ?failure.detail,
        "Tool not available"
    );
}

fn failed(call: &Call, failure: &FailureReport, fault: Option<&str>) {
    log!(ERROR,
        tool_name = bounded(&call.tool, NAME),
        call_id = &*call.id,
        kind = failure.kind.name(),
        disposition = ?failure.disposition,
        reference = failure.reference.as_str(),
        error_type = &*failure.error_type,
        error_message = shown(&failure.message),
        attempts = failure.attempts,
        fault,
        causes = ?failure.chain,
        backtrace = failure.backtrace.as_deref(),
        "Tool execution failed"
    );
}

/// The beginning of a message. A text has no more characters than bytes, and mostly as many.
fn shown(message: &str) -> &str {
    match message.as_bytes().get(..SHOWN) {
        None => message,
        Some(bytes) if bytes.is_ascii() => &message[..SHOWN],
        Some(_) => message.char_indices().nth(SHOWN).map_or(message, |(end, _)| &message[..end]),
    }
}

pub(super) fn abandoned(call: &Call) {
    log!(WARN, tool_name = bounded(&call.tool, NAME), call_id = &*call.id, "Tool call abandoned");
}

/// Calls are held back for a while, or let through again.
pub(crate) fn breaker_turned(spec: &ToolSpec, whose: Whose, turned: &Turned) {
    let (name, of) = match whose {
        Whose::Tool => (spec.name.as_str(), "tool"),
        Whose::Upstream => (spec.upstream.as_deref().unwrap_or_default(), "upstream"),
    };
    let name = bounded(name, NAME);
    match turned {
        Turned::Opened(trip) => log!(WARN,
            name,
            of,
            kind = trip.kind.name(),
            cause = ?trip.cause,
            open_for = ?trip.open_for,
            "Breaker opened"
        ),
        Turned::Closed => log!(INFO, name, of, "Breaker closed"),
    }
}

/// A tool that was left behind came to its end.
pub(crate) fn late_result(tool: &str, id: &str) {
    log!(WARN, tool_name = bounded(tool, NAME), call_id = id, "Late result dropped");
}

pub(crate) fn batch_starts(total: usize) {
    log!(INFO, total, "Processing {total} tool call(s)");
}

pub(crate) fn batch_done(replies: &[Reply]) {
    let successful = replies.iter().filter(|reply| reply.success()).count();
    log!(INFO, successful, total = replies.len(), "Tool execution batch completed");
}
