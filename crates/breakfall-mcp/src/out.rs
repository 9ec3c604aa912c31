//! Lines on their way out: written by whoever has one while there is room, and by a task that waits
//! for room where there is none.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use tokio::io::AsyncWrite;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

use crate::upstream::locked;

/// How much may wait to be written before senders wait, too.
const FULL: usize = 1 << 20;

/// How much room for what waits is kept when nothing does.
const KEPT: usize = 64 << 10;

/// Where lines go.
pub(crate) enum Out {
    /// To somebody who reads them.
    Written(Written),
    /// To somebody of ours.
    Taken(mpsc::Sender<String>),
}

impl Out {
    /// Sends a line; waits where too many do already. False where nobody takes it.
    pub(crate) async fn send(&self, line: String) -> bool {
        match self {
            Self::Written(written) => written.send(line).await,
            Self::Taken(lines) => lines.send(line).await.is_ok(),
        }
    }
}

/// Lines that are written. Dropped, what waits is still written.
pub(crate) struct Written(Arc<Line>);

struct Line {
    going: Mutex<Going>,
    /// Something waits to be written.
    work: Notify,
    /// There is room again, or nobody reads any more.
    room: Notify,
}

struct Going {
    /// Nothing when nobody reads any more.
    output: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    /// What waits, from `at` on.
    waiting: Vec<u8>,
    at: usize,
    /// What is written is on its way, and who waits for that must not be disturbed.
    is_flushing: bool,
    /// Nobody sends any more.
    is_last: bool,
}

/// What came of a line.
#[derive(Debug, PartialEq)]
enum Sent {
    /// It is written, or will be.
    Yes,
    /// Too much waits.
    Full,
    /// Nobody reads.
    Closed,
}

impl Written {
    /// Writes to an output, on this task and another, which ends when all is written.
    pub(crate) fn to(output: impl AsyncWrite + Send + Unpin + 'static) -> (Self, JoinHandle<()>) {
        let going = Going {
            output: Some(Box::new(output)),
            waiting: Vec::new(),
            at: 0,
            is_flushing: false,
            is_last: false,
        };
        let line =
            Arc::new(Line { going: Mutex::new(going), work: Notify::new(), room: Notify::new() });
        let writing = tokio::spawn(write(Arc::clone(&line)));
        (Self(line), writing)
    }

    /// Sends a line; waits where too many do already. False where nobody reads.
    pub(crate) async fn send(&self, mut line: String) -> bool {
        line.push('\n');
        loop {
            match self.0.put(line.as_bytes()) {
                Sent::Yes => return true,
                Sent::Closed => return false,
                Sent::Full => {}
            }
            let mut room = pin!(self.0.room.notified());
            // Whoever makes room from now on is heard.
            room.as_mut().enable();
            if locked(&self.0.going).is_full() {
                room.await;
            }
        }
    }

    /// Sends a line that is not worth waiting for.
    pub(crate) fn send_now(&self, mut line: String) {
        line.push('\n');
        self.0.put(line.as_bytes());
    }

    /// Writes nothing more, and closes the output.
    pub(crate) fn shut(&self) {
        locked(&self.0.going).close();
        self.0.work.notify_one();
        self.0.room.notify_waiters();
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        locked(&self.0.going).is_last = true;
        self.0.work.notify_one();
    }
}

impl Line {
    fn put(&self, line: &[u8]) -> Sent {
        let mut going = locked(&self.going);
        if going.output.is_none() {
            return Sent::Closed;
        }
        if going.is_full() {
            return Sent::Full;
        }
        let sent = going.put(line);
        // Who is gone by now is missed by whoever reads from him.
        if going.output.is_none() || !going.waiting.is_empty() || going.is_flushing {
            self.work.notify_one();
        }
        sent
    }
}

impl Going {
    fn is_full(&self) -> bool {
        self.waiting.len() - self.at >= FULL
    }

    fn close(&mut self) {
        self.output = None;
        self.waiting = Vec::new();
        self.at = 0;
    }

    /// Writes a line at once where nothing waits before it; the rest of it waits.
    fn put(&mut self, line: &[u8]) -> Sent {
        let cx = &mut Context::from_waker(Waker::noop());
        let mut line = line;
        if self.waiting.is_empty() && !self.is_flushing {
            if let Poll::Ready(written) = self.write_some(cx, line) {
                line = &line[written..];
            }
            if self.output.is_none() {
                // None of it was taken: it cannot have taken effect.
                return Sent::Closed;
            }
            if line.is_empty() {
                let _ = self.flush(cx);
                return Sent::Yes;
            }
        }
        if self.at > KEPT {
            self.waiting.drain(..std::mem::take(&mut self.at));
        }
        self.waiting.extend_from_slice(line);
        Sent::Yes
    }

