//! Which servers there are: from the configuration that clients already have.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::Error;

/// A server by its key.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// The key under which it is configured.
    pub key: String,
    /// How it is started.
    pub command: Command,
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
    /// Where it runs.
    pub directory: Option<PathBuf>,
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Servers {
    /// Those that can be started.
    pub servers: Vec<Server>,
    /// What was left out, and why.
    pub left_out: Vec<String>,
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
    #[serde(alias = "serverUrl")]
    url: Option<String>,
    #[serde(default)]
    disabled: bool,
}

impl Servers {
    /// The one server of a command line.
    pub fn one(command: Command) -> Self {
        let key = Path::new(&command.program)
            .file_name()
            .map_or_else(|| "server".to_owned(), |name| name.to_string_lossy().into_owned());
        Self { servers: vec![Server { key, command }], left_out: Vec::new() }
    }

    /// Reads the `mcpServers` that clients already have.
    pub fn from_json(text: &str, origin: &str) -> Result<Self, Error> {
        let wrong = |what: String| Error::Servers { origin: origin.to_owned(), what };
        let file: File = serde_json::from_str(text).map_err(|error| {
            wrong(format!(
                "{error}; expected `{{\"mcpServers\": {{\"KEY\": {{\"command\": …, \"args\": […], \"env\": {{…}}}}}}}}`"
            ))
        })?;
        let mut servers = Self::default();
        for (key, entry) in file.servers {
            if entry.disabled {
                servers.left_out.push(format!("`{key}` is disabled"));
                continue;
            }
            if key.is_empty() || key.len() > 64 || key.contains(|c: char| !is_of_a_key(c)) {
                return Err(wrong(format!(
                    "`mcpServers.{key}`: a key has 1 to 64 letters, digits, `-`, `_` or `.`"
                )));
            }
            match (entry.command, entry.url) {
                (Some(program), _) => {
                    let command = Command {
                        program,
                        arguments: entry.args,
                        variables: entry.env,
                        inherits_variables: false,
                        directory: entry.cwd,
                    };
                    servers.servers.push(Server { key, command });
                }
                (None, Some(url)) => {
                    servers.left_out.push(format!("`{key}` is reached over HTTP: {url}"));
                }
                (None, None) => {
                    return Err(wrong(format!(
                        "`mcpServers.{key}`: it has neither a `command` nor a `url`"
                    )));
                }
            }
        }
        Ok(servers)
    }
}

fn is_of_a_key(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_have_is_read_and_what_is_wrong_is_told() {
        let text = r#"{"mcpServers": {
            "git": {"command": "mcp-server-git", "args": ["--repository", "."], "env": {"A": "b"}},
            "web": {"url": "https://example.com/mcp"},
            "old": {"command": "x", "disabled": true}}, "other": 1}"#;
        let servers = Servers::from_json(text, "a.json").unwrap();
        assert_eq!(servers.servers.len(), 1);
        assert_eq!(servers.servers[0].command.arguments, ["--repository", "."]);
        assert!(!servers.servers[0].command.inherits_variables);
        assert_eq!(servers.left_out.len(), 2);
        for (text, words) in [
            ("{}", "missing field `mcpServers`"),
            (r#"{"mcpServers": {"a b": {"command": "x"}}}"#, "a key has 1 to 64 letters"),
            (r#"{"mcpServers": {"a": {}}}"#, "neither a `command` nor a `url`"),
            ("[", "EOF"),
        ] {
            let error = Servers::from_json(text, "a.json").unwrap_err().to_string();
            assert!(error.starts_with("a.json: ") && error.contains(words), "{error}");
        }
    }
}
