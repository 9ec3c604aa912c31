//! A small toolbox for a machine without any server: files under one directory, to be read.

use std::collections::VecDeque;
use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};

use breakfall::{Effect, Entry, Failure, blocking};
use schemars::JsonSchema;
use serde::Deserialize;

/// The largest part of a file that is read.
const READ: u64 = 256 << 10;

/// How many entries a list has, how many files a search opens, and how many lines it finds.
const LISTED: usize = 1_000;
const OPENED: usize = 20_000;
const FOUND: usize = 200;

/// Directories that nobody means to search.
const SKIPPED: &[&str] = &[".git", "node_modules", "target", ".venv", "__pycache__"];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct List {
    /// The directory, relative to the root.
    #[serde(default = "here")]
    path: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadFile {
    /// The file, relative to the root.
    path: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    /// The text to look for, as it is written.
    query: String,
    /// The directory to look in, relative to the root.
    #[serde(default = "here")]
    path: String,
}

fn here() -> String {
    ".".to_owned()
}

/// Tools that list, read and search the files under a directory.
pub fn files(root: &Path) -> std::io::Result<Vec<Entry>> {
    let root = root.canonicalize()?;
    let (one, two, three) = (root.clone(), root.clone(), root);
    let tools = [
        blocking("list_files", "Lists the entries of a directory.", move |List { path }| {
            list(&inside(&one, &path)?)
        }),
        blocking("read_file", "Reads a text file.", move |ReadFile { path }| {
            read(&inside(&two, &path)?)
        }),
        blocking(
            "search_files",
            "Finds a text in the files under a directory: one line for each place.",
            move |Search { query, path }| search(&three, &inside(&three, &path)?, &query),
        ),
    ];
    Ok(tools.map(|tool| tool.effect(Effect::ReadOnly)).into())
}

/// The real place of a path, if that is under the root.
fn inside(root: &Path, path: &str) -> Result<PathBuf, Failure> {
    let found = root.join(path).canonicalize().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::not_found(path),
        _ => error.into(),
    })?;
    if found.starts_with(root) { Ok(found) } else { Err(Failure::permission(path)) }
}

fn list(directory: &Path) -> Result<String, Failure> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory)?.take(LISTED) {
        let entry = entry?;
        let slash = if entry.file_type()?.is_dir() { "/" } else { "" };
        names.push(format!("{}{slash}", entry.file_name().to_string_lossy()));
    }
    names.sort();
    if names.is_empty() { Ok("(empty)".to_owned()) } else { Ok(names.join("\n")) }
}

fn read(file: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    std::fs::File::open(file)?.take(READ + 1).read_to_end(&mut bytes)?;
    let is_cut = bytes.len() as u64 > READ;
    bytes.truncate(usize::try_from(READ).unwrap_or(usize::MAX));
    if bytes.contains(&0) {
        return Err(Failure::invalid("path", "it must be a text file"));
    }
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if is_cut {
        let _ = write!(text, "\n[cut after {READ} bytes]");
    }
    Ok(text)
}

fn search(root: &Path, from: &Path, query: &str) -> Result<String, Failure> {
    if query.is_empty() {
        return Err(Failure::invalid("query", "it must not be empty"));
    }
    let mut found = Vec::new();
    let mut opened = 0;
    let mut waiting = VecDeque::from([from.to_owned()]);
    while let Some(place) = waiting.pop_front() {
        if place.is_dir() {
            let mut inside: Vec<PathBuf> = std::fs::read_dir(&place)
                .into_iter()
                .flatten()
                .filter_map(|entry| Some(entry.ok()?.path()))
                // A link may lead out of the root, or round in a circle.
                .filter(|path| !path.is_symlink() && !is_skipped(path))
                .collect();
            inside.sort();
            waiting.extend(inside);
            continue;
        }
        opened += 1;
        if opened > OPENED {
            found.push(format!("[stopped after {OPENED} files]"));
            break;
        }
        let Ok(text) = read(&place) else { continue };
        let name = place.strip_prefix(root).unwrap_or(&place).display().to_string();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| line.contains(query)) {
            let line: String = line.trim().chars().take(200).collect();
            found.push(format!("{name}:{}: {line}", number + 1));
            if found.len() == FOUND {
                found.push(format!("[stopped after {FOUND} places]"));
                return Ok(found.join("\n"));
            }
        }
    }
    if found.is_empty() { Ok("nothing found".to_owned()) } else { Ok(found.join("\n")) }
}

fn is_skipped(path: &Path) -> bool {
    path.file_name().is_some_and(|name| SKIPPED.iter().any(|skipped| name == *skipped))
}
