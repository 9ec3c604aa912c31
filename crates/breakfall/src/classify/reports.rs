//! Reports of tests and compilers: they quote every kind of error and are none of them.

use std::sync::LazyLock;

use super::decide::Verdict;
use super::pattern::{Marked, Pattern, bits};
use crate::FailureKind;

static TEST_REPORTS: Pattern = Pattern::new(
    &["FAIL", "ail", "not ok", "ERRORS", "problem"],
    r"(?m)(^\s*FAIL\s+\S+\.\w+|^\s*[1-9]\d* failing\b|Some tests failed|^Failed!? .*\bFailed:\s+[1-9]|Assert\.\w+\(\) Failure|^FAILURE: Build failed|^BUILD FAILED|There were failing tests|\b\d+ problems? in |Failed Tests \d|^=+ (?:FAILURES|ERRORS|short test summary info) =+|^FAILED \S+::|^--- FAIL: |^FAIL\s+\S+|^Tests?:\s+\d+ failed|^\s*\d+ failed(?:,| in )|^not ok \d+|^test result: FAILED|^FAILURES!|^Failures?: \d+|^\d+ examples?, [1-9]\d* failures?|Tests run: \d+, Failures: [1-9]|^FAILED \(|^Failed example:|^#\s+Failed test|^Result: FAIL|\b[1-9]\d* (?:tests?|scenarios?|examples?|items?|specs?|steps?|checks?|suites?),? (?:had )?fail(?:ed|ures?|ing)\b|\b[1-9]\d* failed, \d+ passed|passed, [1-9]\d* failed)",
);
static COMPILER: Pattern = Pattern::both(
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
        ".kt: (",
    ],
    &[
        "error TS",
        "[ERROR]",
        "0:",
        "1:",
        "2:",
        "3:",
        "4:",
        "5:",
        "6:",
        "7:",
        "8:",
        "9:",
        " error ",
        " warning ",
        " Error:",
        ", characters",
        "error[E",
        ": error",
        ": undefined",
        ": cannot",
        "ld returned",
        "undefined reference",
        "-->",
        "problem",
        "Found ",
        "did NOT",
        "*** [",
        ".kt: (",
    ],
    r"(?m)(\berror TS\d{4}\b|\bTS\d{4} \[ERROR\]|^\S+\.\w{1,5}:\d+:\d+:|^\S+\.\w{1,5}:\d+(?::\d+)? (?:error|warning) |^\S+\.\w{1,5}\(\d+, ?\d+\):? Error:|^File \x22[^\x22]+\x22, line \d+, characters|^error\[E\d{4}\]|^\S+\.(?:c|cc|cpp|h|hpp|go|rs|java|ts|tsx|kt|swift|scala|cs|py):\d+(?::\d+)?: (?:error|undefined|cannot)|^\S+\.(?:ts|tsx|cs|vb)\(\d+,\d+\): error|collect2: error|ld returned \d|undefined reference to|^\s*--> \S+\.\w+:\d+:\d+|\d+ problems? \(\d+ errors?|^Found \d+ errors?\b|did NOT match|^make: \*\*\* \[|^[ew]: \S+\.kts?:[ \d(])",
);

/// A diagnostic without a column: of a compiler, unless the file holds data.
static DIAGNOSTIC: Pattern = Pattern::new(
    &[
        ": error",
        ": Error: ",
        ": syntax error",
        ": fatal error",
        ": type error",
        ": parse error",
        ": semantic error",
        "): ",
        ") Error",
        ") error",
        ") Fatal",
        ": undefined ",
        ": undeclared ",
        ": unknown command",
        ": no declaration",
        "; Line ",
    ],
    r"(?m)^((?:\w+: )?(?:File )?(?:\S*/)?[\w+\-.]+\.\w{1,8}(?::\d+(?:[.:]\d+)?(?:-\d+(?:[.:]\d+)?)?: ?(?:(?:fatal |syntax |type |parse |semantic )?error\b|Error: |undefined |undeclared |unknown command|no declaration)|\(\d+(?:, ?\d+)?\):? (?:Error|error|Fatal)\b|; Line \d+ ))",
);
static LINKER: Pattern = Pattern::new(
    &[
        "not found for architecture",
        "unresolved external",
        "error(s)",
        "errors generated",
        "inker `",
        " ERROR --",
    ],
    r"(symbol\(s\) not found for architecture|unresolved external symbol|[1-9]\d* error\(s\)(?: during|, \d+ warning)|[1-9]\d* errors? generated|linker `[^`\n]+` |-- [A-Z ]+ ERROR -{4,})",
);
/// What is true whatever a report quotes: who stopped the program, what it died of, and that a
/// compiler refused its own options.
static BEYOND: Pattern = Pattern::new(
    &["KeyboardInterrupt", "command-line option", "compiler option", "raised ", "] Interrupt"],
    r"(KeyboardInterrupt|unrecognized command-line option|Unknown compiler option|raised [A-Z]+_ERROR : |\] Interrupt\b)",
);

/// Every pattern of this file.
pub(super) static PATTERNS: &[&Pattern] =
    &[&TEST_REPORTS, &COMPILER, &DIAGNOSTIC, &LINKER, &BEYOND];

/// The same, a bit each: most texts are no reports.
static REPORTS: LazyLock<u128> = LazyLock::new(|| bits(PATTERNS));

/// Endings of files that are given to a program as data or as its configuration.
const DATA: &[&str] = &[
    "conf",
    "cfg",
    "cf",
    "ini",
    "xml",
    "xsd",
    "xsl",
    "svg",
    "html",
    "htm",
    "css",
    "json",
    "yaml",
    "yml",
    "toml",
    "po",
    "pot",
    "desktop",
    "csv",
    "tsv",
    "txt",
    "md",
    "rst",
    "mk",
    "sql",
    "ttl",
    "nt",
    "rng",
    "properties",
    "env",
    "service",
    "jim",
    "tcl",
    "zone",
    "rules",
    "ldif",
    "log",
    "dot",
    "gv",
    "ly",
];

/// What holds beyond reports.
pub(super) fn beyond(marked: &Marked) -> Option<Verdict> {
    let words = BEYOND.text(marked)?;
    let kind = match words {
        "KeyboardInterrupt" | "] Interrupt" => FailureKind::Cancelled,
        _ if words.starts_with("raised") => FailureKind::Internal,
        _ => FailureKind::InvalidArguments,
    };
    Some(Verdict::new(kind, "report", words))
}

fn diagnostic<'t>(marked: &Marked<'t>) -> Option<&'t str> {
    let words = DIAGNOSTIC.text(marked)?;
    let file = words.rsplit(' ').find(|part| part.contains('.'))?;
    let file = file.split([':', '(', ';']).next()?;
    let ending = file.rsplit('.').next()?;
    (!is_data(ending)).then_some(words)
}

/// Whether files that end so are given to a program as data.
pub(super) fn is_data(ending: &str) -> bool {
    DATA.contains(&ending)
}

/// What such a report says, unless it is that a file is missing.
pub(super) fn report(marked: &Marked) -> Option<Verdict> {
    let text = marked.text;
    if !marked.announces_any(*REPORTS) {
        return None;
    }
    if text.contains("No such file or directory") && !text.contains("FAILED") {
        return None;
    }
    let words = TEST_REPORTS
        .text(marked)
        .or_else(|| COMPILER.text(marked))
        .or_else(|| diagnostic(marked))
        .or_else(|| LINKER.text(marked))?;
    Some(Verdict::new(FailureKind::Execution, "report", words))
}
