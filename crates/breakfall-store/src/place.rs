//! Where the database of this user is, unless he says otherwise.

use std::ffi::OsString;
use std::path::PathBuf;

/// What the file is called.
const FILE: &str = "breakfall.db";

/// The directory of the user's data: `$XDG_DATA_HOME/breakfall`, or below the home directory. A
/// relative path counts as none, as its specification has it: where it leads, nobody looks again.
pub(crate) fn data_directory() -> Option<PathBuf> {
    directory(|name| std::env::var_os(name))
}

fn directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let of = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = of("XDG_DATA_HOME").or_else(|| Some(of("HOME")?.join(".local/share")))?;
    Some(data.join("breakfall"))
}

/// The file in which records are kept unless the user says otherwise.
pub fn default_file() -> Option<PathBuf> {
    Some(data_directory()?.join(FILE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_directory_of_data_counts_as_none() {
        let of = |data: &str, home: &str| {
            let found = directory(|name| Some(if name == "HOME" { home } else { data }.into()));
            found.map(|path| path.display().to_string())
        };
        assert_eq!(of("/data", "/home/a").as_deref(), Some("/data/breakfall"));
        for data in ["", "data", "./data"] {
            assert_eq!(of(data, "/home/a").as_deref(), Some("/home/a/.local/share/breakfall"));
        }
        assert_eq!(of("data", "home"), None);
    }
}
