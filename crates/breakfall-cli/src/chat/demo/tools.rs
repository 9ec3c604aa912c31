//! Tools that really fail: nobody listens, nothing comes, an index is out of bounds, a token is
//! missing.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use breakfall::{Effect, Entry, Failure, blocking, function};
use breakfall_mcp::files;
use serde_json::Value;

use crate::failed::Failed;

pub(super) fn all(folder: &Path) -> Result<Vec<Entry>, Failed> {
    let mut all = files(folder)
        .map_err(|error| Failed::new("could not read the demonstration's files").because(error))?;
    let token = folder.join("token");
    all.extend([
        blocking("fetch", "Fetches a page.", |_: Value| fetched()).effect(Effect::ReadOnly),
        function("wait_for_ever", "Waits.", |_: Value| {
            std::future::pending::<Result<(), Failure>>()
        }),
        function("run_query", "Runs a query.", |_: Value| async { queried(&[]) }),
        blocking("github", "Lists issues.", move |_: Value| {
            match std::fs::read_to_string(&token) {
                Ok(_) => Ok("#7 the conversation goes on"),
                Err(_) => Err(Failure::authentication("GITHUB_TOKEN")),
            }
        })
        .effect(Effect::ReadOnly),
        function("make_report", "Makes the yearly report.", |_: Value| async {
            tokio::time::sleep(Duration::from_mins(1)).await;
            Ok::<_, Failure>("made")
        }),
    ]);
    Ok(all)
}

/// Nobody listens on a port that was free a moment ago.
fn fetched() -> Result<String, Failure> {
    let free = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    TcpStream::connect(free)?;
    Ok(String::new())
}

/// A fault as programs have them.
fn queried(rows: &[&str]) -> Result<String, Failure> {
    let first = rows.len();
    Ok(rows[first].to_owned())
}
