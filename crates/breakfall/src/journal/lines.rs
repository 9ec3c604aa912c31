//! A log that a program can read: an event a line, as JSON.
//!
//! Formatting is what a log costs, so every value is written once, escaped as it goes, into a
//! buffer that its thread keeps.

mod escaped;
mod line;

use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use line::Line;
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Up to how many bytes a thread keeps of a buffer.
const KEPT: usize = 64 << 10;

thread_local! {
    static KEPT_LINE: Cell<Line> = const { Cell::new(Line::new()) };
}

/// Writes what is logged, an event a line, as JSON: `time`, `level`, `target`, `message`, and
/// everything else under `fields`. Takes the place of a subscriber where a line should cost next
/// to nothing; spans are not written.
///
/// ```
/// use std::sync::Arc;
///
/// use breakfall::LogLines;
/// use tracing::Level;
///
/// let log = Arc::new(LogLines::new(std::io::stderr()).at_least(Level::WARN));
/// tracing::subscriber::set_global_default(Arc::clone(&log)).unwrap();
/// tracing::warn!(tool_name = "search", attempts = 3, "Tool not available");
/// // {"time":"2026-11-15T13:57:26.123Z","level":"WARN","target":"docs","message":"Tool not
/// // available","fields":{"tool_name":"search","attempts":3}}
/// assert_eq!(log.lost(), 0);
/// ```
#[derive(Debug)]
pub struct LogLines<W> {
    to: Mutex<W>,
    level: Level,
    lost: AtomicU64,
    spans: AtomicU64,
}

impl<W: io::Write> LogLines<W> {
    /// Writes to anything, a line at a time and each line whole. What the writer holds back is its
    /// own to flush.
    pub fn new(to: W) -> Self {
        Self {
            to: Mutex::new(to),
            level: Level::INFO,
            lost: AtomicU64::new(0),
            spans: AtomicU64::new(0),
        }
    }

    /// Leaves out what matters less than this; everything from `INFO` on unless told.
    pub fn at_least(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Lines that could not be written.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    fn write(&self, line: &[u8]) {
        let mut to = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        if to.write_all(line).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl<W: io::Write + Send + 'static> Subscriber for LogLines<W> {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.level
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::from_level(self.level))
    }

    fn event(&self, event: &Event<'_>) {
        // A value that logs while it is written finds a buffer of its own.
        let mut line = KEPT_LINE.try_with(Cell::take).unwrap_or_default();
        self.write(line.of(event, SystemTime::now()));
        if line.bytes() <= KEPT {
            let _ = KEPT_LINE.try_with(|kept| kept.set(line));
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(self.spans.fetch_add(1, Ordering::Relaxed) % (u64::MAX - 1) + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
