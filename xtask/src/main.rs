//! The project's own commands: `cargo xtask test` checks everything, as CI does.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

mod bench;
mod corpus;
mod counts;
mod e2e;
mod fuzz;
mod python;
mod servers;
mod test;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use serde_json::Value;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test           format, clippy, documentation, counts, a short fuzz, the guard between real servers and
                 real clients, the Python package, tests: everything that must hold
  test --with-model
                 the same, and a conversation with a real small model
  counts         instructions of the hot paths; more than 5 % above those on record fails
  counts --record
                 put the counts of today on record
  bench          everything that is measured, in one go, and the page docs/performance.md
  bench PART     one part alone, and the page with what is there of the others:
                 counts   the hot paths, in instructions
                 library  the same tool through the guard, rig and rmcp
                 python   our tool node beside LangGraph's own and others; takes the options of
                          `python/benches/node.py`
                 guard    the program beside no guard and its peers; takes the options of
                          `e2e/bench.py`
                 compile  the library, built from nothing
                 curves   what grows with what; takes how many failures are recorded at most
                 store    a million failures kept, and told of
  bench page     the page from what is there
  corpus         how well the labelled corpus is read
  corpus learn   count the words of the corpus anew
  fuzz [SECONDS] fuzz each target for this long (60)
  e2e            the guard between real servers and every real client
  e2e model      a conversation with a real small model
  python         the Python package: built, installed and tested
  servers        install the real MCP servers and clients that the guard is tried on";

/// What went wrong, for the person at the terminal.
type Failed = String;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["test"] => test::test(false),
        ["test", "--with-model"] => test::test(true),
        ["counts"] => counts::counts(false),
        ["counts", "--record"] => counts::counts(true),
        ["bench", words @ ..] => bench::bench(words),
        ["python"] => python::test(),
        ["corpus"] => corpus::score(),
        ["corpus", "learn"] => corpus::learn(),
        ["fuzz"] => fuzz::fuzz(60),
        ["fuzz", seconds] => match seconds.parse() {
            Ok(seconds) => fuzz::fuzz(seconds),
            Err(_) => Err(format!("`{seconds}` is not a number of seconds")),
        },
        ["e2e"] => e2e::e2e(true),
        ["e2e", "model"] => e2e::with_model(),
        ["servers"] => servers::servers(),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => Err(format!("unknown command `{}`\n\n{USAGE}", words.join(" "))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs cargo and tells which step failed.
fn cargo(step: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Result<(), Failed> {
    println!("== {step}: cargo {}", arguments.join(" "));
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(arguments)
        .envs(environment.iter().copied())
        .status()
        .map_err(|error| format!("{step}: cargo did not start: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{step} failed ({status})")) }
}

/// Where cargo builds, however it was told.
fn target() -> PathBuf {
    let told = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output();
    told.ok()
        .and_then(|told| serde_json::from_slice::<Value>(&told.stdout).ok())
        .and_then(|told| told["target_directory"].as_str().map(PathBuf::from))
        .unwrap_or_else(|| "target".into())
}
