//! Which servers there are: from the configuration that clients already have, or from ours.

mod secrets;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use breakfall::{
    Checking, Config, ConfiguredUpstream, Guard, GuardBuilder, Policy, Reach as Configured,
    UnknownTool, filled,
};
use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde::Deserialize;

use crate::error::Error;
use crate::message::LONGEST;
use crate::record::Recorder;

/// A server by its key.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// The key under which it is configured.
    pub key: String,
    /// How it is reached.
    pub reach: Reach,
    /// Whether what it says of its tools (that they only read, that they may be repeated) is
    /// believed.
    pub is_trusted: bool,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq)]
pub enum Reach {
    /// It is started.
    Command(Command),
    /// It is there already.
    Address(Address),
}

/// How a server is started. No shell is involved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Command {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables that it gets.
    pub variables: BTreeMap<String, String>,
    /// Whether it gets every variable that we have, or only the harmless ones.
    pub inherits_variables: bool,
    /// Variables of ours that it does not get, unless they are among its own.
    pub withheld: Vec<String>,
    /// Where it runs.
    pub directory: Option<PathBuf>,
}

/// Where a server is that is there already.
#[derive(Clone, Default, PartialEq)]
pub struct Address {
    /// Its URL.
    pub url: String,
    /// What every request carries; values are secrets.
    pub headers: BTreeMap<String, String>,
}

/// The headers hold secrets, and so may the URL.
impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Address").finish_non_exhaustive()
    }
}

impl Command {
    /// A program with its arguments, as typed on a command line: it is run as it would be without
    /// us, with all the variables that it would have.
    pub fn typed(words: &[String]) -> Option<Self> {
        let (program, arguments) = words.split_first()?;
        Some(Self {
            program: program.clone(),
            arguments: arguments.to_vec(),
            inherits_variables: true,
            ..Self::default()
        })
    }
}

/// The servers of a configuration, by key.
#[derive(Clone, Debug, Default)]
pub struct Servers {
    /// Those that can be reached.
    pub servers: Vec<Server>,
    /// What was left out, and why; and what is called otherwise than in the file.
    pub notes: Vec<String>,
    /// How a call of a tool that does not exist is answered.
    pub unknown_tool: UnknownTool,
    /// Keeps what passes.
    pub recorder: Option<Arc<Recorder>>,
}

/// The file as clients write it.
#[derive(Deserialize)]
struct File {
    #[serde(rename = "mcpServers", alias = "servers", alias = "context_servers")]
    servers: Option<BTreeMap<String, Entry>>,
    /// The settings of VS Code.
    mcp: Option<Box<File>>,
}

#[derive(Deserialize)]
struct Entry {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<PathBuf>,
    #[serde(alias = "serverUrl", alias = "httpUrl")]
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    disabled: bool,
    enabled: Option<bool>,
}

/// What clients read as JSON: with the comments and trailing commas that VS Code writes. The parser
/// refuses what is nested more than 512 levels deep.
pub const CLIENT_JSON: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// What a file of servers looks like.
const SHAPE: &str = r#"expected `{"mcpServers": {"KEY": {"command": …, "args": […], "env": {…}}}}` or `"url": …` in place of the command"#;

impl Servers {
    /// The one server of a command line.
    pub fn one(command: Command) -> Self {
        let key = Path::new(&command.program)
            .file_name()
            .map_or_else(|| "server".to_owned(), |name| name.to_string_lossy().into_owned());
        let server = Server { key, reach: Reach::Command(command), is_trusted: true };
        Self { servers: vec![server], ..Self::default() }
    }

