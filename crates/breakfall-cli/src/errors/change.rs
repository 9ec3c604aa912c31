//! `breakfall errors resolve|ignore|reopen REF`.

use breakfall_store::{Group, State, Store};
use clap::Args;
use serde_json::json;

use super::{Reading, unknown};
use crate::failed::Failed;
use crate::place::unreadable;
use crate::terminal::{json_text, one_line};

#[derive(Args)]
pub(super) struct Change {
    /// The reference that the model and the log have, or a fingerprint
    #[arg(value_name = "REF")]
    reference: String,
    #[command(flatten)]
    reading: Reading,
}

impl Change {
    pub(super) async fn run(self, state: State, now: i64) -> Result<(), Failed> {
        let nothing = json!({ "changed": null });
        let Some(store) = self.reading.store(nothing).await? else {
            return Err(Failed::silently());
        };
        let changed = change(&store, self.reference.trim(), state, now).await;
        store.close().await;
        let group = changed?;
        if self.reading.json {
            say!("{}", json_text(&json!({ "changed": group })));
        } else {
            say!("{}", told(&group));
        }
        Ok(())
    }
}

/// Changes the one group of a name.
async fn change(store: &Store, name: &str, state: State, now: i64) -> Result<Group, Failed> {
    let mut groups = store.named(name, now).await.map_err(|error| unreadable(&error))?;
    let Some(mut group) = groups.pop() else { return Err(unknown(store, name).await) };
    if !groups.is_empty() {
        groups.push(group);
        let each = groups.iter().map(|group| {
            format!("{} (`{}`, {})", group.fingerprint, one_line(&group.tool), group.kind)
        });
        let each = each.collect::<Vec<_>>().join(", ");
        let what = format!("`{}` names {} groups: {each}", one_line(name), groups.len());
        return Err(Failed::new(what).hint("name one by its fingerprint"));
    }
    store.set_state(&group, state, now).await.map_err(|error| unreadable(&error))?;
    group.state = state;
    Ok(group)
}

fn told(group: &Group) -> String {
    let (tool, kind) = (one_line(&group.tool), one_line(&group.kind));
    let what = format!("{}: `{tool}`, {kind}", one_line(&group.reference));
    match group.state {
        State::Open => format!("{what} is open."),
        State::Resolved => format!("{what} is resolved. It opens again when it comes back."),
        State::Ignored => format!("{what} is ignored."),
    }
}
