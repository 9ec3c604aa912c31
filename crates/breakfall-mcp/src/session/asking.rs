//! What servers ask the client: under numbers of ours, and never without end.

use std::sync::Arc;

use breakfall::Held;
use serde_json::value::RawValue;

use super::Session;
use crate::fields::{Fields, raw};
use crate::headers::{EVENTS, accepts};
use crate::message::{Answer, LOST, answer, error, notification, number, request};
use crate::origin::Origin;
use crate::upstream::{Connection, locked};

/// How many questions may wait for the client.
const MOST: usize = 256;

/// A request of a server to the client.
pub(super) struct Asked {
    key: String,
    /// Who asked: its next life did not.
    connection: Arc<Connection>,
    id: Box<RawValue>,
    /// The client's request that it belongs to.
    about: Option<Arc<Origin>>,
    /// The clocks that stand until it is answered.
    held: Vec<Held>,
}

impl Asked {
    pub(super) fn new(
        key: String,
        connection: Arc<Connection>,
        id: Box<RawValue>,
        about: Option<Arc<Origin>>,
    ) -> Self {
        // Who takes a single message for an answer hears no question there.
        let about = about.filter(|about| accepts(&about.headers, EVENTS));
        Self { key, connection, id, about, held: Vec::new() }
    }
}

impl Session {
    /// A server asks the client.
    pub(super) async fn questioned(
        &self,
        mut asked: Asked,
        method: &str,
        params: Option<&RawValue>,
    ) {
        let waits = matches!(method, "elicitation/create" | "sampling/createMessage");
        if waits && let Some(upstream) = self.upstream(&asked.key) {
            asked.held = upstream.hold();
        }
        let number = self.number();
        let about = asked.about.clone();
        let forgotten = {
            let mut all = locked(&self.asked);
            all.retain(|_, asked| !asked.connection.is_over());
            all.insert(number, asked);
            if all.len() > MOST { all.pop_first() } else { None }
        };
        // A client that never answers must not make a server wait for ever, nor us keep it all.
        if let Some((_, asked)) = forgotten
            && let Some(upstream) = self.upstream(&asked.key)
        {
            let refusal = error(LOST, "too many questions wait for the client");
            asked.connection.send_now(upstream, answer(&asked.id, &refusal)).await;
        }
        self.send(request(&number.to_string(), method, params), about.as_deref()).await;
    }

    /// The client answers a server.
    pub(crate) async fn answered(&self, id: &RawValue, answered: &Answer) {
        let asked = number(id).and_then(|id| locked(&self.asked).remove(&id));
        if let Some(asked) = asked
            && let Some(upstream) = self.upstream(&asked.key)
        {
            asked.connection.send(upstream, answer(&asked.id, answered)).await;
        }
    }

    /// A server does not want an answer any more. The client knows its question by our number.
    pub(super) async fn taken_back(&self, key: &str, params: &RawValue) {
        let mut fields = Fields::of(Some(params));
        let Some(id) = fields.take("requestId") else { return };
        let asked = {
            let mut all = locked(&self.asked);
            let is_it = |asked: &Asked| asked.key == key && asked.id.get() == id.get();
            let found = all.iter().find(|(_, asked)| is_it(asked)).map(|(number, _)| *number);
            found.and_then(|number| all.remove_entry(&number))
        };
        if let Some((number, asked)) = asked {
            fields.set("requestId", raw(&number));
            let line = notification("notifications/cancelled", Some(&fields.raw()));
            self.send(line, asked.about.as_deref()).await;
        }
    }
}
