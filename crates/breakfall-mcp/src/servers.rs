//! Which servers there are: from the configuration that clients already have, or from ours.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use breakfall::{
    Checking, Config, ConfiguredUpstream, Guard, GuardBuilder, Policy, Reach as Configured,
    UnknownTool, filled, secret_in_header,
};
use serde::Deserialize;

use crate::error::Error;
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
    /// What was left out, and why.
    pub left_out: Vec<String>,
    /// How a call of a tool that does not exist is answered.
    pub unknown_tool: UnknownTool,
    /// Keeps what passes.
    pub recorder: Option<Arc<Recorder>>,
}

/// The file as clients write it.
#[derive(Deserialize)]
struct File {
    #[serde(rename = "mcpServers", alias = "servers")]
    servers: BTreeMap<String, Entry>,
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
}

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
        let file: File = serde_json::from_str(text).map_err(|error| {
            wrong(format!(
                "{error}; expected `{{\"mcpServers\": {{\"KEY\": {{\"command\": …, \"args\": […], \"env\": {{…}}}}}}}}` or `\"url\": …` in place of the command"
            ))
        })?;
        let mut servers = Self::default();
        for (key, entry) in file.servers {
            if entry.disabled {
                servers.left_out.push(format!("`{key}` is disabled"));
                continue;
            }
            if !ConfiguredUpstream::is_key(&key) {
                return Err(wrong(format!(
                    "`mcpServers.{key}`: a key has 1 to 64 letters, digits, `-`, `_` or `.`"
                )));
            }
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
        // Servers take more than their schemas say, and must not be stopped by ours.
        let policy = Policy { checking: Checking::Diagnose, ..Policy::default() };
        let guard = Guard::builder().policy(policy).config(config.clone());
        self.secrets().fold(guard, GuardBuilder::redact_value)
    }

    /// What must never be shown: the values of headers.
    fn secrets(&self) -> impl Iterator<Item = &str> {
        self.servers.iter().flat_map(|server| match &server.reach {
            Reach::Command(_) => Vec::new(),
            Reach::Address(address) => address.secrets(),
        })
    }
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

    fn secrets(&self) -> Vec<&str> {
        let secrets = self.headers.iter().filter_map(|(name, value)| secret_in_header(name, value));
        secrets.collect()
    }

    /// The secrets as they stand in a text and within JSON. Very short ones would tear every text
    /// apart.
    pub(crate) fn written_secrets(&self) -> Vec<String> {
        let secrets = self.secrets().into_iter().filter(|secret| secret.len() >= 4);
        let both = secrets.flat_map(|secret| {
            let within = serde_json::Value::from(secret).to_string();
            [secret.to_owned(), within[1..within.len() - 1].to_owned()]
        });
        let mut all: Vec<String> = both.collect();
        all.dedup();
        all
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
        assert_eq!(servers.secrets().collect::<Vec<_>>(), ["abcd"]);
        assert_eq!(servers.left_out, ["`old` is disabled"]);
        for (text, words) in [
            ("{}", "missing field `mcpServers`"),
            (r#"{"mcpServers": {"a b": {"command": "x"}}}"#, "a key has 1 to 64 letters"),
            (r#"{"mcpServers": {"a": {}}}"#, "neither a `command` nor a `url`"),
            (r#"{"mcpServers": {"a": {"url": "ftp://x"}}}"#, "begins with `http://`"),
            (r#"{"mcpServers": {"a": {"url": "http://${NO_SUCH}"}}}"#, "`NO_SUCH` is not set"),
            ("[", "EOF"),
        ] {
            let error = Servers::from_json(text, "a.json").unwrap_err().to_string();
            assert!(error.starts_with("a.json: ") && error.contains(words), "{error}");
        }
    }
}
