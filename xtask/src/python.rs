//! The Python package: built, installed as its users install it, and tested.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Failed, servers, target};

/// Builds the package into a virtual environment and runs everything that must hold of it.
pub(crate) fn test() -> Result<(), Failed> {
    let folder = servers::package()?;
    let ruff = || Command::new(folder.join("bin/ruff"));
    run("formatting", ruff().args(["format", "--quiet", "--check", "python"]))?;
    run("lints", ruff().args(["check", "--quiet", "python"]))?;
    install(&folder, &[])?;
    // From elsewhere, so that what is installed is tested, and not what lies here.
    let python = || {
        let mut command = Command::new(folder.join("bin/python"));
        command.current_dir("python/tests").env("XDG_DATA_HOME", target().join("tests/data"));
        command
    };
    run("types", python().args(["-m", "mypy", "--strict", "--package", "breakfall"]))?;
    run("stubs", python().args(["-m", "mypy.stubtest", "breakfall._breakfall"]))?;
    run("examples in docstrings", python().args(DOCTESTS))?;
    run("tests", python().args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider", "."]))?;
    run("the example", python().arg("../examples/agent.py"))
}

const DOCTESTS: &[&str] = &[
    "-m",
    "pytest",
    "--quiet",
    "-p",
    "no:cacheprovider",
    "--doctest-modules",
    "--pyargs",
    "breakfall",
];

/// What a call costs in our node, beside LangGraph's own and what else people use. The figures are
/// left in `bench/python.json` where cargo builds.
pub(crate) fn bench(options: &[&str]) -> Result<(), Failed> {
    let folder = servers::python_peers()?;
    install(&folder, &["--release"])?;
    let figures = target().join("bench");
    std::fs::create_dir_all(&figures).map_err(|error| format!("{}: {error}", figures.display()))?;
    run(
        "bench",
        Command::new(folder.join("bin/python"))
            .args(["python/benches/node.py", "--json"])
            .arg(figures.join("python.json"))
            .args(options),
    )
}

/// Builds the wheel and puts it into the virtual environment.
fn install(folder: &Path, options: &[&str]) -> Result<(), Failed> {
    let wheels = target().join("wheels");
    // Whichever lies there is of an earlier build.
    if wheels.exists() {
        std::fs::remove_dir_all(&wheels)
            .map_err(|error| format!("{}: {error}", wheels.display()))?;
    }
    run(
        "wheel",
        Command::new(folder.join("bin/maturin"))
            .args(["build", "--quiet", "--manifest-path", "python/Cargo.toml", "--out"])
            .arg(&wheels)
            .arg("--interpreter")
            .arg(folder.join("bin/python"))
            .args(options),
    )?;
    let built: Vec<PathBuf> = std::fs::read_dir(&wheels)
        .map_err(|error| format!("{}: {error}", wheels.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    let wheel = built.first().and_then(|wheel| wheel.to_str()).ok_or("no wheel was built")?;
    println!("== python: installation");
    // The version does not change with every build.
    servers::pip(folder, &[wheel], &["--force-reinstall", "--no-deps"])
}

fn run(step: &str, command: &mut Command) -> Result<(), Failed> {
    println!("== python: {step}");
    let status = command.status().map_err(|error| format!("{step} did not start: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("python: {step} failed ({status})")) }
}
