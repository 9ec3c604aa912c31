//! A client's configuration → the servers in it, each with the places of what would change. The
//! only file that knows the parser.

use std::ops::Range;

use breakfall_mcp::CLIENT_JSON;
use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, parse_to_ast};

/// A server as it stands in the file.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) key: String,
    pub(super) at: usize,
    pub(super) entry: Entry,
}

#[derive(Debug)]
pub(super) enum Entry {
    Stdio(Stdio),
    Other(Reason),
}

/// A server that a command starts.
#[derive(Debug)]
pub(super) struct Stdio {
    /// Where the field `command` begins, with its name.
    pub(super) field: usize,
    pub(super) command: Word,
    pub(super) args: Args,
    /// Why the client does not start it.
    pub(super) idle: Option<Reason>,
}

#[derive(Debug)]
pub(super) enum Args {
    Absent,
    List { span: Range<usize>, words: Vec<Word> },
}

/// A string of the file: what it says, and where it stands with its quotes.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) span: Range<usize>,
}

/// Why a server is left alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reason {
    Guarded,
    GuardedByHand,
    Disabled,
    Remote,
    NoObject,
    NoCommand,
    OddCommand,
    OddArgs,
    Twice,
}

impl Reason {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Guarded => "it is guarded already",
            Self::GuardedByHand => "it starts the guard without a command after `--`",
            Self::Disabled => "it is disabled",
            Self::Remote => "it is reached over HTTP",
            Self::NoObject => "it is not an object",
            Self::NoCommand => "it has neither a `command` nor a `url`",
            Self::OddCommand => "its `command` is not a string",
            Self::OddArgs => "its `args` are not a list of strings",
            Self::Twice => "it has a field twice",
        }
    }
}

/// Why there is nothing to work on, and where.
#[derive(Debug)]
pub(super) struct Unusable {
    pub(super) at: usize,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    NotJson(String),
    NoServers(String),
    /// Our own edits broke it.
    Ours,
}

/// Every server of a file, in the order of the file.
pub(super) fn servers(text: &str) -> Result<Vec<Server>, Unusable> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &CLIENT_JSON).map_err(|error| {
        let what = error.kind().to_string();
        Unusable { at: error.range().start, what: What::NotJson(lower(&what)) }
    })?;
    let none = |at, what: &str| Unusable { at, what: What::NoServers(what.to_owned()) };
    let Some(root) = parsed.value else { return Err(none(0, "the file is empty")) };

    let mut servers = Vec::new();
    let mut odd = None;
    let mut open = vec![(&root, "", true)];
    while let Some((value, parent, is_root)) = open.pop() {
        match value {
            Value::Object(object) => {
                for field in &object.properties {
                    let name = field.name.as_str();
                    match &field.value {
                        value if !holds_servers(name, parent, is_root) => {
                            open.push((value, name, false));
                        }
                        Value::Object(object) if object.properties.is_empty() => {
                            odd.get_or_insert((field, "is empty"));
                        }
                        Value::Object(object) => {
                            servers.extend(object.properties.iter().map(server));
                        }
                        _ => {
                            odd.get_or_insert((field, "is not an object"));
                        }
                    }
                }
            }
            Value::Array(array) => {
                open.extend(array.elements.iter().map(|element| (element, "", false)));
            }
            _ => {}
        }
    }
    if servers.is_empty() {
        return Err(match odd {
            Some((field, what)) => {
                none(field.value.start(), &format!("`{}` {what}", field.name.as_str()))
            }
            None => none(root.start(), "it has neither `mcpServers` nor `servers`"),
        });
    }
    servers.sort_by_key(|server| server.at);
    Ok(servers)
}

/// `mcpServers` stand anywhere (Claude Code keeps some for each project); `servers` is too common
/// a word for that, and counts where VS Code has it: outermost, or in `mcp`. Zed has
/// `context_servers`, outermost.
fn holds_servers(name: &str, parent: &str, is_root: bool) -> bool {
    match name {
        "mcpServers" => true,
        "servers" => is_root || parent == "mcp",
        "context_servers" => is_root,
        _ => false,
    }
}

fn server(field: &ObjectProp<'_>) -> Server {
    let entry = entry(&field.value).unwrap_or_else(Entry::Other);
    Server { key: field.name.as_str().to_owned(), at: field.start(), entry }
}

fn entry(value: &Value<'_>) -> Result<Entry, Reason> {
    let Value::Object(object) = value else { return Err(Reason::NoObject) };
    let get = |name: &str| {
        let mut found = object.properties.iter().filter(|field| field.name.as_str() == name);
        match (found.next(), found.next()) {
            (_, Some(_)) => Err(Reason::Twice),
            (field, None) => Ok(field),
        }
    };
    let is = |name: &str, wanted: bool| {
        Ok(get(name)?
            .and_then(|field| field.value.as_boolean_lit())
            .is_some_and(|found| found.value == wanted))
    };
    let mut idle = None;
    for name in ["url", "serverUrl", "httpUrl"] {
        if get(name)?.is_some() {
            idle = Some(Reason::Remote);
        }
    }
    if is("disabled", true)? || is("enabled", false)? {
        idle = Some(Reason::Disabled);
    }
    let Some(field) = get("command")? else { return Err(idle.unwrap_or(Reason::NoCommand)) };
    let command = word(&field.value).ok_or(Reason::OddCommand)?;
    let args = match get("args")?.map(|field| &field.value) {
        None => Args::Absent,
        Some(Value::Array(array)) => Args::List {
            span: array.start()..array.end(),
            words: array.elements.iter().map(word).collect::<Option<_>>().ok_or(Reason::OddArgs)?,
        },
        Some(_) => return Err(Reason::OddArgs),
    };
    Ok(Entry::Stdio(Stdio { field: field.start(), command, args, idle }))
}

fn word(value: &Value<'_>) -> Option<Word> {
    let literal = value.as_string_lit()?;
    Some(Word { text: literal.value.to_string(), span: literal.start()..literal.end() })
}

fn lower(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
