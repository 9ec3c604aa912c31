//! Numbers, times and foreign texts as a person reads them.

use std::borrow::Cow;
use std::time::{SystemTime, UNIX_EPOCH};

/// The most that is shown of one text.
const LONGEST: usize = 16 << 10;

/// Now, in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}

/// A count: `12,345`.
pub(crate) fn number(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun.
pub(crate) fn several(count: u64, one: &str, more: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{} {more}", number(count)) }
}

/// A share: `12.5 %`.
pub(crate) fn percent(share: f64) -> String {
    let share = share * 100.0;
    // What happened at all is not nothing, and what did not always is not all.
    match share {
        share if share > 0.0 && share < 0.1 => "< 0.1 %".to_owned(),
        share if share < 100.0 && share > 99.9 => "> 99.9 %".to_owned(),
        share if share < 10.0 && share > 0.0 => format!("{share:.1} %"),
        share => format!("{share:.0} %"),
    }
}

/// The share of one count in another.
#[expect(clippy::cast_precision_loss, reason = "a share of a count")]
pub(crate) fn share(of: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| of as f64 / all as f64)
}

/// How long something took, in seconds.
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 0.001 => format!("{:.0} µs", s * 1e6),
        s if s < 0.01 => format!("{:.1} ms", s * 1e3),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 10.0 => format!("{s:.1} s"),
        s => format!("{s:.0} s"),
    }
}

/// How long it is between two moments, in words.
fn distance(millis: i64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// How long ago a moment is, or how far ahead.
pub(crate) fn ago(at: i64, now: i64) -> String {
    match now.saturating_sub(at) {
        -999..1_000 => "now".to_owned(),
        past @ 1_000.. => format!("{} ago", distance(past)),
        ahead => format!("in {}", distance(ahead.saturating_neg())),
    }
}

/// A moment in parts: year, month, day, hour, minute, second.
fn parts(at: i64) -> (i64, i64, i64, i64, i64, i64) {
    let seconds = at.div_euclid(1000);
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days are counted from the first of March of year 0, so that the leap day is the last one.
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let of_era = day.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    (year, month, day, second / 3_600, second / 60 % 60, second % 60)
}

/// A moment as machines write it.
pub(crate) fn iso(at: i64) -> String {
    let (year, month, day, hour, minute, second) = parts(at);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// A moment as people read it.
pub(crate) fn moment(at: i64) -> String {
    let (year, month, day, hour, minute, second) = parts(at);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// The time of the day, or the day where days are told.
pub(crate) fn tick(at: i64, days: bool) -> String {
    let (_, month, day, hour, minute, _) = parts(at);
    if days { format!("{month:02}-{day:02}") } else { format!("{hour:02}:{minute:02}") }
}

/// A kind as words.
pub(crate) fn kind(name: &str) -> String {
    visible(name).replace('_', " ")
}

/// The tool with its upstream.
pub(crate) fn tool(upstream: &str, tool: &str) -> String {
    let name = if upstream.is_empty() { tool.to_owned() } else { format!("{upstream} · {tool}") };
    visible(&name).into_owned()
}

/// A foreign text in which nothing hides: what is not seen, or turns the text around it, is written
/// as its number. So much of it as anybody reads.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let hides = |it: char| {
        (it.is_control() && !matches!(it, '\n' | '\t'))
            || matches!(it, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
                | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    let shown = &text[..text.floor_char_boundary(LONGEST)];
    if shown.len() == text.len() && !text.contains(hides) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(shown.len());
    for it in shown.chars() {
        if it == '\r' {
            continue;
        }
        if hides(it) { clean.extend(it.escape_unicode()) } else { clean.push(it) }
    }
    if shown.len() < text.len() {
        clean.extend(["\n… ", &(text.len() - shown.len()).to_string(), " bytes more"]);
    }
    Cow::Owned(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_told_right() {
        for (at, told) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (1_794_751_402_999, "2026-11-15T14:03:22Z"),
            (-1, "1969-12-31T23:59:59Z"),
        ] {
            assert_eq!(iso(at), told);
        }
        assert_eq!(moment(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(
            (tick(951_782_400_000, true), tick(60_000, false)),
            ("02-29".into(), "00:01".into())
        );
        let told = |at| ago(at, 1_000_000_000);
        assert_eq!(told(1_000_000_000 - 30_000), "30 s ago");
        assert_eq!(told(1_000_000_000 - 7_200_000), "2 h ago");
        assert_eq!(told(1_000_000_000 + 61_000), "in 1 min");
        assert_eq!(
            (told(1_000_000_000), told(i64::MIN)),
            ("now".into(), "106751991167 days ago".into())
        );
    }

    #[test]
    fn numbers_are_told_as_they_are_read() {
        assert_eq!((number(7), number(1_234_567)), ("7".into(), "1,234,567".into()));
        let shares = [0.0, 0.0001, 0.05, 0.5, 0.9999, 1.0].map(percent);
        assert_eq!(shares, ["0 %", "< 0.1 %", "5.0 %", "50 %", "> 99.9 %", "100 %"]);
        let times = [0.000_05, 0.0042, 0.25, 3.12, 55.0].map(seconds);
        assert_eq!(times, ["50 µs", "4.2 ms", "250 ms", "3.1 s", "55 s"]);
        assert_eq!((share(1, 0), share(1, 2)), (None, Some(0.5)));
        assert_eq!(
            (several(1, "call", "calls"), several(2, "call", "calls")),
            ("1 call".into(), "2 calls".into())
        );
    }

    #[test]
    fn nothing_hides_in_a_text() {
        assert_eq!(
            visible("a\u{202e}b\u{1b}[31m\r\nc\u{200b}"),
            "a\\u{202e}b\\u{1b}[31m\nc\\u{200b}"
        );
        assert!(matches!(visible("plain <b> ünï\n\tcode"), Cow::Borrowed(_)));
        assert!(visible(&"ä".repeat(LONGEST)).ends_with("ä\n… 16384 bytes more"));
    }
}
