//! What a conversation needs of its tools: a guard, or a door to one.

use breakfall::{BoxFuture, Call, Guard, Reply, ToolSpec};

/// Tools behind a guard.
pub trait Tools: Send + Sync {
    /// The tools that can be called now.
    fn callable(&self) -> BoxFuture<'_, Vec<ToolSpec>>;

    /// Answers every call, in the order of the calls, and tells of each reply as soon as it is
    /// there. When `stop` is ready, what is done by then is kept and the rest is answered as
    /// cancelled.
    fn answer<'a>(
        &'a self,
        calls: Vec<Call>,
        stop: BoxFuture<'a, ()>,
        tell: &'a mut (dyn FnMut(&Reply) + Send),
    ) -> BoxFuture<'a, Vec<Reply>>;

    /// Forgets what failed and what was paused in a run that ended.
    fn end_run(&self, run: &str);
}

impl Tools for Guard {
    fn callable(&self) -> BoxFuture<'_, Vec<ToolSpec>> {
        Box::pin(async { self.toolbox().callable() })
    }

    fn answer<'a>(
        &'a self,
        calls: Vec<Call>,
        stop: BoxFuture<'a, ()>,
        tell: &'a mut (dyn FnMut(&Reply) + Send),
    ) -> BoxFuture<'a, Vec<Reply>> {
        Box::pin(self.handle_all_telling(calls, stop, tell))
    }

    fn end_run(&self, run: &str) {
        Self::end_run(self, run);
    }
}
