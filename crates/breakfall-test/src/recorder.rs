//! A sink that keeps every record, for assertions.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use breakfall::{Ending, Record, Sink};

/// Keeps every record of a guard.
#[derive(Clone, Default)]
pub struct Recorder {
    records: Arc<Mutex<Vec<Record>>>,
}

impl Recorder {
    /// An empty recorder.
    pub fn new() -> Self {
        Self::default()
    }

    /// The sink to give to a guard.
    pub fn sink(&self) -> Arc<dyn Sink> {
        Arc::new(self.clone())
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Record>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every record so far, in the order in which the calls ended.
    pub fn records(&self) -> Vec<Record> {
        self.kept().clone()
    }

    /// How each call ended, in a word or two: `succeeded`, `partial`, `substituted: network`,
    /// `failed: timeout`, `abandoned`.
    pub fn endings(&self) -> Vec<String> {
        let ending = |record: &Record| match (record.ending, &record.failure) {
            (Ending::Failed, Some(failure)) => format!("failed: {}", failure.kind),
            (Ending::Succeeded, _) => "succeeded".to_owned(),
            (Ending::Partial, _) => "partial".to_owned(),
            (Ending::Substituted, Some(failure)) => format!("substituted: {}", failure.kind),
            (Ending::Substituted, None) => "substituted".to_owned(),
            (Ending::Failed, None) => "failed".to_owned(),
            (Ending::Abandoned, _) => "abandoned".to_owned(),
        };
        self.kept().iter().map(ending).collect()
    }

    /// Asserts how each call ended.
    #[track_caller]
    pub fn assert_endings<const N: usize>(&self, expected: [&str; N]) {
        assert_eq!(self.endings(), expected);
    }

    /// Asserts that a text stands nowhere in the records.
    #[track_caller]
    pub fn assert_never_saw(&self, secret: &str) {
        for record in self.kept().iter() {
            let text = format!("{record:?}");
            assert!(!text.contains(secret), "a record of `{}` holds the secret", record.tool);
        }
    }
}

impl Sink for Recorder {
    fn take(&self, record: &Record) {
        self.kept().push(record.clone());
    }
}
