//! Whether a thread that waits for the next line stays awake for it: to be woken takes a processor
//! that rests longer than a quick server takes to answer, but where lines take their time, or other
//! processes want the processor, staying awake is a waste.

use std::cell::RefCell;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, LazyLock, Weak};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How long a line is looked for without falling asleep: what a call may cost in processor time.
const AWAKE: Duration = Duration::from_micros(100);

/// Between two looks that are further apart another process had the processor.
const TAKEN: Duration = Duration::from_micros(20);

/// From how much on it is not looked for any more, and the most that is held against it.
const ENOUGH: u32 = 6;
const MOST: u32 = 12;

/// How often it is tried again all the same.
const AGAIN: u32 = 64;

/// Whether anything can happen while somebody looks. To yield instead would hand the processor to
/// whatever else the machine does, for far longer than a quick server takes.
static HAS_ROOM: LazyLock<bool> =
    LazyLock::new(|| std::thread::available_parallelism().is_ok_and(|many| many.get() > 1));

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

/// What was learned of whose lines are waited for: how much they were looked for in vain, lately.
#[derive(Default)]
struct Patience {
    in_vain: u32,
    turns: u32,
}

impl Patience {
    /// Whether to look for the next line.
    fn looks(&mut self) -> bool {
        self.turns = self.turns.wrapping_add(1);
        self.in_vain < ENOUGH || self.turns.is_multiple_of(AGAIN)
    }

    fn learn(&mut self, is_of_use: bool) {
        // Once in vain outweighs twice of use: most of the time it must be.
        self.in_vain =
            if is_of_use { self.in_vain.saturating_sub(1) } else { (self.in_vain + 2).min(MOST) };
    }
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

    fn patience(&mut self, of: Whose) -> &mut Patience {
        match of {
            Whose::Server => &mut self.server,
            Whose::Client => &mut self.client,
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
    let Some((of, sources)) = WAITING.with_borrow_mut(|waiting| {
        let of = waiting.next.take()?;
        let looks = *HAS_ROOM && waiting.patience(of).looks();
        looks.then(|| (of, waiting.sources()))
    }) else {
        return;
    };
    let mut looked_at: Vec<_> =
        sources.iter().map(|source| PollFd::new(source, PollFlags::IN)).collect();
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let is_of_use = look(Instant::now, || poll(&mut looked_at, Some(&now)) != Ok(0));
    WAITING.with_borrow_mut(|waiting| waiting.patience(of).learn(is_of_use));
}

/// Looks until something is there, and tells whether that was of use: it came soon, and nobody else
/// wanted the processor.
fn look(mut now: impl FnMut() -> Instant, mut is_there: impl FnMut() -> bool) -> bool {
    let began = now();
    let mut last = began;
    loop {
        let is_there = is_there();
        let at = now();
        if at - last >= TAKEN || at - began >= AWAKE {
            return false;
        }
        if is_there {
            return true;
        }
        last = at;
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Duration = Duration::from_micros(1);

    /// Looks for what is there after so long, on a processor that is gone once for so long.
    fn looked(comes: Duration, gone: Duration) -> (bool, Duration) {
        let began = Instant::now();
        let passed = std::cell::Cell::new(Duration::ZERO);
        let now = || {
            let before = passed.get();
            let away = if before == 10 * STEP { gone } else { Duration::ZERO };
            passed.set(before + STEP + away);
            began + before
        };
        let is_of_use = look(now, || passed.get() > comes);
        (is_of_use, passed.get())
    }

    #[test]
    fn a_line_is_looked_for_as_long_as_it_may_come_soon_and_nobody_wants_the_processor() {
        let micros = Duration::from_micros;
        for (comes, gone, is_of_use, longest) in [
            (0, 0, true, 3),
            (50, 0, true, 53),
            (300, 0, false, 103),
            (300, 50, false, 65),
            // It is there, but only because another process ran meanwhile.
            (30, 1_000, false, 1_015),
        ] {
            let (was, took) = looked(micros(comes), micros(gone));
            assert_eq!(was, is_of_use, "{comes} {gone}");
            assert!(took <= micros(longest), "{comes} {gone}: {took:?}");
        }
    }

    #[test]
    fn what_is_looked_for_in_vain_is_left_alone_but_tried_again() {
        let mut patience = Patience::default();
        let mut looks = |is_of_use| {
            let looks = patience.looks();
            if looks {
                patience.learn(is_of_use);
            }
            looks
        };
        assert!((0..100).all(|_| looks(true)));
        assert_eq!((0..640).filter(|_| looks(false)).count(), 3 + 10);
        // Soon it is of use again: as often as it is tried, until it is believed.
        let tried = (0..AGAIN * MOST).filter(|_| looks(true)).count();
        assert!(tried > 100, "{tried}");
    }

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
