//! What really passes between the guard and its servers, kept for whoever wants to look or to play it
//! again.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use breakfall::Redactor;
use serde_json::value::RawValue;

use crate::error::Error;
use crate::fields::raw;

/// How many lines wait for the disk; more are left out, and counted.
const WAITING: usize = 4096;

/// Keeps what passes in files of a directory, one for each server and session, without secrets.
#[derive(Debug)]
pub struct Recorder {
    directory: PathBuf,
    next: AtomicU64,
    unwritten: Arc<AtomicU64>,
}

/// What passes between the guard and one server.
#[derive(Debug)]
pub(crate) struct Recording {
    lines: SyncSender<(Way, String, f64)>,
    since: Instant,
    left_out: AtomicU64,
    unwritten: Arc<AtomicU64>,
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    To,
    From,
    /// No message: what happened.
    Note,
}

impl Recorder {
    /// Keeps files in a directory, which is made where there is none.
    pub fn new(directory: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Record { path: directory.to_owned(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed)?;
        let unwritten = Arc::default();
        Ok(Self { directory: directory.to_owned(), next: AtomicU64::new(1), unwritten })
    }

    /// Waits until what passed so far is in its files, at most this long.
    pub fn finish(&self, at_most: Duration) {
        let until = Instant::now() + at_most;
        while self.unwritten.load(Ordering::Acquire) > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// A file for what passes to and from a server, without what this takes out.
    pub(crate) fn open(&self, key: &str, redactor: Redactor) -> Result<Recording, Error> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let name = format!("{key}-{}-{number}.jsonl", std::process::id());
        let path = self.directory.join(name);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let file = file.map_err(|source| Error::Record { path, source })?;
        let (lines, waiting) = sync_channel(WAITING);
        let unwritten = Arc::clone(&self.unwritten);
        std::thread::spawn(move || write(file, &waiting, &unwritten, &redactor));
        let unwritten = Arc::clone(&self.unwritten);
        Ok(Recording { lines, since: Instant::now(), left_out: AtomicU64::new(0), unwritten })
    }
}

impl Recording {
    /// Keeps a line; calls never wait for it.
    pub(crate) fn keep(&self, way: Way, line: &str) {
        let at = self.since.elapsed().as_secs_f64();
        let left_out = self.left_out.swap(0, Ordering::Relaxed);
        let words = || format!("{left_out} messages were left out here");
        if left_out > 0 && !self.send(Way::Note, words(), at) {
            self.left_out.fetch_add(left_out, Ordering::Relaxed);
        }
        if !self.send(way, line.to_owned(), at) {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether there was room for it.
    fn send(&self, way: Way, line: String, at: f64) -> bool {
        self.unwritten.fetch_add(1, Ordering::AcqRel);
        let sent = self.lines.try_send((way, line, at)).is_ok();
        if !sent {
            self.unwritten.fetch_sub(1, Ordering::AcqRel);
        }
        sent
    }
}

fn write(
    file: File,
    lines: &Receiver<(Way, String, f64)>,
    unwritten: &AtomicU64,
    redactor: &Redactor,
) {
    let mut file = BufWriter::new(file);
    while let Ok(first) = lines.recv() {
        let mut written = 0;
        for (way, line, at) in [first].into_iter().chain(lines.try_iter()) {
            let line = redactor.redact(&line);
            let name = match way {
                Way::To => "to",
                Way::From => "from",
                Way::Note => "note",
            };
            // What is no message is kept as the text that it is.
            let kept = match (way, serde_json::from_str::<&RawValue>(&line)) {
                (Way::To | Way::From, Ok(message)) => message.to_owned(),
                _ => raw(&line),
            };
            if writeln!(file, r#"{{"at":{at:.6},"{name}":{kept}}}"#).is_err() {
                return;
            }
            written += 1;
        }
        if file.flush().is_err() {
            return;
        }
        unwritten.fetch_sub(written, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passed_last_is_in_the_file_when_the_recorder_has_finished() {
        let directory = std::env::temp_dir().join(format!("recorder-{}", std::process::id()));
        let recorder = Recorder::new(&directory).unwrap();
        for round in 0..20 {
            let recording = recorder.open("small", Redactor::default()).unwrap();
            for number in 0..100 {
                recording.keep(Way::To, &format!(r#"{{"id":{number}}}"#));
            }
            recorder.finish(Duration::from_secs(10));
            let path = directory.join(format!("small-{}-{}.jsonl", std::process::id(), round + 1));
            assert_eq!(std::fs::read_to_string(path).unwrap().lines().count(), 100, "{round}");
        }
        std::fs::remove_dir_all(directory).unwrap();
    }
}
