//! Takes records off the path of calls and sends them to a collector: calls never wait for it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use breakfall::{GuardBuilder, Record, Sink};
use opentelemetry_proto::tonic::trace::v1::Span;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::error::Error;
use crate::metrics::Metrics;
use crate::settings::Settings;
use crate::ship::Shipper;
use crate::spans::{self, Terms};

/// How many calls wait to be sent; more are lost, and counted.
const WAITING: usize = 8_192;

/// How many are sent at once, and how long the first of them waits.
const TOGETHER: usize = 512;
const WAIT: Duration = Duration::from_secs(1);

/// How long what is left may take at the end.
const LEAVING: Duration = Duration::from_secs(2);

/// Sends spans and metrics of calls: one for all guards of the process. It ends with
/// [`Exporter::end`], or when it is dropped.
///
/// ```
/// use std::sync::Arc;
/// use breakfall::{Config, Guard};
/// use breakfall_telemetry::{Exporter, Settings};
///
/// let config = Config::default();
/// let settings = Settings::read(&config.telemetry(), |name| std::env::var(name).ok())?;
/// let mut guard = Guard::builder().config(config);
/// if let Some(settings) = settings {
///     let exporter = Arc::new(Exporter::start(&settings, Arc::default())?);
///     guard = exporter.watch(guard);
/// }
/// # Ok::<(), breakfall_telemetry::Error>(())
/// ```
pub struct Exporter {
    spans: Option<mpsc::Sender<Vec<Span>>>,
    terms: Terms,
    secrets: Vec<String>,
    metrics: Arc<Metrics>,
    state: Arc<State>,
    ending: watch::Sender<bool>,
    done: Mutex<Option<JoinHandle<()>>>,
}

/// How the sending goes.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Calls that were taken over, and those of which it is known what became of them.
    taken: AtomicU64,
    settled: AtomicU64,
    sent: AtomicU64,
}

/// How the sending goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exported {
    /// Calls whose spans the collector has.
    pub sent: u64,
    /// Calls whose spans it will never have.
    pub lost: u64,
}

impl Exporter {
    /// Sends to a collector, which need not be there yet. Calls are counted in `metrics`, which a
    /// page may show as well.
    pub fn start(settings: &Settings, metrics: Arc<Metrics>) -> Result<Self, Error> {
        let (spans, waiting) = mpsc::channel(WAITING);
        let (ending, is_ending) = watch::channel(false);
        let state = Arc::new(State::default());
        let terms = settings.terms.clone();
        let sends_spans = settings.traces.is_some();
        let shipper = Shipper::new(settings, Arc::clone(&metrics), is_ending.clone())?;
        let work = Work {
            shipper,
            state: Arc::clone(&state),
            interval: settings.interval,
            ending: is_ending,
        };
        // A runtime of its own: one that is busy or ends with the calls must not take spans along.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(Error::Thread)?;
        let done = std::thread::Builder::new()
            .name("breakfall-telemetry".to_owned())
            .spawn(move || runtime.block_on(work.run(waiting)))
            .map_err(Error::Thread)?;
        let spans = sends_spans.then_some(spans);
        let (secrets, done) = (settings.secrets(), Mutex::new(Some(done)));
        Ok(Self { spans, terms, secrets, metrics, state, ending, done })
    }

    /// The same guard, whose calls are told of, and that never shows what the collector is told to
    /// let us in. With contents it keeps arguments and outputs,
    /// unless its configuration says otherwise.
    pub fn watch(self: &Arc<Self>, guard: GuardBuilder) -> GuardBuilder {
        let guard = self.secrets.iter().fold(guard, GuardBuilder::redact_value);
        let guard = guard.sink(Arc::clone(self) as Arc<dyn Sink>).trace(true);
        if self.terms.contents { guard.keep_arguments(true).keep_outputs(true) } else { guard }
    }

    /// Sends what there is, for two seconds at most. What comes after that is lost, and counted.
    pub fn end(&self) {
        self.ending.send_replace(true);
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(done) = done {
            let _ = done.join();
        }
    }

    /// The counts.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// How the sending goes.
    pub fn exported(&self) -> Exported {
        Exported { sent: self.state.sent.load(Ordering::Relaxed), lost: self.metrics.lost() }
    }
}

impl Sink for Exporter {
    fn take(&self, record: &Record) {
        self.metrics.take(record);
        let Some(waiting) = &self.spans else { return };
        if !record.trace.as_ref().is_some_and(|trace| trace.is_sampled()) {
            return;
        }
        match waiting.try_reserve() {
            Ok(place) => {
                self.state.taken.fetch_add(1, Ordering::Relaxed);
                place.send(spans::of(record, &self.terms));
            }
            Err(_) => self.metrics.loses(1),
        }
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        self.end();
    }
}

impl std::fmt::Debug for Exporter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exporter").field("exported", &self.exported()).finish_non_exhaustive()
    }
}

struct Work {
    shipper: Shipper,
    state: Arc<State>,
    interval: Duration,
    ending: watch::Receiver<bool>,
}

impl Work {
    async fn run(mut self, waiting: mpsc::Receiver<Vec<Span>>) {
        let mut ending = self.ending.clone();
        let left = async {
            let _ = ending.wait_for(|is_ending| *is_ending).await;
            tokio::time::sleep(LEAVING).await;
        };
        tokio::select! {
            () = self.send_all(waiting) => {}
            () = left => {}
        }
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let left = count(&self.state.taken) - count(&self.state.settled);
        if left > 0 {
            self.shipper.metrics.loses(left);
            tracing::warn!(calls = left, "Telemetry was not sent before the end");
        }
    }

    async fn send_all(&mut self, mut waiting: mpsc::Receiver<Vec<Span>>) {
        let mut next_metrics = Instant::now() + self.interval;
        let mut is_over = false;
        while !is_over {
            let mut batch = Vec::new();
            is_over = self.gather(&mut waiting, &mut batch, next_metrics).await;
            if !batch.is_empty() {
                let calls = batch.len() as u64;
                let is_sent = self.shipper.spans(batch.into_iter().flatten().collect()).await;
                self.state.settled.fetch_add(calls, Ordering::Relaxed);
                if is_sent {
                    self.state.sent.fetch_add(calls, Ordering::Relaxed);
                } else {
                    self.shipper.metrics.loses(calls);
                }
            }
            if is_over || Instant::now() >= next_metrics {
                self.shipper.metrics().await;
                next_metrics = Instant::now() + self.interval;
            }
        }
    }

    /// Takes calls until there are enough, the first has waited long enough, or metrics are due;
    /// true at the end.
    async fn gather(
        &mut self,
        waiting: &mut mpsc::Receiver<Vec<Span>>,
        batch: &mut Vec<Vec<Span>>,
        due: Instant,
    ) -> bool {
        let mut until = due;
        while batch.len() < TOGETHER {
            tokio::select! {
                spans = waiting.recv() => match spans {
                    Some(spans) if batch.is_empty() => {
                        until = due.min(Instant::now() + WAIT);
                        batch.push(spans);
                    }
                    Some(spans) => batch.push(spans),
                    None => return true,
                },
                // Nothing more is taken; what was taken is sent.
                _ = self.ending.wait_for(|is| *is), if !waiting.is_closed() => waiting.close(),
                () = tokio::time::sleep_until(until) => return false,
            }
        }
        false
    }
}
