//! Writes rows in batches, each once however often it must be tried.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use breakfall::Record;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::time::Instant;

use crate::backend::{Backend, Place};
use crate::batch::{Batch, Thinner, new_id};
use crate::calendar::now;
use crate::error::Error;
use crate::keeper::{Progress, Queued};
use crate::recovery::{Recovered, Runs};
use crate::row::Row;
use crate::spool::Spool;
use crate::sweep::Keep;

/// How many are written at once, and how long the first of them waits.
pub(crate) const TOGETHER: usize = 1_000;
const WAIT: Duration = Duration::from_millis(100);

/// How much waits in memory for a database that is away and has no spool.
const HELD: usize = 16 << 20;

/// How long a database that is away is left alone.
const AGAIN: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(5);

/// How long a database may take, and how long when the process ends.
const WRITING: Duration = Duration::from_secs(10);
const ENDING: Duration = Duration::from_secs(2);

/// How often old records are deleted.
const SWEEPING: Duration = Duration::from_mins(10);

pub(crate) struct Writer {
    place: Place,
    node: String,
    keep: Keep,
    progress: Arc<Progress>,
    backend: Option<Backend>,
    /// Batches that wait for the database.
    held: VecDeque<Batch>,
    spool: Option<Spool>,
    runs: Runs,
    thinner: Thinner,
    /// How much of what was lost the database knows.
    told_lost: u64,
    /// How long the database is left alone, and until when.
    wait: Duration,
    next_try: Instant,
    /// Whether the database has breakers of this process.
    has_breakers: bool,
    /// Which file is open.
    opened: Option<(u64, u64)>,
}

impl Writer {
    pub(crate) fn new(place: Place, node: String, keep: Keep, progress: Arc<Progress>) -> Self {
        Self {
            spool: Spool::beside(&place),
            place,
            node,
            keep,
            progress,
            backend: None,
            held: VecDeque::new(),
            runs: Runs::default(),
            thinner: Thinner::default(),
            told_lost: 0,
            wait: Duration::ZERO,
            next_try: Instant::now(),
            has_breakers: false,
            opened: None,
        }
    }

    pub(crate) async fn run(mut self, mut queue: mpsc::Receiver<Queued>) {
        let mut next_sweep = Instant::now();
        let mut is_over = false;
        while !is_over {
            let mut records = Vec::new();
            is_over = gather(&mut queue, &mut records, &self.progress).await;
            if let Some(batch) = self.batch(&records, is_over) {
                self.held.push_back(batch);
            }
            if is_over {
                let _ = tokio::time::timeout(ENDING, self.flush()).await;
                self.put_away();
            } else if Instant::now() < self.next_try {
                self.put_away();
            } else {
                let flushed = self.flush().await;
                self.flushed(flushed);
            }
            if !is_over && Instant::now() >= next_sweep {
                next_sweep = Instant::now() + self.sweep().await;
            }
        }
        self.end().await;
    }

    /// Deletes some of what is old, and tells when to go on: what waits to be written has its turn.
    async fn sweep(&mut self) -> Duration {
        let Some(backend) = &self.backend else { return SWEEPING };
        let sweeping = tokio::time::timeout(WRITING, backend.sweep(&self.keep, now())).await;
        match sweeping {
            Ok(Ok(false)) => Duration::ZERO,
            Ok(_) => SWEEPING,
            Err(_) => {
                // It does not answer.
                self.backend = None;
                SWEEPING
            }
        }
    }

    /// The database was written, or is left alone for a while.
    fn flushed(&mut self, flushed: Result<(), Error>) {
        let is_new = self.progress.set_away(flushed.is_err());
        let Err(error) = flushed else {
            if is_new {
                tracing::warn!("Records are kept again");
            }
            self.wait = Duration::ZERO;
            return;
        };
        if is_new {
            let why = error.with_causes();
            tracing::warn!(why, "Records cannot be kept now; calls go on");
        }
        self.wait = (self.wait * 2).clamp(AGAIN, LONGEST);
        self.next_try = Instant::now() + self.wait;
        // A connection that failed once is not worth another try.
        self.backend = None;
        self.put_away();
    }

    async fn end(&mut self) {
        let lost: usize = self.held.iter().map(|batch| batch.rows.len()).sum();
        if lost > 0 {
            tracing::warn!(lost, "Records are lost: their database is away");
        }
        let Some(backend) = self.backend.take() else { return };
        let close = async {
            if self.has_breakers {
                let _ = backend.forget_breakers(&self.node).await;
            }
            backend.close().await;
        };
        let _ = tokio::time::timeout(ENDING, close).await;
    }

    /// What is kept of a record. One that cannot be read is lost, and takes no other with it.
    fn row(&mut self, record: &Record) -> Option<Row> {
        let made = catch_unwind(AssertUnwindSafe(|| {
            let mut row = Row::of(record);
            self.thinner.thin(&mut row);
            if row.is_kept {
                row.show(record);
            }
            row
        }));
        if made.is_err() {
            self.progress.lost.fetch_add(1, Ordering::Relaxed);
        }
        made.ok()
    }

