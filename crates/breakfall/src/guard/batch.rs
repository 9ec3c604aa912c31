//! Many calls at once: parallel up to a limit, answered in their order.

use std::task::Poll;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::Guard;
use crate::check::tame;
use crate::{Call, Failure, RawArguments, Reply, journal};

impl Guard {
    /// Answers every call, in the order of the calls. One failure never cancels its siblings;
    /// after a fatal one the calls not yet started are answered as cancelled.
    pub async fn handle_all(&self, calls: Vec<Call>) -> Vec<Reply> {
        journal::batch_starts(calls.len());
        let mut replies: Vec<Option<Reply>> = calls.iter().map(|_| None).collect();
        let mut running = FuturesUnordered::new();
        let mut fatal = false;
        for (index, call) in calls.into_iter().enumerate() {
            while running.len() >= self.concurrency && !fatal {
                if let Some((index, reply)) = running.next().await {
                    fatal |= settle(&mut replies, index, reply);
                }
            }
            if fatal {
                replies[index] = Some(self.not_started(call));
                continue;
            }
            // Most tools answer at once: those need no place among the running.
            let mut answer = Box::pin(async move { (index, self.handle(call).await) });
            let polled = std::future::poll_fn(|cx| Poll::Ready(answer.as_mut().poll(cx))).await;
            match polled {
                Poll::Ready((index, reply)) => fatal |= settle(&mut replies, index, reply),
                Poll::Pending => running.push(answer),
            }
        }
        while let Some((index, reply)) = running.next().await {
            settle(&mut replies, index, reply);
        }
        let replies: Vec<Reply> = replies.into_iter().flatten().collect();
        journal::batch_done(&replies);
        replies
    }

    /// The reply to a call whose batch stopped before its turn.
    fn not_started(&self, mut call: Call) -> Reply {
        let raw = tame(std::mem::replace(&mut call.arguments, RawArguments::none()));
        let record = self.journal.open(call, &raw, &self.redactor);
        self.answer(Err(Failure::not_started()), record)
    }
}

/// Puts a reply in its place; true where it stops the batch.
fn settle(replies: &mut [Option<Reply>], index: usize, reply: Reply) -> bool {
    let fatal = reply.is_fatal();
    if let Some(place) = replies.get_mut(index) {
        *place = Some(reply);
    }
    fatal
}
