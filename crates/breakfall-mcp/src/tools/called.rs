//! A call as the client made it: what the guard needs of it, and the rest as it is written.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use breakfall::{Arguments, Call, Progress, Trace, without_halves};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::fields::{Fields, raw, there};
use crate::origin::Origin;
use crate::trace;
use crate::upstream::{Tracked, Upstream};

/// A call of a tool.
pub(crate) struct Called {
    params: Box<RawValue>,
    name: String,
    /// Where the arguments stand in the parameters.
    arguments: Option<Range<usize>>,
    /// Whether it asks to be told how far it is.
    has_token: bool,
    /// What its client understands as an error.
    pub(crate) errors: Errors,
}

/// What the client of a call understands as an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Errors {
    /// A result that says that it is one.
    Result,
    /// The server's own: the call goes on with an earlier one.
    Servers,
    /// The protocol's: the call asks for a task, and no other result can be read.
    Protocol,
}

/// What a call brings beside its arguments.
pub(super) struct Request {
    params: Box<RawValue>,
    name: String,
    arguments: Option<Range<usize>>,
    has_token: bool,
    pub(super) origin: Arc<Origin>,
}

/// The fields that are looked at. What stands there as `null` is there.
#[derive(Deserialize)]
struct Seen<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(default, borrow, deserialize_with = "there")]
    arguments: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "there", rename = "_meta")]
    meta: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "there", rename = "requestState")]
    state: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "there", rename = "inputResponses")]
    responses: Option<&'a RawValue>,
    #[serde(default, borrow)]
    task: Option<&'a RawValue>,
}

/// What is asked for with a token of the client's.
const TOKEN: &str = "progressToken";

impl Called {
    /// What the client calls; nothing where it names no tool.
    pub(crate) fn of(params: Option<Box<RawValue>>) -> Option<Self> {
        let params = params?;
        let text = params.get();
        let Ok(seen) = serde_json::from_str::<Seen<'_>>(text) else { return Self::odd(&params) };
        let arguments = seen.arguments.map(|arguments| {
            let arguments = arguments.get();
            // It is a part of that text.
            let at = arguments.as_ptr().addr() - text.as_ptr().addr();
            at..at + arguments.len()
        });
        let errors = match (seen.state.or(seen.responses), seen.task) {
            (Some(_), _) => Errors::Servers,
            (None, Some(_)) => Errors::Protocol,
            (None, None) => Errors::Result,
        };
        Some(Self {
            name: seen.name.into_owned(),
            arguments,
            has_token: seen.meta.is_some_and(|meta| meta.get().contains(TOKEN)),
            errors,
            params,
        })
    }

    /// One that names a field twice: the first counts, for its server too.
    fn odd(params: &RawValue) -> Option<Self> {
        let fields = Fields::of(Some(params)).first_of_each();
        fields.text("name")?;
        Self::of(Some(fields.raw()))
    }

    fn written(&self) -> &str {
        self.arguments.clone().map_or("{}", |arguments| &self.params.get()[arguments])
    }

    /// The call for the guard; where it stands in a trace where that is wanted.
    pub(crate) fn call(self, origin: &Arc<Origin>, traces: bool) -> Call {
        let trace = || trace::of(Fields::of(Some(&self.params)).get("_meta"));
        let trace = if traces { trace() } else { None };
        let arguments = self.written();
        // The guard reads no half of a character, and a server takes the mark in its place.
        let whole = arguments.contains("\\u").then(|| without_halves(arguments)).flatten();
        let arguments = whole.unwrap_or_else(|| arguments.to_owned());
        let mut call = Call::new(origin.id.get(), self.name.as_str(), arguments);
        call.trace = trace.map(Box::new);
        call.with(Request {
            params: self.params,
            name: self.name,
            arguments: self.arguments,
            has_token: self.has_token,
            origin: Arc::clone(origin),
        })
    }
}

impl Request {
    /// The parameters as they came, where nothing in them is to be another for this server.
    pub(super) fn as_written(&self, name: &str, arguments: &Arguments) -> Option<&RawValue> {
        let written = &self.params.get()[self.arguments.clone()?];
        let is_same = self.name == name && arguments.text() == Some(written) && !self.has_token;
        is_same.then_some(&*self.params)
    }
}

/// The parameters of a call for a server: its own name for the tool, arguments that may be mended,
/// tokens of ours, the place of the attempt in a trace.
pub(super) fn rewritten(
    request: Option<&Request>,
    name: &str,
    arguments: &Arguments,
    (upstream, progress): (&Arc<Upstream>, &Progress),
    trace: Option<&Trace>,
) -> (Box<RawValue>, Option<Tracked>) {
    let mut fields = request.map(|it| Fields::of(Some(&it.params))).unwrap_or_default();
    fields.remove("arguments");
    fields.set("name", raw(&name));
    if let Some(trace) = trace {
        trace::pass_on(&mut fields, trace);
    }
    let text = arguments.text().filter(|text| !text.trim().is_empty());
    let written = text.and_then(|text| RawValue::from_string(text.to_owned()).ok());
    // What nobody gave is not given, either.
    let is_absent = request.is_some_and(|request| request.arguments.is_none())
        && arguments.value().as_object().is_some_and(serde_json::Map::is_empty);
    if !is_absent {
        fields.set("arguments", written.unwrap_or_else(|| raw(arguments.value())));
    }
    let origin = request.map(|request| &request.origin);
    let tracked = upstream.with_token(&mut fields, Some(progress.clone()), origin);
    (fields.raw(), tracked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(params: &str) -> Option<Called> {
        Called::of(RawValue::from_string(params.to_owned()).ok())
    }

    #[test]
    fn a_call_is_seen_as_it_is_written() {
        for (params, name, arguments, has_token, errors) in [
            (
                r#"{"name":"a","arguments":{ "n": 1.0e400 }}"#,
                "a",
                r#"{ "n": 1.0e400 }"#,
                false,
                Errors::Result,
            ),
            (r#"{"arguments":null,"name":"a\u0062"}"#, "ab", "null", false, Errors::Result),
            (r#"{"name":"a"}"#, "a", "{}", false, Errors::Result),
            (r#"{"name":"a","_meta":{"progressToken":null}}"#, "a", "{}", true, Errors::Result),
            (r#"{"name":"a","requestState":null}"#, "a", "{}", false, Errors::Servers),
            (r#"{"name":"a","task":{}}"#, "a", "{}", false, Errors::Protocol),
            (r#"{"name":"a","task":null}"#, "a", "{}", false, Errors::Result),
            (r#"{"name":"a","inputResponses":{},"x":[1]}"#, "a", "{}", false, Errors::Servers),
        ] {
            let it = called(params).unwrap();
            let seen = (it.name.as_str(), it.written(), it.has_token, it.errors);
            assert_eq!(seen, (name, arguments, has_token, errors), "{params}");
            assert_eq!(it.params.get(), params);
        }
        for params in [r#"{"name":7}"#, r#"{"arguments":{}}"#, "[]", "7", r#"{"name":null}"#] {
            assert!(called(params).is_none(), "{params}");
        }
        assert!(Called::of(None).is_none());
    }

    #[test]
    fn of_a_field_that_is_there_twice_the_first_counts_for_the_server_too() {
        let it = called(r#"{"name":"a","x":1,"name":"b","arguments":{},"arguments":[]}"#).unwrap();
        assert_eq!((it.name.as_str(), it.written()), ("a", "{}"));
        assert_eq!(it.params.get(), r#"{"name":"a","x":1,"arguments":{}}"#);
    }
}
