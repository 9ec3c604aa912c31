//! Time as the runtime keeps it: Tokio's clock, which tests can pause.

use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use tokio::time::Sleep;

use super::panics;

/// A timer, or none without a runtime or in one without timers: a call that works must not fail
/// for that.
pub(super) fn timer(time: Duration) -> Option<Pin<Box<Sleep>>> {
    tokio::runtime::Handle::try_current().ok()?;
    panics::catch(|| Box::pin(tokio::time::sleep(time))).ok()
}

/// What comes within a time; for ever without timers.
pub(super) async fn within<T>(time: Duration, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    let Some(mut timer) = timer(time) else { return Some(work.await) };
    std::future::poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => timer.as_mut().poll(cx).map(|()| None),
    })
    .await
}
