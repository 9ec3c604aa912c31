//! Since when: `15m`, `24h`, `7d`. Counts are kept by the hour, so a period begins with one.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::numbers::minute;

const HOUR: i64 = 3_600_000;

/// The longest: longer than anything is kept.
const LONGEST: u64 = 10 * 366 * 86_400;

/// From when to when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Period {
    /// When it begins, in milliseconds since 1970; the beginning of an hour.
    pub(crate) since: i64,
    /// When it ends.
    pub(crate) now: i64,
}

impl Period {
    pub(crate) fn new(long: Duration, now: i64) -> Self {
        let since = now.saturating_sub(i64::try_from(long.as_millis()).unwrap_or(i64::MAX)).max(0);
        Self { since: since - since.rem_euclid(HOUR), now }
    }

    /// Its two ends, for a person.
    pub(crate) fn words(&self) -> String {
        format!("{} to {} UTC", minute(self.since), minute(self.now))
    }
}

/// What time it is, in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}

/// A length of time as a person writes it.
pub(crate) fn length(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a length of time such as `15m`, `24h` or `7d`".to_owned();
    let end = text.find(|char: char| !char.is_ascii_digit()).ok_or_else(wrong)?;
    let (number, unit) = text.split_at(end);
    let seconds = match unit {
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let length = number.checked_mul(seconds).filter(|length| (1..=LONGEST).contains(length));
    length.map(Duration::from_secs).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_has_a_number_and_a_unit() {
        for (text, seconds) in
            [("15m", 900), ("15min", 900), ("24h", 86_400), ("7d", 604_800), ("2w", 1_209_600)]
        {
            assert_eq!(length(text), Ok(Duration::from_secs(seconds)));
        }
        for text in ["", "7", "d", "0h", "-1h", "1.5h", "7 d", "99999999999999999999d", "9999w"] {
            assert!(length(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_period_begins_with_an_hour() {
        let period = Period::new(Duration::from_mins(15), 1_794_751_046_123);
        assert_eq!(period.words(), "2026-11-15 13:00 to 2026-11-15 13:57 UTC");
        assert_eq!(Period::new(Duration::MAX, 5), Period { since: 0, now: 5 });
    }
}
