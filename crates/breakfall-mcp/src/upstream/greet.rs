//! A server is greeted as the client greeted us, and asked for its tools.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;

use super::connection::Wire;
use super::heard::relist;
use super::{Connection, Event, Hello, Lost, Resources, Upstream, locked, mailbox};
use crate::era::Era;
use crate::fields::{Fields, raw};
use crate::message::{Answer, notification};

/// How long a server has to answer when it is greeted; and one that is started, which may be fetched
/// or built first.
const GREETING: Duration = Duration::from_secs(30);
const STARTING: Duration = Duration::from_mins(5);

/// After how long one that says nothing, and may not know how it is spoken to, is told as foreign.
/// It may also be starting: the clients that ask like that give up after 10 s at the earliest.
pub(super) const PROBING: Duration = Duration::from_secs(9);

/// How long the tools of one that has just come are waited for.
const LISTING: Duration = Duration::from_secs(5);

/// How many pages of a list are read.
pub(crate) const PAGES: usize = 100;

/// Why a greeting came to nothing.
pub(super) enum Cold {
    /// The server died of it.
    Died,
    Refused(Lost),
    /// It does not speak as the client does.
    Foreign(Box<RawValue>),
}

/// Greets a server as the client did, and asks for its tools.
pub(super) async fn greet(
    upstream: &Arc<Upstream>,
    connection: &Arc<Connection>,
    hello: &Hello,
) -> Result<(), Cold> {
    if let Wire::Http(http) = &connection.wire {
        http.speaks(hello.era);
    }
    let refused = |why: String| Cold::Refused(Lost::NotSent(why));
    let meta = || {
        let mut params = Fields::default();
        params.set("_meta", hello.said.clone());
        params.raw()
    };
    let (method, params) = match hello.era {
        Era::Legacy => ("initialize", hello.said.clone()),
        Era::Modern => ("server/discover", meta()),
    };
    let patience = if upstream.is_remote() { GREETING } else { STARTING };
    let greeting = || {
        let asked = connection.request(upstream, (method, Some(&params)), None);
        tokio::time::timeout(patience, asked)
    };
    let mut greeted = greeting().await;
    if let (Ok(Err(lost)), Era::Legacy) = (&greeted, hello.era)
        && mailbox::may_have_one(lost)
        && mailbox::open(upstream, connection).await
    {
        greeted = greeting().await;
    }
    let answer = match (greeted, hello.era) {
        (Ok(Ok(Answer::Result(result))), _) => result,
        (Ok(Ok(Answer::Error(error))), Era::Modern) => return Err(Cold::Foreign(error)),
        (Ok(Ok(Answer::Error(error))), Era::Legacy) => {
            return Err(Cold::Refused(Lost::Unwelcome(error)));
        }
        (Ok(Err(Lost::Refused(refusal))), Era::Modern)
            if matches!(refusal.status, 400 | 404 | 405 | 406) =>
        {
            return Err(Cold::Foreign(not_found()));
        }
        // Who may come in, and when, is told to who asks. Anything else is no fault of any call.
        (Ok(Err(lost @ Lost::Refused(_))), _) => {
            let is_told =
                matches!(&lost, Lost::Refused(it) if matches!(it.status, 401 | 403 | 429));
            return Err(if is_told { Cold::Refused(lost) } else { refused(lost.why()) });
        }
        (Ok(Err(Lost::NotSent(why) | Lost::Stale(why))), _) if upstream.is_remote() => {
            return Err(refused(why));
        }
        (Ok(Err(lost @ Lost::Unreadable(_))), _) => return Err(refused(lost.why())),
        (Ok(Err(Lost::TooLong)), _) => return Err(refused("its greeting is too long".to_owned())),
        (Ok(Err(_)), _) => return Err(Cold::Died),
        // One that says nothing to what it does not know.
        (Err(_), Era::Modern) => return Err(Cold::Foreign(not_found())),
        (Err(_), Era::Legacy) => {
            return Err(refused(format!("it said nothing for {} s", patience.as_secs())));
        }
    };
    if let Wire::Http(http) = &connection.wire {
        http.agreed(&answer);
    }
    let offers_tools = {
        let capabilities = Fields::of(Some(&answer));
        Fields::of(capabilities.get("capabilities")).get("tools").is_some()
    };
    let _ = connection.greeting.set(answer);
    if hello.era == Era::Legacy {
        connection.tell(upstream, notification("notifications/initialized", None)).await;
        let again = locked(&upstream.again).clone();
        for (method, params) in again {
            let asked = connection.request(upstream, (&method, Some(&params)), None);
            let _ = tokio::time::timeout(GREETING, asked).await;
        }
    }
    // What it had in an earlier life tells nothing of this one.
    *locked(&upstream.resources) = Resources::default();
    if offers_tools {
        // Who has a long list answers calls meanwhile.
        relist(upstream, connection, Event::Up(upstream.key.clone()));
        upstream.is_relisted(LISTING).await;
    }
    Ok(())
}

/// What a server says that does not know a method.
pub(super) fn not_found() -> Box<RawValue> {
    raw(&serde_json::json!({ "code": -32601, "message": "Method not found" }))
}

/// Reads all tools of a server; what cannot be read stays as it was.
pub(super) async fn list(upstream: &Arc<Upstream>, connection: &Arc<Connection>) {
    let mut tools = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES {
        let mut params = Fields::default();
        if let Some(meta) = upstream.meta() {
            params.set("_meta", meta);
        }
        if let Some(cursor) = &cursor {
            params.set("cursor", raw(cursor));
        }
        let params = params.raw();
        let asked = connection.request(upstream, ("tools/list", Some(&params)), None);
        let Ok(Ok(Answer::Result(page))) = tokio::time::timeout(GREETING, asked).await else {
            return;
        };
        let page = Fields::of(Some(&page));
        let listed: Option<Vec<Box<RawValue>>> =
            page.get("tools").and_then(|tools| serde_json::from_str(tools.get()).ok());
        tools.extend(listed.unwrap_or_default());
        cursor = page.text("nextCursor");
        if cursor.is_none() {
            break;
        }
    }
    upstream.has(tools);
}
