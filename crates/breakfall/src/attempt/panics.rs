//! Panics are caught where a tool runs; their text goes to the record and to nobody else.
//!
//! The standard hook prints a panic to standard error, with whatever secret is in it. Ours stays
//! out of the way of every other panic and keeps the text of those in guarded code to itself.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::pin::Pin;
use std::sync::Once;
use std::task::{Context, Poll};

use crate::{BoxFuture, Failure, FailureKind, Outcome, Provenance};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    /// Whether a panic was seen that nobody has asked for yet: looking is cheaper than taking.
    static HAS_SEEN: Cell<bool> = const { Cell::new(false) };
    static SEEN: RefCell<Option<Seen>> = const { RefCell::new(None) };
}

/// How many bytes most messages take.
const ROOM: usize = 256;

/// What the hook saw of a panic.
struct Seen {
    /// The beginning of the message: where it was.
    message: String,
    backtrace: Option<String>,
}

/// Installs the hook, once for the process.
pub(crate) fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |panic| {
            if GUARDED.try_with(Cell::get).unwrap_or(false) {
                see(panic);
            } else {
                previous(panic);
            }
        }));
    });
}

fn see(panic: &PanicHookInfo<'_>) {
    let mut message = String::with_capacity(ROOM);
    message.push_str("panicked at ");
    if let Some(location) = panic.location() {
        message.push_str(location.file());
        for number in [location.line(), location.column()] {
            message.push(':');
            message.push_str(&number.to_string());
        }
    }
    let seen = Seen { message, backtrace: crate::failure::backtrace_if_asked() };
    SEEN.with(|slot| *slot.borrow_mut() = Some(seen));
    HAS_SEEN.set(true);
}

/// What the hook saw since it was last asked.
#[cold]
fn take_seen() -> Option<Seen> {
    HAS_SEEN.set(false);
    SEEN.with(RefCell::take)
}

/// Runs code that may panic; a panic becomes an internal failure.
#[inline]
pub(crate) fn catch<T>(code: impl FnOnce() -> T) -> Result<T, Failure> {
    let before = GUARDED.replace(true);
    if !before && HAS_SEEN.get() {
        // What an earlier panic left behind is not this one's.
        take_seen();
    }
    let result = catch_unwind(AssertUnwindSafe(code));
    GUARDED.set(before);
    result.map_err(failure)
}

#[cold]
fn failure(payload: Box<dyn Any + Send>) -> Failure {
    let (mut message, backtrace) = match take_seen() {
        Some(seen) => (seen.message, seen.backtrace),
        None => ("panicked".to_owned(), None),
    };
    message.push_str(": ");
    message.push_str(match (payload.downcast_ref::<String>(), payload.downcast_ref::<&str>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text,
        (None, None) => "a panic without a text",
    });
    // A payload may panic when it is dropped.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
        take_seen();
    }
    let mut failure = Failure::new(FailureKind::Internal, Provenance::Hidden, message);
    failure.facts_mut().type_name = Some("Panic".into());
    failure.facts_mut().backtrace = backtrace;
    failure
}

/// A tool's future at work, whose panics are caught, also those when it is dropped.
pub(crate) struct Caught<'a>(Option<BoxFuture<'a, Outcome>>);

impl<'a> Caught<'a> {
    /// Begins work and polls it once: what came of it, or the work as far as it is done. Panics are
    /// caught, also those before there is a future.
    #[inline]
    pub(crate) fn begin(
        start: impl FnOnce() -> BoxFuture<'a, Outcome>,
        cx: &mut Context<'_>,
    ) -> Result<Outcome, Self> {
        let mut work = Self(None);
        match work.go_on(Some(start), cx) {
            Poll::Ready(outcome) => {
                if work.0.is_none() {
                    // It is gone already: there is nothing to be dropped.
                    std::mem::forget(work);
                }
                Ok(outcome)
            }
            Poll::Pending => Err(work),
        }
    }

    #[inline]
    fn go_on(
        &mut self,
        start: Option<impl FnOnce() -> BoxFuture<'a, Outcome>>,
        cx: &mut Context<'_>,
    ) -> Poll<Outcome> {
        // What it gave counts even if it panics when it is dropped.
        let mut polled = Poll::Pending;
        let caught = catch(|| {
            if let Some(start) = start {
                self.0 = Some(start());
            }
            polled = match self.0.as_mut() {
                Some(future) => future.as_mut().poll(cx),
                None => Poll::Ready(Err(Failure::broken("polled after it was done"))),
            };
            if polled.is_ready() {
                self.0 = None;
            }
        });
        match caught {
            Err(panic) if polled.is_pending() => Poll::Ready(Err(panic)),
            _ => polled,
        }
    }
}

impl Future for Caught<'_> {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        self.go_on(None::<fn() -> _>, cx)
    }
}

/// Work from its beginning to its end, whose panics are caught.
pub(crate) async fn caught<'a>(start: impl FnOnce() -> BoxFuture<'a, Outcome>) -> Outcome {
    let mut start = Some(start);
    let begun =
        std::future::poll_fn(|cx| Poll::Ready(start.take().map(|start| Caught::begin(start, cx))));
    match begun.await {
        Some(Ok(outcome)) => outcome,
        Some(Err(work)) => work.await,
        None => Err(Failure::broken("begun twice")),
    }
}

/// What a future owns may panic when it is dropped, too.
impl Drop for Caught<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(future) = self.0.take() {
            drop(catch(|| drop(future)));
        }
    }
}

/// The guard's own steps, whose panics are a fault of ours.
pub(crate) async fn ours(mut steps: Pin<&mut impl Future<Output = Outcome>>) -> Outcome {
    std::future::poll_fn(|cx| {
        catch(|| steps.as_mut().poll(cx)).unwrap_or_else(|panic| Poll::Ready(Err(fault(panic))))
    })
    .await
}

/// A panic in our own code, as the failure it is.
pub(crate) fn fault(panic: Failure) -> Failure {
    let mut failure = Failure::broken(panic.message());
    failure.facts_mut().backtrace = panic.into_facts().backtrace;
    failure
}
