//! A record becomes spans: one for the call, one for each attempt below it. What was made good by
//! another attempt or a substitute is told by the attempts, not by the call.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use breakfall::{Ending, FailureKind, Record, Trace};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{Span, Status};

use crate::attributes::{cut, flag, number, seconds, text, whole};
use crate::names;

/// The most bytes of a failure's words that a span shows.
const WORDS: usize = 512;

/// Of OTLP's flags beside W3C's: it is known whether the parent is elsewhere, and it is.
const PARENT_IS_KNOWN: u32 = 0x100;
const PARENT_IS_ELSEWHERE: u32 = 0x200;

/// How an MCP server is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// On standard input and output.
    Pipe,
    /// Over HTTP.
    Http,
}

/// What spans tell beyond their records.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    /// How the upstreams are reached that are MCP servers.
    pub(crate) transports: HashMap<String, Transport>,
    /// Whether arguments and outputs are told.
    pub(crate) contents: bool,
}

/// The spans of a call; none where the caller's trace is not recorded.
pub(crate) fn of(record: &Record, terms: &Terms) -> Vec<Span> {
    let Some(trace) = record.trace.as_deref().filter(|trace| trace.is_sampled()) else {
        return Vec::new();
    };
    let mut spans = vec![call(record, trace, terms)];
    let told = (1..).zip(&record.tries).map(|(number, failed)| {
        let mut span = attempt(record, trace, number, terms);
        span.start_time_unix_nano = nanos(record.started + failed.began);
        span.end_time_unix_nano = nanos(record.started + failed.began + failed.took);
        if let Some(wait) = failed.waited {
            span.attributes.push(seconds(names::ATTEMPT_WAIT, wait));
        }
        with_error(span, failed.kind, "")
    });
    spans.extend(told);
    // What is no failed try is the attempt that succeeded, or that nobody waited for.
    let is_a_value = record.substitute.as_deref() == Some("");
    if record.attempts as usize > record.tries.len() && !is_a_value {
        let mut span = attempt(record, trace, record.attempts, terms);
        span.start_time_unix_nano = nanos(record.started + record.last_began);
        span.end_time_unix_nano = nanos(record.started + record.took);
        spans.push(match error(record) {
            Some(kind) => with_error(span, kind, ""),
            None => span,
        });
    }
    spans
}

/// How a call failed that nothing made good.
pub(crate) fn error(record: &Record) -> Option<FailureKind> {
    match record.ending {
        Ending::Succeeded | Ending::Partial | Ending::Substituted => None,
        Ending::Failed => record.failure.as_ref().map(|failure| failure.kind),
        Ending::Abandoned => Some(FailureKind::Cancelled),
    }
}

fn call(record: &Record, trace: &Trace, terms: &Terms) -> Span {
    // A model may write any name: one that no tool has groups nothing.
    let name = if record.is_found {
        format!("{} {}", names::EXECUTE_TOOL, record.tool)
    } else {
        names::EXECUTE_TOOL.to_owned()
    };
    let span = Span {
        name,
        kind: SpanKind::Internal.into(),
        start_time_unix_nano: nanos(record.started),
        end_time_unix_nano: nanos(record.started + record.took),
        attributes: attributes(record, terms),
        ..at(trace, PARENT_IS_ELSEWHERE)
    };
    match error(record) {
        Some(kind) => {
            let words = record.failure.as_ref().map_or("", |failure| &failure.message);
            with_error(span, kind, cut(words, WORDS))
        }
        None => span,
    }
}

fn attributes(record: &Record, terms: &Terms) -> Vec<KeyValue> {
    let mut all = vec![
        text(names::OPERATION, names::EXECUTE_TOOL),
        text(names::TOOL, &record.tool),
        text(names::TOOL_TYPE, "function"),
        text(names::CALL_ID, &record.id),
        text(names::ENDING, record.ending.name()),
        number(names::ATTEMPTS, record.attempts),
    ];
    let recovered_by = match record.ending {
        Ending::Substituted => Some("fallback"),
        Ending::Succeeded | Ending::Partial if !record.tries.is_empty() => Some("retry"),
        _ => None,
    };
    let silent = record.silent.as_ref().map(|(kind, _)| kind.name());
    let given = [
        (names::CONVERSATION, record.run.as_deref()),
        (names::UPSTREAM, record.upstream.as_deref()),
        (names::RECOVERED_BY, recovered_by),
        (names::SUBSTITUTE, record.substitute.as_deref()),
        (names::FAULT, record.fault),
        (names::SILENT, silent),
    ];
    all.extend(given.into_iter().filter_map(|(name, value)| Some(text(name, value?))));
    if let (Ending::Failed, Some(failure)) = (record.ending, &record.failure) {
        all.push(text(names::REFERENCE, &failure.reference.to_string()));
        all.push(text(names::DISPOSITION, failure.disposition.name()));
        if failure.may_have_taken_effect {
            all.push(flag(names::MAY_HAVE_TAKEN_EFFECT, true));
        }
    }
    if let Some(bytes) = record.output_bytes {
        all.push(number(names::OUTPUT_BYTES, bytes));
    }
    if terms.contents {
        let result = record.output.as_ref().or(record.told.as_ref());
        let given = [(names::ARGUMENTS, record.arguments.as_ref()), (names::RESULT, result)];
        all.extend(given.into_iter().filter_map(|(name, value)| Some(whole(name, value?))));
    }
    all
}

/// An attempt, without its times and what came of it.
fn attempt(record: &Record, trace: &Trace, number: u32, terms: &Terms) -> Span {
    let (tool, upstream) = if number <= record.own_attempts {
        (record.tool.as_str(), record.upstream.as_deref())
    } else {
        (record.substitute.as_deref().unwrap_or_default(), record.substitute_upstream.as_deref())
    };
    let mut attributes = vec![self::number(names::ATTEMPT, number), text(names::TOOL, tool)];
    attributes.extend(upstream.map(|upstream| text(names::UPSTREAM, upstream)));
    let transport = upstream.and_then(|upstream| terms.transports.get(upstream));
    let (kind, name) = match transport {
        Some(transport) => {
            attributes.push(text(names::MCP_METHOD, names::TOOLS_CALL));
            match transport {
                Transport::Pipe => attributes.push(text(names::TRANSPORT, "pipe")),
                Transport::Http => {
                    attributes.push(text(names::TRANSPORT, "tcp"));
                    attributes.push(text(names::PROTOCOL, "http"));
                }
            }
            (SpanKind::Client, names::TOOLS_CALL)
        }
        None => (SpanKind::Internal, names::AN_ATTEMPT),
    };
    Span {
        name: format!("{name} {tool}"),
        kind: kind.into(),
        attributes,
        ..at(&trace.attempt(number), 0)
    }
}

/// A span in its place.
fn at(trace: &Trace, parent_is: u32) -> Span {
    let parent = trace.parent();
    let of_parent = if parent.is_some() { PARENT_IS_KNOWN | parent_is } else { 0 };
    Span {
        trace_id: trace.id().to_vec(),
        span_id: trace.span().to_vec(),
        parent_span_id: parent.map(Vec::from).unwrap_or_default(),
        trace_state: trace.state().unwrap_or_default().to_owned(),
        flags: u32::from(trace.flags()) | of_parent,
        ..Span::default()
    }
}

fn with_error(mut span: Span, kind: FailureKind, words: &str) -> Span {
    span.attributes.push(text(names::ERROR, kind.name()));
    span.status = Some(Status { code: StatusCode::Error.into(), message: words.to_owned() });
    span
}

pub(crate) fn nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
