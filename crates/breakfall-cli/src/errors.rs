//! `breakfall errors`: what failed, in groups; what is behind one; what fails now; what is done with
//! it.

mod change;
mod list;
mod show;
mod tail;
#[cfg(test)]
mod tests;

pub(crate) use list::{print, state};
pub(crate) use show::facts;

use breakfall_store::{State, Store};
use clap::{Args, Subcommand};

use crate::failed::Failed;
use crate::guard::block_on;
use crate::numbers::of;
use crate::place::{Found, Place, no_store, nothing_yet, unreadable};
use crate::settings::Settings;
use crate::terminal::{Terminal, cut, json_text, one_line};

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Errors {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: list::List,
}

#[derive(Subcommand)]
enum Command {
    /// Show a group: what the model was told beside what the developer needs
    Show(show::Show),
    /// Follow what fails
    Tail(tail::TailArgs),
    /// A group is mended; it opens again when it comes back
    Resolve(change::Change),
    /// Nobody wants to hear of a group
    Ignore(change::Change),
    /// A group is to be looked at again
    Reopen(change::Change),
}

/// Where to read, and how to print.
#[derive(Args)]
pub(crate) struct Reading {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    settings: Settings,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Errors {
    pub(crate) fn run(self) -> Result<(), Failed> {
        let now = breakfall_store::now();
        let terminal = Terminal::stdout();
        block_on(async {
            match self.command {
                None => self.list.run(&terminal, now).await,
                Some(Command::Show(show)) => show.run(&terminal, now).await,
                Some(Command::Tail(tail)) => tail.run(&terminal, now).await,
                Some(Command::Resolve(change)) => change.run(State::Resolved, now).await,
                Some(Command::Ignore(change)) => change.run(State::Ignored, now).await,
                Some(Command::Reopen(change)) => change.run(State::Open, now).await,
            }
        })?
    }
}

impl Reading {
    /// The store, or nothing where nothing was kept yet: then that was said.
    async fn store(&self, nothing: serde_json::Value) -> Result<Option<Store>, Failed> {
        match self.place.open(&self.settings.config()?).await? {
            Found::Store(store) => Ok(Some(store)),
            Found::Nothing(place) if self.place.is_named() => Err(no_store(&place)),
            Found::Nothing(place) => {
                if self.json {
                    say!("{}", json_text(&nothing));
                } else {
                    tell!("{}", nothing_yet(&place).trim_end());
                }
                Ok(None)
            }
        }
    }
}

/// What every account of what was kept ends with: how much was not.
pub(crate) fn lost(lost: u64) -> Option<String> {
    let words = if lost == 1 { "was lost: it" } else { "were lost: they" };
    (lost > 0).then(|| format!("{} {words} could not be kept", of(lost, "record", "records")))
}

/// A name that no group has: the nearest, or the newest.
pub(crate) async fn unknown(store: &Store, name: &str) -> Failed {
    const LOOKED_AT: u32 = 2_000;
    const SHOWN: usize = 3;
    let known = match store.references(LOOKED_AT).await {
        Ok(known) => known,
        Err(error) => return unreadable(&error),
    };
    let name = one_line(name);
    let what = format!("no group is called `{}`", cut(&name, 60));
    let mut near: Vec<_> = known
        .iter()
        .map(|one| (strsim::osa_distance(&one.reference, &name), one))
        .filter(|(distance, _)| *distance <= 2)
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    let (word, shown): (&str, Vec<_>) = if near.is_empty() {
        ("newest", known.iter().take(SHOWN).collect())
    } else {
        ("nearest", near.into_iter().map(|(_, one)| one).take(SHOWN).collect())
    };
    let told = |one: &&breakfall_store::Known| {
        format!("{} (`{}`, {})", one.reference, one_line(&one.tool), one.kind)
    };
    let shown: Vec<String> = shown.iter().map(told).collect();
    if shown.is_empty() {
        return Failed::new(format!("{what}: no failure was kept yet"));
    }
    Failed::new(format!("{what}; the {word}: {}", shown.join(", ")))
}
