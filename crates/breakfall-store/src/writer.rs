//! Takes records off the path of calls and writes them in batches: calls never wait for the store.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use breakfall::{Record, Sink};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::backend::{Backend, Place};
use crate::batch::{Batch, Thinner, new_id};
use crate::recovery::Runs;
use crate::row::Row;
use crate::spool::Spool;
use crate::sweep::Keep;

/// How many records wait to be written; more are lost, and counted.
const WAITING: usize = 8_192;

/// How many are written at once, and how long the first of them waits.
const TOGETHER: usize = 1_000;
const WAIT: Duration = Duration::from_millis(200);

/// How many batches wait in memory for a database that is not there and has no spool.
const HELD: usize = 16;

/// How long a database that is not there is left alone.
const AGAIN: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(30);

/// How often old records are deleted.
const SWEEPING: Duration = Duration::from_mins(10);

/// Keeps every record. Dropped, it writes what it has.
pub struct Keeper {
    rows: Option<mpsc::Sender<Row>>,
    state: Arc<State>,
    done: Option<std::thread::JoinHandle<()>>,
}

/// How the keeping goes, for whoever wants to show it.
#[derive(Debug, Default)]
struct State {
    lost: AtomicU64,
    written: AtomicU64,
    is_away: AtomicBool,
}

/// How the keeping goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Keeping {
    /// Records that could not be kept, not even later.
    pub lost: u64,
    /// Records that are kept.
    pub written: u64,
    /// Whether the database cannot be reached now.
    pub is_away: bool,
}

impl Keeper {
    /// Keeps records in a database, which need not be there yet.
    pub(crate) fn start(place: Place, node: String, keep: Keep) -> std::io::Result<Self> {
        let (rows, waiting) = mpsc::channel(WAITING);
        let state = Arc::new(State::default());
        let writer = Writer {
            spool: Spool::beside(&place),
            place,
            node,
            keep,
            state: Arc::clone(&state),
            backend: None,
            held: VecDeque::new(),
            runs: Runs::default(),
            thinner: Thinner::default(),
            told_lost: 0,
        };
        // A runtime of its own: one that is busy or ends with the calls must not take records along.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let done = std::thread::Builder::new()
            .name("breakfall-store".to_owned())
            .spawn(move || runtime.block_on(writer.run(waiting)))?;
        Ok(Self { rows: Some(rows), state, done: Some(done) })
    }

    /// How the keeping goes.
    pub fn keeping(&self) -> Keeping {
        Keeping {
            lost: self.state.lost.load(Ordering::Relaxed),
            written: self.state.written.load(Ordering::Relaxed),
            is_away: self.state.is_away.load(Ordering::Relaxed),
        }
    }
}

