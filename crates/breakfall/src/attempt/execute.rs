//! Runs a tool once: panics are caught, time is kept, a task of its own where it needs one.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use super::panics::{self, Caught};
use super::policy::Policy;
use crate::tool::{Context, Entry, Place};
use crate::{Arguments, Detail, Failure, FailureKind, Outcome};

pub(super) async fn execute(
    entry: &Entry,
    arguments: &Arguments,
    context: Context<'_>,
    policy: &Policy,
) -> Outcome {
    match entry.place {
        Place::Inline => {
            within(policy.attempt_timeout, Caught::new(|| entry.tool.call(arguments, context)))
                .await
        }
        Place::Task => within(policy.attempt_timeout, on_a_task(entry, arguments, context)).await,
    }
}

/// Polls first and arms the timer only for work that is not done at once.
async fn within(limit: Duration, work: impl Future<Output = Outcome>) -> Outcome {
    let mut work = pin!(work);
    let first = std::future::poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx))).await;
    if let Poll::Ready(outcome) = first {
        return outcome;
    }
    // Without a runtime, or in one without timers, there is no deadline; a call that works must
    // not fail for that.
    let timer = tokio::runtime::Handle::try_current()
        .ok()
        .and_then(|_| panics::catch(|| Box::pin(tokio::time::sleep(limit))).ok());
    let Some(mut timer) = timer else { return work.await };
    std::future::poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(outcome) => Poll::Ready(outcome),
        Poll::Pending => timer
            .as_mut()
            .poll(cx)
            .map(|()| Err(Failure::found(FailureKind::Timeout, Detail::Elapsed(limit)))),
    })
    .await
}

/// The tool on a task of its own. When its time is up the task is told to stop, and left behind
/// if it does not listen.
async fn on_a_task(entry: &Entry, arguments: &Arguments, context: Context<'_>) -> Outcome {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else {
        return Caught::new(|| entry.tool.call(arguments, context)).await;
    };
    let tool = Arc::clone(&entry.tool);
    let arguments = arguments.copied();
    let (id, name, run) =
        (context.id.to_owned(), context.tool.to_owned(), context.run.map(ToOwned::to_owned));
    let task = runtime.spawn(async move {
        let context = Context { id: &id, tool: &name, run: run.as_deref() };
        Caught::new(|| tool.call(&arguments, context)).await
    });
    Stopping(task).await
}

/// A task that is told to stop when nobody waits for it any more.
struct Stopping(tokio::task::JoinHandle<Outcome>);

impl Future for Stopping {
    type Output = Outcome;

    fn poll(mut self: std::pin::Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Outcome> {
        std::pin::Pin::new(&mut self.0).poll(cx).map(|joined| {
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
