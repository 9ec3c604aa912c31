//! A history on disk: one JSON line for each message, only ever appended to. Whatever was written
//! when the process is killed is read again; a line that was torn is left out, and stays.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::message::Message;

/// The longest line; a longer one is left out.
const LONGEST: u64 = 16 << 20;

/// A history cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be opened, read or written.
    #[error("could not {doing} `{}`", path.display())]
    File {
        /// What was tried.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Another process writes to it.
    #[error("`{}` is in use by another conversation", .0.display())]
    InUse(PathBuf),
    /// Something is in it, and none of it is a message.
    #[error("`{}` is no history of a conversation", .0.display())]
    NoHistory(PathBuf),
}

/// A file that a history is appended to.
#[derive(Debug)]
pub struct Saved {
    path: PathBuf,
    file: File,
}

/// What was read of a file.
#[derive(Debug, Default, PartialEq)]
pub struct Loaded {
    /// The messages as they were written: to be repaired before they are sent.
    pub history: Vec<Message>,
    /// How many lines could not be read.
    pub lost_lines: usize,
}

impl Saved {
    /// Opens a file, or makes it, and reads what is in it. Nobody else can have it open.
    pub fn open(path: impl Into<PathBuf>) -> Result<(Self, Loaded), Error> {
        let path = path.into();
        let failed = |doing| {
            let path = path.clone();
            move |source| Error::File { doing, path, source }
        };
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        only_for_its_owner(&mut options);
        let mut file = options.open(&path).map_err(failed("open"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::InUse(path)),
            Err(TryLockError::Error(source)) => return Err(failed("lock")(source)),
        }
        // What is no file has no beginning to read, and perhaps no end.
        if !file.metadata().map_err(failed("read"))?.is_file() {
            return Ok((Self { path, file }, Loaded::default()));
        }
        let Found { loaded, is_open, is_foreign } = read(&file).map_err(failed("read"))?;
        if loaded.history.is_empty() && is_foreign {
            return Err(Error::NoHistory(path));
        }
        file.seek(io::SeekFrom::End(0)).map_err(failed("read"))?;
        if is_open {
            // What is appended next must begin on a line of its own.
            file.write_all(b"\n").map_err(failed("mend"))?;
        }
        Ok((Self { path, file }, loaded))
    }

    /// Appends a message. It survives the process from here on, and the machine as well where it
    /// says that something is about to be done: a call is on the disk before it runs.
    pub fn append(&mut self, message: &Message) -> Result<(), Error> {
        let failed = |source| Error::File { doing: "write", path: self.path.clone(), source };
        let mut line = serde_json::to_vec(message).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        self.file.write_all(&line).map_err(failed)?;
        match message {
            Message::Assistant(said) if !said.calls.is_empty() => {
                self.file.sync_data().map_err(failed)
            }
            _ => Ok(()),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// What is in a file.
#[derive(Default)]
struct Found {
    loaded: Loaded,
    /// Whether its last line has no end.
    is_open: bool,
    /// Whether a line is neither a message nor the beginning of one.
    is_foreign: bool,
}

/// Reads the messages of a file.
fn read(file: &File) -> io::Result<Found> {
    let mut input = BufReader::new(file);
    let mut found = Found::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = input.by_ref().take(LONGEST).read_until(b'\n', &mut line)? as u64;
        if length == 0 {
            return Ok(found);
        }
        let mut is_open = line.last() != Some(&b'\n');
        let is_too_long = is_open && length == LONGEST;
        if is_too_long {
            is_open = !skip_line(&mut input)?;
        }
        let text = line.trim_ascii();
        match serde_json::from_slice(text) {
            // What can be read is whole, whether or not its end was written.
            Ok(message) if !is_too_long => found.loaded.history.push(message),
            _ if text.is_empty() => {}
            read => {
                found.loaded.lost_lines += 1;
                found.is_foreign |= !read.is_err_and(|error| error.is_eof() && begins(text));
            }
        }
        if is_open {
            return Ok(Found { is_open, ..found });
        }
    }
}

/// Whether a line that was torn begins as messages do.
fn begins(line: &[u8]) -> bool {
    const BEGINNING: &[u8] = b"{\"role\":";
    let length = line.len().min(BEGINNING.len());
    line[..length] == BEGINNING[..length]
}

/// Skips the rest of a line; whether it came to an end.
fn skip_line(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(false);
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(buffer.len(), |end| end + 1);
        input.consume(length);
        if end.is_some() {
            return Ok(true);
        }
    }
}

#[cfg(unix)]
fn only_for_its_owner(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(not(unix))]
fn only_for_its_owner(_: &mut OpenOptions) {}
