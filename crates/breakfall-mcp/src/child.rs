//! A command becomes a process in a group of its own, whose lines are read and written.

use std::collections::VecDeque;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{ChildStdin, ChildStdout};

use crate::error::Error;
use crate::lines::Lines;
use crate::patience::Source;
use crate::servers::Command;
use crate::watchdog::Watchdog;

/// How much of what a server writes to its standard error is kept.
const KEPT: usize = 16 << 10;

/// How long a server has to end by itself, and then after being asked to.
const PATIENCE: Duration = Duration::from_secs(1);

/// Variables that every program may know.
const HARMLESS: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "VIRTUAL_ENV",
];

/// A server's process.
pub(crate) struct Child {
    process: tokio::process::Child,
    group: u32,
    watchdog: Option<Arc<Watchdog>>,
    pub(crate) stderr: Tail,
}

/// The last that a server wrote to its standard error.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Tail {
    pub(crate) fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (head, tail) = kept.as_slices();
        String::from_utf8_lossy(&[head, tail].concat()).trim().to_owned()
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes);
        let excess = kept.len().saturating_sub(KEPT);
        kept.drain(..excess);
    }
}

/// Starts a server.
pub(crate) fn spawn(
    command: &Command,
    watchdog: Option<Arc<Watchdog>>,
) -> Result<(Child, ChildStdin, Lines<BufReader<ChildStdout>>), Error> {
    let failed = |source| Error::Start { program: command.program.clone(), source };
    let mut starting = tokio::process::Command::new(&command.program);
    starting
        .args(&command.arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    if !command.inherits_variables {
        starting.env_clear();
        let harmless = |(name, _): &(std::ffi::OsString, _)| {
            name.to_str().is_some_and(|name| HARMLESS.contains(&name) || name.starts_with("LC_"))
        };
        starting.envs(std::env::vars_os().filter(harmless));
    }
    for variable in &command.withheld {
        starting.env_remove(variable);
    }
    starting.envs(&command.variables);
    if let Some(directory) = &command.directory {
        starting.current_dir(directory);
    }
    let mut process = starting.spawn().map_err(failed)?;
    let group = process.id().unwrap_or_default();
    if let Some(watchdog) = &watchdog {
        watchdog.minds(group);
    }
    let no_pipe = || failed(std::io::Error::other("no pipe"));
    let stdin = process.stdin.take().ok_or_else(no_pipe)?;
    let stdout = process.stdout.take().ok_or_else(no_pipe)?;
    let stderr = process.stderr.take().ok_or_else(no_pipe)?;
    let tail = Tail::default();
    tokio::spawn(drain(stderr, tail.clone()));
    let source = Source::server(&stdout);
    let lines = Lines::new(BufReader::with_capacity(64 << 10, stdout)).held_with(source);
    Ok((Child { process, group, watchdog, stderr: tail }, stdin, lines))
}

/// Keeps the last of what comes, and never lets the writer wait.
async fn drain(from: impl AsyncRead + Unpin, into: Tail) {
    let mut from = BufReader::new(from);
    while let Ok(bytes) = from.fill_buf().await {
        if bytes.is_empty() {
            return;
        }
        into.push(bytes);
        let taken = bytes.len();
        from.consume(taken);
    }
}

impl Child {
    /// Waits until it has failed. One that ends well may have left another to go on for it.
    pub(crate) async fn failed(&mut self) {
        if self.process.wait().await.is_ok_and(|status| status.success()) {
            std::future::pending::<()>().await;
        }
    }

    /// Ends the process and everything in its group, and waits until it is gone: its input is
    /// closed by now; then it is asked, then made to.
    pub(crate) async fn end(mut self) -> Option<std::process::ExitStatus> {
        for signal in [None, Some(Signal::TERM), Some(Signal::KILL)] {
            if let Some(signal) = signal {
                self.signal(signal);
            }
            if let Ok(Ok(status)) = tokio::time::timeout(PATIENCE, self.process.wait()).await {
                // What it started may still be there.
                self.signal(Signal::KILL);
                self.forgotten();
                return Some(status);
            }
        }
        None
    }

    fn signal(&self, signal: Signal) {
        let group = i32::try_from(self.group).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ = kill_process_group(group, signal);
        }
    }

    fn forgotten(&self) {
        if let Some(watchdog) = &self.watchdog {
            watchdog.forgets(self.group);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Already reaped, the number may belong to somebody else.
        if self.process.id().is_some() {
            self.signal(Signal::KILL);
            self.forgotten();
        }
    }
}
