//! Everything that must hold before a change lands.

use crate::{Failed, cargo, counts, e2e, fuzz, python};

/// How many seconds each fuzz target runs.
const FUZZED: u32 = 15;

/// The tests come last, so that the runner's closing lines are the last thing printed.
pub(crate) fn test(with_model: bool) -> Result<(), Failed> {
    cargo("formatting", &["fmt", "--all", "--check"], &[])?;
    cargo(
        "clippy",
        &["clippy", "--quiet", "--workspace", "--all-targets", "--", "--deny", "warnings"],
        &[],
    )?;
    cargo(
        "documentation",
        &["doc", "--quiet", "--workspace", "--no-deps", "--document-private-items"],
        &[("RUSTDOCFLAGS", "--deny warnings")],
    )?;
    counts::counts(false)?;
    fuzz::fuzz(FUZZED)?;
    e2e::e2e(false)?;
    if with_model {
        e2e::with_model()?;
    }
    python::test()?;
    // A backtrace for each failure that a test provokes costs more than the test.
    cargo(
        "tests",
        &["test", "--workspace", "--no-fail-fast"],
        &[
            ("RUST_BACKTRACE", "0"),
            ("INSTA_UPDATE", "no"),
            // Installed above: without it the tests on Postgres fail, and are not left out.
            ("BREAKFALL_NEEDS_POSTGRES", "1"),
        ],
    )
}
