//! Standard input and output without a thread in between, where they are pipes or sockets, as
//! clients make them.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as Socket;

use rustix::fs::{FileType, fstat};
use tokio::io::{AsyncBufRead, AsyncWrite, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use crate::patience::Source;

/// How much is read at once.
const READ: usize = 64 << 10;

/// Standard input, to be read by one.
pub fn stdin() -> Box<dyn AsyncBufRead + Unpin + Send> {
    let source = of(&io::stdin(), pipe::Receiver::from_owned_fd);
    if source.is_some() {
        Source::client(&io::stdin());
    }
    match source {
        Some(Either::Pipe(pipe)) => Box::new(BufReader::with_capacity(READ, pipe)),
        Some(Either::Socket(socket)) => Box::new(BufReader::with_capacity(READ, socket)),
        None => Box::new(BufReader::with_capacity(READ, tokio::io::stdin())),
    }
}

/// Standard output, to be written by one.
pub fn stdout() -> Box<dyn AsyncWrite + Unpin + Send> {
    match of(&io::stdout(), pipe::Sender::from_owned_fd) {
        Some(Either::Pipe(pipe)) => Box::new(pipe),
        Some(Either::Socket(socket)) => Box::new(socket),
        None => Box::new(tokio::io::stdout()),
    }
}

enum Either<P> {
    Pipe(P),
    Socket(UnixStream),
}

/// What a stream is, where the system can tell us when it is ready.
fn of<P>(stream: &impl AsFd, pipe: impl Fn(OwnedFd) -> io::Result<P>) -> Option<Either<P>> {
    let fd = stream.as_fd().try_clone_to_owned().ok()?;
    match FileType::from_raw_mode(fstat(&fd).ok()?.st_mode) {
        FileType::Fifo => pipe(fd).ok().map(Either::Pipe),
        FileType::Socket => {
            let socket = Socket::from(fd);
            socket.set_nonblocking(true).ok()?;
            UnixStream::from_std(socket).ok().map(Either::Socket)
        }
        _ => None,
    }
}
