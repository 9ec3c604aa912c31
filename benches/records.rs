//! Records of failures to keep, as a guard leaves them, and room for a file of them.

use breakfall::{Call, Effect, Guard, Record};
use breakfall_test::{Recorder, Script};

const TOOLS: usize = 40;
const RUNS: usize = 1_000;

/// Nothing is kept there yet.
pub(crate) fn clear(file: &str) {
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{file}{suffix}"));
    }
}

/// What a guard recorded of tools that fail in several ways, each in many runs.
pub(crate) async fn records() -> Vec<Record> {
    let errors = [
        "No such file or directory: '/home/ann/notes.txt'",
        "EACCES: permission denied, open '/etc/shadow'",
        "fatal: a branch named 'main' already exists",
        "process exited with exit status 2 after 1.25 s",
        "ValueError: 17 is not a month",
    ];
    let recorder = Recorder::new();
    let tools = (0..TOOLS).map(|number| {
        let script = Script::new(format!("tool_{number}")).effect(Effect::Once);
        errors.iter().fold(script, |script, error| script.errs(*error)).tool().upstream("server")
    });
    let guard = Guard::builder().tools(tools).sink(recorder.sink()).build().unwrap();
    for number in 0..TOOLS * errors.len() {
        let call = Call::new(number.to_string(), format!("tool_{}", number % TOOLS), "{}");
        guard.handle(call.in_run(format!("run {number}"))).await;
    }
    let whole = recorder.records();
    (0..RUNS * 5)
        .map(|number| {
            let mut record = whole[number % whole.len()].clone();
            record.run = Some(format!("run {}", number % RUNS).into());
            record
        })
        .collect()
}
