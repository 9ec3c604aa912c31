//! The file on disk: read within bounds, kept as it was, replaced whole or not at all.

use std::error::Error;
use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::failed::Failed;

/// The largest file.
const LARGEST: u64 = 1 << 20;

/// How many different backups there may be.
const BACKUPS: u32 = 1_000;

/// A configuration as it was read.
#[derive(Debug)]
pub(super) struct Source {
    /// As it was typed.
    path: PathBuf,
    /// Behind every symlink.
    real: PathBuf,
    metadata: Metadata,
    pub(super) text: String,
}

impl Source {
    pub(super) fn read(path: &Path) -> Result<Self, Failed> {
        let named = path.display();
        let failed = |error: io::Error| {
            Failed::new(format!("could not read `{named}`")).because(error).hint(
                "give the file where the MCP client keeps its servers, such as `.cursor/mcp.json`",
            )
        };
        let real = path.canonicalize().map_err(failed)?;
        let metadata = fs::metadata(&real).map_err(failed)?;
        if !metadata.is_file() {
            return Err(failed(io::Error::other("it is not a file")));
        }
        let mut bytes = Vec::new();
        let file = File::open(&real).map_err(failed)?;
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > LARGEST {
            return Err(Failed::new(format!("`{named}` is too large"))
                .because(format!("a file of up to {LARGEST} bytes is accepted")));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let whole = error.utf8_error().valid_up_to();
            let before = String::from_utf8_lossy(error.as_bytes().get(..whole).unwrap_or_default());
            let place = super::place(path, &before, before.len());
            Failed::new(format!("`{named}` is not text"))
                .because(format!("{place}: a byte that is not UTF-8; UTF-8 is accepted"))
        })?;
        Ok(Self { path: path.to_owned(), real, metadata, text })
    }

    /// Keeps the file as it was beside itself, and never over another backup.
    pub(super) fn back_up(&self) -> Result<PathBuf, Failed> {
        let failed = |error: io::Error| {
            Failed::new("could not write a backup, and changed nothing").because(error)
        };
        for number in 1..=BACKUPS {
            let mut name = OsString::from(&self.path);
            name.push(".breakfall-backup");
            if number > 1 {
                name.push(format!("-{number}"));
            }
            let backup = PathBuf::from(name);
            match self.create(&backup, &self.text) {
                Ok(()) => return Ok(backup),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
            }
            if is_file_with(&backup, &self.text) {
                return Ok(backup);
            }
        }
        Err(failed(io::Error::other(format!("there are {BACKUPS} other backups"))))
    }

    /// Refuses what should not be written: over a file that its owner has made read-only, which
    /// a rename would not mind, and a text too large to be read again and undone.
    pub(super) fn check_writable(&self, text: &str) -> Result<(), Failed> {
        if self.metadata.permissions().readonly() {
            return Err(self.unwritten("it is read-only"));
        }
        if text.len() as u64 > LARGEST {
            return Err(self.unwritten(format!("it would be larger than {LARGEST} bytes")));
        }
        Ok(())
    }

    /// Puts `text` in place of the file, at once.
    pub(super) fn replace(&self, text: &str) -> Result<(), Failed> {
        let new = self.create_beside(text).map_err(|error| self.unwritten(error))?;
        // Clients write this file too, and someone may have thought long about the answer.
        let moved = if is_file_with(&self.real, &self.text) {
            fs::rename(&new, &self.real)
        } else {
            Err(io::Error::other("it has changed since it was read; run this again"))
        };
        if let Err(error) = moved {
            let _ = fs::remove_file(&new);
            return Err(self.unwritten(error));
        }
        // The rename is done; that it lasts through a power cut is all that this adds.
        #[cfg(unix)]
        if let Some(directory) = self.real.parent() {
            let _ = File::open(directory).and_then(|directory| directory.sync_all());
        }
        Ok(())
    }

    fn unwritten(&self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Failed {
        Failed::new(format!("could not write `{}`", self.path.display())).because(cause)
    }

    /// A new file in the directory of the real one, where it can be renamed to it.
    fn create_beside(&self, text: &str) -> io::Result<PathBuf> {
        let mut left_behind = io::Error::other("no name is free");
        for number in 0..16 {
            let mut name = OsString::from(".");
            name.push(self.real.file_name().unwrap_or_default());
            name.push(format!(".breakfall-{}-{number}", std::process::id()));
            let path = self.real.with_file_name(name);
            match self.create(&path, text) {
                Ok(()) => return Ok(path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => left_behind = error,
                Err(error) => return Err(error),
            }
        }
        Err(left_behind)
    }

    /// A new file that those who may read the source may read, and nobody else at any time.
    fn create(&self, path: &Path, text: &str) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        let written = file
            .write_all(text.as_bytes())
            .and_then(|()| self.hand_over(&file))
            .and_then(|()| file.sync_all());
        if written.is_err() {
            let _ = fs::remove_file(path);
        }
        written
    }

    fn hand_over(&self, file: &File) -> io::Result<()> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, fchown};
            // Only the superuser can give files away, and only for one does it matter.
            let _ = fchown(file, Some(self.metadata.uid()), Some(self.metadata.gid()));
        }
        file.set_permissions(self.metadata.permissions())
    }
}

fn is_file_with(path: &Path, text: &str) -> bool {
    let is_as_long = |found: Metadata| found.is_file() && found.len() == text.len() as u64;
    fs::metadata(path).is_ok_and(is_as_long)
        && fs::read(path).is_ok_and(|bytes| bytes == text.as_bytes())
}
