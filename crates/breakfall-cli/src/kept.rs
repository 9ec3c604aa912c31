//! What calls come to is kept on disk, unless the configuration says otherwise.

use std::sync::Arc;

use breakfall::{Config, GuardBuilder};
use breakfall_store::{Keeper, Store};

use crate::failed::Failed;
use crate::guard::redacted;

/// Who keeps records for the guards of this process. The last one that is dropped writes what is
/// left, also where something of a guard lives on until the process is gone.
#[derive(Clone)]
pub(crate) struct Kept(Option<Arc<Ends>>);

struct Ends(Arc<Keeper>);

impl Kept {
    pub(crate) fn configured(config: &Config) -> Result<Self, Failed> {
        let keeper = Store::configured(config)
            .map_err(|error| Failed::new("the store cannot be used").because(error))?;
        Ok(Self(keeper.map(|keeper| Arc::new(Ends(Arc::new(keeper))))))
    }

    /// Tells a person whether records can be kept.
    pub(crate) async fn tell(config: &Config) {
        let Some(place) = Store::place(config) else {
            say!("ok    no records are kept on disk");
            return;
        };
        let shown = redacted(&place);
        match Store::try_writing(&place).await {
            Ok(()) => say!("ok    records are kept in {shown}"),
            Err(error) => {
                let why = Failed::of(&error).to_string();
                let why = why.trim().trim_start_matches("error: ").replace("\n  caused by", "");
                say!("warn  records cannot be kept in {shown}: {}", redacted(&why));
                say!("      next: mend it, or set `place` in [store]; calls go on without it");
            }
        }
    }

    /// The guard, with its records kept.
    pub(crate) fn by(&self, guard: GuardBuilder) -> GuardBuilder {
        match &self.0 {
            Some(ends) => guard.sink(Arc::clone(&ends.0) as _),
            None => guard,
        }
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.end();
    }
}
