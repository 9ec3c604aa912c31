//! What was said of tools and upstreams before there were any.

use std::collections::HashMap;
use std::sync::Arc;

use crate::attempt::GateRules;
use crate::config::Policies;
use crate::fallback::Fallback;
use crate::toolbox::Rules;

/// What was said of tools and upstreams, also of those that come later.
pub(super) struct Standing {
    pub(super) policies: Policies,
    pub(super) upstream: Arc<GateRules>,
    pub(super) upstreams: HashMap<String, Arc<GateRules>>,
    pub(super) fallbacks: HashMap<String, Arc<Fallback>>,
}

impl Standing {
    /// What holds for a tool of that name.
    pub(super) fn rules(&self, tool: &str, upstream: Option<&Arc<str>>) -> Rules {
        let of_upstream = upstream.and_then(|name| self.upstreams.get(&**name));
        Rules {
            policy: Arc::clone(self.policies.of(tool, || upstream.cloned())),
            upstream: Arc::clone(of_upstream.unwrap_or(&self.upstream)),
            fallback: self.fallbacks.get(tool).cloned(),
        }
    }
}
