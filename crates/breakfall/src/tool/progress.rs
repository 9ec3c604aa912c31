//! The line between a tool that runs and who waits for it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::attempt::Trail;

/// A tool's line to who waits for it. Cheap to clone and to send to another thread.
///
/// ```
/// use breakfall::{Failure, function_with};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Pages { count: u32 }
///
/// let crawl = function_with("crawl", "Reads pages.", |Pages { count }, progress| async move {
///     for _page in 0..count {
///         // … read it …
///         progress.tick();
///     }
///     Ok::<_, Failure>("all read")
/// });
/// ```
#[derive(Clone, Debug)]
pub struct Progress(Arc<Line>);

#[derive(Debug)]
struct Line {
    tool: String,
    id: String,
    state: Mutex<State>,
    stragglers: Arc<Stragglers>,
}

#[derive(Debug)]
struct State {
    /// When the tool last said that its work goes on, and how long the clock had stood by then.
    last: Option<(Instant, Duration)>,
    is_wanted: bool,
    stage: Stage,
    /// Was still at work when nobody wanted it any more.
    is_straggler: bool,
    fault: Option<&'static str>,
    holders: u32,
    held_since: Option<Instant>,
    /// How long the clock stood, before now.
    held: Duration,
}

/// Where the work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// With who waits, or at its end.
    Here,
    /// It waits for a thread, and has not begun.
    Queued,
    /// On a thread or a task of its own.
    Elsewhere,
}

