//! The guard between clients that come over HTTP and servers of both kinds, all over real sockets.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

mod door;
mod guarded;
mod mailbox;
mod remote;
mod restarts;
mod secrets;
mod streams;
mod talk;
mod wire;
