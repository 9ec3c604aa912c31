//! Every name that leaves us, once. Those of OpenTelemetry are of `semantic-conventions` 1.44.0,
//! and of `semantic-conventions-genai` as of 2026-08-20, which has no release yet: there names may
//! still change, and then they change here.

macro_rules! names {
    ($( $(#[doc = $doc:literal])+ $constant:ident = $name:literal; )+) => {
        $( $(#[doc = $doc])+ pub(crate) const $constant: &str = $name; )+

        /// Every one, for the test that the documents have them.
        #[cfg(test)]
        pub(crate) const ALL: &[&str] = &[$( $name, )+];
    };
}

names! {
    // Attributes of OpenTelemetry's.
    /// What a span is of: here always `execute_tool`.
    OPERATION = "gen_ai.operation.name";
    /// The tool that was called.
    TOOL = "gen_ai.tool.name";
    /// What sort of tool it is: here always `function`.
    TOOL_TYPE = "gen_ai.tool.type";
    /// The caller's id of the call.
    CALL_ID = "gen_ai.tool.call.id";
    /// The arguments, redacted; only where contents are wanted.
    ARGUMENTS = "gen_ai.tool.call.arguments";
    /// What the model got, redacted; only where contents are wanted.
    RESULT = "gen_ai.tool.call.result";
    /// The run.
    CONVERSATION = "gen_ai.conversation.id";
    /// The kind of a failure; nothing carries it that succeeded in the end.
    ERROR = "error.type";
    /// The method of an attempt that went to an MCP server: `tools/call`.
    MCP_METHOD = "mcp.method.name";
    /// How that server is reached: `pipe` or `tcp`.
    TRANSPORT = "network.transport";
    /// And in which protocol, where it is `http`.
    PROTOCOL = "network.protocol.name";
    /// On the series that stands for all that are too many.
    OVERFLOW = "otel.metric.overflow";
    /// What we are called.
    SERVICE = "service.name";
    /// Our version.
    SERVICE_VERSION = "service.version";

    // Attributes of ours.
    /// How the call ended: `succeeded`, `partial`, `substituted`, `failed`, `abandoned`.
    ENDING = "breakfall.ending";
    /// How many attempts there were; as a metric, how many in all.
    ATTEMPTS = "breakfall.attempts";
    /// Which attempt a span is, from 1.
    ATTEMPT = "breakfall.attempt.number";
    /// How long the guard waited after it, in seconds.
    ATTEMPT_WAIT = "breakfall.attempt.wait";
    /// What made a failure good: `retry` or `fallback`.
    RECOVERED_BY = "breakfall.recovered_by";
    /// What answered instead: a tool's name, or nothing for a fixed value.
    SUBSTITUTE = "breakfall.substitute";
    /// The upstream of the tool.
    UPSTREAM = "breakfall.upstream";
    /// The hash that the model's text, the log and the record share.
    REFERENCE = "breakfall.reference";
    /// Whether the run goes on: `recoverable`, `pause`, `fatal`.
    DISPOSITION = "breakfall.disposition";
    /// The call was dispatched, and what came of it is not known.
    MAY_HAVE_TAKEN_EFFECT = "breakfall.may_have_taken_effect";
    /// The trouble that was made on purpose.
    FAULT = "breakfall.fault";
    /// The kind of failure that a success looks like.
    SILENT = "breakfall.silent";
    /// How many bytes the tool returned.
    OUTPUT_BYTES = "breakfall.output.bytes";

    /// What a breaker turned to: `open` or `closed`.
    BREAKER = "breakfall.breaker.to";

    // Metrics.
    /// How often breakers opened and closed.
    TURNS = "breakfall.breaker.transitions";
    /// Whether a breaker holds calls back: 1 or 0.
    OPEN = "breakfall.breaker.open";
    /// How long calls took, in seconds.
    DURATION = "gen_ai.execute_tool.duration";
    /// Records whose spans did not reach the collector.
    LOST = "breakfall.records.lost";
}

/// The bounds of the buckets of [`DURATION`], in seconds.
pub(crate) const BOUNDS: [f64; 14] =
    [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/// The operation, which a call's span begins with.
pub(crate) const EXECUTE_TOOL: &str = "execute_tool";

/// The method of MCP, which the span of an attempt begins with that went to a server.
pub(crate) const TOOLS_CALL: &str = "tools/call";

/// What the span of any other attempt begins with.
pub(crate) const AN_ATTEMPT: &str = "breakfall.attempt";

/// Names that no tool has: a model may write any.
pub(crate) const OTHER: &str = "_OTHER";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_has_every_name() {
        let guide = include_str!("../../../docs/telemetry.md");
        for name in ALL {
            assert!(guide.contains(&format!("`{name}`")), "{name}");
        }
    }
}
