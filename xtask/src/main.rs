//! The project's own commands: `cargo xtask test` checks everything, as CI does.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::process::{Command, ExitCode};

const USAGE: &str = "usage: cargo xtask test    format, clippy, tests, documentation";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["test"] => test(),
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

/// Everything that must hold before a change lands. The tests come last, so that the runner's
/// closing lines are the last thing printed.
fn test() -> Result<(), String> {
    cargo("formatting", &["fmt", "--all", "--check"], &[])?;
    cargo(
        "clippy",
        &["clippy", "--quiet", "--workspace", "--all-targets", "--", "--deny", "warnings"],
        &[],
    )?;
    cargo(
        "documentation",
        &["doc", "--quiet", "--workspace", "--no-deps", "--document-private-items"],
        &[("RUSTDOCFLAGS", "--deny warnings")],
    )?;
    // A backtrace for each failure that a test provokes costs more than the test.
    cargo("tests", &["test", "--workspace"], &[("RUST_BACKTRACE", "0"), ("INSTA_UPDATE", "no")])
}

fn cargo(step: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Result<(), String> {
    println!("== {step}: cargo {}", arguments.join(" "));
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(arguments)
        .envs(environment.iter().copied())
        .status()
        .map_err(|error| format!("{step}: cargo did not start: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{step} failed ({status})")) }
}
