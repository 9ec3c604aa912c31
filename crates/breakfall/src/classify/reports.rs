//! Reports of tests and compilers: they quote every kind of error and are none of them.

use super::decide::Verdict;
use super::pattern::{Marked, Pattern};
use crate::FailureKind;

static TEST_REPORTS: Pattern = Pattern::new(
    &["FAIL", "ail", "not ok", "ERRORS", "problem"],
    r"(?m)(^\s*FAIL\s+\S+\.\w+|^\s*[1-9]\d* failing\b|Some tests failed|^Failed!? .*\bFailed:\s+[1-9]|Assert\.\w+\(\) Failure|^FAILURE: Build failed|^BUILD FAILED|There were failing tests|\b\d+ problems? in |Failed Tests \d|^=+ (?:FAILURES|ERRORS|short test summary info) =+|^FAILED \S+::|^--- FAIL: |^FAIL\s+\S+|^Tests?:\s+\d+ failed|^\s*\d+ failed(?:,| in )|^not ok \d+|^test result: FAILED|^FAILURES!|^Failures?: \d+|^\d+ examples?, [1-9]\d* failures?|Tests run: \d+, Failures: [1-9]|^FAILED \(|^Failed example:|^#\s+Failed test|^Result: FAIL|\b[1-9]\d* (?:tests?|scenarios?|examples?|items?|specs?|steps?|checks?|suites?),? (?:had )?fail(?:ed|ures?|ing)\b|\b[1-9]\d* failed, \d+ passed|passed, [1-9]\d* failed)",
);
static COMPILER: Pattern = Pattern::new(
    &[
        "rror",
        "arning",
        ":1:",
        ":2:",
        ":3:",
        ":4:",
        ":5:",
        ":6:",
        ":7:",
        ":8:",
        ":9:",
        ":0:",
        "-->",
        "undefined",
        "did NOT",
        "*** [",
        "characters",
        "problem",
    ],
    r"(?m)(\berror TS\d{4}\b|\bTS\d{4} \[ERROR\]|^\S+\.\w{1,5}:\d+:\d+:|^\S+\.\w{1,5}:\d+(?::\d+)? (?:error|warning) |^\S+\.\w{1,5}\(\d+, ?\d+\):? Error:|^File \x22[^\x22]+\x22, line \d+, characters|^error\[E\d{4}\]|^\S+\.(?:c|cc|cpp|h|hpp|go|rs|java|ts|tsx|kt|swift|scala|cs|py):\d+(?::\d+)?: (?:error|undefined|cannot)|^\S+\.(?:ts|tsx|cs|vb)\(\d+,\d+\): error|collect2: error|ld returned \d|undefined reference to|^\s*--> \S+\.\w+:\d+:\d+|\d+ problems? \(\d+ errors?|^Found \d+ errors?\b|did NOT match|^make: \*\*\* \[)",
);

/// Every pattern of this file.
pub(super) static PATTERNS: &[&Pattern] = &[&TEST_REPORTS, &COMPILER];

/// What such a report says, unless it is that a file is missing.
pub(super) fn report(marked: &Marked) -> Option<Verdict> {
    let text = marked.text;
    if text.contains("No such file or directory") && !text.contains("FAILED") {
        return None;
    }
    let words = TEST_REPORTS.text(marked).or_else(|| COMPILER.text(marked))?;
    Some(Verdict::new(FailureKind::Execution, "report", words))
}
