//! Which tools there are: learned from servers, and asked for where a name is nobody's.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::time::Instant;

use super::{FIRST, LISTING, Session};
use crate::message::Answer;
use crate::origin::Origin;
use crate::tools;
use crate::upstream::{Lost, locked};

/// How long after they were asked servers are asked again for a tool that nobody knows; for how many
/// in that time, and how long the name of one may be.
const ASKING: Duration = Duration::from_secs(1);
const NAMES: usize = 100;
const LONG: usize = 256;

/// How much of a name is shown to a person.
const SHOWN: usize = 80;

impl Session {
    /// Why the server of a tool that nobody knows is not there, if that is why nobody knows it. One
    /// that is there is asked once more what it has.
    pub(super) async fn not_there(&self, tool: &str) -> Option<Lost> {
        if self.guard.toolbox().knows(tool) {
            return None;
        }
        if let Some(upstream) = self.owner(tool) {
            if let Err(lost) = upstream.connected(self.patience()).await {
                return Some(lost);
            }
            self.learn(&upstream.key);
            // It may have told a moment ago that there are others.
            if !self.guard.toolbox().knows(tool) && upstream.is_relisted(LISTING).await {
                self.learn(&upstream.key);
            }
            let is_known = self.guard.toolbox().knows(tool);
            if !is_known && !upstream.is_relisting() && self.may_ask_for(tool) {
                upstream.list().await;
                self.learn(&upstream.key);
            }
        }
        None
    }

    /// Whether servers are asked for a tool that nobody told of: for each now and then.
    fn may_ask_for(&self, tool: &str) -> bool {
        let now = Instant::now();
        let mut asked = locked(&self.asked_for);
        asked.retain(|_, at| now - *at < ASKING);
        let may = asked.len() < NAMES && tool.len() < LONG && !asked.contains_key(tool);
        if may {
            asked.insert(tool.to_owned(), now);
        }
        may
    }

    /// Asks the only server for its tools; the first time as soon as it is there.
    pub(super) async fn first_listed(
        &self,
        origin: &Arc<Origin>,
        method: &str,
        params: Option<&RawValue>,
    ) -> Answer {
        if let ([only], false) = (&*self.upstreams, self.has_listed.load(Ordering::Relaxed)) {
            let _ = only.connected(FIRST).await;
        }
        self.forwarded(origin, method, params).await
    }

    /// A list of the only server's passes: what the client sees there it may call.
    pub(super) fn seen(&self, asked: Option<&RawValue>, answer: Answer) -> Answer {
        self.has_listed.store(true, Ordering::Relaxed);
        if let (Answer::Result(page), [only]) = (&answer, self.upstreams.as_slice())
            && only.told_of_tools(asked, page)
        {
            self.learn(&only.key);
        }
        answer
    }

    /// Takes over the tools of a server; true where a client that listed them before should again.
    pub(super) fn learn(&self, key: &str) -> bool {
        let Some(upstream) = self.upstream(key) else { return false };
        let before: Vec<_> = self.guard.toolbox().callable();
        let entries = tools::entries(upstream);
        let toolbox = self.guard.toolbox();
        let refused = toolbox.replace(key, entries.clone());
        let remarks = refused.iter().map(|(tool, error)| remark(tool, error));
        locked(&self.remarks).insert(key.to_owned(), remarks.collect());
        if !refused.is_empty() {
            for (tool, error) in &refused {
                if matches!(error, breakfall::Error::Schema { .. }) {
                    tracing::warn!(upstream = key, tool, %error, "Tool taken without its schema");
                } else {
                    tracing::warn!(upstream = key, tool, %error, "Tool left out");
                }
            }
            let is_refused = |name: &str| refused.iter().any(|(refused, _)| refused == name);
            let mended = entries.iter().map(|entry| {
                if is_refused(&entry.spec().name) {
                    tools::without_schema(entry)
                } else {
                    entry.clone()
                }
            });
            toolbox.replace(key, mended.collect::<Vec<_>>());
        }
        self.has_listed.load(Ordering::Relaxed) && before != toolbox.callable()
    }
}

/// What becomes of a tool that cannot be taken as its server tells of it, and why.
fn remark(tool: &str, error: &breakfall::Error) -> String {
    let (short, rest) = tool.split_at(tool.floor_char_boundary(SHOWN));
    let cut = if rest.is_empty() { "" } else { "…" };
    let fate = match error {
        breakfall::Error::Schema { .. } => "taken without its schema",
        _ => "left out",
    };
    let why = std::error::Error::source(error).map(|why| format!(": {why}")).unwrap_or_default();
    format!("`{short}{cut}` is {fate}: {error}{why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_is_left_out_is_told_as_such_and_its_name_in_short() {
        let (tool, path) = ("bad".to_owned(), "/type".to_owned());
        let schema = breakfall::Error::Schema { tool, path, source: "3 is no type".into() };
        assert_eq!(
            remark("bad", &schema),
            "`bad` is taken without its schema: the input schema of `bad` is not usable at \
             `/type`: 3 is no type"
        );
        let name = breakfall::Error::NoSuchTool { name: "w".to_owned() };
        assert_eq!(
            remark(&"w".repeat(2000), &name),
            format!("`{}…` is left out: {name}", "w".repeat(SHOWN))
        );
    }
}
