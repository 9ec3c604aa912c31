//! What everything costs: each part leaves its figures, and the page is written from them.

mod compile;
mod curves;
mod figures;
pub(crate) mod gungraun;
mod library;
mod machine;
mod page;
mod plot;
mod store;
mod words;

use std::process::Command;
use std::time::Instant;

pub(crate) use words::grouped;

use crate::{Failed, cargo, counts, python, servers, target};
use figures::Part;

/// One part, or all of them in one go, and then the page. A part that fails keeps no other from
/// being measured.
pub(crate) fn bench(words: &[&str]) -> Result<(), Failed> {
    let mut failed = Vec::new();
    match words {
        [] => {
            for part in Part::ALL {
                if let Err(error) = run(part, &[]) {
                    eprintln!("error: {error}");
                    failed.push(part.name());
                }
            }
        }
        ["page"] => {}
        [name, options @ ..] => {
            let part = Part::ALL.into_iter().find(|part| part.name() == *name);
            run(part.ok_or_else(|| format!("there is no bench `{name}`"))?, options)?;
        }
    }
    page::write()?;
    if failed.is_empty() { Ok(()) } else { Err(format!("not measured: {}", failed.join(", "))) }
}

/// Runs a part, with the options of the script that it is, and stamps what it left.
fn run(part: Part, options: &[&str]) -> Result<(), Failed> {
    if !options.is_empty() && !matches!(part, Part::Curves | Part::Guard | Part::Python) {
        return Err(format!("`bench {}` takes no options", part.name()));
    }
    let began = Instant::now();
    match part {
        Part::Counts => part.leave(&figures::counts(&counts::run()?))?,
        Part::Library => part.leave(&library::run()?)?,
        Part::Curves => part.leave(&curves::run(options)?)?,
        Part::Store => part.leave(&store::run()?)?,
        Part::Guard => guard(options)?,
        Part::Compile => part.leave(&compile::run()?)?,
        Part::Python => python::bench(options)?,
    }
    println!("== {}: {} s", part.name(), began.elapsed().as_secs());
    part.stamp(&machine::found())
}

/// The program between real clients and real servers, beside its peers.
fn guard(options: &[&str]) -> Result<(), Failed> {
    servers::servers()?;
    servers::peers()?;
    cargo("program", &["build", "--quiet", "--release", "--package", "breakfall-cli"], &[])?;
    let status = Command::new("e2e/bench.py")
        .args(options)
        .arg("--json")
        .arg(Part::Guard.file()?)
        .arg("--")
        .arg(target().join("release/breakfall"))
        .status()
        .map_err(|error| format!("e2e/bench.py did not start: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("e2e/bench.py failed ({status})")) }
}
