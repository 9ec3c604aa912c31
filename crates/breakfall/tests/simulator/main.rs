//! A guard and tools that misbehave at random, under a paused clock: ten thousand little worlds,
//! each from one seed, each held to what must always be true.
//!
//! `BREAKFALL_SEED=7 cargo test -p breakfall --test simulator` replays one world and tells what
//! happened in it; `BREAKFALL_SEEDS=100000` tries more of them.
#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![expect(clippy::print_stdout, reason = "a world is told")]
#![expect(clippy::panic, reason = "tools and sinks that panic")]

mod checks;
mod world;

use std::sync::atomic::{AtomicU64, Ordering};

use world::World;

/// How many worlds a run of the tests tries.
const SEEDS: u64 = 10_000;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// What is wrong in the world of a seed.
fn wrong(seed: u64, tell: bool) -> Option<String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let history = runtime.block_on(World::new(seed).live());
    if tell {
        println!("{history:#?}");
    }
    checks::check(&history).err()
}

#[test]
fn whatever_happens_every_promise_is_kept() {
    if let Some(seed) = number("BREAKFALL_SEED") {
        assert_eq!(wrong(seed, true), None);
        return;
    }
    let seeds = number("BREAKFALL_SEEDS").unwrap_or(SEEDS);
    let next = AtomicU64::new(0);
    let look = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds {
                return;
            }
            if let Some(wrong) = wrong(seed, false) {
                next.store(seeds, Ordering::Relaxed);
                panic!(
                    "{wrong}\nreplay it: BREAKFALL_SEED={seed} cargo test -p breakfall --test \
                     simulator -- --nocapture"
                );
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(look);
        scope.spawn(look);
    });
}
