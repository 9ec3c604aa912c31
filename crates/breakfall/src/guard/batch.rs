//! Many calls at once: parallel up to a limit, answered in their order.

use std::collections::BTreeMap;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::vec::IntoIter;

use futures_util::StreamExt;
use futures_util::future::{FutureExt, OptionFuture, Shared};
use futures_util::stream::FuturesUnordered;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::Instant;

use super::Guard;
use crate::tool::BoxFuture;
use crate::{Call, Effect, Failure, Reply, journal};

/// Which calls of a batch run side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Batching {
    /// All of them.
    #[default]
    Parallel,
    /// Those that only read. One that changes something waits for those before it, and those
    /// behind it wait for its end.
    WritesInOrder,
}

/// Tells everybody who asks that the work is to stop.
type Stop<'s> = Shared<BoxFuture<'s, ()>>;

/// Ready when the work is to stop, which without a stop is never.
struct Until<'s>(Option<Stop<'s>>);

impl Future for Until<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().map_or(Poll::Pending, |stop| Pin::new(stop).poll(cx))
    }
}

impl Guard {
    /// Answers a call, or stops it when `stop` is ready: then it is answered as cancelled.
    ///
    /// ```
    /// # use breakfall::{Call, FailureKind, Guard, tool};
    /// # /// Waits.
    /// # #[tool]
    /// # async fn wait() -> Result<(), breakfall::Failure> { std::future::pending().await }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), breakfall::Error> {
    /// let guard = Guard::builder().tool(wait()).build()?;
    /// let stop = tokio::time::sleep(std::time::Duration::from_millis(10));
    /// let reply = guard.handle_until(Call::new("1", "wait", "{}"), stop).await;
    /// assert_eq!(reply.kind(), Some(FailureKind::Cancelled));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn handle_until(&self, call: Call, stop: impl Future<Output = ()> + Send) -> Reply {
        self.answer_until(call, pin!(stop), None).await
    }

    /// Answers every call, in the order of the calls. One failure never cancels its siblings;
    /// after a fatal one the calls not yet started are answered as cancelled.
    pub async fn handle_all(&self, calls: Vec<Call>) -> Vec<Reply> {
        self.answer_all(calls, None, &mut |_| ()).await
    }

    /// Answers every call, or stops when `stop` is ready: what is done by then is kept, the rest
    /// is answered as cancelled.
    pub async fn handle_all_until(
        &self,
        calls: Vec<Call>,
        stop: impl Future<Output = ()> + Send,
    ) -> Vec<Reply> {
        self.handle_all_telling(calls, stop, &mut |_| ()).await
    }

    /// The same, and tells of each reply as soon as it is there.
    pub async fn handle_all_telling(
        &self,
        calls: Vec<Call>,
        stop: impl Future<Output = ()> + Send,
        tell: &mut (dyn FnMut(&Reply) + Send),
    ) -> Vec<Reply> {
        self.answer_all(calls, Some(stop.boxed().shared()), tell).await
    }

    async fn answer_all(
        &self,
        calls: Vec<Call>,
        stop: Option<Stop<'_>>,
        tell: &mut (dyn FnMut(&Reply) + Send),
    ) -> Vec<Reply> {
        journal::batch_starts(calls.len());
        let mut replies =
            Replies { in_order: Vec::with_capacity(calls.len()), early: BTreeMap::new(), tell };
        let mut running = Running(None);
        let made = Some(Instant::now());
        // Most tools answer at once: those need no place among the running, and each takes the seat
        // of the one before it.
        let mut seat = Box::pin(OptionFuture::from(None));
        let mut ends = false;
        let mut waiting = Waiting { guard: self, calls: calls.into_iter() };
        let mut index = 0;
        // A call is taken when its turn has come: until then it waits with the others.
        while let Some(alone) = waiting.calls.as_slice().first().map(|call| self.runs_alone(call)) {
            let most = if alone { 1 } else { self.concurrency };
            while running.are() >= most && !ends {
                if let Some((index, reply)) = running.next().await {
                    ends |= replies.settle(index, reply);
                }
            }
            let Some(call) = waiting.calls.next() else { break };
            let stopped = || stop.clone().is_some_and(|stop| stop.now_or_never().is_some());
            if ends || stopped() {
                ends = true;
                replies.settle(index, Some(self.not_started(call)));
                index += 1;
                continue;
            }
            seat.set(Some(self.answer_until(call, Until(stop.clone()), made)).into());
            let polled = std::future::poll_fn(|cx| Poll::Ready(seat.as_mut().poll(cx))).await;
            match polled {
                Poll::Ready(reply) => ends |= replies.settle(index, reply),
                Poll::Pending if alone => ends |= replies.settle(index, seat.as_mut().await),
                Poll::Pending => {
                    let taken = std::mem::replace(&mut seat, Box::pin(None.into()));
                    running.add(taken.map(move |reply| (index, reply)));
                }
            }
            index += 1;
        }
        while let Some((index, reply)) = running.next().await {
            replies.settle(index, reply);
        }
        let Replies { mut in_order, early, .. } = replies;
        in_order.extend(early.into_values());
        journal::batch_done(&in_order);
        in_order
    }

    fn runs_alone(&self, call: &Call) -> bool {
        self.batching == Batching::WritesInOrder
            && self.toolbox.effect(&call.tool).is_some_and(|effect| effect != Effect::ReadOnly)
    }

    /// The reply to a call whose batch stopped before its turn.
    fn not_started(&self, call: Call) -> Reply {
        self.refuse(call, Failure::not_started())
    }
}

/// Work that is not done yet. Most batches have none, and no room is made for it.
struct Running<F>(Option<FuturesUnordered<F>>);

impl<F: Future> Running<F> {
    fn are(&self) -> usize {
        self.0.as_ref().map_or(0, FuturesUnordered::len)
    }

    fn add(&mut self, work: F) {
        self.0.get_or_insert_default().push(work);
    }

    /// What the next that is done gives; nothing where none is left.
    async fn next(&mut self) -> Option<F::Output> {
        self.0.as_mut()?.next().await
    }
}

/// Calls whose turn has not come. Those of a batch that is dropped leave their records.
struct Waiting<'g> {
    guard: &'g Guard,
    calls: IntoIter<Call>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        for call in self.calls.by_ref() {
            self.guard.not_started(call);
        }
    }
}

/// The replies of a batch, and who hears of them.
struct Replies<'t> {
    in_order: Vec<Reply>,
    /// Those that wait for one before them.
    early: BTreeMap<usize, Reply>,
    tell: &'t mut (dyn FnMut(&Reply) + Send),
}

impl Replies<'_> {
    /// Puts a reply in its place; true where it stops the batch.
    #[inline]
    fn settle(&mut self, index: usize, reply: Option<Reply>) -> bool {
        let Some(reply) = reply else { return false };
        (self.tell)(&reply);
        let fatal = reply.is_fatal();
        if index == self.in_order.len() {
            self.in_order.push(reply);
        } else {
            self.early.insert(index, reply);
        }
        if !self.early.is_empty() {
            while let Some(next) = self.early.remove(&self.in_order.len()) {
                self.in_order.push(next);
            }
        }
        fatal
    }
}
