//! The store, opened when it is there: a page may be open before the first call is kept.

use breakfall_store::{Error, Store};
use tokio::sync::Mutex;

/// Where the store is, or will be.
pub(crate) struct Shelf {
    pub(crate) place: String,
    opened: Mutex<Option<Store>>,
}

impl Shelf {
    pub(crate) fn new(place: String) -> Self {
        Self { place, opened: Mutex::new(None) }
    }

    /// The store, or nothing where none is yet.
    pub(crate) async fn store(&self) -> Result<Option<Store>, Error> {
        let mut opened = self.opened.lock().await;
        if opened.is_none() {
            *opened = Store::find(&self.place).await?;
        }
        Ok(opened.clone())
    }

    /// Where the store is, for a person: without what opens it.
    pub(crate) fn shown(&self) -> String {
        breakfall::Redactor::default().redact(&self.place).into_owned()
    }

    pub(crate) async fn close(&self) {
        if let Some(store) = self.opened.lock().await.take() {
            store.close().await;
        }
    }
}
