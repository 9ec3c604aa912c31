//! Takes records off the path of calls: calls never wait for the store.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use breakfall::{Record, Sink};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Notify, mpsc};

use crate::backend::Place;
use crate::overflow::Overflow;
use crate::row::Row;
use crate::sweep::Keep;
use crate::writer::{TOGETHER, Writer};

/// How many records wait to be written, and how much memory they take; of more only the counts are
/// kept.
const WAITING: usize = 8_192;
const WAITING_BYTES: usize = 32 << 20;

/// Keeps every record. Dropped, it writes what it has.
pub struct Keeper {
    queue: mpsc::Sender<Queued>,
    progress: Arc<Progress>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What waits for the writer.
pub(crate) enum Queued {
    /// As it came: what is kept of it is made where nobody waits.
    Record(Box<Record>),
    /// Nothing comes any more.
    End,
}

/// What the keeper and its writer know of one another.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    pub(crate) lost: AtomicU64,
    pub(crate) written: AtomicU64,
    is_away: AtomicBool,
    /// How many bytes wait to be written.
    waiting: AtomicUsize,
    overflow: Mutex<Overflow>,
    /// So much waits that the writer should not.
    pub(crate) enough: Notify,
}

/// How the keeping goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Keeping {
    /// Records that could not be kept, not even as counts.
    pub lost: u64,
    /// Records that are kept, or counted.
    pub written: u64,
    /// Whether the database cannot be written now.
    pub is_away: bool,
}

impl Keeper {
    /// Keeps records in a database, which need not be there yet.
    pub(crate) fn start(place: Place, node: String, keep: Keep) -> std::io::Result<Self> {
        let (queue, waiting) = mpsc::channel(WAITING);
        let progress = Arc::new(Progress::default());
        let writer = Writer::new(place, node, keep, Arc::clone(&progress));
        // A runtime of its own: one that is busy or ends with the calls must not take records along.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = std::thread::Builder::new()
            .name("breakfall-store".to_owned())
            .spawn(move || runtime.block_on(writer.run(waiting)))?;
        Ok(Self { queue, progress, thread: Mutex::new(Some(thread)) })
    }

    /// How the keeping goes.
    pub fn keeping(&self) -> Keeping {
        Keeping {
            lost: self.progress.lost.load(Ordering::Relaxed),
            written: self.progress.written.load(Ordering::Relaxed),
            is_away: self.progress.is_away.load(Ordering::Relaxed),
        }
    }

    /// Writes what it has, and takes nothing more: for a process that ends while someone still holds
    /// the keeper. It blocks, for seconds at most.
    pub fn end(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return };
        // A full queue is being written.
        while let Err(TrySendError::Full(_)) = self.queue.try_send(Queued::End) {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.progress.enough.notify_one();
        let _ = thread.join();
    }
}

impl Sink for Keeper {
    fn take(&self, record: &Record) {
        let weight = record.weight();
        if self.progress.waits(weight) {
            if self.queue.try_send(Queued::Record(Box::new(record.clone()))).is_ok() {
                if self.queue.capacity() <= WAITING - TOGETHER {
                    self.progress.enough.notify_one();
                }
                return;
            }
            self.progress.is_taken(weight);
        }
        if !self.progress.overflow().count(Row::of(record)) {
            self.progress.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.end();
    }
}

impl Progress {
    /// Makes room for a row that waits; false where there is none.
    fn waits(&self, weight: usize) -> bool {
        let before = self.waiting.fetch_add(weight, Ordering::Relaxed);
        let is_room = before + weight <= WAITING_BYTES;
        if !is_room {
            self.is_taken(weight);
        }
        is_room
    }

    /// A row waits no longer.
    pub(crate) fn is_taken(&self, weight: usize) {
        self.waiting.fetch_sub(weight, Ordering::Relaxed);
    }

    pub(crate) fn overflow(&self) -> MutexGuard<'_, Overflow> {
        self.overflow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The database can be written, or not; tells whether that is new.
    pub(crate) fn set_away(&self, is_away: bool) -> bool {
        self.is_away.swap(is_away, Ordering::Relaxed) != is_away
    }
}
