//! How the real servers of the file are reached, for the doors that reach them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::file::UpstreamTable;
use super::load::Config;

/// A real server behind the guard, as the file describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfiguredUpstream {
    /// Its name in the file.
    pub key: String,
    /// How it is reached.
    pub reach: Reach,
    /// Whether what it says of its tools (that they only read, that they may be repeated) is
    /// believed; where the file is silent, the door decides.
    pub trusted: Option<bool>,
}

impl ConfiguredUpstream {
    /// Whether a server may be called so: its key stands before the names of its tools.
    pub fn is_key(key: &str) -> bool {
        let of_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        (1..=64).contains(&key.len()) && key.chars().all(of_key)
    }
}

/// How a real server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It is started. No shell is involved.
    Command {
        /// The program.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
        /// Variables that it gets beside the harmless ones.
        variables: BTreeMap<String, String>,
        /// Where it runs.
        directory: Option<PathBuf>,
    },
    /// It is there already.
    Url {
        /// Its address.
        url: String,
        /// Headers that every request carries; `${NAME}` stands for a variable's value.
        headers: BTreeMap<String, String>,
    },
}

impl UpstreamTable {
    /// How it is reached; nothing where the file tells only how its tools are called.
    pub(super) fn reached(self, key: &str) -> Result<Option<ConfiguredUpstream>, String> {
        let of_command = !self.args.is_empty() || !self.env.is_empty() || self.cwd.is_some();
        let reach = match (self.command, self.url) {
            (Some(_), Some(_)) => return Err("either `command` or `url`, not both".to_owned()),
            (Some(_), None) if !self.headers.is_empty() => {
                return Err("`headers` go with `url`".to_owned());
            }
            (None, _) if of_command => {
                return Err("`args`, `env` and `cwd` go with `command`".to_owned());
            }
            (Some(program), None) => Reach::Command {
                program,
                arguments: self.args,
                variables: self.env,
                directory: self.cwd,
            },
            (None, Some(url)) => Reach::Url { url, headers: self.headers },
            (None, None) => return Ok(None),
        };
        if !ConfiguredUpstream::is_key(key) {
            return Err("a name has 1 to 64 letters, digits, `-`, `_` or `.`".to_owned());
        }
        Ok(Some(ConfiguredUpstream { key: key.to_owned(), reach, trusted: self.trusted }))
    }
}

impl Config {
    /// The real servers that the file tells how to reach, by name.
    pub fn upstreams(&self) -> &[ConfiguredUpstream] {
        &self.upstreams
    }

    /// The tools that the file speaks of: called or named as substitutes.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        let named = self.fallbacks.values().filter_map(|fallback| fallback.by.name());
        self.file.tools.keys().map(String::as_str).chain(named)
    }

    /// The upstreams that the file speaks of, also without telling how they are reached.
    pub fn named_upstreams(&self) -> impl Iterator<Item = &str> {
        self.file.upstreams.keys().map(String::as_str)
    }

    /// Whether an upstream of this name is trusted, where the file says so.
    pub fn trusts(&self, upstream: &str) -> Option<bool> {
        self.file.upstreams.get(upstream).and_then(|table| table.trusted)
    }

    /// How a door answers a call of a tool that does not exist.
    pub fn unknown_tool(&self) -> UnknownTool {
        self.file.guard.unknown_tool.unwrap_or_default()
    }
}

/// How a door answers a call of a tool that does not exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnknownTool {
    /// As any other failure: the model reads what exists.
    #[default]
    Result,
    /// As the protocol's letter has it, where there is one: an error that most clients raise.
    Protocol,
}
