//! Runs a tool once: panics are caught, time is kept, a task of its own where it needs one.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::clock;
use super::panics::{self, Caught, caught};
use super::{Checked, Trail};
use crate::tool::{Context, Entry, Progress, Watch};
use crate::{Arguments, Call, Detail, Failure, FailureKind, Outcome, Trace};

/// How long an attempt may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Since it began, or since the tool last said that its work goes on.
    pub(super) attempt: Duration,
    /// When it ends in any case, and the call's whole time, to be told.
    pub(super) deadline: Option<Instant>,
    pub(super) total: Duration,
}

/// How long a task that was told to stop is waited for.
const GRACE: Duration = Duration::from_millis(100);

/// How often a clock that stands is looked at.
const STANDING: Duration = Duration::from_millis(100);

/// What a tool learns of a call beside its arguments.
#[inline]
pub(super) fn context<'a>(
    entry: &'a Entry,
    call: &'a Call,
    trace: Option<&'a Trace>,
    watch: &'a Watch<'a>,
) -> Context<'a> {
    Context {
        id: &call.id,
        tool: &entry.spec.name,
        run: call.run.as_deref(),
        attachment: call.attachment.as_ref(),
        trace: trace.or(call.trace.as_deref()),
        watch,
    }
}

impl Checked<'_> {
    pub(super) fn limits(self, trail: &Trail) -> Limits {
        let policy = &self.slot.rules.policy;
        Limits {
            attempt: policy.attempt_timeout,
            total: policy.total_timeout,
            deadline: self.terms.deadline(trail),
        }
    }
}

/// Calls the tool and polls it once. The timer is armed only for work that is not done then.
///
/// Apart, because who unwinds goes through all calls of the function that catches a panic.
#[inline(never)]
pub(super) fn begin<'a>(
    entry: &'a Entry,
    arguments: &'a Arguments,
    call: &'a Call,
    trace: Option<&'a Trace>,
    watch: &'a Watch<'a>,
    cx: &mut std::task::Context<'_>,
) -> Result<Outcome, Caught<'a>> {
    Caught::begin(|| entry.tool.call(arguments, context(entry, call, trace, watch)), cx)
}

/// Whether what was told to stop does so in a moment.
pub(super) async fn stops(watch: &Watch<'_>) -> bool {
    let step = GRACE / 20;
    for _ in 0..20 {
        let Some(timer) = clock::timer(step) else { return false };
        timer.await;
        if !watch.straggles() {
            return true;
        }
    }
    false
}

/// However an attempt ends, also when it is dropped: nobody waits for it any more.
struct Leaving<'a>(&'a Watch<'a>);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Work that is not done at once.
pub(super) async fn in_time(
    limits: Limits,
    watch: &Watch<'_>,
    mut work: impl Future<Output = Outcome> + Unpin,
) -> Outcome {
    let _leaving = Leaving(watch);
    let began = Instant::now();
    let most = limits.deadline.map(|deadline| deadline.saturating_duration_since(began));
    // How long it may still work, and how long it has.
    let left = || {
        let (all, lately, stands) = watch.worked(began);
        let left = limits.attempt.saturating_sub(lately);
        let left = most.map_or(left, |most| left.min(most.saturating_sub(all)));
        // While the clock stands it is only looked at now and then.
        (if stands { left.max(STANDING) } else { left }, all)
    };
    let Some(mut timer) = clock::timer(left().0) else { return work.await };
    poll_fn(|cx| {
        loop {
            if let Poll::Ready(outcome) = Pin::new(&mut work).poll(cx) {
                return Poll::Ready(outcome);
            }
            if timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            let (left, worked) = left();
            if left.is_zero() {
                let failure = elapsed(&limits, most.is_some_and(|most| worked >= most));
                // From here on nobody wants it: what has not begun never will.
                let has_begun = !watch.leave_queued();
                return Poll::Ready(Err(if has_begun {
                    failure
                } else {
                    failure.not_dispatched()
                }));
            }
            timer.as_mut().reset(Instant::now() + left);
        }
    })
    .await
}

/// The limit that was reached, as the user set it: the same failure is told in the same words.
fn elapsed(limits: &Limits, in_all: bool) -> Failure {
    let limit = if in_all { limits.total } else { limits.attempt };
    Failure::found(FailureKind::Timeout, Detail::Elapsed(limit))
}

/// The tool on a task of its own. When its time is up the task is told to stop, and left behind
/// if it does not listen.
pub(super) async fn on_a_task(
    entry: &Entry,
    arguments: &Arguments,
    context: Context<'_>,
) -> Outcome {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else {
        return caught(|| entry.tool.call(arguments, context)).await;
    };
    let tool = Arc::clone(&entry.tool);
    let arguments = arguments.copied();
    let (id, name, run) =
        (context.id.to_owned(), context.tool.to_owned(), context.run.map(ToOwned::to_owned));
    let (attachment, trace) = (context.attachment.cloned(), context.trace.cloned());
    let progress = context.progress();
    let elsewhere = progress.elsewhere();
    let task = runtime.spawn(async move {
        let watch = Watch::sharing(&progress);
        let context = Context {
            id: &id,
            tool: &name,
            run: run.as_deref(),
            attachment: attachment.as_ref(),
            trace: trace.as_ref(),
            watch: &watch,
        };
        let outcome = caught(|| tool.call(&arguments, context)).await;
        elsewhere.done();
        outcome
    });
    Stopping(task).await
}

/// Runs a function on a thread kept for work that blocks.
pub(crate) async fn on_a_blocking_thread(
    progress: Progress,
    function: impl FnOnce() -> Outcome + Send + 'static,
) -> Outcome {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else {
        return panics::catch(function)?;
    };
    Stopping(runtime.spawn_blocking(move || {
        if !progress.is_wanted() {
            return Err(Failure::cancelled());
        }
        let elsewhere = progress.elsewhere();
        let outcome = panics::catch(function).and_then(|outcome| outcome);
        elsewhere.done();
        outcome
    }))
    .await
}

/// A task that is told to stop when nobody waits for it any more.
struct Stopping(JoinHandle<Outcome>);

impl Future for Stopping {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Outcome> {
        Pin::new(&mut self.0).poll(cx).map(|joined| {
            // The task catches its own panics: what is left is a runtime that shuts down.
            joined.unwrap_or_else(|_| Err(Failure::cancelled()))
        })
    }
}

impl Drop for Stopping {
    fn drop(&mut self) {
        self.0.abort();
    }
}
