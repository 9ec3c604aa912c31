//! The client says hello, in whatever era, and hears what there is.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use serde_json::value::RawValue;

use super::{GREETING, LISTING, Session};
use crate::era::{self, Era, LEGACY, MODERN, NEWEST_LEGACY};
use crate::fields::{Fields, raw};
use crate::headers::Parameter;
use crate::message::Answer;
use crate::origin::Origin;
use crate::tools;
use crate::upstream::{Hello, Lost, locked};

/// How long a request waits for the hello that should have come before it, and how often it is looked
/// whether that is there.
const HELLO: Duration = Duration::from_secs(1);
const LOOKING: Duration = Duration::from_millis(10);

/// The hello of a client that says none.
pub(super) fn our_hello() -> Hello {
    let said = raw(&json!({
        "protocolVersion": NEWEST_LEGACY,
        "capabilities": {},
        "clientInfo": era::our_name(),
    }));
    Hello { era: Era::Legacy, said }
}

impl Session {
    /// Whether a single server stands behind us, at an address.
    pub(crate) fn is_remote(&self) -> bool {
        matches!(self.upstreams.as_slice(), [only] if only.is_remote())
    }

    /// The client says hello: every server is started and greeted with it.
    pub(super) async fn greeted(&self, origin: &Origin, params: Option<&RawValue>) -> Answer {
        let said = params.map_or_else(|| raw(&json!({})), ToOwned::to_owned);
        self.greet(&Hello { era: Era::Legacy, said });
        let greeting = match self.greeting_of_the_only(origin).await {
            Ok(Some(greeting)) => greeting,
            Err(refusal) => return Answer::Error(refusal),
            Ok(None) => {
                let version = Fields::of(params).text("protocolVersion");
                let version = version.as_deref().filter(|version| LEGACY.contains(version));
                let mut fields = Fields::default();
                fields.set("protocolVersion", raw(&version.unwrap_or(NEWEST_LEGACY)));
                fields.set("capabilities", raw(&era::capabilities()));
                fields.set("serverInfo", raw(&era::our_name()));
                self.instructed(fields).await.raw()
            }
        };
        *locked(&self.revision) = Fields::of(Some(&greeting)).text("protocolVersion");
        Answer::Result(greeting)
    }

    /// What a single server says to the client's hello, if it is there; an error where it refuses
    /// it: the client may have another.
    async fn greeting_of_the_only(
        &self,
        origin: &Origin,
    ) -> Result<Option<Box<RawValue>>, Box<RawValue>> {
        let [only] = self.upstreams.as_slice() else { return Ok(None) };
        match only.connected(GREETING).await {
            Ok(connection) => Ok(connection.greeting.get().cloned()),
            Err(Lost::Unwelcome(refusal)) if !self.is_listing() => Err(refusal),
            Err(Lost::Refused(refusal)) => {
                origin.is_refused(refusal);
                Ok(None)
            }
            Err(_) => Ok(None),
        }
    }

    /// Whether the only server refused the client's hello: nothing comes of this session.
    pub(crate) fn is_unwelcome(&self) -> bool {
        matches!(self.upstreams.as_slice(), [only] if only.is_unwelcome())
    }

    /// What we are, to who asks for it.
    pub(super) async fn discovered(&self) -> Answer {
        Answer::Result(Era::Modern.listing(self.instructed(era::discovered()).await))
    }

    /// A greeting of ours with what our servers say of how they are used. A list of tools, which is
    /// asked for next, waits for them as long.
    async fn instructed(&self, mut greeting: Fields) -> Fields {
        if !self.is_prefixed() {
            return greeting;
        }
        let greetings = self.upstreams.iter().map(|upstream| async move {
            let connection = upstream.connected(LISTING).await.ok()?;
            let said = Fields::of(connection.greeting.get().map(|said| &**said));
            Some((upstream, said.text("instructions").filter(|said| !said.trim().is_empty())?))
        });
        let said: Vec<String> = futures_util::future::join_all(greetings)
            .await
            .into_iter()
            .flatten()
            .map(|(upstream, said)| {
                let (key, prefix) = (&upstream.key, &upstream.prefix);
                format!("# {key}: its tools begin with `{prefix}`\n\n{}\n", said.trim())
            })
            .collect();
        if !said.is_empty() {
            greeting.set("instructions", raw(&said.join("\n")));
        }
        greeting
    }

