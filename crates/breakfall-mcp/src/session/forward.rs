//! Requests that no tool serves: passed on to the server that they are for.

use std::sync::Arc;

use serde_json::json;
use serde_json::value::RawValue;

use super::{SEPARATOR, Session};
use crate::fields::{Fields, raw};
use crate::message::{Answer, LOST, error};
use crate::upstream::{Lost, Upstream};

/// Why a request was lost.
pub(super) fn why(lost: Lost) -> String {
    match lost {
        Lost::NotSent(why) | Lost::Gone(why) => why,
        Lost::TooLong => "its answer is too long".to_owned(),
    }
}

/// Requests that read, and may be made twice.
fn reads(method: &str) -> bool {
    method.ends_with("/list")
        || matches!(method, "resources/read" | "resources/templates/list" | "prompts/get")
        || method == "completion/complete"
}

/// Under which name each list stands in its result.
fn list_of(method: &str) -> Option<&'static str> {
    match method {
        "resources/list" => Some("resources"),
        "resources/templates/list" => Some("resourceTemplates"),
        "prompts/list" => Some("prompts"),
        _ => None,
    }
}

impl Session {
    /// Passes a request on to its server, or to each of them.
    pub(super) async fn forwarded(&self, method: &str, params: Option<&RawValue>) -> Answer {
        if let [only] = self.upstreams.as_slice() {
            return self.passed(only, method, params).await;
        }
        if let Some(list) = list_of(method) {
            return self.merged(method, list).await;
        }
        if method == "logging/setLevel" {
            let mut last = Answer::Result(raw(&json!({})));
            for upstream in &self.upstreams {
                last = self.passed(upstream, method, params).await;
            }
            return last;
        }
        let mut fields = Fields::of(params);
        if method == "prompts/get"
            && let Some(name) = fields.text("name")
            && let Some((key, rest)) = name.split_once(SEPARATOR)
            && let Some(upstream) = self.upstream(key)
        {
            fields.set("name", raw(&rest));
            return self.passed(upstream, method, Some(&fields.raw())).await;
        }
        // Whose it is nobody tells: the first that knows it answers.
        let mut refused = None;
        for upstream in &self.upstreams {
            match self.passed(upstream, method, params).await {
                Answer::Result(result) => return Answer::Result(result),
                Answer::Error(error) => {
                    refused.get_or_insert(Answer::Error(error));
                }
            }
        }
        refused.unwrap_or_else(|| error(-32601, "no server is configured"))
    }

    async fn passed(
        &self,
        upstream: &Arc<Upstream>,
        method: &str,
        params: Option<&RawValue>,
    ) -> Answer {
        match method {
            "logging/setLevel" | "resources/subscribe" => upstream.remember(method, params),
            "resources/unsubscribe" => upstream.forget(params),
            _ => {}
        }
        let mut fields = Fields::of(params);
        let tracked = upstream.with_token(&mut fields, None);
        let rewritten = tracked.as_ref().map(|_| fields.raw());
        let params = rewritten.as_deref().or(params);
        let mut answer = upstream.request(method, params).await;
        if matches!(answer, Err(Lost::Gone(_))) && reads(method) {
            answer = upstream.request(method, params).await;
        }
        answer.unwrap_or_else(|lost| {
            let why = why(lost);
            let first = why.lines().next().unwrap_or_default();
            error(LOST, &format!("`{}` did not answer: {first}", upstream.key))
        })
    }

    /// One list of what all servers have.
    async fn merged(&self, method: &str, list: &str) -> Answer {
        let ask = |upstream| self.passed(upstream, method, None);
        let answers = futures_util::future::join_all(self.upstreams.iter().map(ask)).await;
        let mut all: Vec<Box<RawValue>> = Vec::new();
        for (upstream, answer) in self.upstreams.iter().zip(answers) {
            let Answer::Result(result) = answer else { continue };
            let fields = Fields::of(Some(&result));
            let items: Vec<Box<RawValue>> = fields
                .get(list)
                .and_then(|items| serde_json::from_str(items.get()).ok())
                .unwrap_or_default();
            let prefix = if list == "prompts" { self.prefix(upstream) } else { String::new() };
            all.extend(crate::tools::prefixed(items, &prefix));
        }
        let mut fields = Fields::default();
        fields.set(list, raw(&all));
        Answer::Result(fields.raw())
    }
}
