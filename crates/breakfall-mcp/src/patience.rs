//! A thread that waits for the next line, and stays awake for it where that has been of use: for one
//! call at a time.

use std::cell::RefCell;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Weak};

use breakfall::Patience;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

thread_local! {
    static WAITING: RefCell<Waiting> = RefCell::default();
}

/// What a thread waits for.
#[derive(Default)]
struct Waiting {
    /// Where the client's lines come from, to the end of the program.
    of_client: Option<Arc<OwnedFd>>,
    /// Where those of servers come from, as long as somebody reads them.
    of_servers: Vec<Weak<OwnedFd>>,
    under_way: usize,
    /// Whose line is next, when nobody has looked for it yet.
    next: Option<Whose>,
    server: Patience,
    client: Patience,
}

/// Whose line is waited for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Whose {
    Server,
    Client,
}

impl Waiting {
    fn asked(&mut self) {
        self.under_way += 1;
        // While there is more to be done, somebody wakes us soon enough.
        self.next = (self.under_way == 1).then_some(Whose::Server);
    }

    fn answered(&mut self) {
        self.under_way = self.under_way.saturating_sub(1);
        self.next = (self.under_way == 0).then_some(Whose::Client);
    }

    fn sources(&self) -> Vec<Arc<OwnedFd>> {
        let of_servers = self.of_servers.iter().filter_map(Weak::upgrade);
        self.of_client.iter().cloned().chain(of_servers).collect()
    }

    fn patience(&self, of: Whose) -> &Patience {
        match of {
            Whose::Server => &self.server,
            Whose::Client => &self.client,
        }
    }
}

/// Where a server's lines come from: forgotten when it is dropped, as a reader of its own would keep
/// the server writing.
pub(crate) struct Source(#[expect(dead_code, reason = "held")] Option<Arc<OwnedFd>>);

impl Source {
    pub(crate) fn server(from: &impl AsFd) -> Self {
        let source = from.as_fd().try_clone_to_owned().ok().map(Arc::new);
        WAITING.with_borrow_mut(|waiting| {
            waiting.of_servers.retain(|source| source.strong_count() > 0);
            waiting.of_servers.extend(source.as_ref().map(Arc::downgrade));
        });
        Self(source)
    }

    /// Where the client's lines come from.
    pub(crate) fn client(from: &impl AsFd) {
        let source = from.as_fd().try_clone_to_owned().ok().map(Arc::new);
        WAITING.with_borrow_mut(|waiting| waiting.of_client = source);
    }
}

/// The client asks something: a server's line is next.
pub(crate) fn asked() {
    WAITING.with_borrow_mut(Waiting::asked);
}

/// It is answered.
pub(crate) fn answered() {
    WAITING.with_borrow_mut(Waiting::answered);
}

/// Looks for the next line for a moment, where that has been of use: for a thread that is about to
/// sleep. Each wait is looked at once, so that a thread without work is at rest.
pub fn stay_awake() {
    WAITING.with_borrow_mut(|waiting| {
        let Some(of) = waiting.next.take() else { return };
        let sources = waiting.sources();
        let mut looked_at: Vec<_> =
            sources.iter().map(|source| PollFd::new(source, PollFlags::IN)).collect();
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        waiting.patience(of).look(|| poll(&mut looked_at, Some(&now)) != Ok(0));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wait_of_a_single_call_is_looked_at_once() {
        let mut waiting = Waiting::default();
        assert_eq!(waiting.next, None);
        waiting.asked();
        assert_eq!(waiting.next.take(), Some(Whose::Server));
        assert_eq!(waiting.next, None);
        waiting.asked();
        assert_eq!(waiting.next, None);
        waiting.answered();
        assert_eq!(waiting.next, None);
        waiting.answered();
        assert_eq!(waiting.next.take(), Some(Whose::Client));
    }
}