    /// Writes what waits.
    fn write(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.at < self.waiting.len() {
            let waiting = std::mem::take(&mut self.waiting);
            let written = self.write_some(cx, &waiting[self.at..]);
            if self.output.is_none() {
                return Poll::Ready(());
            }
            self.waiting = waiting;
            match written {
                Poll::Ready(written) => self.at += written,
                Poll::Pending => return Poll::Pending,
            }
        }
        self.at = 0;
        self.waiting.clear();
        if self.waiting.capacity() > KEPT {
            self.waiting = Vec::new();
        }
        self.flush(cx)
    }

    /// Writes some of what is given, and tells how much; all of it where nobody reads any more.
    fn write_some(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<usize> {
        let Some(output) = &mut self.output else { return Poll::Ready(bytes.len()) };
        match Pin::new(output).poll_write(cx, bytes) {
            Poll::Ready(Ok(written)) if written > 0 => Poll::Ready(written),
            Poll::Ready(_) => {
                self.close();
                Poll::Ready(bytes.len())
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(output) = &mut self.output else { return Poll::Ready(()) };
        let flushed = Pin::new(output).poll_flush(cx);
        self.is_flushing = flushed.is_pending();
        if matches!(flushed, Poll::Ready(Err(_))) {
            self.close();
        }
        flushed.map(drop)
    }
}

/// Writes what nobody could write at once, until nobody sends any more or nobody reads.
async fn write(line: Arc<Line>) {
    loop {
        line.work.notified().await;
        poll_fn(|cx| {
            let written = locked(&line.going).write(cx);
            line.room.notify_waiters();
            written
        })
        .await;
        let mut going = locked(&line.going);
        if going.is_last && going.waiting.is_empty() {
            going.close();
        }
        if going.output.is_none() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, duplex};

    use super::*;

    #[tokio::test]
    async fn lines_arrive_whole_and_in_order_however_narrow_the_way() {
        let (mut read, output) = duplex(7);
        let (out, writing) = Written::to(output);
        for number in 0..100 {
            assert!(out.send(format!("line {number}")).await);
        }
        drop(out);
        let mut all = String::new();
        read.read_to_string(&mut all).await.unwrap();
        let lines: Vec<String> = (0..100).map(|number| format!("line {number}\n")).collect();
        let expected = lines.concat();
        assert_eq!(all, expected);
        writing.await.unwrap();
    }

    #[tokio::test]
    async fn a_line_that_finds_room_is_written_at_once() {
        let (mut read, output) = duplex(64);
        let (out, _writing) = Written::to(output);
        out.send_now("one".to_owned());
        out.send_now("two".to_owned());
        let mut bytes = [0; 8];
        // No other task had its turn yet.
        let polled = futures_util::FutureExt::now_or_never(read.read_exact(&mut bytes));
        assert_eq!((polled.unwrap().unwrap(), &bytes), (8, b"one\ntwo\n"));
    }

    #[tokio::test(start_paused = true)]
    async fn senders_wait_for_one_who_does_not_read_and_go_on_when_he_does() {
        let (mut read, output) = duplex(16);
        let (out, _writing) = Written::to(output);
        let long = "x".repeat(FULL / 4);
        let filling = async {
            let mut sent = 0;
            while sent < 40 {
                assert!(out.send(long.clone()).await);
                sent += 1;
            }
            sent
        };
        let mut filling = pin!(filling);
        assert!(tokio::time::timeout(Duration::from_secs(1), filling.as_mut()).await.is_err());
        let reading = async {
            let mut bytes = vec![0; 1 << 20];
            loop {
                let _ = read.read(&mut bytes).await.unwrap();
            }
        };
        tokio::select! {
            sent = filling => assert_eq!(sent, 40),
            () = reading => {}
        }
    }

    #[tokio::test]
    async fn nothing_is_sent_where_nobody_reads() {
        let (read, output) = duplex(16);
        let (out, writing) = Written::to(output);
        drop(read);
        assert!(!out.send("lost".to_owned()).await);
        assert!(!out.send("lost too".to_owned()).await);
        let (_read, output) = duplex(16);
        let (out, second) = Written::to(output);
        out.shut();
        assert!(!out.send("lost".to_owned()).await);
        drop(out);
        for ended in [writing, second] {
            tokio::time::timeout(Duration::from_secs(5), ended).await.unwrap().unwrap();
        }
    }
}
