//! The log, written by a thread of its own: who starts us and does not read it holds up no call.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How many bytes of lines wait for a reader; more are left out, and counted.
const ROOM: usize = 256 << 10;

/// How long the end of the program waits for the last lines.
const LAST: Duration = Duration::from_millis(500);

/// Takes lines without waiting for who reads them.
#[derive(Clone)]
pub(crate) struct Aside(Arc<Shared>);

struct Shared {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    left_out: u64,
    /// Some were taken, and are not written yet.
    is_writing: bool,
}

impl Waiting {
    fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.left_out == 0
    }
}

impl Aside {
    /// Lines go there. Without a thread there are none: that is no reason to fail.
    pub(crate) fn new(mut to: impl Write + Send + 'static) -> Self {
        let shared = Arc::new(Shared { waiting: Mutex::default(), changed: Condvar::new() });
        let written = Self(Arc::clone(&shared));
        let _ = std::thread::Builder::new().name("breakfall-log".to_owned()).spawn(move || {
            loop {
                written.write_next(&mut to);
            }
        });
        Self(shared)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what waits; what was left out came behind it.
    fn write_next(&self, to: &mut impl Write) {
        let waiting = self.0.changed.wait_while(self.waiting(), |waiting| waiting.is_empty());
        let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
        let Waiting { lines, left_out, .. } =
            std::mem::replace(&mut *waiting, Waiting { is_writing: true, ..Waiting::default() });
        drop(waiting);
        for line in lines {
            let _ = to.write_all(&line);
        }
        if left_out > 0 {
            let _ = writeln!(to, "{left_out} lines of this log are left out: nobody read it");
        }
        let _ = to.flush();
        self.waiting().is_writing = false;
        self.0.changed.notify_all();
    }
}

impl Write for Aside {
    /// A line, whole.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut waiting = self.waiting();
        if waiting.bytes + line.len() > ROOM {
            waiting.left_out += 1;
        } else {
            waiting.bytes += line.len();
            waiting.lines.push_back(line.to_vec());
        }
        drop(waiting);
        self.0.changed.notify_all();
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Waits a moment for the last lines when it is dropped.
#[must_use]
pub(crate) struct Ending(pub(crate) Aside);

impl Drop for Ending {
    fn drop(&mut self) {
        let is_left = |waiting: &mut Waiting| waiting.is_writing || !waiting.is_empty();
        let _ = self.0.0.changed.wait_timeout_while(self.0.waiting(), LAST, is_left);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Takes a line when it is told to.
    struct Slow(mpsc::Receiver<()>, mpsc::Sender<Vec<u8>>);

    impl Write for Slow {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            let _ = self.1.send(line.to_vec());
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_nobody_reads_is_left_out_and_counted() {
        let (go, told) = mpsc::channel();
        let (tell, lines) = mpsc::channel();
        let mut aside = Aside::new(Slow(told, tell));
        let line = [b'x'; 1 << 10];
        for _ in 0..1_000 {
            assert_eq!(aside.write(&line).unwrap(), line.len());
        }
        drop(go);
        drop(Ending(aside));
        let (kept, notes): (Vec<_>, Vec<_>) = lines.try_iter().partition(|said| said == &line);
        let notes = String::from_utf8(notes.concat()).unwrap();
        // It is told each time when there is room again.
        let told = notes.lines().map(|note| note.split(' ').next().unwrap());
        let left_out: usize = told.map(|lines| lines.parse::<usize>().unwrap()).sum();
        assert_eq!(kept.len() + left_out, 1_000, "{notes}");
        assert!(kept.len() >= ROOM / line.len() && left_out > 0, "{left_out}");
    }
}
