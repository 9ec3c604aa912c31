//! What goes to a client that has no line to us: kept until it is read, and a while longer for a
//! client whose connection broke.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use crate::upstream::locked;

/// How much is kept for a client that does not read.
const KEPT: usize = 1_000;
const KEPT_BYTES: usize = 4 << 20;

/// Messages in their order, to be read by one reader at a time, from any of them on.
#[derive(Debug)]
pub(crate) struct Stream {
    /// Which of the session's streams.
    pub(crate) number: u64,
    state: Mutex<State>,
    changed: Notify,
    /// The server speaks of this request in a stream, too.
    is_streamed: AtomicBool,
    /// Whoever reads should let go, and come back later.
    pauses: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    messages: VecDeque<(u64, Arc<str>)>,
    last: u64,
    bytes: usize,
    /// The last message was the answer.
    is_done: bool,
}

/// What a reader meets next.
#[derive(Debug)]
pub(crate) enum Next {
    /// A message, and whether it is the last.
    Message {
        number: u64,
        text: Arc<str>,
        is_last: bool,
    },
    /// The reader should let go, and come back.
    Pause,
    End,
}

impl Stream {
    pub(crate) fn new(number: u64) -> Self {
        Self {
            number,
            state: Mutex::default(),
            changed: Notify::new(),
            is_streamed: AtomicBool::new(false),
            pauses: AtomicU64::new(0),
        }
    }

    /// Adds a message. Where nobody reads, the oldest are dropped, but never an answer.
    pub(crate) fn push(&self, text: String) {
        self.add(text, false);
    }

    /// Adds the answer: nothing comes behind it.
    pub(crate) fn answer(&self, text: String) {
        self.add(text, true);
    }

    /// Nothing will come any more, not even an answer.
    pub(crate) fn end(&self) {
        locked(&self.state).is_done = true;
        self.changed.notify_waiters();
    }

    fn add(&self, text: String, is_done: bool) {
        let mut state = locked(&self.state);
        if state.is_done {
            return;
        }
        state.last += 1;
        state.bytes += text.len();
        let number = state.last;
        state.messages.push_back((number, text.into()));
        state.is_done = is_done;
        while state.messages.len() > 1 && (state.messages.len() > KEPT || state.bytes > KEPT_BYTES)
        {
            if let Some((_, text)) = state.messages.pop_front() {
                state.bytes -= text.len();
            }
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Reads from behind a message on; from here on where it never was.
    pub(crate) fn reader(self: &Arc<Self>, behind: u64) -> Reader {
        let pauses = self.pauses.load(Ordering::Relaxed);
        let at = behind.min(locked(&self.state).last);
        Reader { stream: Arc::clone(self), at, pauses, stays: false }
    }

    /// Waits until the server speaks of this in a stream.
    pub(crate) async fn spoken_of(&self) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.is_streamed() {
                return;
            }
            changed.await;
        }
    }

    async fn after(&self, number: u64, pauses: u64) -> Next {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Registered before looking: nothing that comes between the two is missed.
            changed.as_mut().enable();
            {
                let state = locked(&self.state);
                if let Some((number, text)) = state.messages.iter().find(|(n, _)| *n > number) {
                    let is_last = state.is_done && *number == state.last;
                    return Next::Message { number: *number, text: Arc::clone(text), is_last };
                }
                if state.is_done {
                    return Next::End;
                }
            }
            if self.pauses.load(Ordering::Relaxed) != pauses {
                return Next::Pause;
            }
            changed.await;
        }
    }

    /// Whoever reads should let go: the server did, and will speak on later.
    pub(crate) fn pause(&self) {
        self.pauses.fetch_add(1, Ordering::Relaxed);
        self.changed.notify_waiters();
    }

    pub(crate) fn is_done(&self) -> bool {
        locked(&self.state).is_done
    }

    /// Whether nothing will come behind a message.
    pub(crate) fn is_over(&self, behind: u64) -> bool {
        let state = locked(&self.state);
        state.is_done && behind >= state.last
    }

    /// How much is kept.
    pub(crate) fn bytes(&self) -> usize {
        locked(&self.state).bytes
    }

    /// The server speaks of this in a stream.
    pub(crate) fn is_spoken_of_in_a_stream(&self) {
        self.is_streamed.store(true, Ordering::Relaxed);
        self.changed.notify_waiters();
    }

    pub(crate) fn is_streamed(&self) -> bool {
        self.is_streamed.load(Ordering::Relaxed)
    }
}

/// Who reads a stream.
pub(crate) struct Reader {
    stream: Arc<Stream>,
    at: u64,
    pauses: u64,
    stays: bool,
}

impl Reader {
    /// One that cannot come back, and so never lets go.
    pub(crate) fn staying(mut self) -> Self {
        self.stays = true;
        self
    }

    /// What comes next. May be dropped and called again: nothing is lost.
    pub(crate) async fn next(&mut self) -> Next {
        loop {
            let next = self.stream.after(self.at, self.pauses).await;
            match next {
                Next::Message { number, .. } => self.at = number,
                Next::Pause => {
                    self.pauses = self.stream.pauses.load(Ordering::Relaxed);
                    if self.stays {
                        continue;
                    }
                }
                Next::End => {}
            }
            return next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_sent_is_read_in_order_and_again_by_who_comes_back() {
        let stream = Arc::new(Stream::new(1));
        stream.push("a".to_owned());
        stream.push("b".to_owned());
        stream.answer("c".to_owned());
        stream.push("late".to_owned());
        for from in [0, 1] {
            let mut seen = Vec::new();
            let mut reader = stream.reader(from);
            while let Next::Message { text, is_last, .. } = reader.next().await {
                seen.push((text.to_string(), is_last));
            }
            let all = [("a".to_owned(), false), ("b".to_owned(), false), ("c".to_owned(), true)];
            assert_eq!(seen, all[usize::try_from(from).unwrap()..]);
        }
    }

    #[tokio::test]
    async fn who_does_not_read_loses_the_oldest_and_never_the_answer() {
        let stream = Arc::new(Stream::new(1));
        for n in 0..2 * KEPT {
            stream.push(n.to_string());
        }
        stream.answer("x".repeat(2 * KEPT_BYTES));
        let Next::Message { text, is_last, .. } = stream.reader(0).next().await else {
            panic!("a message")
        };
        assert!(is_last && text.len() == 2 * KEPT_BYTES);
    }

    #[tokio::test]
    async fn a_reader_that_waits_is_woken_and_may_be_told_to_let_go() {
        let stream = Arc::new(Stream::new(1));
        let reader = tokio::spawn({
            let mut reader = stream.reader(0);
            async move {
                assert!(matches!(reader.next().await, Next::Pause));
                reader
            }
        });
        let mut staying = stream.reader(0).staying();
        tokio::task::yield_now().await;
        stream.pause();
        let mut reader = reader.await.unwrap();
        for reader in [&mut reader, &mut staying] {
            assert!(tokio::time::timeout(std::time::Duration::ZERO, reader.next()).await.is_err());
        }
        stream.push("a".to_owned());
        assert!(matches!(stream.reader(0).next().await, Next::Message { .. }));
    }
}
