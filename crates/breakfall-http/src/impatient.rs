//! A connection whose other end must take what it asked for: one that does not is closed.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::time::Sleep;

pub(crate) struct Impatient<S> {
    stream: S,
    longest: Duration,
    /// Runs while something waits to be taken.
    waits: Option<Pin<Box<Sleep>>>,
}

impl<S> Impatient<S> {
    pub(crate) fn new(stream: S, longest: Duration) -> Self {
        Self { stream, longest, waits: None }
    }

    fn patiently<T>(
        &mut self,
        polled: Poll<Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<Result<T>> {
        if polled.is_ready() {
            self.waits = None;
            return polled;
        }
        let longest = self.longest;
        let waits = self.waits.get_or_insert_with(|| Box::pin(tokio::time::sleep(longest)));
        ready!(waits.as_mut().poll(context));
        Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "nobody takes what is sent")))
    }
}

impl<S: Read + Unpin> Read for Impatient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: ReadBufCursor<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: Write + Unpin> Write for Impatient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.patiently(polled, context)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.patiently(polled, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(context);
        self.patiently(polled, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.patiently(polled, context)
    }
}
