//! Our own fault or the user's configuration: a developer reads it, never a model.

use std::path::PathBuf;

use crate::ConfigProblem;
use crate::config::PROBLEMS;

/// What can be wrong with how a guard is put together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two tools under one name.
    #[error("two tools are named `{name}`")]
    DuplicateTool {
        /// The name.
        name: String,
    },
    /// A name that no provider accepts.
    #[error("`{name}` is not a tool name: {why}")]
    ToolName {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// No tool has that name.
    #[error("no tool is named `{name}`")]
    NoSuchTool {
        /// The name.
        name: String,
    },
    /// No tool belongs to an upstream of that name.
    #[error("no tool belongs to an upstream named `{name}`")]
    NoSuchUpstream {
        /// The name.
        name: String,
    },
    /// A fallback that leads back to its tool.
    #[error("`{name}` cannot be its own fallback")]
    OwnFallback {
        /// The tool.
        name: String,
    },
    /// A schema that does not compile.
    #[error("the input schema of `{tool}` is not usable at `{path}`")]
    Schema {
        /// The tool.
        tool: String,
        /// Where in the schema.
        path: String,
        /// What the validator said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A rule for errors with a phrase that stands everywhere.
    #[error("the rule `{id}` for errors has an empty phrase")]
    EmptyPhrase {
        /// The rule.
        id: String,
    },
    /// A rule for secrets that does not compile.
    #[error("the rule `{id}` for secrets is not usable: `{pattern}` does not compile")]
    SecretRule {
        /// The rule.
        id: String,
        /// The expression.
        pattern: String,
    },
    /// A word that is not one of a closed list.
    #[error("`{given}` is not a {what}; accepted: {}", listed(.accepted))]
    UnknownWord {
        /// What kind of word was wanted.
        what: &'static str,
        /// The word given.
        given: String,
        /// The words accepted.
        accepted: Vec<&'static str>,
    },
    /// A configuration that is not usable: every problem at once, each with its place.
    #[error("the configuration {}", told(.problems))]
    Config {
        /// The problems, in the order of the file.
        problems: Vec<ConfigProblem>,
    },
    /// A configuration file that cannot be read.
    #[error("the configuration `{}` cannot be read", path.display())]
    ConfigFile {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A message that is not in a provider's shape.
    #[error("not {shape} at `{at}`: expected {expected}")]
    Wire {
        /// Whose shape.
        shape: &'static str,
        /// Where.
        at: String,
        /// What belongs there.
        expected: &'static str,
    },
}

impl Error {
    pub(crate) fn config(problems: Vec<ConfigProblem>) -> Self {
        Self::Config { problems }
    }
}

fn told(problems: &[ConfigProblem]) -> String {
    let count = match problems.len() {
        1 => "has a problem".to_owned(),
        PROBLEMS.. => format!("has many problems, of which {PROBLEMS} are told"),
        count => format!("has {count} problems"),
    };
    problems.iter().take(PROBLEMS).fold(count, |told, problem| format!("{told}\n  {problem}"))
}

fn listed(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