    /// Reads the `mcpServers` that clients already have.
    pub fn from_json(text: &str, origin: &str) -> Result<Self, Error> {
        let wrong = |what: String| Error::Servers { origin: origin.to_owned(), what };
        let text = text.trim_start_matches('\u{feff}');
        let file: File = parse_to_serde_value(text, &CLIENT_JSON)
            .map_err(|error| wrong(format!("{error}; {SHAPE}")))?;
        let entries = file.servers.or_else(|| file.mcp?.servers);
        let entries = entries
            .ok_or_else(|| wrong(format!("it has neither `mcpServers` nor `servers`; {SHAPE}")))?;
        let mut keys: BTreeSet<String> =
            entries.keys().filter(|key| ConfiguredUpstream::is_key(key)).cloned().collect();
        let mut servers = Self::default();
        for (name, entry) in entries {
            if entry.disabled || entry.enabled == Some(false) {
                servers.notes.push(format!("`{name}` is disabled"));
                continue;
            }
            let key = if ConfiguredUpstream::is_key(&name) {
                name
            } else {
                let key = key_for(&name, &keys);
                servers.notes.push(format!("`{name}` is called `{key}`"));
                keys.insert(key.clone());
                key
            };
            let reach = match (entry.command, entry.url) {
                (Some(program), _) => Reach::Command(Command {
                    program,
                    arguments: entry.args.iter().map(|text| filled(text).0).collect(),
                    variables: entry.env.into_iter().map(|(k, v)| (k, filled(&v).0)).collect(),
                    inherits_variables: false,
                    withheld: Vec::new(),
                    directory: entry.cwd,
                }),
                (None, Some(url)) => {
                    let address = Address::filled(&url, &entry.headers);
                    Reach::Address(
                        address.map_err(|what| wrong(format!("`mcpServers.{key}`: {what}")))?,
                    )
                }
                (None, None) => {
                    return Err(wrong(format!(
                        "`mcpServers.{key}`: it has neither a `command` nor a `url`"
                    )));
                }
            };
            servers.servers.push(Server::new(key, reach, None));
        }
        Ok(servers)
    }

    /// The servers of `breakfall.toml`.
    pub fn from_config(config: &Config) -> Result<Self, Error> {
        let mut servers = Self::default();
        for upstream in config.upstreams() {
            let reach = match &upstream.reach {
                Configured::Command { program, arguments, variables, directory } => {
                    Reach::Command(Command {
                        program: program.clone(),
                        arguments: arguments.clone(),
                        variables: variables.clone(),
                        inherits_variables: false,
                        withheld: Vec::new(),
                        directory: directory.clone(),
                    })
                }
                Configured::Url { url, headers } => {
                    let origin = format!("`upstreams.{}`", upstream.key);
                    let filled = Address::filled(url, headers);
                    Reach::Address(filled.map_err(|what| Error::Servers { origin, what })?)
                }
            };
            servers.servers.push(Server::new(upstream.key.clone(), reach, upstream.trusted));
        }
        Ok(servers)
    }

    /// Takes over what the configuration says of these servers and of the door to them.
    pub fn configured(mut self, config: &Config) -> Self {
        self.unknown_tool = config.unknown_tool();
        for server in &mut self.servers {
            server.is_trusted = config.trusts(&server.key).unwrap_or(server.is_trusted);
        }
        self
    }

    /// The same servers without a variable of ours.
    pub fn withholding(mut self, variable: &str) -> Self {
        for server in &mut self.servers {
            if let Reach::Command(command) = &mut server.reach {
                command.withheld.push(variable.to_owned());
            }
        }
        self
    }

    /// A guard for these servers, to be given more.
    pub fn guard(&self, config: &Config) -> GuardBuilder {
        // Servers take more than their schemas say, and whatever fits into a message: they must not
        // be stopped by us.
        let policy = Policy {
            checking: Checking::Diagnose,
            max_argument_bytes: LONGEST,
            ..Policy::default()
        };
        let guard = Guard::builder().policy(policy).config(config.clone());
        let secrets: BTreeSet<String> = self.servers.iter().flat_map(Server::secrets).collect();
        secrets.into_iter().fold(guard, GuardBuilder::redact_value)
    }
}

/// A key for a server that a client calls otherwise (`My Server`, `org/name`), and nobody else has.
fn key_for(name: &str, taken: &BTreeSet<String>) -> String {
    let of_key = |letter: char| {
        if ConfiguredUpstream::is_key(letter.encode_utf8(&mut [0; 4])) { letter } else { '_' }
    };
    let plain: String = name.trim().chars().take(60).map(of_key).collect();
    let plain = match plain.trim_matches('_') {
        "" => "server",
        plain => plain,
    };
    let numbered = (2..).map(|number| format!("{plain}_{number}"));
    let mut keys = std::iter::once(plain.to_owned()).chain(numbered);
    keys.find(|key| !taken.contains(key)).unwrap_or_default()
}

impl Server {
    /// A program that the user starts is believed, an address not until he says so.
    fn new(key: String, reach: Reach, trusted: Option<bool>) -> Self {
        let is_trusted = trusted.unwrap_or(matches!(reach, Reach::Command(_)));
        Self { key, reach, is_trusted }
    }
}

