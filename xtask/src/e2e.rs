//! The guard between real servers and real clients.

use std::process::Command;

use crate::{Failed, cargo, servers, target};

/// One of the scripts: what it shows, and its arguments.
type Script = (&'static str, &'static [&'static str]);

/// Every client there is, in every case, and every kill.
const ALL: &[Script] =
    &[("run.py", &[]), ("over_http.py", &[]), ("once.py", &[]), ("orphans.py", &[])];

/// The clients that most people have, and some of the kills: nobody waits an hour for a test.
const SOME: &[Script] = &[
    ("run.py", &["--client", "python", "--client", "typescript-1", "--client", "langgraph"]),
    ("over_http.py", &["--client", "python-auto", "--client", "typescript"]),
    ("once.py", &["--kills", "60"]),
    ("orphans.py", &["--times", "20"]),
];

const OTHERS: &[Script] = &[
    ("page.py", &[]),
    ("pipeline.py", &[]),
    ("load.py", &[]),
    ("conformance.py", &[]),
    ("conformance.py", &["--upstream", "stdio"]),
];

/// Installs what is needed and runs all of it, or enough of it.
pub(crate) fn e2e(all: bool) -> Result<(), Failed> {
    servers::servers()?;
    cargo("the program", &["build", "--quiet", "--package", "breakfall-cli"], &[])?;
    let program = target().join("debug/breakfall");
    let program = program.to_str().ok_or("the target directory is not UTF-8")?;
    // What fails here is nothing that the user of this machine wants to read of.
    let kept = target().join("tests/data");
    let scripts = if all { ALL } else { SOME };
    for (script, arguments) in scripts.iter().chain(OTHERS) {
        println!("== end to end: e2e/{script} {}", arguments.join(" "));
        let mut command = Command::new("python3");
        command.env("XDG_DATA_HOME", &kept);
        command.arg(format!("e2e/{script}")).args(*arguments).args(["--", program]);
        // These start the guard themselves, on a port.
        if !matches!(*script, "conformance.py" | "over_http.py" | "page.py") {
            command.args(["guard", "--"]);
        }
        let status =
            command.status().map_err(|error| format!("e2e/{script} did not start: {error}"))?;
        if !status.success() {
            return Err(format!("e2e/{script} failed ({status})"));
        }
    }
    Ok(())
}
