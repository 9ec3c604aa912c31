//! Calls under way: their clocks, and the tokens under which a server tells how far they are.

use std::sync::Arc;

use breakfall::{Held, Progress};
use serde_json::value::RawValue;

use super::{Upstream, locked};
use crate::fields::{Fields, raw};
use crate::message::number;
use crate::origin::Origin;

/// How many tokens are kept of what goes on when it is answered.
const LASTING: usize = 256;

/// A token for progress that a server was given in place of the client's.
pub(super) struct Token {
    clients: Box<RawValue>,
    /// Progress never goes back: how far this attempt is, and how far those before it came.
    last: f64,
    before: f64,
    call: Option<Progress>,
    about: Option<Arc<Origin>>,
}

impl Upstream {
    /// A call is under way until what is returned is dropped.
    pub(crate) fn under_way(self: &Arc<Self>, progress: Progress) -> UnderWay {
        let number = self.number();
        locked(&self.calls).insert(number, progress);
        UnderWay { upstream: Arc::clone(self), number }
    }

    /// Stops the clock of every call under way: the server asks a person.
    pub(crate) fn hold(&self) -> Vec<Held> {
        locked(&self.calls).values().map(Progress::hold).collect()
    }

    /// Gives the server a token of ours in place of the client's, in the fields of a request.
    pub(crate) fn with_token(
        self: &Arc<Self>,
        fields: &mut Fields,
        call: Option<Progress>,
        about: Option<&Arc<Origin>>,
    ) -> Option<Tracked> {
        let mut meta = Fields::of(fields.get("_meta"));
        let clients = meta.get("progressToken")?.to_owned();
        let number = self.number();
        meta.set("progressToken", raw(&number));
        fields.set("_meta", meta.raw());
        let (last, about) = (f64::NEG_INFINITY, about.cloned());
        let before = about.as_ref().map_or(last, |origin| origin.how_far());
        locked(&self.tokens).insert(number, Token { clients, last, before, call, about });
        Some(Tracked { upstream: Arc::clone(self), number, is_kept: false })
    }

    /// Progress as the client knows it; nothing for a request that nobody waits for.
    pub(super) fn progress(
        &self,
        params: Option<&RawValue>,
    ) -> Option<(Box<RawValue>, Option<Arc<Origin>>)> {
        let mut fields = Fields::of(params);
        let number = number(fields.get("progressToken")?)?;
        let value = fields.get("progress").and_then(|it| it.get().parse().ok());
        let mut tokens = locked(&self.tokens);
        let token = tokens.get_mut(&number)?;
        if let Some(call) = &token.call {
            call.tick();
        }
        if let Some(value) = value {
            if value < token.last || value <= token.before {
                return None;
            }
            token.last = value;
            if let Some(origin) = &token.about {
                origin.came_to(value);
            }
        }
        fields.set("progressToken", token.clients.clone());
        Some((fields.raw(), token.about.clone()))
    }
}

/// A call under way.
pub(crate) struct UnderWay {
    upstream: Arc<Upstream>,
    number: u64,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        locked(&self.upstream.calls).remove(&self.number);
    }
}

/// A token that a server was given.
pub(crate) struct Tracked {
    upstream: Arc<Upstream>,
    number: u64,
    is_kept: bool,
}

impl Tracked {
    /// What it belongs to goes on behind its answer: the token is kept until many others are.
    pub(crate) fn goes_on(mut self) {
        self.is_kept = true;
        let oldest = {
            let mut lasting = locked(&self.upstream.lasting);
            lasting.push_back(self.number);
            (lasting.len() > LASTING).then(|| lasting.pop_front()).flatten()
        };
        let mut tokens = locked(&self.upstream.tokens);
        if let Some(token) = tokens.get_mut(&self.number) {
            token.about = None;
        }
        if let Some(oldest) = oldest {
            tokens.remove(&oldest);
        }
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        if !self.is_kept {
            locked(&self.upstream.tokens).remove(&self.number);
        }
    }
}