impl Address {
    /// With the values of variables in their places.
    fn filled(url: &str, headers: &BTreeMap<String, String>) -> Result<Self, String> {
        let whole = |text: &str| match filled(text) {
            (text, None) => Ok(text),
            (_, Some(missing)) => Err(format!("the variable `{missing}` is not set")),
        };
        let url = whole(url)?;
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err("an address begins with `http://` or `https://`".to_owned());
        }
        let filled = |(name, value): (&String, &String)| Ok((name.clone(), whole(value)?));
        Ok(Self { url, headers: headers.iter().map(filled).collect::<Result<_, String>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_have_is_read_and_what_is_wrong_is_told() {
        let text = r#"{"mcpServers": {
            "git": {"command": "mcp-server-git", "args": ["--repository", "."], "env": {"A": "b"}},
            "web": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${NO_SUCH:-abcd}", "X-Tenant": "main"}},
            "old": {"command": "x", "disabled": true}}, "other": 1}"#;
        let servers = Servers::from_json(text, "a.json").unwrap();
        let [git, web] = servers.servers.as_slice() else { panic!("two servers") };
        let Reach::Command(command) = &git.reach else { panic!("a command") };
        assert_eq!(command.arguments, ["--repository", "."]);
        assert!(!command.inherits_variables && git.is_trusted && !web.is_trusted);
        let Reach::Address(address) = &web.reach else { panic!("an address") };
        assert_eq!(address.headers["Authorization"], "Bearer abcd");
        assert_eq!(web.secrets().into_iter().collect::<Vec<_>>(), ["abcd"]);
        assert_eq!(servers.notes, ["`old` is disabled"]);
        let zed = r#"{"context_servers": {"a": {"source": "custom", "command": "x"}}}"#;
        assert_eq!(Servers::from_json(zed, "a.json").unwrap().servers.len(), 1);
        for (text, words) in [
            ("{}", "neither `mcpServers` nor `servers`"),
            (r#"{"mcpServers": {"a": {}}}"#, "neither a `command` nor a `url`"),
            (r#"{"mcpServers": {"a": {"url": "ftp://x"}}}"#, "begins with `http://`"),
            (r#"{"mcpServers": {"a": {"url": "http://${NO_SUCH}"}}}"#, "`NO_SUCH` is not set"),
            (r#"{"mcpServers": {"a": {"command": 7}}}"#, "on line 1 column"),
            ("[", "on line 1 column 2"),
            (&format!(r#"{{"other": {}"#, "[".repeat(100_000)), "depth"),
        ] {
            let error = Servers::from_json(text, "a.json").unwrap_err().to_string();
            assert!(error.starts_with("a.json: ") && error.contains(words), "{error}");
        }
    }

    /// A file of VS Code was refused for a comment, one of a registry for the names in it.
    #[test]
    fn comments_and_any_names_are_taken() {
        let text = "\u{feff}{
            // of this project
            \"inputs\": [{\"id\": \"token\"},],
            \"servers\": {
                \"My Server\": {\"command\": \"a\"}, /* twice */
                \"my/server\": {\"command\": \"b\"},
                \"my_server\": {\"command\": \"c\"},
                \"io.github.a/b\": {\"url\": \"https://example.com\", \"enabled\": true},
                \"天气\": {\"command\": \"e\"},
                \"off\": {\"command\": \"e\", \"enabled\": false},
            },
        }";
        let keys = |text: &str| {
            let servers = Servers::from_json(text, "mcp.json").unwrap();
            let keys = servers.servers.iter().map(|server| server.key.clone());
            (keys.collect::<Vec<_>>(), servers.notes)
        };
        let (keys_of, notes) = keys(text);
        assert_eq!(keys_of, ["My_Server", "io.github.a_b", "my_server_2", "my_server", "server"]);
        assert_eq!(
            notes,
            [
                "`My Server` is called `My_Server`",
                "`io.github.a/b` is called `io.github.a_b`",
                "`my/server` is called `my_server_2`",
                "`off` is disabled",
                "`天气` is called `server`",
            ]
        );
        let settings = format!(r#"{{"editor.fontSize": 12, "mcp": {text}}}"#, text = &text[3..]);
        assert_eq!(keys(&settings).0, keys_of);
        assert!(keys_of.iter().all(|key| ConfiguredUpstream::is_key(key)));
    }
}
