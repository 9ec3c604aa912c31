//! Where conversations are kept: a file that the person names, or one of their own each.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use breakfall_chat::{Error, Loaded, Saved};

use crate::failed::Failed;

/// Opens the file of this conversation: the one that is named, the newest, or a new one.
pub(super) fn open(named: Option<PathBuf>, resume: bool) -> Result<(Saved, Loaded), Failed> {
    let opened = |file: PathBuf| Saved::open(file).map_err(|error| Failed::of(&error));
    if let Some(file) = named {
        return opened(file);
    }
    let folder = folder()?;
    make(&folder)?;
    if !resume {
        return opened(folder.join(fresh()));
    }
    for file in newest_first(&folder)? {
        match Saved::open(&file) {
            // Nothing of it came to the disk as a whole.
            Ok((_, loaded)) if loaded.history.is_empty() => {}
            Err(Error::NoHistory(_)) => {}
            found => return found.map_err(|error| Failed::of(&error)),
        }
    }
    Err(Failed::new("no conversation was saved yet"))
}

fn folder() -> Result<PathBuf, Failed> {
    // A relative path counts as none, as its specification has it.
    let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")));
    let folder = state.map(|state| state.join("breakfall/chats"));
    folder.ok_or_else(|| {
        Failed::new("there is no home directory to save the conversation in")
            .hint("name a file: `--history FILE`")
    })
}

fn make(folder: &Path) -> Result<(), Failed> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Failed::new(format!("could not make `{}`", folder.display()))
            .because(error)
            .hint("name a file: `--history FILE`")
    })
}

/// Names in the order in which the conversations began.
fn fresh() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:013}-{}.jsonl", now.as_millis(), std::process::id())
}

/// The conversations that were saved, the one that was changed last first.
fn newest_first(folder: &Path) -> Result<Vec<PathBuf>, Failed> {
    let unreadable =
        |error| Failed::new(format!("could not read `{}`", folder.display())).because(error);
    let files = std::fs::read_dir(folder).map_err(unreadable)?;
    let files = files.filter_map(|entry| Some(entry.ok()?.path()));
    let changed = |file: &PathBuf| file.metadata().and_then(|it| it.modified()).ok();
    let files = files
        .filter(|file| file.extension().is_some_and(|end| end == "jsonl"))
        // In one that is empty nothing was said; somebody may be about to.
        .filter(|file| file.metadata().is_ok_and(|it| it.len() > 0));
    let mut files: Vec<PathBuf> = files.collect();
    files.sort_by_key(|file| std::cmp::Reverse(changed(file)));
    Ok(files)
}
