//! Headers that say again what a message says, so that who stands between can read them.

use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::fields::Fields;
use crate::origin::Origin;
use crate::upstream::Upstream;

pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
pub(crate) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");
pub(crate) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// What a stream of events is called.
pub(crate) const EVENTS: &str = "text/event-stream";

/// The headers of a request do not say what it says.
pub(crate) const MISMATCH: i64 = -32020;

/// What the names of a tool's own headers begin with.
const PARAMETER: &str = "mcp-param-";

/// The key of a schema that asks for a header.
const ASKED: &str = "x-mcp-header";

/// Around a value that is no plain text.
const OPENING: &str = "=?base64?";
const CLOSING: &str = "?=";

/// An argument that a tool wants said again in a header.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parameter {
    path: Vec<String>,
    header: HeaderName,
}

/// The headers of a request to a server at an address.
pub(crate) fn of(
    upstream: &Upstream,
    method: &str,
    params: Option<&RawValue>,
    origin: Option<&Origin>,
) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let mut set = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::try_from(encoded(value)) {
            headers.insert(name, value);
        }
    };
    set(METHOD, method);
    if let Some(version) = crate::era::version(params) {
        set(VERSION, &version);
    }
    let fields = Fields::of(params);
    if let Some(name) = named(method, &fields) {
        set(NAME, &name);
    }
    if method != "tools/call" {
        return headers;
    }
    // A client that has headers said them itself, and the server judges them.
    if let Some(origin) = origin.filter(|origin| origin.stream.is_some()) {
        let own = origin.headers.iter().filter(|(name, _)| name.as_str().starts_with(PARAMETER));
        headers.extend(own.map(|(name, value)| (name.clone(), value.clone())));
        return headers;
    }
    let tool = fields.text("name").unwrap_or_default();
    let parameters = upstream.parameters(&tool);
    if !parameters.is_empty() {
        let arguments = arguments(&fields);
        for parameter in parameters.iter() {
            if let Some(value) = parameter.value(&arguments) {
                set(parameter.header.clone(), &value);
            }
        }
    }
    headers
}

fn arguments(fields: &Fields) -> Value {
    fields.get("arguments").and_then(|it| serde_json::from_str(it.get()).ok()).unwrap_or_default()
}

