//! A process of its own that outlives the guard for a moment: when the guard is gone, however it
//! went, it ends the process groups of the servers.

use std::collections::BTreeSet;
use std::io::{BufRead, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// How long a server has between being asked to end and being ended.
const GRACE: Duration = Duration::from_secs(1);

/// The guard's end of the line to its watchdog.
#[derive(Debug)]
pub struct Watchdog(Mutex<ChildStdin>);

impl Watchdog {
    /// Starts the watchdog: a program that calls [`watch`].
    pub fn start(program: &Path, arguments: &[&str]) -> std::io::Result<Self> {
        let mut child = Command::new(program)
            .args(arguments)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A signal from the terminal ends the guard, and then the watchdog has work to do.
            .process_group(0)
            .spawn()?;
        let stdin = child.stdin.take().ok_or_else(|| std::io::Error::other("no pipe"))?;
        Ok(Self(Mutex::new(stdin)))
    }

    pub(crate) fn minds(&self, group: u32) {
        self.tell(format_args!("+{group}\n"));
    }

    pub(crate) fn forgets(&self, group: u32) {
        self.tell(format_args!("-{group}\n"));
    }

    fn tell(&self, line: std::fmt::Arguments<'_>) {
        let mut stdin = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A watchdog that is gone cannot be told; the servers still see their input end.
        let _ = stdin.write_fmt(line);
    }
}

/// The watchdog's work: minds the groups that it is told of, until nobody tells it any more.
pub fn watch(told: impl BufRead) {
    let mut groups = BTreeSet::new();
    for line in told.lines() {
        let Ok(line) = line else { break };
        if let Some(group) = line.strip_prefix('+').and_then(|group| group.parse::<i32>().ok()) {
            groups.insert(group);
        } else if let Some(group) = line.strip_prefix('-').and_then(|g| g.parse::<i32>().ok()) {
            groups.remove(&group);
        }
    }
    for signal in [Signal::TERM, Signal::KILL] {
        for group in groups.iter().filter_map(|group| Pid::from_raw(*group)) {
            let _ = kill_process_group(group, signal);
        }
        if groups.is_empty() || signal == Signal::KILL {
            return;
        }
        std::thread::sleep(GRACE);
    }
}
