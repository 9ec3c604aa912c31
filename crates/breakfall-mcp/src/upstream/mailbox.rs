//! Servers of the first revision: they tell on one stream where messages go, and answer on it.

use std::sync::Arc;
use std::time::Duration;

use super::Upstream;
use super::connection::{Connection, Lost, Wire};
use super::http::{Http, is_events};
use super::streams::Place;

/// How long a server has to tell where its mailbox is.
const TELLING: Duration = Duration::from_secs(5);

/// What becomes of a connection whose answers come on one stream.
const ENDED: &str = "its stream ended";

/// How long a server has to refuse what came before its stream ended.
const HEARING: Duration = Duration::from_secs(1);

/// Whether a server may refuse a greeting so because it knows no other way.
pub(super) fn may_have_one(lost: &Lost) -> bool {
    matches!(lost, Lost::Refused(it) if matches!(it.status, 400 | 404..=406 | 415 | 422 | 501))
}

/// Opens the stream of a server that has a mailbox; false where it has none.
pub(super) async fn open(upstream: &Arc<Upstream>, connection: &Arc<Connection>) -> bool {
    let Wire::Http(http) = &connection.wire else { return false };
    let Ok(Ok(response)) = tokio::time::timeout(TELLING, http.get(None).send()).await else {
        return false;
    };
    if !response.status().is_success() || !is_events(&response) {
        return false;
    }
    let reading = tokio::spawn({
        let (upstream, connection) = (Arc::clone(upstream), Arc::clone(connection));
        async move {
            let Wire::Http(http) = &connection.wire else { return };
            let mut place = Place::default();
            // A server that has forgotten a session ends its stream and refuses what comes: who asked
            // before hears the refusal, and knows that nothing was done.
            let refused = || tokio::time::timeout(HEARING, connection.has_exchanged());
            let over = async {
                connection.over().await;
                let _ = refused().await;
            };
            tokio::select! {
                _ = http.read(&upstream, &connection, response, None, &mut place) => {}
                () = over => {}
            }
            connection.is_retired(ENDED.to_owned());
            let _ = refused().await;
            // No answer comes on any other.
            connection.is_gone(ENDED.to_owned());
        }
    });
    let is_open = tokio::time::timeout(TELLING, http.mailbox.wait()).await.is_ok();
    if !is_open {
        reading.abort();
    }
    is_open
}

impl Http {
    /// The server told where its mailbox is. It is at the server's own address: another place must
    /// never be told what was meant for this one.
    pub(super) fn tells_mailbox(&self, place: &str) {
        if let Some(place) = self.to.beside(place.trim()) {
            let _ = self.mailbox.set(place);
        }
    }
}
