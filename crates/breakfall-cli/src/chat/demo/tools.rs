//! Tools that really fail: nobody listens, nothing comes, an index is out of bounds, a disk is full,
//! a token is missing.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use breakfall::{Effect, Entry, Failure, blocking, function};
use breakfall_mcp::files;
use serde_json::Value;

use super::service;
use crate::failed::Failed;

/// Where every write fails.
pub(super) const FULL: &str = "/dev/full";

pub(super) fn all(folder: &Path) -> Result<Vec<Entry>, Failed> {
    let failed = |error| Failed::new("could not prepare the demonstration").because(error);
    let mut all = files(folder).map_err(failed)?;
    let service = service::start().map_err(failed)?;
    let ask = |name: &str, about: &str, path: &'static str| {
        blocking(name, about, move |_: Value| service::get(service, path)).effect(Effect::ReadOnly)
    };
    let at = |name: &str| folder.join(name);
    let (notes, parent, token) = (at("notes.md"), at(""), at("token"));
    let (disk, full) = (at("report.txt"), at("full"));
    all.extend([
        ask("weather", "Tells the weather.", "/weather"),
        ask("prices", "Tells prices.", "/prices"),
        ask("translate", "Translates a text.", "/translate"),
        blocking("calendar", "Lists days.", move |_: Value| {
            let text = service::get(service, "/calendar")?;
            let days = serde_json::from_str::<Value>(&text);
            days.map_err(|error| Failure::invalid_output("it is no JSON").caused_by(error))
        })
        .effect(Effect::ReadOnly),
        blocking("make_notes", "Makes new notes.", move |_: Value| {
            File::create_new(&notes).map(|_| "made").map_err(|error| match error.kind() {
                std::io::ErrorKind::AlreadyExists => Failure::conflict("notes.md"),
                _ => error.into(),
            })
        }),
        blocking("remove_folder", "Removes a folder.", move |_: Value| {
            std::fs::remove_dir(&parent).map_err(Failure::from)
        }),
        blocking("check_notes", "Checks notes.", |_: Value| checked()),
        blocking("fetch", "Fetches a page.", |_: Value| fetched()).effect(Effect::ReadOnly),
        function("wait_for_ever", "Waits.", |_: Value| {
            std::future::pending::<Result<(), Failure>>()
        }),
        function("run_query", "Runs a query.", |_: Value| async { Ok::<_, Failure>(queried(&[])) }),
        function("old_search", "Searches as before.", |_: Value| async { Ok::<_, Failure>("") }),
        blocking("github", "Lists issues.", move |_: Value| {
            let found = std::fs::read_to_string(&token).map(|_| "#7 the conversation goes on");
            found.map_err(|_| Failure::authentication("GITHUB_TOKEN"))
        })
        .effect(Effect::ReadOnly),
        blocking("save_report", "Saves the report.", move |_: Value| {
            let file = if full.exists() { Path::new(FULL) } else { &disk };
            let saved = OpenOptions::new().append(true).create(true).open(file);
            saved.and_then(|mut file| file.write_all(b"report")).map_err(Failure::from)
        }),
        function("make_report", "Makes the yearly report.", |_: Value| async {
            tokio::time::sleep(Duration::from_mins(1)).await;
            Ok::<_, Failure>("made")
        }),
    ]);
    Ok(all)
}

/// A program that complains: this one, asked for a command that it does not have.
fn checked() -> Result<String, Failure> {
    let output = Command::new(std::env::current_exe()?).arg("check-notes").output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let first = said.lines().next().unwrap_or_default().to_owned();
    if output.status.success() { Ok(first) } else { Err(Failure::execution(first)) }
}

/// Nobody listens on a port that was free a moment ago.
fn fetched() -> Result<String, Failure> {
    let free = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    TcpStream::connect(free)?;
    Ok(String::new())
}

/// A fault as programs have them.
fn queried(rows: &[&str]) -> String {
    let first = rows.len();
    rows[first].to_owned()
}
