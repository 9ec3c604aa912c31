//! Threads kept for functions that block. They are Python's own and run `breakfall._work`, so that
//! no frame of ours lies below a tool that an ending interpreter takes away.
//!
//! Most functions are done at once. For a caller that waits, one thread takes its calls in turn, and
//! only when it does not get on the others are woken: a switch costs more than most calls. Nobody is
//! woken by who holds the interpreter: he would only fall asleep again, waiting for it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use breakfall::{Elsewhere, Progress};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::tool::{Done, Finish};

/// The most threads that somebody waits for; more calls wait for one, and their time runs.
const MOST: usize = 256;

/// The most threads with those whose time was up and that nobody can stop.
const UTMOST: usize = 4096;

/// How long a thread without work is kept.
const IDLE: Duration = Duration::from_mins(1);

/// A function to be run.
pub(crate) struct Job {
    pub(crate) function: Py<PyAny>,
    pub(crate) arguments: Py<PyAny>,
    pub(crate) extra: Py<PyAny>,
    /// The context variables of who called.
    pub(crate) context: Py<PyAny>,
    pub(crate) progress: Progress,
    pub(crate) finish: Finish,
}

/// How urgent a job is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// It gets a thread now.
    Now,
    /// Its caller calls [`Pool::attend`] when it has nothing else to do, and [`Pool::hurry`] when it
    /// takes too long.
    Soon,
}

#[derive(Default)]
pub(crate) struct Pool {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    /// What each thread is at, by its number.
    at: HashMap<u64, Progress>,
    /// The number of the next thread.
    next: u64,
    /// Threads that sleep and were not called.
    idle: usize,
    /// Calls to wake up that no thread has heard yet.
    calls: usize,
}

static CURRENT: ArcSwapOption<Pool> = ArcSwapOption::const_empty();

/// The threads of this process.
pub(crate) fn pool() -> Arc<Pool> {
    if let Some(pool) = CURRENT.load_full() {
        return pool;
    }
    CURRENT.rcu(|pool| Some(pool.clone().unwrap_or_default()));
    CURRENT.load_full().unwrap_or_default()
}

/// No thread came through the fork.
pub(crate) fn begin_anew() {
    std::mem::forget(CURRENT.swap(None));
}

impl Pool {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a job on; its thread is woken by the bell.
    pub(crate) fn submit(
        self: &Arc<Self>,
        py: Python<'_>,
        job: Job,
        urgency: Urgency,
    ) -> PyResult<Bell> {
        let called = {
            let mut state = self.state();
            job.progress.queued();
            state.jobs.push_back(job);
            if urgency == Urgency::Now { state.call(1) } else { Called::default() }
        };
        self.start(py, called.started)?;
        Ok(Bell((called.woken > 0).then(|| Arc::clone(self))))
    }

    /// Sees to it that somebody is at the jobs that wait.
    pub(crate) fn attend(self: &Arc<Self>) {
        let called = {
            let mut state = self.state();
            let is_quiet = state.threads == state.idle;
            if is_quiet && !state.jobs.is_empty() { state.call(1) } else { Called::default() }
        };
        self.wake(called);
    }

    /// Whether jobs wait for a thread.
    pub(crate) fn is_behind(&self) -> bool {
        !self.state().jobs.is_empty()
    }

    /// Gives every job that waits a thread.
    pub(crate) fn hurry(self: &Arc<Self>) {
        let called = {
            let mut state = self.state();
            let waiting = state.jobs.len();
            state.call(waiting)
        };
        self.wake(called);
    }

    fn wake(self: &Arc<Self>, called: Called) {
        for _ in 0..called.woken {
            self.changed.notify_one();
        }
        if called.started > 0 {
            // What cannot be started now is taken by the threads there are.
            let _ = Python::attach(|py| self.start(py, called.started));
        }
    }

    fn start(self: &Arc<Self>, py: Python<'_>, threads: usize) -> PyResult<()> {
        for started in 0..threads {
            let number = {
                let mut state = self.state();
                state.next += 1;
                state.next
            };
            let work = py.import(intern!(py, "breakfall._work")).and_then(|module| {
                let work = Work { pool: Arc::clone(self), number, at: Mutex::default() };
                module.call_method1(intern!(py, "start"), (work,))
            });
            if let Err(error) = work {
                self.state().threads -= threads - started;
                return Err(error);
            }
        }
        Ok(())
    }

    /// The next job; `None` for a thread that has had none for long, or is one too many.
    fn take(&self, number: u64) -> Option<(Job, Elsewhere)> {
        let mut state = self.state();
        state.at.remove(&number);
        loop {
            while let Some(job) = state.jobs.pop_front() {
                if let Some(elsewhere) = job.progress.begin() {
                    state.at.insert(number, job.progress.clone());
                    return Some((job, elsewhere));
                }
            }
            if state.threads > state.most() {
                // It was started beside one that hung, and does so no more.
                state.threads -= 1;
                return None;
            }
            state.idle += 1;
            let asleep = |state: &mut State| state.calls == 0;
            let (awake, waited) = self
                .changed
                .wait_timeout_while(state, IDLE, asleep)
                .unwrap_or_else(PoisonError::into_inner);
            state = awake;
            if waited.timed_out() {
                state.idle -= 1;
                state.threads -= 1;
                return None;
            }
            state.calls -= 1;
        }
    }
}

/// How many threads are to be woken, and how many to be started.
#[derive(Default)]
struct Called {
    woken: usize,
    started: usize,
}

/// Wakes the thread that was called for a job, once nobody holds the interpreter here.
#[must_use]
pub(crate) struct Bell(Option<Arc<Pool>>);

impl Bell {
    pub(crate) fn ring(self) {
        if let Some(pool) = self.0 {
            pool.changed.notify_one();
        }
    }
}

impl State {
    /// Calls threads: those that sleep, then new ones.
    fn call(&mut self, wanted: usize) -> Called {
        let woken = wanted.min(self.idle);
        self.idle -= woken;
        self.calls += woken;
        let started = (wanted - woken).min(self.room());
        self.threads += started;
        Called { woken, started }
    }

    /// How many threads may be started.
    fn room(&self) -> usize {
        self.most().saturating_sub(self.threads)
    }

    /// How many threads there may be. Those that hang beyond their time are in nobody's way.
    fn most(&self) -> usize {
        if self.threads < MOST {
            return MOST;
        }
        let left = self.at.values().filter(|progress| !progress.is_wanted()).count();
        (MOST + left).min(UTMOST)
    }
}

/// What a thread takes its work from.
#[pyclass(frozen, module = "breakfall._breakfall")]
pub(crate) struct Work {
    pool: Arc<Pool>,
    number: u64,
    /// What the thread is at: who waits for it is woken when the interpreter is free again.
    at: Mutex<Weak<Done>>,
}

#[pymethods]
impl Work {
    /// The next function with what it is called with; `None` when the thread is to end.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let taken = py.detach(|| {
            self.tell();
            self.pool.take(self.number)
        });
        let Some((job, elsewhere)) = taken else { return Ok(None) };
        let Job { function, arguments, extra, context, finish, progress: _ } = job;
        *self.at() = finish.begins(elsewhere);
        (function, arguments, extra, context, finish).into_pyobject(py).map(Some)
    }
}

impl Work {
    fn at(&self) -> MutexGuard<'_, Weak<Done>> {
        self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells who waits that what the thread was at is done.
    fn tell(&self) {
        let done = std::mem::take(&mut *self.at());
        if let Some(done) = done.upgrade() {
            done.tell();
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // A thread that was made to end in between.
        self.tell();
    }
}
