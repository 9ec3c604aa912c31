//! Names of error types and codes: `FileNotFoundError`, `ECONNREFUSED`, `insufficient_quota`.

use std::sync::LazyLock;

use crate::FailureKind;
use crate::keywords::Keywords;

/// What a name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// Its kind.
    Surely(FailureKind),
    /// Its kind, when nothing else tells another.
    Otherwise(FailureKind),
}

/// The patterns of the table behind one scan.
struct Table {
    /// Each with its row and whether more may stand before or behind it.
    patterns: Vec<(usize, bool, bool)>,
    rows: Vec<Told>,
    words: Keywords,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let (mut patterns, mut rows, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for line in include_str!("names.tsv").lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split('\t');
        let (Some(kind), Some(sure), Some(all)) = (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let Ok(kind) = kind.parse() else { continue };
        for pattern in all.split(' ') {
            patterns.push((rows.len(), pattern.starts_with('*'), pattern.ends_with('*')));
            texts.push(pattern.trim_matches('*'));
        }
        rows.push(if sure == "surely" { Told::Surely(kind) } else { Told::Otherwise(kind) });
    }
    Table { patterns, rows, words: Keywords::new(texts.into_iter(), false) }
});

/// The longest part of a name that is looked at.
const LONGEST: usize = 80;

/// The last part of a name with modules or classes before it.
fn last_part(name: &[u8]) -> Option<&[u8]> {
    let is_between = |byte: &u8| matches!(byte, b'.' | b':' | b'\\' | b'/');
    let end = name.iter().rposition(|byte| !is_between(byte))? + 1;
    let start = name[..end].iter().rposition(is_between).map_or(0, |at| at + 1);
    Some(&name[start..end]).filter(|last| last.len() <= LONGEST)
}

/// What a name tells, if it is known.
pub(super) fn tell(name: &str) -> Option<Told> {
    let last = last_part(name.as_bytes())?;
    let mut folded = [0; LONGEST];
    let mut length = 0;
    for byte in last.iter().filter(|byte| byte.is_ascii_alphanumeric()) {
        *folded.get_mut(length)? = byte.to_ascii_lowercase();
        length += 1;
    }
    let folded = folded.get(..length).filter(|folded| folded.len() > 2)?;
    // Python's, Java's and JavaScript's endings say nothing.
    let bare = ["exception", "error", "fault", "err"]
        .iter()
        .find_map(|ending| folded.strip_suffix(ending.as_bytes()).filter(|bare| bare.len() > 3))
        .unwrap_or(folded);
    let ends = [folded.len(), bare.len()];
    let table = &*TABLE;
    let mut first: Option<usize> = None;
    table.words.each(folded, |pattern, start, end| {
        let (row, open_before, open_behind) = table.patterns[pattern];
        if (open_before || start == 0) && (open_behind || ends.contains(&end)) {
            first = Some(first.map_or(row, |known| known.min(row)));
        }
    });
    first.map(|row| table.rows[row])
}

/// Whether a word is the name of an error's type: `TimeoutError`, `psycopg.errors.UndefinedTable`.
pub(super) fn is_type_name(word: &str) -> bool {
    // The last letter of an ending, or of a code: most words have another.
    let ends =
        |byte: &u8| matches!(byte, b'r' | b'n' | b't' | b'e' | b'g' | b'A'..=b'Z' | b'0'..=b'9');
    if !word.as_bytes().last().is_some_and(ends) {
        return false;
    }
    let dot = word.bytes().rposition(|byte| matches!(byte, b'.' | b'\\'));
    let last = dot.map_or(word, |dot| &word[dot + 1..]);
    if !last.bytes().next().is_some_and(|b| b.is_ascii_uppercase() || b == b'_') {
        return false;
    }
    let shaped = !word.is_empty()
        && word.len() <= 120
        && word
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$' | b'\\'));
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
            .any(|ending| last.ends_with(ending) && word.len() > ending.len()))
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