    /// The records as a batch, with what is known of how earlier failures ended.
    fn batch(&mut self, records: &[Box<Record>], is_over: bool) -> Option<Batch> {
        let mut rows: Vec<Row> = records.iter().filter_map(|record| self.row(record)).collect();
        let counted = self.progress.overflow().take();
        for mut row in counted {
            self.thinner.thin(&mut row);
            rows.push(row);
        }
        let mut recovered: BTreeMap<String, BTreeMap<Recovered, i64>> = BTreeMap::new();
        let mut know = |(fingerprint, how): (String, Recovered), times: i64| {
            *recovered.entry(fingerprint).or_default().entry(how).or_default() += times;
        };
        for row in &rows {
            for known in self.runs.take(row) {
                know(known, row.times);
            }
            self.has_breakers |= !row.turns.is_empty();
        }
        if is_over {
            for known in self.runs.give_up() {
                know(known, 1);
            }
        }
        let all_lost = self.progress.lost.load(Ordering::Relaxed);
        let lost = all_lost - self.told_lost;
        self.told_lost = all_lost;
        let batch = Batch { id: new_id(now()), node: self.node.clone(), rows, recovered, lost };
        (!batch.is_empty()).then_some(batch)
    }

    /// Writes what waits: first what was spooled.
    async fn flush(&mut self) -> Result<(), Error> {
        let has_spooled = self.spool.as_ref().is_some_and(|spool| !spool.is_empty());
        if self.held.is_empty() && !has_spooled {
            return Ok(());
        }
        if self.opened != self.place.identity() {
            // Somebody took the file away: what is written to it now nobody reads.
            self.backend = None;
        }
        if self.backend.is_none() {
            let opening = tokio::time::timeout(WRITING, Backend::open(&self.place)).await;
            self.backend = Some(opening.unwrap_or(Err(Error::Late))?);
            self.opened = self.place.identity();
        }
        let Some(backend) = &self.backend else { return Ok(()) };
        if let Some(spool) = &mut self.spool {
            let until = Instant::now() + AGAIN;
            while let Some(batch) = spool.first() {
                write(backend, &batch, &self.progress).await?;
                spool.forget_first();
                if Instant::now() >= until {
                    // Who waits in the queue has its turn; the rest of the spool has the next.
                    break;
                }
            }
        }
        while let Some(batch) = self.held.front() {
            write(backend, batch, &self.progress).await?;
            self.held.pop_front();
        }
        Ok(())
    }

    /// The database is away: what waits goes to the disk, or the oldest is lost.
    fn put_away(&mut self) {
        if let Some(spool) = &mut self.spool {
            while let Some(batch) = self.held.pop_front() {
                if let Err(lost) = spool.push(&batch) {
                    self.progress.lost.fetch_add(lost, Ordering::Relaxed);
                }
            }
            return;
        }
        let weight = |batch: &Batch| batch.rows.iter().map(Row::weight).sum::<usize>();
        let mut held: usize = self.held.iter().map(weight).sum();
        while held > HELD
            && let Some(batch) = self.held.pop_front()
        {
            held -= weight(&batch);
            // What it knew of earlier losses is told again with the next.
            self.told_lost -= batch.lost;
            self.progress.lost.fetch_add(batch.calls(), Ordering::Relaxed);
        }
    }
}

/// Writes a batch. One that no database would take is lost, and does not hold up the others.
async fn write(backend: &Backend, batch: &Batch, progress: &Progress) -> Result<(), Error> {
    let written = tokio::time::timeout(WRITING, backend.write(batch)).await;
    match written.unwrap_or(Err(Error::Late)) {
        Ok(()) => {
            progress.written.fetch_add(batch.calls(), Ordering::Relaxed);
            Ok(())
        }
        Err(error) if error.is_of_the_batch() => {
            let why = error.with_causes();
            tracing::error!(why, "Records are lost: the database refuses them");
            // What it knew of earlier losses is lost with it, and told again.
            progress.lost.fetch_add(batch.calls() + batch.lost, Ordering::Relaxed);
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Takes records until there are enough, or the first has waited long enough; true at the end.
#[expect(clippy::vec_box, reason = "they are as they came, and large")]
async fn gather(
    queue: &mut mpsc::Receiver<Queued>,
    records: &mut Vec<Box<Record>>,
    progress: &Progress,
) -> bool {
    // Also without a record something may wait to be written.
    match tokio::time::timeout(AGAIN, queue.recv()).await {
        Ok(Some(Queued::Record(first))) => records.push(first),
        Ok(Some(Queued::End) | None) => return true,
        Err(_) => return false,
    }
    // Nobody waits at the queue meanwhile, so that the calls need not wake anybody.
    let _ = tokio::time::timeout(WAIT, progress.enough.notified()).await;
    let is_over = loop {
        if records.len() >= TOGETHER {
            break false;
        }
        match queue.try_recv() {
            Ok(Queued::Record(record)) => records.push(record),
            Ok(Queued::End) | Err(TryRecvError::Disconnected) => break true,
            Err(TryRecvError::Empty) => break false,
        }
    };
    progress.is_taken(records.iter().map(|record| record.weight()).sum());
    is_over
}
