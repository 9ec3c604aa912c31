//! How long a text asks to wait.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use super::pattern::{Marked, Pattern, bits};
use crate::stretch;

/// Longer waits are taken for a mistake.
const LONGEST: f64 = 30.0 * 24.0 * 3600.0;

static HEADER: Pattern = Pattern::new(
    &["etry", "ETRY"],
    r#"(?i)\bretry[-_ ]?(?:after|delay|in)(?:[-_ ]?(?:seconds|secs?|s))?['"]?\s*[:=]?\s*['"]?((?:\d+(?:\.\d+)?\s*(?:milliseconds?|ms|minutes?|mins?|m|seconds?|secs?|s|hours?|hrs?|h)\s*)*\d+(?:\.\d+)?\s*(?:milliseconds?|ms|minutes?|mins?|m|seconds?|secs?|s|hours?|hrs?|h)?)\b"#,
);
static MILLISECONDS: Pattern = Pattern::both(
    &["ms", "MS", "Ms"],
    &["fter", "FTER", "efore", "EFORE", "ntil", "NTIL", "sto", "sTo", "STO", "StO"],
    r#"(?i)\b(?:retry[-_]?after[-_]?ms|ms(?:before|until|to)(?:next|reset|retry))['"]?\s*[:=]\s*['"]?(\d+)"#,
);
static PROSE: Pattern = Pattern::new(
    &["again", "vailable", "etry", "equest", "ait", "eset", "back", "reak"],
    r"(?i)\b(?:again|available|retry|request|wait|resets?|back|break)\s+(?:in|after|for|of|at least|another)?\s*(?:about\s+|approximately\s+)?((?:\d+(?:\.\d+)?\s*(?:milliseconds?|ms|minutes?|mins?|m|seconds?|secs?|s|hours?|hrs?|h|days?|d),?\s*(?:and\s+)?)*\d+(?:\.\d+)?\s*(?:milliseconds?|ms|minutes?|mins?|m|seconds?|secs?|s|hours?|hrs?|h|days?|d))\b",
);

/// Every pattern of this file.
pub(super) static PATTERNS: &[&Pattern] = &[&HEADER, &MILLISECONDS, &PROSE];

/// The same, a bit each.
static WAITS: LazyLock<u128> = LazyLock::new(|| bits(PATTERNS));

/// The wait that HTTP's header `Retry-After` asks for: so many seconds, or until a date.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(breakfall::retry_after("17"), Some(Duration::from_secs(17)));
/// assert_eq!(breakfall::retry_after("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
/// assert_eq!(breakfall::retry_after("later"), None);
/// ```
pub fn retry_after(value: &str) -> Option<Duration> {
    let value = value.trim();
    let wait = match value.parse() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok()?,
        // A date that is over asks for no wait any more. Whole seconds, as the date has them.
        Err(_) => {
            let until = httpdate::parse_http_date(value).ok()?;
            let wait = until.duration_since(SystemTime::now()).unwrap_or_default();
            Duration::from_secs(wait.as_secs() + u64::from(wait.subsec_nanos() > 0))
        }
    };
    (wait.as_secs_f64() <= LONGEST).then_some(wait)
}

/// The wait a text asks for.
pub(super) fn wait(text: &Marked) -> Option<Duration> {
    if !text.announces_any(*WAITS) {
        return None;
    }
    if let Some(number) = MILLISECONDS.text(text) {
        return sensible(number.parse::<f64>().ok()? / 1000.0);
    }
    let asked = HEADER.text(text);
    asked
        .or_else(|| {
            let may = PROSE.may_match(text) && may_ask(text.text.as_bytes());
            may.then(|| PROSE.text(text)).flatten()
        })
        .and_then(span)
}

