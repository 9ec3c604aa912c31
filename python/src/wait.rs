//! Who waits for an answer: a thread that looks out for signals, or a coroutine on its own event
//! loop. Both poll the guard where they are; no call is handed to another thread for that.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{Thread, ThreadId};
use std::time::Duration;

use pyo3::intern;
use pyo3::prelude::*;

use crate::reply::{self, Reply};
use crate::runtime::runtime;
use crate::slot::Slot;
use crate::threads::pool;
use crate::{fork, known};

/// What a guard answers to calls.
pub(crate) type Replies = Pin<Box<dyn Future<Output = Vec<breakfall::Reply>> + Send>>;

/// How long one thread may try to do the calls of a batch alone.
const PATIENCE: Duration = Duration::from_micros(200);

/// How often a thread that waits looks for signals.
const SIGNALS: Duration = Duration::from_millis(50);

/// Waits on this thread. The interpreter is free meanwhile; Ctrl-C drops the call. The future is
/// made where it stays: it is large, and every move would copy it.
pub(crate) fn on_this_thread<F: Future>(
    py: Python<'_>,
    make: impl FnOnce() -> F + Send,
) -> PyResult<F::Output>
where
    F::Output: Send,
{
    let runtime = runtime()?;
    py.detach(|| {
        let _clock = runtime.enter();
        let mut future = std::pin::pin!(make());
        let unpark =
            Arc::new(Unpark { thread: std::thread::current(), is_woken: AtomicBool::new(false) });
        let waker = Waker::from(Arc::clone(&unpark));
        let mut context = Context::from_waker(&waker);
        loop {
            let polled = {
                let _inside = fork::inside();
                future.as_mut().poll(&mut context)
            };
            if let Poll::Ready(output) = polled {
                return Ok(output);
            }
            unpark.park()?;
        }
    })
}

struct Unpark {
    thread: Thread,
    is_woken: AtomicBool,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        // While there is more to come, who waits looks soon enough.
        if !pool().is_behind() {
            self.thread.unpark();
        }
    }
}

impl Unpark {
    /// Sleeps until it is woken, or a signal has something to say.
    fn park(&self) -> PyResult<()> {
        pool().attend();
        while !self.is_woken.swap(false, Ordering::AcqRel) {
            let pool = pool();
            if pool.is_behind() {
                std::thread::park_timeout(PATIENCE);
                if !self.is_woken.load(Ordering::Acquire) {
                    pool.hurry();
                }
                continue;
            }
            std::thread::park_timeout(SIGNALS);
            if !self.is_woken.load(Ordering::Acquire) {
                Python::attach(|py| -> PyResult<()> { py.check_signals() })?;
            }
        }
        Ok(())
    }
}

/// An answer that a coroutine waits for. Closed, it drops its calls, which are recorded as
/// abandoned.
#[pyclass(frozen, module = "breakfall._breakfall")]
pub(crate) struct Answer {
    replies: Mutex<Option<Replies>>,
    slots: Vec<Arc<Slot>>,
    waker: Arc<WakesLoop>,
}

impl Answer {
    pub(crate) fn new(replies: Replies, slots: Vec<Arc<Slot>>) -> Self {
        Self { replies: Mutex::new(Some(replies)), slots, waker: Arc::default() }
    }
}

impl Answer {
    /// The replies, if they are there. Who waits for them looks again: nobody is woken yet.
    pub(crate) fn look(&self, py: Python<'_>) -> PyResult<Option<Vec<Reply>>> {
        let runtime = runtime()?;
        let waker = Waker::from(Arc::clone(&self.waker));
        let polled = py.detach(|| {
            let _clock = runtime.enter();
            let _inside = fork::inside();
            let mut replies = self.replies.lock().unwrap_or_else(PoisonError::into_inner);
            let polled = match replies.as_mut() {
                Some(future) => future.as_mut().poll(&mut Context::from_waker(&waker)),
                None => Poll::Ready(Vec::new()),
            };
            if polled.is_ready() {
                *replies = None;
            }
            polled
        });
        match polled {
            Poll::Ready(replies) => reply::of(py, replies, &self.slots).map(Some),
            Poll::Pending => Ok(None),
        }
    }
}

#[pymethods]
impl Answer {
    /// The replies, or `None`; then `waiting` is given a result when there is more to do.
    fn poll(
        &self,
        py: Python<'_>,
        waiting: Py<PyAny>,
        event_loop: Py<PyAny>,
    ) -> PyResult<Option<Vec<Reply>>> {
        *self.waker.waiting() = Some((waiting, event_loop, std::thread::current().id()));
        self.look(py)
    }

    /// Nobody waits any more.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let runtime = runtime()?;
        py.detach(|| {
            let _clock = runtime.enter();
            let _inside = fork::inside();
            *self.replies.lock().unwrap_or_else(PoisonError::into_inner) = None;
        });
        Ok(())
    }
}

/// A future of an event loop, the loop, and the thread on which it runs.
type Waiting = Option<(Py<PyAny>, Py<PyAny>, ThreadId)>;

#[derive(Default)]
struct WakesLoop(Mutex<Waiting>);

impl WakesLoop {
    fn waiting(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for WakesLoop {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let Some((waiting, event_loop, thread)) = self.waiting().take() else { return };
        let wake = |py: Python<'_>| {
            let work = || -> PyResult<()> {
                let wake = known::WAKE.get(py)?;
                if std::thread::current().id() == thread {
                    wake.call1((waiting,))?;
                } else {
                    event_loop.call_method1(
                        py,
                        intern!(py, "call_soon_threadsafe"),
                        (wake, waiting),
                    )?;
                }
                Ok(())
            };
            // A loop that is closed wakes nobody.
            let _ = work();
        };
        fork::outside(|| Python::try_attach(wake));
    }
}
