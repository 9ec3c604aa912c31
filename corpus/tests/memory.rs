//! What the rules for secrets take, in a process of their own: other tests would be counted too.

use breakfall::Redactor;
use breakfall_corpus::{Secret, load};

/// Resident memory in MiB, without the pages of the program itself.
fn resident() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}

#[test]
fn the_rules_for_secrets_take_less_than_20_mib() {
    let secrets: Vec<Secret> = load("secrets.jsonl.gz");
    let before = resident();
    let redactor = Redactor::default();
    for secret in &secrets {
        redactor.redact(&secret.text);
    }
    if let (Some(before), Some(after)) = (before, resident()) {
        assert!(after - before < 20.0, "{:.1} MiB", after - before);
    }
}
