//! Requests that no tool serves: passed on to the server that they are for.

use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::value::RawValue;

use super::Session;
use super::several::list_of;
use crate::fields::{Fields, raw};
use crate::message::{Answer, LOST, error, notification};
use crate::origin::Origin;
use crate::upstream::{Lost, Upstream, locked, of_subscription};

/// How long a server that is not there is left alone by who listens to it.
const AGAIN: Duration = Duration::from_secs(1);

/// What the client hears of a request that was not answered.
fn lost_answer(upstream: &Upstream, lost: &Lost) -> Answer {
    error(LOST, &format!("`{}` did not answer: {}", upstream.key, lost.in_a_line()))
}

/// Requests that may be made twice: they read, or say how something is to be.
fn may_be_repeated(method: &str) -> bool {
    method.ends_with("/list")
        || matches!(method, "resources/read" | "prompts/get" | "completion/complete" | "ping")
        || matches!(method, "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe")
        || matches!(method, "tasks/get" | "tasks/result")
}

impl Session {
    /// Passes a request on to its server, or to each of them.
    pub(super) async fn forwarded(
        &self,
        origin: &Arc<Origin>,
        method: &str,
        params: Option<&RawValue>,
    ) -> Answer {
        if let [only] = self.upstreams.as_slice() {
            return self.passed(only, origin, method, params).await;
        }
        if let Some(list) = list_of(method) {
            return self.merged(origin, method, params, list).await;
        }
        if method == "logging/setLevel" {
            return self.told_to_all(origin, method, params).await;
        }
        let mut fields = Fields::of(params);
        if method == "prompts/get"
            && let Some(upstream) = self.owner_of_the_name(&mut fields)
        {
            return self.passed(upstream, origin, method, Some(&fields.raw())).await;
        }
        if method == "completion/complete" {
            let mut about = Fields::of(fields.get("ref"));
            if let Some(upstream) = self.owner_of_the_name(&mut about) {
                fields.set("ref", about.raw());
                return self.passed(upstream, origin, method, Some(&fields.raw())).await;
            }
        }
        self.anybodys(origin, method, params).await
    }

    /// Whose prompt is named in these fields, which then name it as its server does.
    fn owner_of_the_name(&self, fields: &mut Fields) -> Option<&Arc<Upstream>> {
        let name = fields.text("name")?;
        let upstream = self.owner(&name)?;
        fields.set("name", raw(&&name[upstream.prefix.len()..]));
        Some(upstream)
    }

    pub(super) async fn passed(
        &self,
        upstream: &Arc<Upstream>,
        origin: &Arc<Origin>,
        method: &str,
        params: Option<&RawValue>,
    ) -> Answer {
        match method {
            "logging/setLevel" | "resources/subscribe" => upstream.remember(method, params),
            "resources/unsubscribe" => upstream.forget(params),
            _ => {}
        }
        let mut fields = Fields::of(params);
        let tracked = upstream.with_token(&mut fields, None, Some(origin));
        let rewritten = tracked.as_ref().map(|_| fields.raw());
        let params = rewritten.as_deref().or(params);
        let mut answer = upstream.request(method, params, Some(origin)).await;
        if matches!(answer, Err(Lost::Gone(_))) && may_be_repeated(method) {
            answer = upstream.request(method, params, Some(origin)).await;
        }
        answer.unwrap_or_else(|lost| lost_answer(upstream, &lost))
    }

    /// The client wants to hear of changes, from now on.
    pub(super) async fn listening(
        self: &Arc<Self>,
        origin: &Arc<Origin>,
        params: Option<&RawValue>,
    ) -> Answer {
        {
            let mut listening = locked(&self.listening);
            listening.retain(|origin| origin.strong_count() > 0);
            listening.push(Arc::downgrade(origin));
        }
        if self.upstreams.len() != 1 {
            const METHOD: &str = "notifications/subscriptions/acknowledged";
            let mut fields = Fields::default();
            if let Some(filter) = Fields::of(params).take("notifications") {
                fields.set("notifications", filter);
            }
            let params = of_subscription(METHOD, Some(&fields.raw()), origin);
            self.send(notification(METHOD, params.as_deref()), Some(origin)).await;
        }
        let each = self.upstreams.iter().map(|upstream| async move {
            loop {
                let answer = upstream.request("subscriptions/listen", params, Some(origin)).await;
                // The next life must be told again.
                match answer {
                    Err(Lost::Gone(_) | Lost::NotSent(_) | Lost::Stale(_)) => {
                        tokio::time::sleep(AGAIN).await;
                    }
                    Err(lost) => return lost_answer(upstream, &lost),
                    Ok(answer) => return answer,
                }
            }
        });
        let mut answers = futures_util::future::join_all(each).await;
        match answers.pop() {
            Some(Answer::Result(result)) if answers.is_empty() => {
                let params = of_subscription("", Some(&result), origin);
                Answer::Result(params.unwrap_or(result))
            }
            Some(Answer::Error(error)) if answers.is_empty() => Answer::Error(error),
            // Ours goes on until the client has enough: tools of ours never change.
            _ => std::future::pending().await,
        }
    }

    /// Who listens.
    pub(super) fn listeners(&self) -> Vec<Arc<Origin>> {
        let mut listening = locked(&self.listening);
        listening.retain(|origin| origin.strong_count() > 0);
        // A single server speaks for itself.
        if self.upstreams.len() == 1 {
            return Vec::new();
        }
        listening.iter().filter_map(Weak::upgrade).collect()
    }
}
