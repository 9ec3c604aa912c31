//! Calls at once, each a task of its own, as agents have that run beside each other.

use std::sync::Arc;

use breakfall::{Call, Failure, Guard, function};
use serde_json::Value;

use crate::figures::{median, microseconds, point};

const ROUNDS: usize = 15;

/// From one to ten thousand, each of which waits for a turn of the runtime.
pub(crate) fn curves() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    let guard = Arc::new(guard());
    for at_once in [1, 10, 100, 1_000, 10_000] {
        let guarded = median(ROUNDS, || runtime.block_on(tasks(at_once, &guard)));
        let bare = median(ROUNDS, || runtime.block_on(bare_tasks(at_once)));
        point("tasks: guarded", at_once, microseconds(guarded) / at_once as f64);
        point("tasks: bare", at_once, microseconds(bare) / at_once as f64);
    }
}

fn guard() -> Guard {
    let later = function("later", "Answers later.", |_: Value| async {
        tokio::task::yield_now().await;
        Ok::<_, Failure>("done")
    });
    Guard::builder().tool(later).build().unwrap()
}

async fn tasks(at_once: u64, guard: &Arc<Guard>) {
    let all: Vec<_> = (0..at_once)
        .map(|n| {
            let guard = Arc::clone(guard);
            tokio::spawn(async move {
                guard.handle(Call::new(n.to_string(), "later", "{}")).await.is_error
            })
        })
        .collect();
    for task in all {
        assert!(!task.await.unwrap(), "it succeeds");
    }
}

async fn bare_tasks(at_once: u64) {
    let all: Vec<_> = (0..at_once).map(|_| tokio::spawn(tokio::task::yield_now())).collect();
    for task in all {
        task.await.unwrap();
    }
}
