//! Which policy holds for a tool: built in, `[defaults]`, the upstream's, the tool's own.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::file::{CallTable, ToolTable, UpstreamTable};
use crate::Policy;

/// The policy of every tool, also of those that are added later.
#[derive(Clone, Debug, Default)]
pub(crate) struct Policies {
    pub(crate) all: Arc<Policy>,
    pub(crate) tools: HashMap<String, Arc<Policy>, RandomState>,
    /// Of upstreams with defaults of their own.
    upstreams: HashMap<String, Self>,
}

impl Policies {
    /// The policy of a tool. Its upstream is asked for only where that makes a difference.
    pub(crate) fn of(
        &self,
        tool: &str,
        upstream: impl FnOnce() -> Option<Arc<str>>,
    ) -> &Arc<Policy> {
        let policies = if self.upstreams.is_empty() {
            self
        } else {
            upstream().and_then(|name| self.upstreams.get(&*name)).unwrap_or(self)
        };
        policies.tools.get(tool).unwrap_or(&policies.all)
    }

    /// With what a file says: what is said of one tool in code stands below only what the file
    /// says of that tool.
    pub(super) fn configured(
        mut self,
        defaults: &CallTable,
        upstreams: &BTreeMap<String, UpstreamTable>,
        tools: &BTreeMap<String, ToolTable>,
    ) -> Self {
        let in_code = std::mem::take(&mut self.tools);
        defaults.put_over(Arc::make_mut(&mut self.all));
        for (name, table) in upstreams {
            if table.defaults != CallTable::default() {
                let mut all = self.all.clone();
                table.defaults.put_over(Arc::make_mut(&mut all));
                let of_upstream = Self { all, ..Self::default() }.named(&in_code, tools);
                self.upstreams.insert(name.clone(), of_upstream);
            }
        }
        self.named(&in_code, tools)
    }

    fn named(
        mut self,
        in_code: &HashMap<String, Arc<Policy>, RandomState>,
        tools: &BTreeMap<String, ToolTable>,
    ) -> Self {
        self.tools.clone_from(in_code);
        for (name, table) in tools {
            let policy = self.tools.entry(name.clone()).or_insert_with(|| self.all.clone());
            table.call.put_over(Arc::make_mut(policy));
        }
        self
    }
}
