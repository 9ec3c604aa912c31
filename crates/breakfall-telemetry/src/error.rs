//! What can be wrong with telemetry; never with a call.

/// What a developer reads. Never an address or a header: both may hold secrets.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A protocol that we do not speak.
    #[error("`{variable}` is `{given}`: only `http/protobuf` is spoken")]
    Protocol {
        /// The variable that asks for it.
        variable: &'static str,
        /// The protocol.
        given: String,
    },
    /// An address that is none.
    #[error("`{from}` is no address that begins with `http://` or `https://`")]
    Address {
        /// The key or the variable that holds it.
        from: &'static str,
    },
    /// A header that cannot be sent, or a list of them that is none.
    #[error("`{from}` holds what is no header")]
    Header {
        /// The key or the variable that holds it.
        from: &'static str,
    },
    /// A variable that the configuration speaks of and nobody set.
    #[error("the variable `{name}` is not set, which `{from}` speaks of")]
    Variable {
        /// The variable.
        name: String,
        /// The key that speaks of it.
        from: &'static str,
    },
    /// No connection can be made at all.
    #[error("no connection to a collector can be made: {why}")]
    Connection {
        /// Why.
        why: String,
    },
    /// The collector does not take what we send.
    #[error("the collector does not take {what}: {why}")]
    Refused {
        /// Spans or metrics.
        what: &'static str,
        /// Why.
        why: String,
    },
    /// The thread that sends did not start.
    #[error("the thread of telemetry did not start")]
    Thread(#[source] std::io::Error),
}