impl Sink for Keeper {
    fn take(&self, record: &Record) {
        let Some(rows) = &self.rows else { return };
        match rows.try_reserve() {
            Ok(place) => place.send(Row::of(record)),
            Err(_) => {
                self.state.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.rows = None;
        if let Some(done) = self.done.take() {
            let _ = done.join();
        }
    }
}

struct Writer {
    place: Place,
    node: String,
    keep: Keep,
    state: Arc<State>,
    backend: Option<Backend>,
    /// Batches that wait for the database.
    held: VecDeque<Batch>,
    spool: Option<Spool>,
    runs: Runs,
    thinner: Thinner,
    /// How much of what was lost the database knows.
    told_lost: u64,
}

impl Writer {
    async fn run(mut self, mut rows: mpsc::Receiver<Row>) {
        let mut wait = Duration::ZERO;
        let mut next_try = Instant::now();
        let mut next_sweep = Instant::now();
        let mut is_over = false;
        while !is_over {
            let mut batch = Vec::new();
            is_over = gather(&mut rows, &mut batch).await;
            if let Some(batch) = self.batch(batch, is_over) {
                self.held.push_back(batch);
            }
            if Instant::now() < next_try && !is_over {
                self.put_away();
                continue;
            }
            match self.flush().await {
                Ok(()) => wait = Duration::ZERO,
                Err(error) => {
                    if wait.is_zero() {
                        tracing::warn!(%error, "Records cannot be kept now");
                    }
                    wait = (wait * 2).clamp(AGAIN, LONGEST);
                    next_try = Instant::now() + wait;
                    // A connection that failed once is not worth another try.
                    self.backend = None;
                    self.put_away();
                }
            }
            self.state.is_away.store(!wait.is_zero(), Ordering::Relaxed);
            if let Some(backend) = &self.backend
                && Instant::now() >= next_sweep
            {
                let _ = backend.sweep(&self.keep, now()).await;
                next_sweep = Instant::now() + SWEEPING;
            }
        }
        if let Some(backend) = &self.backend {
            backend.close().await;
        }
    }

    /// The rows as a batch, with what is known of how earlier failures ended.
    fn batch(&mut self, mut rows: Vec<Row>, is_over: bool) -> Option<Batch> {
        let mut recovered = Vec::new();
        for row in &mut rows {
            recovered.extend(self.runs.take(row));
            self.thinner.thin(row);
            if !row.is_kept {
                // Only its counts are written.
                row.body = String::new();
            }
        }
        if is_over {
            recovered.extend(self.runs.give_up());
        }
        let all_lost = self.state.lost.load(Ordering::Relaxed);
        let lost = all_lost - self.told_lost;
        self.told_lost = all_lost;
        let batch = Batch { id: new_id(now()), node: self.node.clone(), rows, recovered, lost };
        (!batch.is_empty()).then_some(batch)
    }

    /// Writes what waits: first what was spooled, so that the order stays.
    async fn flush(&mut self) -> Result<(), crate::Error> {
        let has_spooled = self.spool.as_ref().is_some_and(|spool| !spool.is_empty());
        if self.held.is_empty() && !has_spooled {
            return Ok(());
        }
        if self.backend.is_none() {
            self.backend = Some(Backend::open(&self.place).await?);
        }
        let Some(backend) = &self.backend else { return Ok(()) };
        if let Some(spool) = &mut self.spool {
            while let Some(batch) = spool.first() {
                backend.write(&batch).await?;
                self.state.written.fetch_add(batch.rows.len() as u64, Ordering::Relaxed);
                spool.forget_first();
            }
        }
        while let Some(batch) = self.held.front() {
            backend.write(batch).await?;
            self.state.written.fetch_add(batch.rows.len() as u64, Ordering::Relaxed);
            self.held.pop_front();
        }
        Ok(())
    }

    /// The database is away: what waits goes to the disk, or the oldest is lost.
    fn put_away(&mut self) {
        if let Some(spool) = &mut self.spool {
            while let Some(batch) = self.held.pop_front() {
                if let Err(lost) = spool.push(&batch) {
                    self.state.lost.fetch_add(lost, Ordering::Relaxed);
                }
            }
            return;
        }
        while self.held.len() > HELD {
            if let Some(batch) = self.held.pop_front() {
                // What it knew of earlier losses is told again with the next.
                self.told_lost -= batch.lost;
                self.state.lost.fetch_add(batch.rows.len() as u64, Ordering::Relaxed);
            }
        }
    }
}

/// Takes rows until there are enough, or the first has waited long enough; true at the end.
async fn gather(rows: &mut mpsc::Receiver<Row>, batch: &mut Vec<Row>) -> bool {
    // Also without a record something may wait to be written.
    match tokio::time::timeout(AGAIN, rows.recv()).await {
        Ok(Some(row)) => batch.push(row),
        Ok(None) => return true,
        Err(_) => return false,
    }
    let until = Instant::now() + WAIT;
    while batch.len() < TOGETHER {
        match tokio::time::timeout_at(until, rows.recv()).await {
            Ok(Some(row)) => batch.push(row),
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
    false
}

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}
