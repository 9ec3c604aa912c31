//! Requests that several servers could answer: whose they are, and all lists as one.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use serde_json::value::RawValue;

use super::{LISTING, Session};
use crate::fields::{Fields, raw};
use crate::message::{Answer, LOST, error};
use crate::origin::Origin;
use crate::upstream::{PAGES, Upstream, locked};

/// Under which name each list stands in its result.
pub(super) fn list_of(method: &str) -> Option<&'static str> {
    match method {
        "resources/list" => Some("resources"),
        "resources/templates/list" => Some("resourceTemplates"),
        "prompts/list" => Some("prompts"),
        _ => None,
    }
}

/// What names each item of a list.
fn name_in(list: &str) -> &'static str {
    match list {
        "resources" => "uri",
        "resourceTemplates" => "uriTemplate",
        _ => "name",
    }
}

/// The resource that a request is about.
fn resource_of(method: &str, params: Option<&RawValue>) -> Option<String> {
    let fields = Fields::of(params);
    match method {
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => fields.text("uri"),
        "completion/complete" => Fields::of(fields.get("ref")).text("uri"),
        _ => None,
    }
}

impl Session {
    /// The answer to a request that may be any server's.
    pub(super) async fn anybodys(
        &self,
        origin: &Arc<Origin>,
        method: &str,
        params: Option<&RawValue>,
    ) -> Answer {
        let all: Vec<&Arc<Upstream>> = self.upstreams.iter().collect();
        let Some(uri) = resource_of(method, params) else {
            return self.first_of(all, origin, method, params).await;
        };
        let having = self.having(&uri, origin, params).await;
        if having.is_empty() {
            return self.first_of(all, origin, method, params).await;
        }
        let others = all.into_iter().filter(|it| !having.iter().any(|has| Arc::ptr_eq(has, it)));
        let others: Vec<_> = others.collect();
        let answer = self.first_of(having, origin, method, params).await;
        // Another may read it all the same; it should not be told of what is not its own.
        if matches!(answer, Answer::Error(_))
            && method == "resources/read"
            && let read @ Answer::Result(_) = self.first_of(others, origin, method, params).await
        {
            return read;
        }
        answer
    }

    /// The answer of the first that knows it. Each is asked when the one before does not, or takes
    /// its time, which nobody else should have to wait for.
    async fn first_of(
        &self,
        upstreams: Vec<&Arc<Upstream>>,
        origin: &Arc<Origin>,
        method: &str,
        params: Option<&RawValue>,
    ) -> Answer {
        let mut left = upstreams.into_iter();
        let mut asked = FuturesUnordered::new();
        let mut refused = None;
        loop {
            match left.next() {
                Some(next) => asked.push(self.passed(next, origin, method, params)),
                None if asked.is_empty() => break,
                None => {}
            }
            tokio::select! {
                Some(answer) = asked.next() => match answer {
                    result @ Answer::Result(_) => return result,
                    error @ Answer::Error(_) => drop(refused.get_or_insert(error)),
                },
                () = tokio::time::sleep(LISTING), if left.len() > 0 => {}
            }
        }
        refused.unwrap_or_else(|| error(-32601, "no server is configured"))
    }

    /// The servers that have a resource, as far as they tell; the surest first.
    async fn having(
        &self,
        uri: &str,
        origin: &Arc<Origin>,
        params: Option<&RawValue>,
    ) -> Vec<&Arc<Upstream>> {
        let known = self.known_to_have(uri);
        if !known.is_empty() {
            return known;
        }
        let mut meta = Fields::default();
        if let Some(said) = Fields::of(params).take("_meta") {
            meta.set("_meta", said);
        }
        let meta = meta.raw();
        let unasked = self.upstreams.iter().filter(|it| !locked(&it.resources).are_known());
        let lists = unasked.flat_map(|upstream| {
            ["resources/list", "resources/templates/list"].map(|method| (upstream, method))
        });
        let lists = lists.map(|(it, method)| self.whole_list(it, origin, method, Some(&meta)));
        join_all(lists).await;
        self.known_to_have(uri)
    }

    fn known_to_have(&self, uri: &str) -> Vec<&Arc<Upstream>> {
        let sure = |it: &'_ Arc<Upstream>| locked(&it.resources).hold(uri);
        let all = self.upstreams.iter();
        let mut having: Vec<_> = all.filter_map(|it| Some((sure(it)?, it))).collect();
        having.sort_by_key(|(sure, _)| std::cmp::Reverse(*sure));
        having.into_iter().map(|(_, upstream)| upstream).collect()
    }

    /// A list of one server's, page by page; what does not come in time is left out.
    async fn whole_list(
        &self,
        upstream: &Arc<Upstream>,
        origin: &Arc<Origin>,
        method: &str,
        params: Option<&RawValue>,
    ) -> Vec<Box<RawValue>> {
        let list = list_of(method).unwrap_or_default();
        let mut fields = Fields::of(params);
        fields.remove("cursor");
        let mut all: Vec<Box<RawValue>> = Vec::new();
        let reading = async {
            for _ in 0..PAGES {
                let page = self.passed(upstream, origin, method, Some(&fields.raw())).await;
                let Answer::Result(page) = page else { break };
                let page = Fields::of(Some(&page));
                let items = page.get(list).and_then(|it| serde_json::from_str(it.get()).ok());
                let items: Vec<Box<RawValue>> = items.unwrap_or_default();
                all.extend(items);
                match page.text("nextCursor") {
                    Some(cursor) => fields.set("cursor", raw(&cursor)),
                    None => break,
                }
            }
        };
        let _ = tokio::time::timeout(LISTING, reading).await;
        let names = all.iter().filter_map(|item| Fields::of(Some(item)).text(name_in(list)));
        locked(&upstream.resources).learn(method, names.collect());
        all
    }

    /// One list of what all servers have.
    pub(super) async fn merged(
        &self,
        origin: &Arc<Origin>,
        method: &str,
        params: Option<&RawValue>,
        list: &str,
    ) -> Answer {
        let each = self.upstreams.iter().map(|it| self.whole_list(it, origin, method, params));
        let mut all = Vec::new();
        for (upstream, items) in self.upstreams.iter().zip(join_all(each).await) {
            let prefix = if list == "prompts" { upstream.prefix.as_str() } else { "" };
            all.extend(crate::tools::prefixed(items, prefix));
        }
        let mut fields = Fields::default();
        fields.set(list, raw(&all));
        Answer::Result(origin.era.listing(fields))
    }

    /// What all servers are told; done where one of them took it.
    pub(super) async fn told_to_all(
        &self,
        origin: &Arc<Origin>,
        method: &str,
        params: Option<&RawValue>,
    ) -> Answer {
        let each = self.upstreams.iter().map(|upstream| async move {
            let answer = self.passed(upstream, origin, method, params);
            let late = |_| error(LOST, &format!("`{}` did not answer in time", upstream.key));
            tokio::time::timeout(LISTING, answer).await.unwrap_or_else(late)
        });
        let answers = join_all(each).await;
        let taken = answers.iter().find(|answer| matches!(answer, Answer::Result(_)));
        let answer = taken.or(answers.first()).cloned();
        answer.unwrap_or_else(|| Answer::Result(raw(&serde_json::json!({}))))
    }
}
