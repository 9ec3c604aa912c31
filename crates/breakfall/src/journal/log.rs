//! Logs: constant messages, facts as fields, each failure once. Free when nobody listens.

use crate::attempt::{Trail, panics};
use crate::failure::Gravity;
use crate::redact::bounded;
use crate::{Call, FailureReport, Reply, Report, ToolSpec, Turned, Whose};

/// Logs. A subscriber that cannot write must not cost a call its answer.
macro_rules! log {
    ($level:ident, $($what:tt)*) => {{
        let _ = panics::catch(|| tracing::$level!($($what)*));
    }};
}

/// How many bytes of a tool's name a log line shows.
const NAME: usize = 128;

/// How many characters of a message a log line shows.
const SHOWN: usize = 200;

pub(super) fn starts(call: &Call) {
    log!(info, tool_name = bounded(&call.tool, NAME), call_id = %call.id, "Executing tool");
}

pub(super) fn ends(call: &Call, report: &Report, trail: &Trail) {
    match report {
        Report::Output(output) => {
            let failed_items = output.problems.len();
            log!(info,
                tool_name = bounded(&call.tool, NAME),
                call_id = %call.id,
                result_length = output.bytes,
                failed_items,
                attempts = trail.attempts,
                fault = trail.fault,
                "Tool succeeded"
            );
        }
        Report::Failure(failure) => match failure.kind.gravity() {
            Gravity::Availability => unavailable(call, failure),
            Gravity::Execution => failed(call, failure, trail.fault),
        },
    }
}

fn unavailable(call: &Call, failure: &FailureReport) {
    log!(warn,
        tool_name = bounded(&call.tool, NAME),
        call_id = %call.id,
        kind = failure.kind.name(),
        reference = %failure.reference,
        reason = ?failure.detail,
        "Tool not available"
    );
}

fn failed(call: &Call, failure: &FailureReport, fault: Option<&str>) {
    let (end, _) =
        failure.message.char_indices().nth(SHOWN).unwrap_or((failure.message.len(), ' '));
    log!(error,
        tool_name = bounded(&call.tool, NAME),
        call_id = %call.id,
        kind = failure.kind.name(),
        disposition = ?failure.disposition,
        reference = %failure.reference,
        error_type = %failure.error_type,
        error_message = &failure.message[..end],
        attempts = failure.attempts,
        fault,
        causes = ?failure.chain,
        backtrace = failure.backtrace.as_deref(),
        "Tool execution failed"
    );
}

pub(super) fn abandoned(call: &Call) {
    log!(warn, tool_name = bounded(&call.tool, NAME), call_id = %call.id, "Tool call abandoned");
}

/// Calls are held back for a while, or let through again.
pub(crate) fn breaker_turned(spec: &ToolSpec, whose: Whose, turned: &Turned) {
    let (name, of) = match whose {
        Whose::Tool => (spec.name.as_str(), "tool"),
        Whose::Upstream => (spec.upstream.as_deref().unwrap_or_default(), "upstream"),
    };
    let name = bounded(name, NAME);
    match turned {
        Turned::Opened(trip) => log!(warn,
            name,
            of,
            kind = trip.kind.name(),
            cause = ?trip.cause,
            open_for = ?trip.open_for,
            "Breaker opened"
        ),
        Turned::Closed => log!(info, name, of, "Breaker closed"),
    }
}

/// A tool that was left behind came to its end.
pub(crate) fn late_result(tool: &str, id: &str) {
    log!(warn, tool_name = bounded(tool, NAME), call_id = %id, "Late result dropped");
}

pub(crate) fn batch_starts(total: usize) {
    log!(info, total, "Processing {total} tool call(s)");
}

pub(crate) fn batch_done(replies: &[Reply]) {
    let successful = replies.iter().filter(|reply| reply.success()).count();
    log!(info, successful, total = replies.len(), "Tool execution batch completed");
}
