//! The two eras of the protocol: with a handshake and sessions, or with everything in every request.

use serde_json::json;
use serde_json::value::RawValue;

use crate::fields::{Fields, raw};
use crate::message::Answer;

/// The newest revision with a handshake.
pub(crate) const NEWEST_LEGACY: &str = "2025-11-25";

/// Every revision with a handshake.
pub(crate) const LEGACY: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", NEWEST_LEGACY];

/// The revision without one that we speak.
pub(crate) const MODERN: &str = "2026-07-28";

/// Under which names a request of the modern era tells what a handshake would.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// How the first of them ends: few texts have that, and what is this short is found at once.
const ENDS: &str = "contextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// The server does not speak the revision.
pub(crate) const UNSUPPORTED: i64 = -32022;

/// How a client speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Era {
    /// It says hello first.
    #[default]
    Legacy,
    /// It says everything in every request.
    Modern,
}

impl Era {
    /// How a request speaks.
    pub(crate) fn of(params: Option<&RawValue>) -> Self {
        // Almost every request of the other era has no such name anywhere.
        if params.is_some_and(|params| params.get().contains(ENDS)) && version(params).is_some() {
            Self::Modern
        } else {
            Self::Legacy
        }
    }

    /// A result of ours with what the era requires.
    pub(crate) fn result(self, mut fields: Fields) -> Box<RawValue> {
        if self == Self::Modern {
            fields.set("resultType", raw(&"complete"));
        }
        fields.raw()
    }

    /// A list of ours, or a description, with what the era requires.
    pub(crate) fn listing(self, mut fields: Fields) -> Box<RawValue> {
        if self == Self::Modern {
            fields.set("ttlMs", raw(&0));
            fields.set("cacheScope", raw(&"private"));
        }
        self.result(fields)
    }
}

/// The revision that a request names.
pub(crate) fn version(params: Option<&RawValue>) -> Option<String> {
    Fields::of(Fields::of(params).get("_meta")).text(VERSION)
}

/// Whether a request says everything that a request of the modern era must.
pub(crate) fn is_whole(params: Option<&RawValue>) -> bool {
    let fields = Fields::of(params);
    let meta = Fields::of(fields.get("_meta"));
    meta.text(VERSION).is_some()
        && meta.get(CAPABILITIES).is_some_and(|it| it.get().starts_with('{'))
}

/// What requests of our own say, as the client's do.
pub(crate) fn meta_of(params: Option<&RawValue>) -> Box<RawValue> {
    let fields = Fields::of(params);
    let mut said = Fields::of(fields.get("_meta"));
    let mut meta = Fields::default();
    for name in ["io.modelcontextprotocol/clientInfo", CAPABILITIES] {
        if let Some(value) = said.take(name) {
            meta.set(name, value);
        }
    }
    if meta.get(CAPABILITIES).is_none() {
        meta.set(CAPABILITIES, raw(&json!({})));
    }
    meta.set(VERSION, raw(&MODERN));
    meta.raw()
}

/// The answer to a request of a revision that the servers do not speak.
pub(crate) fn unsupported(requested: Option<String>, supported: &[&str]) -> Answer {
    Answer::Error(raw(&json!({
        "code": UNSUPPORTED,
        "message": "Unsupported protocol version",
        "data": { "supported": supported, "requested": requested.unwrap_or_default() },
    })))
}

/// What we offer where several servers, or none, stand behind us.
pub(crate) fn capabilities() -> serde_json::Value {
    json!({
        "tools": { "listChanged": true },
        "resources": { "listChanged": true, "subscribe": true },
        "prompts": { "listChanged": true },
        "logging": {},
        "completions": {},
    })
}

pub(crate) fn our_name() -> serde_json::Value {
    json!({ "name": "breakfall", "version": env!("CARGO_PKG_VERSION") })
}

/// What a server calls itself in its greeting, in either era.
pub(crate) fn name(greeting: &RawValue) -> Option<String> {
    let fields = Fields::of(Some(greeting));
    let meta = Fields::of(fields.get("_meta"));
    let server = Fields::of(fields.get("serverInfo").or_else(|| meta.get(SERVER)));
    let name = server.text("name")?;
    Some(match server.text("version") {
        Some(version) => format!("{name} {version}"),
        None => name,
    })
}

/// What we say to who asks what we are.
pub(crate) fn discovered() -> Fields {
    let mut fields = Fields::default();
    fields.set("supportedVersions", raw(&[MODERN]));
    fields.set("capabilities", raw(&capabilities()));
    fields.set("_meta", raw(&json!({ SERVER: our_name() })));
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_tells_its_era_and_results_of_ours_have_what_it_requires() {
        let of = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let modern = of(r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#);
        assert_eq!(Era::of(Some(&modern)), Era::Modern);
        assert!(!is_whole(Some(&modern)));
        let quoted = of(r#"{"text":"io.modelcontextprotocol/protocolVersion"}"#);
        assert_eq!(Era::of(Some(&quoted)), Era::Legacy);
        assert_eq!(Era::of(None), Era::Legacy);
        let meta = meta_of(Some(&modern));
        assert!(meta.get().contains(r#"clientCapabilities":{}"#), "{meta}");
        assert_eq!(Era::Legacy.result(Fields::default()).get(), "{}");
        assert_eq!(Era::Modern.result(Fields::default()).get(), r#"{"resultType":"complete"}"#);
    }
}