/// Whether a number stands behind a word that may ask to wait so long.
fn may_ask(text: &[u8]) -> bool {
    const WORDS: &[&str] = &[
        "again",
        "available",
        "retry",
        "request",
        "wait",
        "reset",
        "resets",
        "back",
        "break",
        "in",
        "after",
        "for",
        "of",
        "least",
        "another",
        "about",
        "approximately",
    ];
    let asks = |before: &[u8]| {
        let before = before.trim_ascii_end();
        let letters = before.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let word = &before[before.len() - letters..];
        WORDS
            .iter()
            .any(|known| known.len() == letters && known.as_bytes().eq_ignore_ascii_case(word))
    };
    let mut at = 0;
    while let Some(behind) = stretch::first(&text[at..], |byte| byte.is_ascii_digit()) {
        at += behind;
        let begins = |before: u8| before <= b' ' || before.is_ascii_alphabetic();
        if text[..at].last().is_some_and(|before| begins(*before)) && asks(&text[..at]) {
            return true;
        }
        at += text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    }
    false
}

/// `7m12s`, `1h 2m 3s`, `250ms`, `2 minutes`, `20`.
fn span(text: &str) -> Option<Duration> {
    let mut seconds = 0.0;
    let mut rest = text.trim();
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        rest = &rest[start..];
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let number: f64 = rest[..end].trim_end_matches('.').parse().ok()?;
        rest = rest[end..].trim_start();
        let unit = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        seconds += number
            * match &rest[..unit].to_ascii_lowercase()[..] {
                "ms" | "millisecond" | "milliseconds" => 0.001,
                "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
                "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
                "d" | "day" | "days" => 86400.0,
                _ => 1.0,
            };
        rest = &rest[unit..];
    }
    sensible(seconds)
}

fn sensible(seconds: f64) -> Option<Duration> {
    (seconds > 0.0 && seconds < LONGEST).then(|| Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_read_in_every_form() {
        for (text, seconds) in [
            ("HTTP/1.1 429\nRetry-After: 17\n", 17.0),
            ("Too many attempts. Try again in 1h 2m 3s.", 3723.0),
            ("Please try again in 7m12s. Visit", 432.0),
            ("You may retry in 250ms", 0.25),
            ("Please retry after 2 minutes.", 120.0),
            ("Expected available in 41 seconds.", 41.0),
            (r#"{"retry_after": 35}"#, 35.0),
            (r#"{"error": "overloaded", "retryAfter": 5}"#, 5.0),
            (r#""retryDelay": "30s""#, 30.0),
            ("Too Many Requests (retry after 120s)", 120.0),
            ("retry-after-ms: 1500", 1.5),
        ] {
            assert_eq!(
                wait(&Marked::new(text)).map(|wait| wait.as_secs_f64()),
                Some(seconds),
                "{text}"
            );
        }
    }

    #[test]
    fn a_header_asks_for_seconds_or_for_a_date() {
        let hour = Duration::from_hours(1);
        let later = retry_after(&httpdate::fmt_http_date(SystemTime::now() + hour));
        assert!(later.is_some_and(|wait| wait > hour / 2 && wait <= hour), "{later:?}");
        let seconds = [" 17 ", "1.5", "0"].map(retry_after);
        let seconds = seconds.map(|wait| wait.map(|wait| wait.as_secs_f64()));
        assert_eq!(seconds, [Some(17.0), Some(1.5), Some(0.0)]);
        for value in ["", "-1", "NaN", "1e300", "9999999", "Sun, 06 ovN 1994 08:49:37 GMT", "soon"]
        {
            assert_eq!(retry_after(value), None, "{value}");
        }
    }

    #[test]
    fn other_numbers_are_no_waits() {
        for text in [
            "Retry-After: Wed, 21 Oct 2026 07:28:00 GMT",
            "Retry later",
            "Please try again in a few minutes.",
            "timed out after 30 s",
            "timeout of 300ms exceeded",
            "waited for 3 apples",
        ] {
            assert_eq!(wait(&Marked::new(text)), None, "{text}");
        }
    }
}
