//! Batches on disk while a database over the network is away: bounded, in order, never written twice.

use std::collections::VecDeque;
use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use crate::backend::Place;
use crate::batch::Batch;

/// How much is spooled; then the oldest goes.
const MOST_BYTES: u64 = 64 << 20;
const MOST_FILES: usize = 5_000;

/// A file of its own for each batch.
#[derive(Debug)]
pub(crate) struct Spool {
    directory: PathBuf,
    /// Names in order, with their sizes.
    files: VecDeque<(String, u64)>,
    bytes: u64,
}

impl Spool {
    /// The spool of a database over the network; a file needs none.
    pub(crate) fn beside(place: &Place) -> Option<Self> {
        let Place::Postgres(url) = place else { return None };
        // One for each database: the name tells which, and no secret.
        let hash = crate::fingerprint::fingerprint(&without_password(url), "", "", "");
        Some(Self::at(crate::place::data_directory()?.join(format!("spool-{hash}"))))
    }

    /// A spool with what an earlier process left in it.
    pub(crate) fn at(directory: PathBuf) -> Self {
        let mut files: Vec<(String, u64)> = fs::read_dir(&directory)
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let name = entry.file_name().into_string().ok()?;
                let is_whole = entry.path().extension().is_some_and(|it| it == "json");
                is_whole.then_some((name, entry.metadata().ok()?.len()))
            })
            .collect();
        files.sort();
        let bytes = files.iter().map(|(_, bytes)| bytes).sum();
        Self { directory, files: files.into(), bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Adds a batch. An error is how many records were lost for it: its own, or older ones.
    pub(crate) fn push(&mut self, batch: &Batch) -> Result<(), u64> {
        let mut lost = 0;
        let text = serde_json::to_vec(batch).map_err(|_| batch.calls() + batch.lost)?;
        while self.files.len() >= MOST_FILES || self.bytes + text.len() as u64 > MOST_BYTES {
            let Some(oldest) = self.first() else { break };
            lost += oldest.calls() + oldest.lost;
            self.forget_first();
        }
        // Its id begins with the time, and nobody else's is the same: several may share a directory.
        let id = batch.id.iter().fold(String::new(), |id, byte| format!("{id}{byte:02x}"));
        let name = format!("{id}.json");
        let kept = || -> std::io::Result<()> {
            fs::create_dir_all(&self.directory)?;
            let half = self.directory.join(format!("{name}.half"));
            let mut file = fs::OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(&half)?;
            file.write_all(&text)?;
            fs::rename(&half, self.directory.join(&name))
        };
        match kept() {
            Ok(()) => {
                self.bytes += text.len() as u64;
                self.files.push_back((name, text.len() as u64));
            }
            Err(_) => lost += batch.calls() + batch.lost,
        }
        if lost > 0 { Err(lost) } else { Ok(()) }
    }

    /// The oldest batch; a file that is none is thrown away.
    pub(crate) fn first(&mut self) -> Option<Batch> {
        loop {
            let (name, _) = self.files.front()?;
            let text = fs::read(self.directory.join(name)).ok();
            match text.and_then(|text| serde_json::from_slice(&text).ok()) {
                Some(batch) => return Some(batch),
                None => self.forget_first(),
            }
        }
    }

    pub(crate) fn forget_first(&mut self) {
        if let Some((name, bytes)) = self.files.pop_front() {
            self.bytes -= bytes;
            let _ = fs::remove_file(self.directory.join(name));
        }
        if self.files.is_empty() {
            // Only where nobody else has something in it.
            let _ = fs::remove_dir(&self.directory);
        }
    }
}

/// An address without its password: who changes that has the same database.
fn without_password(url: &str) -> String {
    let apart = url.split_once("://").and_then(|(scheme, rest)| {
        let (authority, behind) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (user, host) = authority.rsplit_once('@')?;
        let name = user.split(':').next().unwrap_or_default();
        Some(format!("{scheme}://{name}@{host}{behind}"))
    });
    apart.unwrap_or_else(|| url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_password_leaves_the_spool_where_it_is() {
        let at = |url: &str| without_password(url);
        assert_eq!(at("postgres://bf:old@db:5432/x?a=b"), at("postgres://bf:new@db:5432/x?a=b"));
        assert_eq!(at("postgres://bf@db/x"), "postgres://bf@db/x");
        assert_ne!(at("postgres://bf:a@db/x"), at("postgres://bf:a@db/y"));
        assert_eq!(at("postgres:///x?host=/run"), "postgres:///x?host=/run");
    }

    #[test]
    fn two_spools_share_a_directory() {
        let directory =
            std::env::temp_dir().join(format!("breakfall-spools-{}", std::process::id()));
        let _ = fs::remove_dir_all(&directory);
        let mut spools = [Spool::at(directory.clone()), Spool::at(directory.clone())];
        for (spool, id) in spools.iter_mut().zip([1, 2]) {
            spool.push(&Batch { id: vec![id], lost: 1, ..Batch::default() }).unwrap();
        }
        let firsts = spools.each_mut().map(|spool| spool.first().unwrap().id);
        assert_eq!(firsts, [[1], [2]]);
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn batches_come_back_in_order_also_to_the_next_process() {
        let directory =
            std::env::temp_dir().join(format!("breakfall-spool-{}", std::process::id()));
        let _ = fs::remove_dir_all(&directory);
        let batch = |id: u8| Batch { id: vec![id], lost: 1, ..Batch::default() };
        let mut spool = Spool::at(directory.clone());
        spool.push(&batch(1)).unwrap();
        spool.push(&batch(2)).unwrap();
        fs::write(directory.join("0-garbage.json"), "{").unwrap();
        let mut again = Spool::at(directory.clone());
        assert_eq!(again.first().unwrap().id, [1]);
        again.forget_first();
        assert_eq!(again.first().unwrap().id, [2]);
        again.forget_first();
        assert!(again.first().is_none() && again.is_empty());
        assert!(!directory.exists());
    }
}
