//! Names of error types and codes: `FileNotFoundError`, `ECONNREFUSED`, `insufficient_quota`.

use std::sync::LazyLock;

use crate::FailureKind;

/// What a name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// Its kind.
    Surely(FailureKind),
    /// Its kind, when nothing else tells another.
    Otherwise(FailureKind),
}

struct Row {
    told: Told,
    patterns: Vec<Pattern>,
}

/// `abc`, `abc*`, `*abc`, `*abc*`.
struct Pattern {
    text: &'static str,
    open_before: bool,
    open_behind: bool,
}

static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| {
    include_str!("names.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(row)
        .collect()
});

fn row(line: &'static str) -> Option<Row> {
    let mut fields = line.split('\t');
    let kind = fields.next()?.parse().ok()?;
    let told = if fields.next()? == "surely" { Told::Surely(kind) } else { Told::Otherwise(kind) };
    let patterns = fields.next()?.split(' ').map(|pattern| Pattern {
        text: pattern.trim_matches('*'),
        open_before: pattern.starts_with('*'),
        open_behind: pattern.ends_with('*'),
    });
    Some(Row { told, patterns: patterns.collect() })
}

/// What a name tells, if it is known.
pub(super) fn tell(name: &str) -> Option<Told> {
    let last = name.rsplit(['.', ':', '\\', '/']).find(|part| !part.is_empty())?;
    if last.len() > 80 {
        return None;
    }
    let mut folded = String::with_capacity(last.len());
    for c in last.chars().filter(char::is_ascii_alphanumeric) {
        folded.push(c.to_ascii_lowercase());
    }
    if folded.len() < 3 {
        return None;
    }
    // Python's, Java's and JavaScript's endings say nothing.
    let bare = ["exception", "error", "fault", "err"]
        .iter()
        .find_map(|ending| folded.strip_suffix(ending).filter(|bare| bare.len() > 3))
        .unwrap_or(&folded);
    let row = |row: &&Row| row.patterns.iter().any(|p| p.fits(&folded) || p.fits(bare));
    TABLE.iter().find(row).map(|row| row.told)
}

impl Pattern {
    fn fits(&self, name: &str) -> bool {
        match (self.open_before, self.open_behind) {
            (false, false) => name == self.text,
            (false, true) => name.starts_with(self.text),
            (true, false) => name.ends_with(self.text),
            (true, true) => name.contains(self.text),
        }
    }
}

/// Whether a word is the name of an error's type: `TimeoutError`, `psycopg.errors.UndefinedTable`.
pub(super) fn is_type_name(word: &str) -> bool {
    let last = word.rsplit('.').next().unwrap_or(word);
    let shaped = !word.is_empty()
        && word.len() <= 120
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$'))
        && last.bytes().next().is_some_and(|b| b.is_ascii_uppercase() || b == b'_');
    let errno = last.len() > 3
        && last.starts_with('E')
        && last.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
    shaped
        && (errno
            || [
                "Error",
                "Exception",
                "Interrupt",
                "Failure",
                "Fault",
                "Timeout",
                "Warning",
                "Exit",
            ]
            .iter()
            .any(|ending| last.ends_with(ending)))
}

/// Whether a word that stands alone before a colon is a name that tells its kind.
pub(super) fn is_telling(word: &str) -> bool {
    let capital = word.bytes().next().is_some_and(|b| b.is_ascii_uppercase());
    let plain = word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'));
    capital && plain && (6..80).contains(&word.len()) && tell(word).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FailureKind as K;

    #[test]
    fn names_tell_their_kind() {
        for (name, kind) in [
            ("FileNotFoundError", K::NotFound),
            ("ECONNREFUSED", K::Network),
            ("ENOTFOUND", K::Network),
            ("java.net.SocketTimeoutException", K::Timeout),
            ("java.net.UnknownHostException", K::Network),
            ("insufficient_quota", K::QuotaExceeded),
            ("rate_limit_exceeded", K::RateLimited),
            ("UnauthorizedAccessException", K::Permission),
            ("psycopg.errors.UniqueViolation", K::Conflict),
            ("ToolNotFoundError", K::UnknownTool),
            ("NoSuchKey", K::NotFound),
            ("InvalidAccessKeyId", K::Authentication),
        ] {
            assert_eq!(tell(name), Some(Told::Surely(kind)), "{name}");
        }
        assert_eq!(tell("KeyError"), Some(Told::Otherwise(K::Internal)));
        for name in ["Error", "ClientError", "OperationalError", "", "é", "x"] {
            assert_eq!(tell(name), None, "{name}");
        }
    }
}
