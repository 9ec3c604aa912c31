//! The tools of MCP servers, or our own, behind the guard of a session.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use breakfall::{BoxFuture, Call, Reply, ToolSpec};
use breakfall_chat::Tools;
use breakfall_mcp::Session;

pub(super) struct Servants {
    session: Arc<Session>,
    /// Whether every server had its time to start.
    settled: AtomicBool,
}

impl Servants {
    pub(super) fn new(session: Arc<Session>) -> Self {
        Self { session, settled: AtomicBool::new(false) }
    }
}

impl Tools for Servants {
    fn callable(&self) -> BoxFuture<'_, Vec<ToolSpec>> {
        Box::pin(async {
            // A server that is gone is waited for once, not before every question.
            if self.settled.load(Ordering::Relaxed) {
                return self.session.guard().toolbox().callable();
            }
            let tools = self.session.tools().await;
            self.settled.store(true, Ordering::Relaxed);
            tools
        })
    }

    fn answer<'a>(
        &'a self,
        calls: Vec<Call>,
        stop: BoxFuture<'a, ()>,
        tell: &'a mut (dyn FnMut(&Reply) + Send),
    ) -> BoxFuture<'a, Vec<Reply>> {
        Box::pin(self.session.call_tools(calls, stop, tell))
    }

    fn end_run(&self, run: &str) {
        self.session.guard().end_run(run);
    }
}
