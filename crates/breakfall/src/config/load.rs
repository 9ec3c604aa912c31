//! Text becomes a checked [`Config`], or every problem at once.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::file::{FallbackTable, FaultTable, File, PhraseTable, SecretTable, UpstreamTable};
use super::problem::{ConfigProblem, PROBLEMS, Written, in_order};
use super::tables::FaultFor;
use super::tree::{Places, Unreadable};
use super::upstreams::ConfiguredUpstream;
use super::{environment, schema, tree};
use crate::{Error, Fallback, PhraseRule, Redactor, SecretRule};

/// The largest file.
const LARGEST: usize = 1 << 20;

/// What the user decided, read from `breakfall.toml` and the environment, and checked.
///
/// ```
/// use breakfall::{Config, Guard};
///
/// let config = Config::from_toml("[defaults]\ntotal_timeout = '20s'", "breakfall.toml")?;
/// let guard = Guard::builder().config(config).build()?;
///
/// let error = Config::from_toml("[defaults]\ntotal_timout = '20s'", "breakfall.toml");
/// let problem = error.unwrap_err().to_string();
/// assert!(problem.contains("breakfall.toml:2:1: `defaults.total_timout`"));
/// assert!(problem.contains("nearest: `total_timeout`"));
/// # Ok::<(), breakfall::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    written: Source,
    pub(super) file: File,
    pub(super) fallbacks: BTreeMap<String, Fallback>,
    pub(super) faults: Vec<FaultFor>,
    pub(super) phrases: Vec<PhraseRule>,
    pub(super) secrets: Vec<SecretRule>,
    pub(super) upstreams: Vec<ConfiguredUpstream>,
}

/// What the user wrote: to put the environment over it, and to speak of it.
#[derive(Clone, Debug)]
struct Source {
    origin: String,
    text: String,
    value: Value,
    places: Places,
}

/// Nothing decided: the defaults.
impl Default for Config {
    fn default() -> Self {
        let value = Value::Object(Map::new());
        Self {
            written: Source {
                origin: "the environment".to_owned(),
                text: String::new(),
                value,
                places: Places::default(),
            },
            file: File::default(),
            fallbacks: BTreeMap::new(),
            faults: Vec::new(),
            phrases: Vec::new(),
            secrets: Vec::new(),
            upstreams: Vec::new(),
        }
    }
}

impl Config {
    /// Reads a configuration; `origin` is what the text is called in problems.
    pub fn from_toml(text: &str, origin: &str) -> Result<Self, Error> {
        if text.len() > LARGEST {
            return Err(too_large(origin));
        }
        let (value, places) = tree::document(text).map_err(|found| {
            let (value, places) = (Value::Null, Places::default());
            let written = Written { origin, text, value: &value, places: &places };
            let mut problems: Vec<_> =
                found.iter().take(PROBLEMS).map(|found| written.unreadable(found)).collect();
            in_order(&mut problems);
            Error::config(problems)
        })?;
        let (origin, text) = (origin.to_owned(), text.to_owned());
        Source { origin, text, value, places }.checked()
    }

    /// Reads a file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let origin = path.display().to_string();
        let mut bytes = Vec::new();
        without_a_wait(path)
            .and_then(|()| std::fs::File::open(path))
            .and_then(|file| file.take(LARGEST as u64 + 1).read_to_end(&mut bytes))
            .map_err(|source| Error::ConfigFile { path: path.to_owned(), source })?;
        if bytes.len() > LARGEST {
            return Err(too_large(&origin));
        }
        match str::from_utf8(&bytes) {
            Ok(text) => Self::from_toml(text, &origin),
            Err(error) => {
                let end = error.valid_up_to();
                let text = String::from_utf8_lossy(&bytes[..end]);
                let why = "this is not UTF-8".to_owned();
                let found = Unreadable { span: end..end, why };
                let (value, places) = (Value::Null, Places::default());
                let written =
                    Written { origin: &origin, text: &text, value: &value, places: &places };
                Err(Error::config(vec![written.unreadable(&found)]))
            }
        }
    }

    /// Puts what the environment says over what the file says.
    ///
    /// `BREAKFALL_DEFAULTS__RETRY__ATTEMPTS` is the key `defaults.retry.attempts`: two underscores
    /// between keys, case does not count, and what a variable's name cannot hold is `_`. The value
    /// is read as TOML where it is TOML, and as text otherwise. Other variables are left alone.
    ///
    /// ```
    /// use breakfall::Config;
    ///
    /// let config = Config::default().with_environment(std::env::vars_os())?;
    /// let config = config.with_environment([("BREAKFALL_DEFAULTS__TOTAL_TIMEOUT", "20s")])?;
    /// # Ok::<(), breakfall::Error>(())
    /// ```
    pub fn with_environment<N: Into<OsString>, V: Into<OsString>>(
        self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Self, Error> {
        let mut written = self.written;
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        let mut problems = environment::apply(variables, &mut written.value, &mut written.places);
        match written.checked() {
            Ok(config) if problems.is_empty() => Ok(config),
            Ok(_) => Err(Error::config(problems)),
            Err(Error::Config { problems: others }) => {
                problems.extend(others);
                Err(Error::config(problems))
            }
            Err(error) => Err(error),
        }
    }

    /// The JSON Schema of the file, for editors.
    pub fn schema() -> Value {
        schema::document().clone()
    }

    /// What the user may not expect, in sentences: nothing of it is wrong.
    pub fn notes(&self) -> Vec<String> {
        let count = self.faults.len();
        match (count, self.makes_faults()) {
            (0, _) => Vec::new(),
            (_, false) => vec![format!(
                "{} ignored: `guard.faults` is not `true`",
                counted(count, "`[[fault]]` table is", "`[[fault]]` tables are")
            )],
            (_, true) => vec![format!(
                "{} on: calls fail on purpose, and their records say so",
                counted(count, "fault is", "faults are")
            )],
        }
    }

    pub(super) fn makes_faults(&self) -> bool {
        self.file.guard.faults == Some(true)
    }
}

