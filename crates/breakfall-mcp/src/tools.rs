//! MCP's words for tools, calls and results become ours, and back: the only file that knows both.

mod called;
mod words;

use std::collections::HashMap;
use std::sync::Arc;

use breakfall::{
    Arguments, BoxFuture, Context, Effect, Entry, Failure, FailureKind, Outcome, Output, Reply,
    Tool, ToolSpec,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

pub(crate) use called::{Called, Errors};
use called::{Request, rewritten};
use words::{is_unknown, looked, without_code, without_noise};

use crate::era::Era;
use crate::fields::{Fields, raw, read};
use crate::headers::Parameter;
use crate::message::Answer;
use crate::upstream::{Lost, Upstream};

/// A tool as a server describes it.
#[derive(Deserialize)]
struct Described {
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default, rename = "inputSchema")]
    input_schema: Option<Value>,
    #[serde(default)]
    annotations: Option<Hints>,
}

impl Described {
    /// What is described. A schema that cannot be read checks nothing: the tool can be called.
    fn of(tool: &RawValue) -> Option<Self> {
        read(tool.get()).or_else(|| {
            let fields = Fields::of(Some(tool));
            Some(Self {
                name: fields.text("name")?,
                description: fields.text("description"),
                input_schema: None,
                annotations: fields.get("annotations").and_then(|it| read(it.get())),
            })
        })
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hints {
    #[serde(default)]
    read_only_hint: Option<bool>,
    #[serde(default)]
    idempotent_hint: Option<bool>,
}

/// A server's tools under their names behind the guard.
pub(crate) fn entries(upstream: &Arc<Upstream>) -> Vec<Entry> {
    let described = upstream.tools();
    described.iter().filter_map(|tool| entry(tool, upstream)).collect()
}

fn entry(tool: &RawValue, upstream: &Arc<Upstream>) -> Option<Entry> {
    let described = Described::of(tool)?;
    let hints = described.annotations.unwrap_or_default();
    let effect = match (hints.read_only_hint, hints.idempotent_hint) {
        _ if !upstream.is_trusted() => Effect::Once,
        (Some(true), _) => Effect::ReadOnly,
        (_, Some(true)) => Effect::Idempotent,
        _ => Effect::Once,
    };
    let mut spec = ToolSpec::new(
        format!("{}{}", upstream.prefix, described.name),
        described.description.unwrap_or_default(),
    )
    .effect(effect);
    if let Some(schema) = described.input_schema {
        spec = spec.schema(schema);
    }
    let reads = effect == Effect::ReadOnly;
    let relay =
        Relay { upstream: Arc::clone(upstream), name: described.name, reads, is_listed: true };
    Some(spec.tool(relay))
}

/// How long the name of a tool may be that a server is asked for and does not list.
const LONGEST: usize = 256;

/// A tool of that name, which its server may take and does not list: some tell of theirs only to who
/// searches for them.
pub(crate) fn unlisted(upstream: &Arc<Upstream>, name: &str) -> Option<Entry> {
    let own = name
        .strip_prefix(upstream.prefix.as_str())
        .filter(|own| (1..=LONGEST).contains(&own.len()))?;
    let (upstream, own) = (Arc::clone(upstream), own.to_owned());
    let key = upstream.key.clone();
    let relay = Relay { upstream, name: own, reads: false, is_listed: false };
    Some(ToolSpec::new(name, "").schema(json!({ "type": "object" })).tool(relay).upstream(key))
}

/// A tool of ours as a server would describe it.
pub(crate) fn described(spec: &ToolSpec) -> Box<RawValue> {
    raw(&json!({
        "name": spec.name,
        "description": spec.description,
        "inputSchema": spec.input_schema,
        "annotations": {
            "readOnlyHint": spec.effect == Effect::ReadOnly,
            "idempotentHint": spec.effect != Effect::Once,
        },
    }))
}

/// The same entry with a schema that lets everything pass: what we cannot read must not stop a
/// call that works.
pub(crate) fn without_schema(entry: &Entry) -> Entry {
    let spec = entry.spec().clone().schema(json!({ "type": "object" }));
    entry.clone().with_spec(spec)
}

/// The names of a server's tools with the prefix before them, as the client sees them.
pub(crate) fn prefixed(tools: Vec<Box<RawValue>>, prefix: &str) -> Vec<Box<RawValue>> {
    if prefix.is_empty() {
        return tools;
    }
    let renamed = |tool: Box<RawValue>| {
        let mut fields = Fields::of(Some(&tool));
        match fields.text("name") {
            Some(name) => {
                fields.set("name", raw(&format!("{prefix}{name}")));
                fields.raw()
            }
            None => tool,
        }
    };
    tools.into_iter().map(renamed).collect()
}

/// Passes calls on to a server.
struct Relay {
    upstream: Arc<Upstream>,
    name: String,
    /// Whether it changes nothing.
    reads: bool,
    /// Whether its server tells of it.
    is_listed: bool,
}

impl Relay {
    /// What came of a call, with what is lost where its server is a new one.
    fn came(&self, answer: Result<Answer, Lost>) -> Outcome {
        let is_answered = answer.is_ok();
        // Who dies of a name has no such tool.
        if !self.is_listed && matches!(answer, Err(Lost::Gone(_))) {
            return Err(Failure::of_kind(FailureKind::UnknownTool));
        }
        // Some say so as if it were what the tool says.
        let said = match &answer {
            Ok(Answer::Result(result)) if !self.is_listed => looked(result.get()).1,
            _ => String::new(),
        };
        let outcome = outcome(answer);
        if !self.is_listed {
            let words = outcome.as_ref().err().map_or(said.as_str(), Failure::message);
            if is_unknown(words, &self.name) && (outcome.is_err() || words.contains(&self.name)) {
                return Err(Failure::of_kind(FailureKind::UnknownTool));
            }
        }
        match outcome {
            Ok(_) => self.upstream.succeeded(self.reads),
            Err(failure) if is_answered && self.upstream.is_anew() => return Err(failure.anew()),
            Err(_) => {}
        }
        outcome
    }
}

impl Tool for Relay {
    fn call<'a>(
        &'a self,
        arguments: &'a Arguments,
        context: Context<'a>,
    ) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let request = context.attachment.and_then(|it| it.get::<Request>());
            let progress = context.progress();
            let as_written = request
                .filter(|_| context.trace.is_none())
                .and_then(|request| request.as_written(&self.name, arguments));
            let (rewritten, tracked) = as_written.map_or_else(
                || {
                    let to = (&self.upstream, &progress);
                    let (params, tracked) =
                        rewritten(request, &self.name, arguments, to, context.trace);
                    (Some(params), tracked)
                },
                |_| (None, None),
            );
            let _under_way = self.upstream.under_way(progress);
            let params = as_written.or(rewritten.as_deref());
            let origin = request.map(|request| &request.origin);
            let answer = self.upstream.request("tools/call", params, origin).await;
            if let (Some(tracked), Ok(Answer::Result(result))) = (tracked, &answer)
                && is_task(result)
            {
                tracked.goes_on();
            }
            self.came(answer)
        })
    }
}