/// What a request is about, where it must be said again.
fn named(method: &str, fields: &Fields) -> Option<String> {
    match method {
        "tools/call" | "prompts/get" => fields.text("name"),
        "resources/read" => fields.text("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => fields.text("taskId"),
        _ => None,
    }
}

/// Why the headers of a request do not say what it says, if they do not.
pub(crate) fn mismatch(
    headers: &HeaderMap,
    method: &str,
    params: Option<&RawValue>,
    parameters: &[Parameter],
) -> Option<String> {
    let said = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let version = crate::era::version(params);
    if version.as_deref() != said(&VERSION).map(str::trim) {
        return Some(differs(&VERSION, said(&VERSION), version.as_deref()));
    }
    if said(&METHOD).map(str::trim) != Some(method) {
        return Some(differs(&METHOD, said(&METHOD), Some(method)));
    }
    let fields = Fields::of(params);
    if let Some(name) = named(method, &fields)
        && said(&NAME).and_then(decoded).as_deref() != Some(&*name)
    {
        return Some(differs(&NAME, said(&NAME), Some(&name)));
    }
    if parameters.is_empty() {
        return None;
    }
    let arguments = arguments(&fields);
    parameters.iter().find_map(|parameter| {
        let value = parameter.value(&arguments);
        let header = said(&parameter.header);
        let is_same = match (&value, header.map(decoded)) {
            (None, None) => true,
            (Some(value), Some(Some(header))) => *value == header || is_same_number(value, &header),
            _ => false,
        };
        (!is_same).then(|| differs(&parameter.header, header, value.as_deref()))
    })
}

/// `42` and `42.0` are.
fn is_same_number(one: &str, other: &str) -> bool {
    let (one, other) = (one.parse::<f64>(), other.parse::<f64>());
    matches!((one, other), (Ok(one), Ok(other)) if one.total_cmp(&other).is_eq())
}

fn differs(name: &HeaderName, said: Option<&str>, body: Option<&str>) -> String {
    let said = said.map_or_else(|| "missing".to_owned(), |said| format!("`{said}`"));
    format!("Header mismatch: `{name}` is {said}, the body has `{}`", body.unwrap_or_default())
}

impl Parameter {
    /// The parameters of a schema that ask for headers: found only where properties lead to them.
    pub(crate) fn all(schema: &Value) -> Vec<Self> {
        let mut found = Vec::new();
        let mut waiting = vec![(Vec::new(), schema)];
        while let Some((path, schema)) = waiting.pop() {
            let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
                continue;
            };
            for (name, schema) in properties {
                let path: Vec<String> = path.iter().chain([name]).cloned().collect();
                if let Some(header) = schema.get(ASKED).and_then(Value::as_str)
                    && let Ok(header) = format!("{PARAMETER}{header}").parse()
                {
                    found.push(Self { path: path.clone(), header });
                }
                // No schema that anybody wrote is deeper.
                if path.len() < 32 {
                    waiting.push((path, schema));
                }
            }
        }
        found
    }

    fn value(&self, arguments: &Value) -> Option<String> {
        let value = self.path.iter().try_fold(arguments, |value, name| value.get(name))?;
        match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(bool) => Some(bool.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

/// A value as a header may hold it.
fn encoded(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'))
        && value.trim() == value
        && !(value.starts_with(OPENING) && value.ends_with(CLOSING));
    if is_plain {
        value.to_owned()
    } else {
        format!("{OPENING}{}{CLOSING}", STANDARD.encode(value))
    }
}

/// What a header says; nothing where it is badly written.
fn decoded(value: &str) -> Option<String> {
    let value = value.trim();
    match value.strip_prefix(OPENING).and_then(|rest| rest.strip_suffix(CLOSING)) {
        Some(inside) => String::from_utf8(STANDARD.decode(inside).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

/// A kind of content, without what is said beside it.
pub(crate) fn bare(kind: &str) -> String {
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether a kind of content is accepted.
pub(crate) fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let Some(accepted) = headers.get(ACCEPT).and_then(|it| it.to_str().ok()) else { return true };
    let group = kind.split('/').next().unwrap_or_default();
    accepted.split(',').map(bare).any(|one| {
        one == kind || one == "*/*" || one.strip_suffix("/*").is_some_and(|of| of == group)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_written_as_the_protocol_has_them() {
        for (value, header) in [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(encoded(value), header);
            assert_eq!(decoded(header).as_deref(), Some(value));
        }
        assert_eq!(decoded("=?base64?SGVsbG8?="), None);
        assert_eq!(decoded("=?base64?SGVs!!!bG8=?="), None);
        assert_eq!(decoded("=?base64?SGVsbG8=").as_deref(), Some("=?base64?SGVsbG8="));
    }

    #[test]
    fn headers_must_say_what_the_request_says() {
        let schema = json!({ "properties": { "where": { "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" } } },
            "list": { "items": { "x-mcp-header": "Never" } } } });
        let parameters = Parameter::all(&schema);
        assert_eq!(parameters.len(), 1);
        let params = serde_json::value::to_raw_value(&json!({
            "name": "query", "arguments": { "where": { "region": "eu" } },
            "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" },
        }));
        let params = params.unwrap();
        let wrong = |pairs: &[(&'static str, &str)]| {
            let headers: HeaderMap = pairs
                .iter()
                .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()))
                .collect();
            mismatch(&headers, "tools/call", Some(&params), &parameters)
        };
        let right = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", " query "),
            ("mcp-param-region", "=?base64?ZXU=?="),
        ];
        assert_eq!(wrong(&right), None);
        for left_out in 0..4 {
            let without: Vec<_> = (0..4).filter(|at| *at != left_out).map(|at| right[at]).collect();
            assert!(wrong(&without).is_some_and(|why| why.contains(right[left_out].0)));
        }
        let mut other = right;
        other[2].1 = "other";
        let why = wrong(&other).unwrap();
        assert_eq!(why, "Header mismatch: `mcp-name` is `other`, the body has `query`");
    }

    #[test]
    fn what_is_accepted_is_read_with_its_stars() {
        let of =
            |value: &'static str| [(ACCEPT, HeaderValue::from_static(value))].into_iter().collect();
        assert!(accepts(&HeaderMap::new(), EVENTS));
        for value in ["*/*", "application/json, text/event-stream;q=0.9", "text/*"] {
            assert!(accepts(&of(value), EVENTS), "{value}");
        }
        assert!(!accepts(&of("application/json"), EVENTS));
    }
}
