//! The tools that are counted and timed, and the same work without a guard.

use std::collections::HashMap;
use std::future::ready;
use std::pin::Pin;

use breakfall::{
    Arguments, BoxFuture, Context, Effect, Entry, Failure, Outcome, Output, Raised, Tool, ToolSpec,
    function,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// What a search is asked for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// What for.
    pub query: String,
    /// How many results.
    pub limit: u32,
    /// In which order.
    pub order: Option<Order>,
}

/// In which order.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The newest first.
    Newest,
    /// The oldest first.
    Oldest,
}

/// The work of the tool that succeeds.
#[allow(clippy::unused_async, reason = "tools are asynchronous")]
pub async fn search(asked: Search) -> String {
    let order = asked.order.unwrap_or(Order::Newest);
    format!("{} results for `{}`, {order:?} first", asked.limit, asked.query)
}

/// The same work with nothing around it: typed arguments, an async function.
pub async fn bare(arguments: &Value) -> Result<String, serde_json::Error> {
    Ok(search(Search::deserialize(arguments)?).await)
}

/// Whom to greet.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Greeted {
    /// Their name.
    pub name: String,
}

/// The work of a tool that has next to none.
#[allow(clippy::unused_async, reason = "tools are asynchronous")]
pub async fn greet(greeted: Greeted) -> String {
    format!("Hello, {}!", greeted.name)
}

/// The same with nothing around it.
pub async fn bare_greeting(arguments: &Value) -> Result<String, serde_json::Error> {
    Ok(greet(Greeted::deserialize(arguments)?).await)
}

/// Panics, and says of what.
///
/// # Panics
///
/// Where the limit is low.
#[allow(clippy::unused_async, reason = "tools are asynchronous")]
pub async fn panics(asked: Search) -> String {
    assert!(asked.limit > 1_000, "the limit is {}", asked.limit);
    asked.query
}

/// Panics in words that are always the same.
///
/// # Panics
///
/// Where the limit is low.
#[allow(clippy::unused_async, reason = "tools are asynchronous")]
pub async fn panics_plainly(asked: Search) -> String {
    assert!(asked.limit > 1_000, "the limit is too low");
    asked.query
}

/// A boxed function, as everybody has who keeps tools in a table.
pub type Boxed = Box<dyn for<'a> Fn(&'a Value) -> BoxedFuture<'a> + Send + Sync>;

/// What a boxed function gives.
pub type BoxedFuture<'a> =
    Pin<Box<dyn Future<Output = Result<String, serde_json::Error>> + Send + 'a>>;

/// A table of boxed functions: what a dispatcher without any guard has.
pub fn boxed() -> HashMap<String, Boxed> {
    let mut table: HashMap<String, Boxed> = HashMap::new();
    table.insert("search".to_owned(), Box::new(|arguments| Box::pin(bare(arguments))));
    table.insert("greet".to_owned(), Box::new(|arguments| Box::pin(bare_greeting(arguments))));
    table
}

/// Arguments that fit.
pub fn arguments() -> Value {
    json!({ "query": "where is the error", "limit": 10, "order": "newest" })
}

/// Those of the small tool.
pub fn greeted() -> Value {
    json!({ "name": "Ada Lovelace" })
}

/// Arguments with five faults: two of the wrong type, one out of range, one not among those
/// allowed, one unknown.
pub fn bad_arguments() -> Value {
    json!({ "query": 7, "limit": "ten", "order": "biggest", "page": 0, "colour": "red" })
}

/// How many pieces of a size the allocator of glibc is to keep at hand for a thread, so that it is as
/// in a program that runs: what a call takes, one before it gave back. The default of seven is gone
/// through by what is made for a call before it is counted.
pub const AT_HAND: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.tcache_count=64");

/// Which sizes it keeps at hand, and how many of each half of that are.
const SIZES: std::ops::RangeInclusive<usize> = 24..=1032;
const HALF: usize = 32;

/// Puts the allocator into a state that does not depend on what came before: of each size some
/// pieces are at hand, and there is room for some.
pub fn settle_heap() {
    let pieces = |size| (0..HALF).map(|_| Vec::<u8>::with_capacity(size)).collect::<Vec<_>>();
    for size in SIZES.step_by(16) {
        let (back, taken) = (pieces(size), [pieces(size), pieces(size)]);
        taken.into_iter().flatten().for_each(std::mem::forget);
        drop(back);
    }
}

/// An honest error of so many bytes, which differs from call to call.
pub fn message(number: u32, bytes: usize) -> String {
    let line = format!("could not open index {number:08} of the project for reading: ");
    let mut text = String::with_capacity(bytes + line.len());
    while text.len() < bytes {
        text.push_str(&line);
    }
    text.truncate(bytes);
    text
}