    /// Whether client and servers agreed on a revision, or on a later one.
    pub(crate) fn speaks(&self, revision: &str) -> bool {
        locked(&self.revision).as_deref().is_some_and(|agreed| agreed >= revision)
    }

    /// The arguments of a call that its tool wants said again in headers, where its server does not
    /// see the headers itself.
    pub(crate) fn parameters(&self, method: &str, params: Option<&RawValue>) -> Arc<[Parameter]> {
        let none = || Arc::new([]);
        if method != "tools/call" {
            return none();
        }
        let name = Fields::of(params).text("name").unwrap_or_default();
        match self.owner(&name) {
            Some(upstream) if !upstream.is_remote() || self.is_prefixed() => {
                upstream.parameters(&name[upstream.prefix.len()..])
            }
            _ => none(),
        }
    }

    pub(super) fn greet(&self, hello: &Hello) {
        *locked(&self.era) = Some(hello.era);
        for upstream in &self.upstreams {
            upstream.greet(hello.clone());
        }
    }

    /// A request of a client that has not said hello: it is about to, or it never will. Then its
    /// servers are greeted for it, so that it has its answer.
    pub(super) async fn unmet(&self) {
        let is_met = async {
            while locked(&self.era).is_none() {
                tokio::time::sleep(LOOKING).await;
            }
        };
        if tokio::time::timeout(HELLO, is_met).await.is_err() && locked(&self.era).is_none() {
            self.greet(&our_hello());
        }
    }

    /// How the client speaks.
    pub(super) fn era(&self) -> Era {
        locked(&self.era).unwrap_or_default()
    }

    /// A request that says everything itself: servers are greeted when the first one comes. Why it
    /// is refused where they do not speak like that.
    pub(super) async fn met(&self, method: &str, params: Option<&RawValue>) -> Option<Answer> {
        if locked(&self.era).is_none() {
            self.greet(&Hello { era: Era::Modern, said: era::meta_of(params) });
        }
        if self.upstreams.is_empty() && era::version(params).as_deref() != Some(MODERN) {
            return Some(era::unsupported(era::version(params), &[MODERN]));
        }
        // Whether a single server is spoken to like that is for itself to say.
        let is_asked = method == "server/discover" && !self.is_prefixed();
        let patience = if is_asked { GREETING } else { LISTING };
        for upstream in &self.upstreams {
            if let Err(Lost::Foreign(said)) = upstream.connected(patience).await {
                return Some(if method == "server/discover" {
                    Answer::Error(said)
                } else {
                    era::unsupported(era::version(params), LEGACY)
                });
            }
        }
        None
    }

    /// Whether the list of tools is ours to make: a single server lists its own.
    pub(super) fn is_listing(&self) -> bool {
        self.upstreams.len() != 1 || !self.own.is_empty()
    }

    /// How long a server is waited for that may still be starting.
    pub(super) fn patience(&self) -> Duration {
        GREETING.saturating_sub(self.began.elapsed()).max(LISTING)
    }

    /// All tools of all servers.
    pub(super) async fn listed(&self, era: Era) -> Answer {
        let patience = self.patience();
        let waits = self.upstreams.iter().map(|upstream| async move {
            let _ = upstream.connected(patience).await;
            upstream.is_relisted(patience).await
        });
        futures_util::future::join_all(waits).await;
        self.has_listed.store(true, Ordering::Relaxed);
        let own = self.own.iter().map(tools::described);
        let theirs = self
            .upstreams
            .iter()
            .flat_map(|upstream| tools::prefixed(upstream.tools(), &upstream.prefix));
        let tools: Vec<Box<RawValue>> = own.chain(theirs).collect();
        let mut fields = Fields::default();
        fields.set("tools", raw(&tools));
        Answer::Result(era.listing(fields))
    }
}
