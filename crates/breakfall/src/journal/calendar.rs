//! Moments as a calendar has them, in the time of Greenwich.

/// A moment in parts, in the time of Greenwich.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calendar {
    /// The year.
    pub year: i64,
    /// From 1 to 12.
    pub month: i64,
    /// From 1 to 31.
    pub day: i64,
    /// From 0 to 23.
    pub hour: i64,
    /// From 0 to 59.
    pub minute: i64,
    /// From 0 to 59.
    pub second: i64,
}

impl Calendar {
    /// A moment in milliseconds since 1970.
    pub const fn of(at: i64) -> Self {
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
        let year = year + era * 400 + if month <= 2 { 1 } else { 0 };
        Self {
            year,
            month,
            day,
            hour: second / 3_600,
            minute: second / 60 % 60,
            second: second % 60,
        }
    }
}

/// `2026-11-15 13:57:26`.
impl std::fmt::Display for Calendar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { year, month, day, hour, minute, second } = self;
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_calendar() {
        for (at, is) in [
            (0, "1970-01-01 00:00:00"),
            (951_782_399_000, "2000-02-28 23:59:59"),
            (951_782_400_000, "2000-02-29 00:00:00"),
            (1_794_751_046_123, "2026-11-15 13:57:26"),
            (-1, "1969-12-31 23:59:59"),
        ] {
            assert_eq!(Calendar::of(at).to_string(), is);
        }
    }
}
