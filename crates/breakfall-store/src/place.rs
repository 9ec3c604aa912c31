//! Where the database of this user is, unless he says otherwise.

use std::path::PathBuf;

/// What the file is called.
const FILE: &str = "breakfall.db";

/// The directory of the user's data: `$XDG_DATA_HOME/breakfall`, or below the home directory.
pub(crate) fn data_directory() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let data = of("XDG_DATA_HOME").or_else(|| Some(of("HOME")?.join(".local/share")))?;
    Some(data.join("breakfall"))
}

/// The file in which records are kept unless the user says otherwise.
pub fn default_file() -> Option<PathBuf> {
    Some(data_directory()?.join(FILE))
}