/// Whether a call goes on when it is answered.
fn is_task(result: &RawValue) -> bool {
    let result = Fields::of(Some(result));
    let is_started = result.get("task").is_some_and(|task| task.get().starts_with('{'));
    is_started || result.text("resultType").as_deref() == Some("task")
}

/// An error as a server writes it.
#[derive(Default)]
struct RpcError {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl RpcError {
    /// An error, whatever shape its parts have: some write a text in place of it, or of its code.
    fn of(error: &RawValue) -> Self {
        if !error.get().starts_with('{') {
            let message = read(error.get()).unwrap_or_else(|| error.get().to_owned());
            return Self { message, ..Self::default() };
        }
        let fields = Fields::of(Some(error));
        let words =
            |name: &str| fields.text(name).or_else(|| Some(fields.get(name)?.get().to_owned()));
        let code = words("code").unwrap_or_default();
        // What is no number says what went wrong, as well as the words.
        let (code, named) = code.parse().map_or((0, Some(code)), |code| (code, None));
        let named = named.filter(|code| !code.is_empty() && code != "null");
        let message: Vec<String> = named.into_iter().chain(words("message")).collect();
        Self {
            code,
            message: message.join(": "),
            data: fields.get("data").and_then(|it| read(it.get())),
        }
    }
}

/// What came of a request, in one of the four shapes of failure or as a success.
fn outcome(answer: Result<Answer, Lost>) -> Outcome {
    match answer {
        Ok(Answer::Result(result)) => {
            let (is_error, text) = looked(result.get());
            if is_error {
                let (words, code) = without_code(&text);
                let failure = Failure::told(without_noise(words)).payload(result);
                return Err(match code {
                    Some(code) => failure.json_rpc_code_is(code),
                    None => failure,
                });
            }
            Ok(Output::payload(result, text))
        }
        Ok(Answer::Error(error)) => {
            let came = error;
            let error = RpcError::of(&came);
            let words = match error.data {
                Some(Value::String(data)) if !data.is_empty() => {
                    format!("{}\n{data}", error.message)
                }
                Some(data) if !data.is_null() && data != "" => format!("{}\n{data}", error.message),
                _ => error.message,
            };
            Err(Failure::told(words).json_rpc_code_is(error.code).payload(came))
        }
        Err(lost) => Err(failure(lost)),
    }
}

/// The failure of a call that a server did not answer.
pub(crate) fn failure(lost: Lost) -> Failure {
    match lost {
        Lost::Gone(why) => Failure::gone(why),
        Lost::TooLong => Failure::execution("Its answer is longer than 16 MiB: ask for less."),
        // It may say that all went well: nobody is told to call again.
        Lost::Unreadable(said) => Failure::execution(format!("Its answer cannot be read:\n{said}")),
        // It is somewhere else now, where we do not follow it.
        Lost::Refused(ref refusal) if (300..400).contains(&refusal.status) => unavailable(&lost),
        Lost::Refused(refusal) => {
            let failure = Failure::http(refusal.status, refusal.words);
            match refusal.wait {
                Some(wait) => failure.wait_for(wait),
                None => failure,
            }
        }
        Lost::NotSent(_) | Lost::Stale(_) | Lost::Foreign(_) | Lost::Unwelcome(_) => {
            unavailable(&lost)
        }
    }
}

fn unavailable(lost: &Lost) -> Failure {
    Failure::unavailable("").caused_by(std::io::Error::other(lost.why())).not_dispatched()
}

/// The arguments that tools want said again in headers, by tool.
pub(crate) fn parameters(tools: &[Box<RawValue>]) -> HashMap<String, Arc<[Parameter]>> {
    let asking = tools.iter().filter(|tool| tool.get().contains("x-mcp-header"));
    let found = asking.filter_map(|tool| Described::of(tool)).map(|tool| {
        let schema = tool.input_schema.unwrap_or_default();
        (tool.name, Parameter::all(&schema).into())
    });
    found.collect()
}

/// Codes with which a server speaks to the client, not to the model.
const TO_THE_CLIENT: std::ops::RangeInclusive<i64> = -32099..=-32020;

/// What the client gets for a reply. An error that speaks to the client, or that answers what the
/// client added to a call, reaches it as an error.
pub(crate) fn answer(reply: &Reply, era: Era, errors: Errors) -> Answer {
    if reply.is_error {
        let code = Fields::of(reply.payload()).get("code").and_then(|it| it.get().parse().ok());
        let passes = |code| errors == Errors::Servers || TO_THE_CLIENT.contains(&code);
        if let (Some(payload), true) = (reply.payload(), code.is_some_and(passes)) {
            return Answer::Error(payload.to_owned());
        }
        if errors == Errors::Protocol {
            return crate::message::error(code.unwrap_or(FAILED), &reply.text);
        }
    }
    Answer::Result(result(reply, era))
}

/// The code of an error that came without one.
const FAILED: i64 = -32603;

/// A call of a tool that does not exist, as the protocol's letter has it.
pub(crate) fn unknown(reply: &Reply) -> Answer {
    crate::message::error(-32602, &reply.text)
}

fn result(reply: &Reply, era: Era) -> Box<RawValue> {
    let said = |text: &str| raw(&json!({ "type": "text", "text": text }));
    match (reply.payload(), reply.error()) {
        (Some(payload), None) => payload.to_owned(),
        (Some(payload), Some(note)) if !reply.is_error => {
            let mut fields = Fields::of(Some(payload));
            let mut content = content_of(&fields);
            content.push(said(note));
            fields.set("content", raw(&content));
            fields.raw()
        }
        (payload, _) => {
            // What is not words stays: pictures, links, what the server says of itself.
            let mut came = Fields::of(payload);
            let mut fields = Fields::default();
            let others = content_of(&came).into_iter().filter(|block| !is_of_words(block));
            let content: Vec<_> = [said(&reply.text)].into_iter().chain(others).collect();
            if let Some(meta) = came.take("_meta") {
                fields.set("_meta", meta);
            }
            fields.set("content", raw(&content));
            if let Some(structured) = came.take("structuredContent") {
                fields.set("structuredContent", structured);
            }
            fields.set("isError", raw(&reply.is_error));
            era.result(fields)
        }
    }
}

fn content_of(result: &Fields) -> Vec<Box<RawValue>> {
    result.get("content").and_then(|it| serde_json::from_str(it.get()).ok()).unwrap_or_default()
}

/// Whether a block holds words, which the reply says again in its own.
fn is_of_words(block: &RawValue) -> bool {
    let kind = Fields::of(Some(block)).text("type");
    !matches!(kind.as_deref(), Some("image" | "audio" | "resource_link"))
}
