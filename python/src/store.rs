//! Where records are kept: the same database as the program's, so that it shows what a Python agent
//! did. Guards with the same place share one keeper.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwapOption;
use breakfall::{ConfiguredStore, Record, Sink};
use breakfall_store::{Keeper, Store};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::fork;

/// Counts the forks that led to this process: what was started before the last is gone.
static LIFE: AtomicU64 = AtomicU64::new(0);

static KEPT: Mutex<Option<HashMap<String, Arc<Kept>>>> = Mutex::new(None);

/// A place where records are kept.
pub(crate) struct Kept {
    store: ConfiguredStore,
    current: ArcSwapOption<Living>,
    starting: Mutex<()>,
}

struct Living {
    life: u64,
    keeper: Keeper,
}

/// The keeper of a place, which is the same for every guard.
pub(crate) fn kept(store: ConfiguredStore) -> PyResult<Arc<Kept>> {
    let place = store.place.clone().unwrap_or_default();
    let mut all = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let all = all.get_or_insert_default();
    if let Some(known) = all.get(&place) {
        return Ok(Arc::clone(known));
    }
    let kept = Arc::new(Kept { store, current: ArcSwapOption::empty(), starting: Mutex::new(()) });
    kept.start().map_err(|error| PyValueError::new_err(error.to_string()))?;
    all.insert(place, Arc::clone(&kept));
    Ok(kept)
}

impl Kept {
    fn start(&self) -> Result<(), breakfall_store::Error> {
        // Without a home there is no place either.
        let Some(keeper) = Store::kept(&self.store)? else { return Ok(()) };
        let life = LIFE.load(Ordering::Relaxed);
        let before = self.current.swap(Some(Arc::new(Living { life, keeper })));
        if before.as_ref().is_some_and(|before| before.life != life) {
            // Its thread is in another process, and would be waited for.
            std::mem::forget(before);
        }
        Ok(())
    }

    /// Writes what waits. Who has more to keep starts anew.
    fn end(&self) {
        let living = self.current.swap(None);
        let life = LIFE.load(Ordering::Relaxed);
        if living.as_ref().is_some_and(|living| living.life != life) {
            std::mem::forget(living);
        }
    }

    fn is_file(&self) -> bool {
        !self.store.place.as_ref().is_some_and(|place| place.starts_with("postgres"))
    }

    fn living(&self) -> Option<Arc<Living>> {
        let life = LIFE.load(Ordering::Relaxed);
        let is_living = |living: &Arc<Living>| living.life == life;
        if let Some(living) = self.current.load_full().filter(is_living) {
            return Some(living);
        }
        let _one_at_a_time = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.current.load_full().as_ref().is_some_and(is_living) {
            self.start().ok()?;
        }
        self.current.load_full()
    }
}

impl Sink for Kept {
    fn take(&self, record: &Record) {
        if let Some(living) = self.living() {
            living.keeper.take(record);
        }
    }
}

/// No thread came through the fork.
pub(crate) fn begin_anew() {
    LIFE.fetch_add(1, Ordering::Relaxed);
}

/// Writes what waits, and is ready for more.
pub(crate) fn close() {
    let all = {
        let _inside = fork::inside();
        all()
    };
    for kept in all {
        kept.end();
    }
}

/// Writes what waits into files before a fork, and leaves them. SQLite knows in its process who
/// holds a file: a child that found one being written found it so for ever.
pub(crate) fn leave_files() {
    for kept in all().iter().filter(|kept| kept.is_file()) {
        kept.end();
    }
}

fn all() -> Vec<Arc<Kept>> {
    let all = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    all.iter().flat_map(HashMap::values).map(Arc::clone).collect()
}