impl Source {
    fn checked(self) -> Result<Config, Error> {
        let Self { origin, text, value, places } = &self;
        let written = Written { origin, text, value, places };
        let mut meaning = Meaning { written, problems: written.check() };
        let fallbacks = meaning.fallbacks();
        let upstreams = meaning.upstreams();
        let faults = meaning.tables("fault", None, |table: FaultTable| table.fault());
        let secrets = meaning.tables("secret", Some("regex"), |table: SecretTable| {
            let rule = table.rule();
            let usable = Redactor::default().add_rule(rule.clone());
            usable.map(|()| rule).map_err(|error| error.to_string())
        });
        if !meaning.problems.is_empty() {
            in_order(&mut meaning.problems);
            return Err(Error::config(meaning.problems));
        }
        // What the schema accepts serde reads; were it otherwise, it is a problem and no panic.
        let file: File = serde_json::from_value(value.clone())
            .map_err(|error| Error::config(vec![written.remark::<&str>(&[], error.to_string())]))?;
        let phrases = file.phrase.iter().map(PhraseTable::rule).collect();
        Ok(Config { written: self, file, fallbacks, faults, phrases, secrets, upstreams })
    }
}

/// Takes what tables mean, and why some mean nothing. A table that the schema does not accept is
/// left out: its problem is known.
struct Meaning<'a> {
    written: Written<'a>,
    problems: Vec<ConfigProblem>,
}

impl Meaning<'_> {
    fn fallbacks(&mut self) -> BTreeMap<String, Fallback> {
        let tools = self.written.value.get("tools").and_then(Value::as_object);
        let given = tools.into_iter().flatten().filter_map(|(tool, table)| {
            let meant = |table: FallbackTable| table.fallback(tool);
            let fallback = self.of(&["tools", tool, "fallback"], table.get("fallback")?, meant)?;
            Some((tool.clone(), fallback))
        });
        given.collect()
    }

    fn upstreams(&mut self) -> Vec<ConfiguredUpstream> {
        let upstreams = self.written.value.get("upstreams").and_then(Value::as_object);
        let given = upstreams.into_iter().flatten().filter_map(|(key, table)| {
            self.of(&["upstreams", key], table, |table: UpstreamTable| table.reached(key))?
        });
        given.collect()
    }

    /// What every table of a list means; `culprit` is the key that is to blame where one means
    /// nothing.
    fn tables<T: DeserializeOwned, M>(
        &mut self,
        name: &str,
        culprit: Option<&str>,
        meant: impl Fn(T) -> Result<M, String>,
    ) -> Vec<M> {
        let tables = self.written.value.get(name).and_then(Value::as_array);
        let numbered = tables.into_iter().flatten().enumerate();
        numbered
            .filter_map(|(index, table)| {
                let index = index.to_string();
                let path: Vec<&str> = [name, &index].into_iter().chain(culprit).collect();
                self.of(&path, table, &meant)
            })
            .collect()
    }

    fn of<T: DeserializeOwned, M>(
        &mut self,
        path: &[&str],
        table: &Value,
        meant: impl Fn(T) -> Result<M, String>,
    ) -> Option<M> {
        let known = self.written.key(path);
        if self.problems.iter().any(|one| one.problem.path.starts_with(&known)) {
            return None;
        }
        let meant = meant(serde_json::from_value(table.clone()).ok()?);
        meant.map_err(|why| self.problems.push(self.written.remark(path, why))).ok()
    }
}

/// Whether a file can be opened without waiting for who writes it. What a shell hands over has a
/// writer.
fn without_a_wait(path: &Path) -> std::io::Result<()> {
    let kind = std::fs::metadata(path)?.file_type();
    let is_handed_over = path.starts_with("/dev") || path.starts_with("/proc");
    if kind.is_file() || kind.is_dir() || is_handed_over {
        return Ok(());
    }
    Err(std::io::Error::other("it is no file"))
}

fn too_large(origin: &str) -> Error {
    let (value, places) = (Value::Null, Places::default());
    let written = Written { origin, text: "", value: &value, places: &places };
    Error::config(vec![written.remark::<&str>(&[], "the file is larger than 1 MiB".to_owned())])
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