/// An exception as Python raises it, which differs from call to call.
fn raised(number: u32) -> Raised {
    let text = format!("there is no row {number} in the table");
    let file = "/srv/agent/src/agent/tools/rows.py";
    let traceback = format!(
        "Traceback (most recent call last):\n  File \"{file}\", line 57, in find\nLookupError: {text}"
    );
    Raised::new("LookupError", text).traceback(traceback)
}

/// The schema that bad arguments are checked against.
fn pages() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "minLength": 1 },
            "limit": { "type": "integer", "minimum": 1, "maximum": 100 },
            "order": { "enum": ["newest", "oldest"] },
            "page": { "type": "integer", "minimum": 1 },
        },
        "required": ["query"],
        "additionalProperties": false,
    })
}

/// What the same search is checked against where its schema says more than types.
fn rich() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "minLength": 1, "not": { "const": "*" } },
            "limit": { "type": "integer", "exclusiveMinimum": 0 },
            "order": { "anyOf": [{ "enum": ["newest", "oldest"] }, { "type": "null" }] },
        },
        "required": ["query", "limit"],
        "minProperties": 1,
        "additionalProperties": false,
    })
}

/// The same with a pattern: letters one after the other, or a choice.
fn with_pattern(pattern: &str) -> Value {
    let mut schema = rich();
    schema["properties"]["query"]["pattern"] = json!(pattern);
    schema
}

/// The same with a condition.
fn with_condition() -> Value {
    let mut schema = rich();
    schema["if"] = json!({ "properties": { "order": { "const": "oldest" } } });
    schema["then"] = json!({ "required": ["order"] });
    schema
}

/// The same with a field that refers to itself, which is left to the validator.
pub fn with_circle() -> Value {
    let mut schema = rich();
    let branches = json!([
        { "enum": ["newest", "oldest"] },
        { "type": "array", "items": { "$ref": "#/$defs/order" } },
    ]);
    schema["$defs"] = json!({ "order": { "anyOf": branches } });
    schema["properties"]["order"] = json!({ "$ref": "#/$defs/order" });
    schema
}

#[allow(clippy::missing_panics_doc, reason = "one of them panics when it is called")]
/// All tools: one that succeeds, those that fail, and a hundred others.
pub fn tools() -> Vec<Entry> {
    let fails = |name: &'static str, bytes: usize| {
        function(name, "Fails.", move |asked: Search| async move {
            Err::<String, _>(std::io::Error::other(message(asked.limit, bytes)))
        })
    };
    let fails_alike = |name: &'static str, bytes: usize| {
        function(name, "Fails.", move |_: Search| async move {
            Err::<String, _>(std::io::Error::other(message(7, bytes)))
        })
    };
    let mut tools = vec![
        function("search", "Searches.", |asked: Search| async move {
            Ok::<_, Failure>(search(asked).await)
        }),
        ToolSpec::new("search_richly", "Searches.").schema(rich()).tool(Searches),
        ToolSpec::new("search_spelled", "Searches.").schema(with_pattern("^[^*]")).tool(Searches),
        ToolSpec::new("search_choosily", "Searches.")
            .schema(with_pattern("^(?:[^*]|[*][^*])"))
            .tool(Searches),
        ToolSpec::new("search_on_condition", "Searches.").schema(with_condition()).tool(Searches),
        ToolSpec::new("search_strictly", "Searches.").schema(with_circle()).tool(Searches),
        function("greet", "Greets.", |greeted: Greeted| async move {
            Ok::<_, Failure>(greet(greeted).await)
        }),
        fails("fails", 200),
        fails("fails_at_length", 4 << 10),
        fails_alike("fails_alike", 200),
        fails_alike("fails_alike_at_length", 4 << 10),
        function("fails_knowingly", "Fails, and says in which way.", |asked: Search| async move {
            Err::<String, _>(Failure::execution(message(asked.limit, 200)))
        }),
        function("raises", "Raises an exception.", |asked: Search| async move {
            Err::<String, _>(Failure::raised(raised(asked.limit)))
        }),
        function("panics", "Panics.", |asked: Search| async move {
            Ok::<_, Failure>(panics(asked).await)
        }),
        function("panics_plainly", "Panics.", |asked: Search| async move {
            Ok::<_, Failure>(panics_plainly(asked).await)
        }),
    ];
    tools.extend((0..89).map(|n| {
        let spec = ToolSpec::new(format!("other_tool_{n}"), "Has pages.");
        spec.schema(pages()).effect(Effect::ReadOnly).tool(Pages)
    }));
    tools
}

/// Searches, as the function does.
struct Searches;

impl Tool for Searches {
    fn call<'a>(&'a self, arguments: &'a Arguments, _: Context<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async { Ok(Output::text(bare(arguments.value()).await?)) })
    }
}

/// Answers at once.
struct Pages;

impl Tool for Pages {
    fn call<'a>(&'a self, _: &'a Arguments, _: Context<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(ready(Ok(Output::text("no pages"))))
    }
}