impl State {
    /// How long the clock stood by now.
    fn held(&self) -> Duration {
        self.held + self.held_since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

/// The clock stands until this is dropped.
#[derive(Debug)]
pub struct Held(Progress);

impl Drop for Held {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.holders = state.holders.saturating_sub(1);
        if state.holders == 0
            && let Some(since) = state.held_since.take()
        {
            state.held += since.elapsed();
        }
    }
}

impl Line {
    fn straggles(&self, state: &mut State) {
        if !std::mem::replace(&mut state.is_straggler, true) {
            self.stragglers.running.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Progress {
    /// Says that work goes on: the attempt's time starts anew. The call's total time does not.
    pub fn tick(&self) {
        let mut state = self.state();
        state.last = Some((Instant::now(), state.held()));
    }

    /// Stops the clock while the tool waits for a person, until what is returned is dropped.
    pub fn hold(&self) -> Held {
        let mut state = self.state();
        state.holders += 1;
        if state.holders == 1 {
            state.held_since = Some(Instant::now());
        }
        drop(state);
        Held(self.clone())
    }

    /// Whether anybody still waits for the result. Work that cannot be stopped from outside may
    /// look here and end itself.
    pub fn is_wanted(&self) -> bool {
        self.state().is_wanted
    }

    pub(super) fn mark_fault(&self, fault: &'static str) {
        self.state().fault = Some(fault);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Work waits for a thread: if its time is up before it begins, nothing has been done.
    pub fn queued(&self) {
        self.state().stage = Stage::Queued;
    }

    /// Work that waited for a thread begins, unless it was given up meanwhile.
    pub fn begin(&self) -> Option<Elsewhere> {
        let state = self.state();
        if state.stage == Stage::Queued && !state.is_wanted {
            return None;
        }
        drop(state);
        Some(self.elsewhere())
    }

    /// Work begins on a thread or a task of its own: if its time is up before what is returned is
    /// dropped, it is a straggler.
    pub fn elsewhere(&self) -> Elsewhere {
        let mut state = self.state();
        state.stage = Stage::Elsewhere;
        if !state.is_wanted {
            self.0.straggles(&mut state);
        }
        drop(state);
        Elsewhere(self.clone())
    }
}

/// Work on a thread or a task of its own, until it is dropped.
#[derive(Debug)]
pub struct Elsewhere(Progress);

impl Elsewhere {
    /// Work came to its end. What came of it is dropped if nobody wants it any more, and noted.
    pub fn done(self) {
        let line = &self.0.0;
        if self.0.state().is_straggler {
            line.stragglers.late.fetch_add(1, Ordering::Relaxed);
            crate::journal::late_result(&line.tool, &line.id);
        }
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.stage = Stage::Here;
        if std::mem::take(&mut state.is_straggler) {
            self.0.0.stragglers.running.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Attempts that went on when nobody waited for them any more.
#[derive(Debug, Default)]
pub(crate) struct Stragglers {
    running: AtomicU64,
    late: AtomicU64,
}

impl Stragglers {
    /// How many run now, and how many results came too late.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.running.load(Ordering::Relaxed), self.late.load(Ordering::Relaxed))
    }
}

/// The waiting end of the line. There is no other end until the tool asks for one: most never do.
#[derive(Debug)]
pub(crate) struct Watch<'g> {
    line: OnceLock<Progress>,
    stragglers: &'g Arc<Stragglers>,
}

impl<'g> Watch<'g> {
    pub(crate) fn new(stragglers: &'g Arc<Stragglers>) -> Self {
        Self { line: OnceLock::new(), stragglers }
    }

    /// Another watch of the same line.
    pub(crate) fn sharing(progress: &'g Progress) -> Self {
        Self { line: OnceLock::from(progress.clone()), stragglers: &progress.0.stragglers }
    }

    pub(super) fn progress(&self, tool: &str, id: &str) -> Progress {
        let line = || {
            let state = State {
                last: None,
                is_wanted: true,
                stage: Stage::Here,
                is_straggler: false,
                fault: None,
                holders: 0,
                held_since: None,
                held: Duration::ZERO,
            };
            Progress(Arc::new(Line {
                tool: tool.to_owned(),
                id: id.to_owned(),
                state: Mutex::new(state),
                stragglers: Arc::clone(self.stragglers),
            }))
        };
        self.line.get_or_init(line).clone()
    }

    /// Whether the tool asked for the other end.
    pub(crate) fn has_line(&self) -> bool {
        self.line.get().is_some()
    }

    /// Nobody waits any more, and the trail learns what was seen; false where something still works.
    /// Most tools never asked for a line.
    pub(crate) fn leaves_nothing(&self, trail: &mut Trail) -> bool {
        if !self.has_line() {
            return true;
        }
        self.leave();
        let (fault, held) = (self.fault(), self.held());
        if fault.is_some() || !held.is_zero() {
            trail.rare_mut().fault = fault.or(trail.fault());
            trail.rare_mut().held += held;
        }
        !self.straggles()
    }

    /// How long the tool has worked since it began, and since it last said that its work goes on;
    /// and whether the clock stands.
    pub(crate) fn worked(&self, began: Instant) -> (Duration, Duration, bool) {
        let all = began.elapsed();
        let Some(progress) = self.line.get() else { return (all, all, false) };
        let state = progress.state();
        let held = state.held();
        let (last, held_then) = state.last.unwrap_or((began, Duration::ZERO));
        let lately = last.elapsed().saturating_sub(held.saturating_sub(held_then));
        (all.saturating_sub(held), lately, state.held_since.is_some())
    }

    fn fault(&self) -> Option<&'static str> {
        self.line.get()?.state().fault
    }

    /// How long the clock stood.
    fn held(&self) -> Duration {
        self.line.get().map_or(Duration::ZERO, |progress| progress.state().held())
    }

    /// Nobody waits any more for what has not begun; whether that is so.
    pub(crate) fn leave_queued(&self) -> bool {
        let Some(progress) = self.line.get() else { return false };
        let mut state = progress.state();
        let is_queued = state.stage == Stage::Queued;
        state.is_wanted &= !is_queued;
        is_queued
    }

    /// Whether it is still at work though nobody waits any more.
    pub(crate) fn straggles(&self) -> bool {
        self.line.get().is_some_and(|progress| progress.state().is_straggler)
    }

    /// Nobody waits any more. What still works elsewhere is a straggler from now on.
    pub(crate) fn leave(&self) {
        let Some(progress) = self.line.get() else { return };
        let mut state = progress.state();
        state.is_wanted = false;
        if state.stage == Stage::Elsewhere {
            progress.0.straggles(&mut state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_for_a_thread_and_is_given_up_never_begins() {
        let stragglers = Arc::default();
        let watch = Watch::new(&stragglers);
        let progress = watch.progress("read", "1");
        progress.queued();
        assert!(watch.leave_queued());
        assert!(progress.begin().is_none());
    }

    #[test]
    fn what_has_begun_is_not_given_up_as_never_begun() {
        let stragglers = Arc::default();
        let watch = Watch::new(&stragglers);
        let progress = watch.progress("read", "1");
        progress.queued();
        let elsewhere = progress.begin();
        assert!(elsewhere.is_some());
        assert!(!watch.leave_queued());
    }
}
