//! The tools that a server lists: asked for by us, or seen when the client asks.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;

use super::{Upstream, greet, locked};
use crate::fields::Fields;

impl Upstream {
    /// The tools as the server last listed them.
    pub(crate) fn tools(&self) -> Vec<Box<RawValue>> {
        locked(&self.listed).clone()
    }

    /// Asks for the tools once more.
    pub(crate) async fn list(self: &Arc<Self>) {
        if let Ok(connection) = self.connected(Duration::ZERO).await {
            greet::list(self, &connection).await;
        }
    }

    /// From now on the server has these tools.
    pub(super) fn has(&self, tools: Vec<Box<RawValue>>) {
        *locked(&self.parameters) = crate::tools::parameters(&tools);
        *locked(&self.listed) = tools;
    }

    /// Takes over what the server told a client that asked for its tools; true where it is news. A
    /// page tells nothing of the tools that are not on it.
    pub(crate) fn told_of_tools(&self, asked: Option<&RawValue>, page: &RawValue) -> bool {
        let page = Fields::of(Some(page));
        let listed = page.get("tools").and_then(|tools| serde_json::from_str(tools.get()).ok());
        let Some(listed): Option<Vec<Box<RawValue>>> = listed else { return false };
        let is_set = |it: Option<&RawValue>| it.is_some_and(|it| it.get() != "null");
        let is_whole = !is_set(Fields::of(asked).get("cursor")) && !is_set(page.get("nextCursor"));
        let known = self.tools();
        let tools = if is_whole { listed } else { with(known.clone(), listed) };
        if tools.iter().map(|tool| tool.get()).eq(known.iter().map(|tool| tool.get())) {
            return false;
        }
        self.has(tools);
        true
    }

    /// The tools are asked for anew until what is returned is dropped.
    pub(super) fn relisting(self: &Arc<Self>) -> Relisting {
        self.relists.send_modify(|relists| *relists += 1);
        Relisting(Arc::clone(self))
    }

    /// Whether the tools are asked for at this moment.
    pub(crate) fn is_relisting(&self) -> bool {
        *self.relists.borrow() > 0
    }

    /// Waits while the tools are asked for anew; true where they were.
    pub(crate) async fn is_relisted(&self, patience: Duration) -> bool {
        let mut relists = self.relists.subscribe();
        if *relists.borrow_and_update() == 0 {
            return false;
        }
        let _ = tokio::time::timeout(patience, relists.wait_for(|relists| *relists == 0)).await;
        true
    }
}

/// Tools with others, which replace those of the same names.
fn with(mut tools: Vec<Box<RawValue>>, others: Vec<Box<RawValue>>) -> Vec<Box<RawValue>> {
    let name = |tool: &RawValue| Fields::of(Some(tool)).text("name").unwrap_or_default();
    let places = tools.iter().enumerate().map(|(at, tool)| (name(tool), at));
    let places: HashMap<String, usize> = places.collect();
    for other in others {
        match places.get(&name(&other)) {
            Some(at) => tools[*at] = other,
            None => tools.push(other),
        }
    }
    tools
}

/// Tools are asked for anew.
pub(super) struct Relisting(Arc<Upstream>);

impl Drop for Relisting {
    fn drop(&mut self) {
        self.0.relists.send_modify(|relists| *relists -= 1);
    }
}
